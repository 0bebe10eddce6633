#include "run/batches.h"

namespace amend::run {
namespace {

using partition::Partition;
using partition::PartitionSet;

constexpr std::int64_t kMostPartitions = 1'000'000;

}  // namespace

Result<std::vector<PartitionSet>> CutBatches(
    const PartitionSet& set, const partition::PartitionMap<state::PartitionSize>& sizes,
    const BatchLimits& limits) {
  if (!set.Count()) return std::vector<PartitionSet>{set};
  AMEND_ASSIGN(std::vector<Partition> points, set.Points(kMostPartitions));
  std::vector<PartitionSet> batches;
  std::vector<Partition> batch;
  std::int64_t batch_bytes = 0;
  auto flush = [&] {
    if (!batch.empty()) batches.push_back(PartitionSet::Of(set.shape(), batch));
    batch.clear();
    batch_bytes = 0;
  };
  for (const Partition& point : points) {
    const state::PartitionSize* known = sizes.Find(point);
    std::int64_t size = known == nullptr ? 0 : known->bytes;
    if (static_cast<std::int64_t>(batch.size()) >= limits.partitions ||
        (!batch.empty() && batch_bytes + size > limits.bytes)) {
      flush();
    }
    batch.push_back(point);
    batch_bytes += size;
  }
  flush();
  return batches;
}

}  // namespace amend::run

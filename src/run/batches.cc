#include "run/batches.h"

#include <map>

namespace amend::run {
namespace {

using partition::Partition;
using partition::PartitionSet;

constexpr std::int64_t kMostPartitions = 1'000'000;

/// Bytes of each partition that has files, as far as they are given one by one.
std::map<Partition, std::int64_t> BytesByPoint(const std::vector<state::SizeRun>& sizes) {
  std::map<Partition, std::int64_t> bytes;
  for (const state::SizeRun& size : sizes) {
    auto points = size.partitions.Points(1);
    if (points && points->size() == 1) bytes[points->front()] = size.bytes;
  }
  return bytes;
}

}  // namespace

Result<std::vector<PartitionSet>> CutBatches(const PartitionSet& set,
                                             const std::vector<state::SizeRun>& sizes,
                                             const BatchLimits& limits) {
  if (!set.Count()) return std::vector<PartitionSet>{set};
  AMEND_ASSIGN(std::vector<Partition> points, set.Points(kMostPartitions));
  std::map<Partition, std::int64_t> bytes = BytesByPoint(sizes);
  std::vector<PartitionSet> batches;
  std::vector<Partition> batch;
  std::int64_t batch_bytes = 0;
  auto flush = [&] {
    if (!batch.empty()) batches.push_back(PartitionSet::Of(set.shape(), batch));
    batch.clear();
    batch_bytes = 0;
  };
  for (const Partition& point : points) {
    auto known = bytes.find(point);
    std::int64_t size = known == bytes.end() ? 0 : known->second;
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

#include "plan/estimate.h"

#include <algorithm>
#include <cmath>

namespace amend::plan {
namespace {

using partition::PartitionSet;
using state::Origin;

/// The weaker of two origins: unknown plus anything is unknown.
Origin Weaker(Origin a, Origin b) {
  auto rank = [](Origin origin) {
    switch (origin) {
      case Origin::kUnknown:
        return 0;
      case Origin::kExtrapolated:
        return 1;
      case Origin::kFileMetadata:
        return 2;
      case Origin::kMeasured:
        return 3;
    }
    return 0;
  };
  return rank(a) <= rank(b) ? a : b;
}

}  // namespace

Amount AmountOf(const state::TableState& table, const PartitionSet& set,
                const PartitionSet& new_partitions) {
  Amount amount;
  double sized_partitions = 0;
  double sized_rows = 0;
  double sized_bytes = 0;
  PartitionSet left = set.Intersect(new_partitions);
  for (const state::SizeRun& size : table.sizes) {
    auto in_run = size.partitions.Count();
    if (!in_run || *in_run == 0) continue;
    sized_partitions += static_cast<double>(*in_run);
    sized_rows += static_cast<double>(size.rows);
    sized_bytes += static_cast<double>(size.bytes);
    if (!size.partitions.Intersects(set)) continue;
    auto wanted = size.partitions.Intersect(set).Count();
    double share = static_cast<double>(*wanted) / static_cast<double>(*in_run);
    amount.rows += share * static_cast<double>(size.rows);
    amount.bytes += share * static_cast<double>(size.bytes);
    if (!left.empty()) left = left.Difference(size.partitions);
  }
  auto unsized = left.Count();
  if (unsized == 0) return amount;
  if (sized_partitions == 0) return {.origin = Origin::kUnknown};
  if (!unsized) {
    // Most of a set without end has no rows: taken as those that have some now.
    amount.origin = Origin::kExtrapolated;
    return amount;
  }
  double share = static_cast<double>(*unsized) / sized_partitions;
  amount.origin = Origin::kExtrapolated;
  amount.rows += share * sized_rows;
  amount.bytes += share * sized_bytes;
  return amount;
}

state::Estimate EstimateModel(const World& world, const lineage::BoundModelEntry& entry,
                              const PartitionSet& planned,
                              const std::map<std::string, PartitionSet>& planned_of) {
  static const state::TableState kNoSizes;
  auto table_of = [&](const std::string& name) -> const state::TableState& {
    auto at = world.tables.find(name);
    return at == world.tables.end() ? kNoSizes : at->second;
  };
  state::Estimate estimate;
  Amount written = AmountOf(table_of(entry.model.name), planned, planned);
  estimate.origin = written.origin;
  double read = 0;
  for (const lineage::Edge* edge : world.lineage->InputsOf(entry.model.name)) {
    PartitionSet required = edge->Required(planned);
    auto rebuilt = planned_of.find(edge->from);
    Amount input = AmountOf(
        table_of(edge->from), required,
        rebuilt == planned_of.end() ? PartitionSet(required.shape()) : rebuilt->second);
    estimate.origin = Weaker(estimate.origin, input.origin);
    read += input.bytes;
  }
  if (estimate.origin == Origin::kUnknown) return {};
  estimate.rows = std::llround(written.rows);
  estimate.bytes_written = std::llround(written.bytes);
  estimate.bytes_read = std::llround(read);
  return estimate;
}

}  // namespace amend::plan

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

void Add(double partitions, const state::PartitionSize& size, Amount* amount) {
  amount->rows += partitions * static_cast<double>(size.rows);
  amount->bytes += partitions * static_cast<double>(size.bytes);
}

}  // namespace

Amount AmountOf(const state::TableState& table, const PartitionSet& set,
                const PartitionSet& new_partitions) {
  Amount amount;
  table.sizes.ForEachTimeIn(
      set,
      [&](std::int64_t first, std::int64_t end, const state::PartitionSize& size) {
        Add(static_cast<double>(end - first), size, &amount);
      },
      [&](const state::PartitionSize& size) { Add(1, size, &amount); });
  PartitionSet left = set.Intersect(new_partitions);
  if (left.empty()) return amount;
  PartitionSet domain = table.sizes.Domain();
  auto unsized = left.Difference(domain).Count();
  if (unsized == 0) return amount;
  auto sized = domain.Count();
  if (!sized || *sized == 0) return {.origin = Origin::kUnknown};
  if (!unsized) {
    // Most of a set without end has no rows: taken as those that have some now.
    amount.origin = Origin::kExtrapolated;
    return amount;
  }
  Amount all = AmountOf(table, domain, PartitionSet(set.shape()));
  double share = static_cast<double>(*unsized) / static_cast<double>(*sized);
  amount.origin = Origin::kExtrapolated;
  amount.rows += share * all.rows;
  amount.bytes += share * all.bytes;
  return amount;
}

state::Estimate EstimateModel(const World& world, const lineage::BoundModelEntry& entry,
                              const PartitionSet& planned,
                              const std::map<std::string, PartitionSet>& planned_of) {
  std::map<std::string, state::TableState> absent;
  auto table_of = [&](const std::string& name) -> const state::TableState& {
    auto at = world.tables.find(name);
    if (at != world.tables.end()) return at->second;
    return absent.try_emplace(name, EmptyTable(world.lineage->SpaceOf(name)))
        .first->second;
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

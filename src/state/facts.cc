#include "state/facts.h"

#include <algorithm>
#include <map>

namespace amend::state {

std::string_view FactKindName(FactKind kind) {
  switch (kind) {
    case FactKind::kBuilt:
      return "built";
    case FactKind::kVerified:
      return "verified";
    case FactKind::kRestored:
      return "restored";
    case FactKind::kRemoved:
      return "removed";
  }
  return "removed";
}

std::optional<FactKind> ParseFactKind(std::string_view name) {
  for (FactKind kind :
       {FactKind::kBuilt, FactKind::kVerified, FactKind::kRestored, FactKind::kRemoved}) {
    if (FactKindName(kind) == name) return kind;
  }
  return std::nullopt;
}

FactsInForce::FactsInForce(partition::Shape shape) : built(shape) {}

void FactsInForce::Apply(const std::vector<PartitionFact>& facts) {
  for (const PartitionFact& fact : facts) {
    partition::PartitionSet at =
        partition::PartitionSet::Of(built.shape(), fact.partition);
    if (fact.kind == FactKind::kRemoved) {
      built.Erase(at);
      by_partition.erase(fact.partition);
      continue;
    }
    // Neighbours mostly share a record, so the last ones are the likely ones.
    auto known = std::find(records.rbegin(), records.rend(), fact.record);
    std::size_t index = static_cast<std::size_t>(records.rend() - known) - 1;
    if (known == records.rend()) {
      index = records.size();
      records.push_back(fact.record);
    }
    built.Set(at, index);
    by_partition.insert_or_assign(fact.partition, fact);
  }
}

void FactsInForce::DropUnusedRecords() {
  std::map<std::size_t, std::size_t> place;  // by present index
  built.ForEachRun(
      [&](const partition::PartitionSet&, std::size_t at) { place.emplace(at, 0); });
  std::vector<BuildRecord> kept;
  for (auto& [before, after] : place) {
    after = kept.size();
    kept.push_back(std::move(records[before]));
  }
  partition::PartitionMap<std::size_t> renumbered(built.shape());
  built.ForEachRun([&](const partition::PartitionSet& at, std::size_t before) {
    renumbered.Set(at, place.at(before));
  });
  records = std::move(kept);
  built = std::move(renumbered);
}

}  // namespace amend::state

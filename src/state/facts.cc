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

std::size_t FactsInForce::IndexOf(const BuildRecord& record) {
  // Neighbours mostly share a record, so the last ones are the likely ones.
  auto known = std::find(records.rbegin(), records.rend(), record);
  if (known != records.rend()) {
    return static_cast<std::size_t>(records.rend() - known) - 1;
  }
  records.push_back(record);
  return records.size() - 1;
}

void FactsInForce::Apply(const TableFacts& facts) {
  for (const RestFact& fact : facts.rest) {
    if (fact.kind == FactKind::kRemoved) {
      built.Erase(fact.partitions);
    } else {
      built.Set(fact.partitions, IndexOf(fact.record));
    }
    std::erase_if(by_partition, [&fact](const auto& known) {
      return fact.partitions.Contains(known.first);
    });
  }
  for (const PartitionFact& fact : facts.points) {
    partition::PartitionSet at =
        partition::PartitionSet::Of(built.shape(), fact.partition);
    if (fact.kind == FactKind::kRemoved) {
      built.Erase(at);
      by_partition.erase(fact.partition);
      continue;
    }
    built.Set(at, IndexOf(fact.record));
    by_partition.insert_or_assign(fact.partition, fact);
  }
}

std::optional<PartitionFact> FactsInForce::Of(const partition::Partition& point) const {
  auto known = by_partition.find(point);
  if (known != by_partition.end()) return known->second;
  const std::size_t* record = built.Find(point);
  if (record == nullptr) return std::nullopt;
  PartitionFact fact;
  fact.partition = point;
  fact.record = records[*record];
  return fact;
}

partition::PartitionSet FactsInForce::Rest() const {
  std::vector<partition::Partition> points;
  for (const auto& [point, fact] : by_partition) points.push_back(point);
  return built.Domain().Difference(partition::PartitionSet::Of(built.shape(), points));
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

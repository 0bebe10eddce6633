#include "state/facts.h"

#include <algorithm>

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

}  // namespace amend::state

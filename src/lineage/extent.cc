#include "lineage/extent.h"

namespace amend::lineage {

partition::PartitionSet PossiblePartitions(
    const BoundModel& bound, partition::Shape output,
    const std::function<partition::PartitionSet(const std::string& table)>& live) {
  partition::PartitionSet possible(output);
  // What reads nothing gives its rows whatever the inputs hold.
  if (bound.inputs.empty()) return partition::PartitionSet::All(output);
  if (bound.extents.empty()) {
    for (const InputRef& ref : bound.inputs) {
      possible = possible.Union(ref.mapping.Affected(live(ref.table)));
    }
    return possible;
  }
  for (const std::vector<std::size_t>& branch : bound.extents) {
    partition::PartitionSet meets_all = partition::PartitionSet::All(output);
    for (std::size_t index : branch) {
      const InputRef& ref = bound.inputs[index];
      partition::PartitionSet rows = live(ref.table);
      meets_all = meets_all.Intersect(ref.extent->Affected(rows))
                      .Intersect(ref.mapping.Affected(rows));
    }
    possible = possible.Union(meets_all);
  }
  return possible;
}

}  // namespace amend::lineage

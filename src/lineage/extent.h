#pragma once

#include <functional>
#include <string>

#include "lineage/definition.h"
#include "partition/partition_set.h"

namespace amend::lineage {

/// Output partitions that a SELECT can give rows, if its inputs have rows in `live` of
/// them and nowhere else: over branches the union, over the references that a branch
/// needs the intersection, of Affected(live) by extent and by mapping (which a header may
/// declare to be narrower than what was inferred). Where the extents are not known, the
/// union over all references. A superset of the truth; it is what "missing" and strays
/// are judged by.
///
/// `live(table)` is asked once for each reference and answers in the table's shape.
partition::PartitionSet PossiblePartitions(
    const BoundModel& bound, partition::Shape output,
    const std::function<partition::PartitionSet(const std::string& table)>& live);

}  // namespace amend::lineage

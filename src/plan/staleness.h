#pragma once

#include <vector>

#include "lineage/lineage.h"
#include "partition/partition_map.h"
#include "partition/partition_set.h"
#include "state/table_state.h"

namespace amend::plan {

/// Partitions of a reader that changes of one of its inputs may have made stale: a
/// superset, and almost always the empty one. `verified` has, by build record of the
/// reader, the version of the input that it saw (BuildRecords::VerifiedAt); `latest` the
/// input's latest changes (ChangeLog::LatestTimes). Columns and values are not looked at.
///
/// Why: after a year of daily runs every table has hundreds of records and as many
/// changes, all of them old news. To ask each change for the records that it reaches
/// costs a calculation with the calendar and a search for each pair of edge and change;
/// this is one walk along both time lines.
partition::PartitionSet MayBeStale(const partition::PartitionMap<std::size_t>& built,
                                   const std::vector<state::Version>& verified,
                                   const partition::TimeMap<state::Version>& latest,
                                   const std::vector<lineage::InputRef>& refs);

}  // namespace amend::plan

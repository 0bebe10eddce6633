#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "partition/partition_set.h"

namespace amend::plan {

/// A request's partitions and how they were read, for the echo: "2001-03-05 asked, month
/// 2001-03 planned".
struct RequestedPartitions {
  partition::PartitionSet partitions;
  bool widened = false;
};

/// `--from A --to B`: inclusive keys of the table's own grain or a finer one, which is
/// widened. An absent end is open. All values inside. Invalid where the table has no time
/// dimension (hint: --partition or --full), a key is coarser or malformed, or B is before
/// A.
Result<RequestedPartitions> RangeRequest(const partition::PartitionSpace& space,
                                         std::string_view from, std::string_view to);

/// One `--partition`: "all" for an unpartitioned table, otherwise `column=value` for each
/// dimension in any order, joined by '/'; a dimension left out means every value of it,
/// which needs that no value dimension is named or all of them are. A period alone
/// ("2001-03-05") stands for the time dimension.
Result<partition::PartitionSet> PartitionRequest(const partition::PartitionSpace& space,
                                                 std::string_view text);

}  // namespace amend::plan

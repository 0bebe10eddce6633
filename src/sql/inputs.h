#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lineage/definition.h"
#include "partition/space.h"
#include "sql/bound_plan.h"
#include "sql/time_functions.h"

namespace amend::sql {

/// What InputsOf needs to know beside the plan.
struct FlowRequest {
  const Operator* root = nullptr;
  partition::PartitionSpace output;
  /// Position in the root's output of each dimension of `output`, in its order.
  std::vector<std::size_t> positions;
  /// Spaces of the tables that are scanned, by name.
  std::map<std::string, partition::PartitionSpace> spaces;
  /// Columns that matter for some value or row, of all tables.
  std::set<lineage::ColumnRef> read;
};

struct Inputs {
  std::vector<lineage::InputRef> refs;
  std::vector<std::vector<std::size_t>> extents;
};

/// The references of a model to its inputs, each with the partitions that flow through
/// it, and which of them must have rows for an output partition to exist. Asks the Flow
/// twice: for an output partition k = [start, end) and for the NULL partition.
Inputs InputsOf(const FlowRequest& request, const IntervalReader& read_interval);

}  // namespace amend::sql

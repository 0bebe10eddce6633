#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lineage/lineage.h"
#include "state/plan.h"
#include "state/table_state.h"

namespace amend::plan {

/// How each earlier definition of one model differs from the one in force. Both were
/// bound by the engine of today. A definition that is not here is taken as changed in
/// every row; so must be one whose settings (space, inputs) differ, whatever its SQL
/// says.
using CodeChanges = std::map<lineage::DefinitionId, lineage::CodeChange>;

/// All that planning may look at, as values: the planner has no other input, no clock and
/// no engine, so the same world gives the same plan, byte for byte. The facade gathers
/// it.
struct World {
  const lineage::Lineage* lineage = nullptr;  ///< borrowed; REQUIRES: not null
  /// By name as the lineage spells it. A table that is absent is taken as EmptyTable.
  std::map<std::string, state::TableState> tables;
  std::map<std::string, CodeChanges> code_changes;  ///< by model
  state::PlanRequest request;
  std::int64_t now_micros = 0;  ///< the plan's now: periods that end later are open
};

/// A table that does not exist yet.
state::TableState EmptyTable(const partition::PartitionSpace& space);

/// Internal where a table's sets are not of its space or a build record is missing: the
/// planner relies on it and never aborts on what passes.
Status Validate(const World& world);

}  // namespace amend::plan

#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "lineage/lineage.h"

namespace amend::state {

/// What is needed of a definition to bind it again by a later engine: what the ledger
/// keeps of each definition that was ever published.
struct DefinitionRecord {
  std::string sql;
  /// Partition space and mappings of the inputs; equal ones have equal canonical JSON.
  Json settings;
  std::map<std::string, std::vector<lineage::Column>> inputs;  ///< columns by table
};

DefinitionRecord RecordOf(const lineage::Lineage& lineage,
                          const lineage::BoundModelEntry& entry);

Json ToJson(const DefinitionRecord& record);
/// Damaged where a member is not what ToJson writes.
Result<DefinitionRecord> DefinitionRecordFromJson(const Json& json);

}  // namespace amend::state

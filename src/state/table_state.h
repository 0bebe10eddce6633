#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lineage/lineage.h"
#include "partition/partition_map.h"
#include "partition/partition_set.h"
#include "state/build_records.h"
#include "state/change_log.h"

namespace amend::state {

/// The version of an input that the same publication makes: known only once its snapshot
/// is built, so facts in the making say "this one" and their readers put in the entry's
/// version.
inline constexpr Version kThisPublication = -1;
/// The version of a table that is another one by now: dropped, and made again under its
/// name. Numbers of the one say nothing about the other. Never stored.
inline constexpr Version kAnotherTable = -2;

/// An exact version of a table, re-readable or refused.
struct Pin {
  std::string table;
  std::int64_t snapshot_id = 0;  ///< 0: the table exists and is empty
  Version version = 0;
  int schema_id = 0;
  std::string metadata_location;
  std::string uuid;  ///< of the table; "" in plans of before it was kept
  friend bool operator==(const Pin&, const Pin&) = default;
};

/// Partitions that no plan may write, with what would end the hold.
struct Hold {
  std::int64_t id = 0;
  std::string table;
  partition::PartitionSet partitions;
  std::string by;  ///< "rollback #9", "release policy"
  std::string reason;
  lineage::DefinitionId definition;               ///< ends when another is in force
  std::map<std::string, Version> input_versions;  ///< ends when a required input moved on
  std::map<std::string, std::string> input_tables;  ///< like BuildRecord::verified_in
};

/// What one partition holds, from file metadata.
struct PartitionSize {
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const PartitionSize&, const PartitionSize&) = default;
};

/// One table as the planner sees it.
struct TableState {
  std::optional<Pin> head;       ///< absent: the table does not exist yet
  partition::PartitionSet live;  ///< partitions that have rows at the head
  ChangeLog changes;
  partition::PartitionMap<PartitionSize> sizes;  ///< where it is known
  // Models only.
  BuildRecords records;
  partition::PartitionMap<std::size_t> built;  ///< partition → index into records
  partition::PartitionSet drifted;             ///< live files are not those we published
  /// The same where others may write (`writers: shared`): no cause, but a plan that
  /// replaces them says so.
  partition::PartitionSet foreign;
  std::vector<Hold> holds;
  /// Number of the last publication or rollback that spoke of the model; 0 = none.
  std::int64_t last_entry = 0;
};

}  // namespace amend::state

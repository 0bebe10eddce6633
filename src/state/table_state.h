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

namespace amend::state {

/// A table's own version: the Iceberg sequence number of a snapshot. Increases with every
/// commit, whoever makes it; 0 is the empty table.
using Version = std::int64_t;

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

/// Partitions whose content differs for whoever verified a version in [after, before).
/// For models the ledger's publications give one each, with after = 0; for sources the
/// comparison of two snapshots' state gives the exact difference between a version that
/// some record verified and the head.
struct Change {
  Version after = 0;   ///< inclusive
  Version before = 0;  ///< exclusive
  partition::PartitionSet partitions;
  /// Where set, only these columns differ; otherwise rows do.
  std::optional<std::set<std::string>> columns;
  std::string cause;  ///< "landing #7", "publication #12", "commit by another writer"

  bool AppliesTo(Version verified) const {
    return after <= verified && verified < before;
  }
};

/// What a published partition was made from. Interned: a map of partitions holds indexes.
struct BuildRecord {
  lineage::DefinitionId definition;
  std::int64_t publication = 0;
  /// Per input, the version at which the partition is known to equal its definition; a
  /// cutoff moves it forward without a rebuild.
  std::map<std::string, Version> verified_at;
  /// Per input, the uuid of the table that those versions are of. Absent where it is not
  /// known: then the table is taken to be the same.
  std::map<std::string, std::string> verified_in;
  friend bool operator==(const BuildRecord&, const BuildRecord&) = default;
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

/// Rows and bytes of a run of partitions, from file metadata.
struct SizeRun {
  partition::PartitionSet partitions;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  std::int64_t files = 0;
};

/// One table as the planner sees it.
struct TableState {
  std::optional<Pin> head;       ///< absent: the table does not exist yet
  partition::PartitionSet live;  ///< partitions that have rows at the head
  std::vector<Change> changes;
  std::vector<SizeRun> sizes;
  // Models only.
  std::vector<BuildRecord> records;
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

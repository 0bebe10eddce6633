#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "db/connection.h"
#include "iceberg/sql_catalog.h"
#include "iceberg/update.h"
#include "ledger/ledger.h"
#include "partition/partition_set.h"
#include "publish/protocol.h"

namespace amend::publish {

/// What a publication does to one table, absolutely: which partitions go, which files
/// come. Parallel to the intent's tables.
struct TableChange {
  iceberg::TableRef ref;
  partition::PartitionSpace space;
  /// The table at the pin, for comparing states; nothing if it did not exist.
  std::optional<iceberg::LoadedTable> pinned;
  std::int64_t pinned_snapshot = 0;         ///< 0 = empty
  std::optional<iceberg::NewTable> create;  ///< where it did not exist
  /// Partitions whose state must be the pin's: written ones and those that were read.
  partition::PartitionSet guarded;
  partition::PartitionSet replaced;  ///< written; a subset of guarded
  std::vector<iceberg::DataFile> added;
  std::vector<iceberg::RestoredFile> restored;
  /// With restored files: the snapshot that had them before they were deleted. It is kept
  /// by the tag of the publication that is taken back, without an age, so that no other
  /// engine's cleanup removes files that are live again.
  std::optional<std::int64_t> keep_snapshot;
  std::optional<iceberg::Schema> schema;  ///< with new columns
  int schema_base_last_column_id = 0;
};

/// A whole publication as values.
struct Publication {
  Intent intent;
  std::string attempt;  ///< from NewAttempt; begins the names of its files
  std::vector<TableChange> changes;
  /// The ledger row without number, snapshots, versions and hashes, which the commit adds
  /// to the tables of the same name.
  ledger::Entry entry;
  std::map<std::string, std::string> summary;  ///< of every snapshot, besides ours
  std::int64_t tag_age_ms = 0;                 ///< of `amend_before_<n>`
  /// Whether partitions of a table hold the same rows at `head` as at the pin although
  /// their files differ: a compaction is no change. Absent: every other file is a change.
  std::function<Result<bool>(const TableChange&, const iceberg::LoadedTable& head,
                             const partition::PartitionSet&)>
      same_content;
  /// Rows that belong to the same transaction: holds, definitions, a plan's state. Called
  /// once for each try of the commit. Its Conflict ends the publication as one; Transient
  /// is tried again.
  std::function<Status(db::Transaction&, std::int64_t number)> also;
};

/// How a publication ended, with what the ledger says of it.
struct Published {
  Ending ending = Ending::kNone;
  std::int64_t number = 0;
  std::vector<Swap> swaps;
};

struct PublisherOptions {
  std::string name_space;  ///< of the tables
  std::function<Result<std::unique_ptr<db::Connection>>()> connect;
};

/// A fresh name for a process's files: a UUID whose last four digits are free for the
/// round.
std::string NewAttempt(Env& env);

/// Drives the protocol against real tables, ledger and files: carries out each action of
/// protocol.h and answers with what happened. It decides nothing; the simulation tests
/// the same decisions against a hostile world.
///
/// Not thread-safe; one publication at a time.
class Publisher {
 public:
  Publisher(Env& env, PublisherOptions options, iceberg::SqlCatalog catalog,
            ledger::Ledger ledger);
  ~Publisher();

  /// Runs a new publication to its end. The status is the ending's: Conflict with nothing
  /// published, Unknown where only the next command can tell, …
  Result<Published> Publish(const Publication& publication);

  /// Ends what another process left behind: confirms an intent that committed, gives up
  /// and cleans one that did not. Ok also where nothing was left. Unknown where only a
  /// later call can tell; Damaged, naming the tables, where what was committed does not
  /// read back as it was staged: nothing may be built on that.
  Status Recover();

 private:
  class Driver;

  Env& env_;
  PublisherOptions options_;
  iceberg::SqlCatalog catalog_;
  ledger::Ledger ledger_;
};

}  // namespace amend::publish

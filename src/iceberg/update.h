#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/data_file.h"
#include "iceberg/metadata_builder.h"
#include "iceberg/table_metadata.h"
#include "iceberg/table_ref.h"

namespace amend::iceberg {

inline constexpr std::int64_t kNoSnapshot = -1;

/// A table at the version that a catalog row points to.
struct LoadedTable {
  TableRef ref;
  std::string metadata_location;  ///< URI as the row spells it: what a swap compares with
  TableMetadata metadata;
};

/// Reads one metadata file. Unsupported: compressed metadata, format versions but 2.
Result<LoadedTable> LoadTable(Env& env, TableRef ref, std::string metadata_location);

/// A commit whose files are all written and durable and which nobody sees yet: the
/// catalog's pointer is not swapped. Only the catalog's transaction makes it visible, so
/// many tables and the caller's own rows change in one step.
struct StagedCommit {
  TableRef ref;
  /// What the pointer must still be; nothing for a table that is not in the catalog yet.
  std::optional<std::string> base_location;
  std::string new_location;  ///< URI of the new metadata file
  TableMetadata metadata;
  std::int64_t snapshot_id = kNoSnapshot;  ///< kNoSnapshot: a table created empty
  /// Local paths of every file this commit needs and wrote, in write order (metadata
  /// last). After a certain failure of the swap they may be deleted: before the update is
  /// staged again (it then writes anew what it would have reused), or afterwards without
  /// those that the later attempt lists too. After an unknown outcome never.
  std::vector<std::string> files;
};

/// A file that was live before and becomes live again, with the data sequence number it
/// had then, so that its place in the order of deletes is kept.
struct RestoredFile {
  DataFile file;
  std::int64_t sequence_number = 0;
};

/// A tag to set in the same commit at the snapshot that the commit replaces as head.
struct ParentTag {
  std::string name;
  std::optional<std::int64_t> max_ref_age_ms;
};

/// What an update does, absolutely: never a difference to some version of the table.
struct SnapshotPlan {
  std::vector<const DataFile*> added;  ///< borrowed, as the next are
  std::vector<const RestoredFile*> restored;
  std::optional<std::set<PartitionTuple>> replaced;
  std::map<std::string, std::string> summary;
  std::vector<ParentTag> tags;
  std::map<std::string, std::int64_t> kept_snapshots;  ///< by tag
  std::vector<std::string> dropped_tags;
  std::optional<Schema> schema;
  int schema_base_last_column_id = 0;

  /// Whether it makes a snapshot, or changes schema and tags alone.
  bool touches_files() const {
    return !added.empty() || !restored.empty() || replaced.has_value();
  }
};

/// Manifests of added files, good for every head on which folder, spec and schema are
/// these: their entries leave the sequence number to the manifest list.
struct AddedManifests {
  std::string folder;
  int spec_id = 0;
  int schema_id = 0;
  std::set<std::string> left_out;  ///< paths that were live already
  std::vector<ManifestFile> manifests;
};

/// One new snapshot of the main branch: head - the live files of named partitions +
/// files.
///
/// The same update can be staged again on a newer head after a lost race: it is planned
/// anew there, with a new sequence number, and reuses the manifests of added files.
/// Whether the newer head still admits the plan is the caller's decision: compare state
/// first (scan.h).
///
/// INV-U1 no live file outside the replaced tuples leaves the table, none inside stays:
///        every rewritten entry is checked, and live files and rows are recounted over
///        the new manifest list before Stage returns.
/// INV-U2 no path is live twice in a partition.
/// INV-U3 added files lie inside the replaced tuples, where tuples are replaced.
/// INV-U4 every file written is synced, with its folders, before Stage returns.
///
/// Refused: delete files (Unsupported; the table needs a compaction by its owner),
/// manifests of another partition spec where partitions are replaced (Unsupported),
/// partition fields of unknown transform. The caller has synced the data files.
///
/// Not thread-safe; several updates may run at once.
class SnapshotUpdate {
 public:
  explicit SnapshotUpdate(Env& env);
  /// The same with a UUID of the caller's in the name of every file it writes, metadata
  /// included, so that what a dead process left can be told by name alone. Such an update
  /// is staged once.
  SnapshotUpdate(Env& env, std::string file_uuid);
  // The plan points to files, also to those that are kept here.
  SnapshotUpdate(const SnapshotUpdate&) = delete;
  SnapshotUpdate& operator=(const SnapshotUpdate&) = delete;

  /// Files to add; their partition and spec_id are of the table's default spec.
  SnapshotUpdate& Add(std::vector<DataFile> files);
  /// The same files without a copy; they outlive the update.
  SnapshotUpdate& AddBorrowed(const std::vector<DataFile>& files);
  /// Partitions (tuples of the default spec) whose live files go. A tuple that gets no
  /// file is emptied; a file that is live there and added or restored too just stays, so
  /// that staging what is live already changes nothing. Unpartitioned tables have the one
  /// tuple {}. An empty set is Invalid, and so is a tuple that does not fix every field.
  SnapshotUpdate& Replace(std::set<PartitionTuple> partitions);
  /// Files to bring back with their original sequence numbers. Iceberg Java's incremental
  /// cleanup (RemoveSnapshots, IncrementalFileCleanup) removes every file that an expired
  /// snapshot deleted, without asking whether it is live again. It is not used while a
  /// ref keeps a snapshot outside the main branch's history: so keep one from before the
  /// deletion with KeepSnapshot, for as long as a restored file is live. The same holds
  /// for files given to Add a second time.
  SnapshotUpdate& Restore(std::vector<RestoredFile> files);
  SnapshotUpdate& RestoreBorrowed(const std::vector<RestoredFile>& files);
  /// Tags a snapshot of the head without an age, or takes the age from the tag that is
  /// there. Stage is NotFound if the head has lost the snapshot.
  SnapshotUpdate& KeepSnapshot(std::string tag, std::int64_t snapshot_id);
  /// Own summary keys (run, publication, watermark). Iceberg's own keys are Invalid.
  SnapshotUpdate& SetSummary(std::map<std::string, std::string> keys);
  /// Skipped where there is no parent.
  SnapshotUpdate& TagParent(ParentTag tag);
  /// Tags of ours that have served; ones that are gone already are skipped.
  SnapshotUpdate& DropTags(std::vector<std::string> names);
  /// The schema the files were written with, made while `base_last_column_id` was the
  /// table's last. Stage is a Conflict if the head's columns changed otherwise since.
  SnapshotUpdate& SetSchema(Schema schema, int base_last_column_id);

  /// Writes manifests, list and metadata for a commit on `head`. An update without files
  /// and partitions makes no snapshot (schema and tags change alone); one with nothing at
  /// all is Invalid.
  Result<StagedCommit> Stage(const LoadedTable& head);
  /// The same for a table that is not in the catalog yet, as version 00000: `unborn` was
  /// built and never written. Without files it is created as it is.
  Result<StagedCommit> StageFirst(const TableRef& ref, const TableMetadata& unborn);

  /// The snapshot that every attempt makes.
  std::int64_t snapshot_id() const { return snapshot_id_; }

 private:
  Result<StagedCommit> StageOn(const TableRef& ref, const TableMetadata& base,
                               std::optional<std::string> base_location);

  Env& env_;
  SnapshotPlan plan_;
  // Lists, not one vector each: what is kept must not move when more comes.
  std::list<std::vector<DataFile>> kept_added_;
  std::list<std::vector<RestoredFile>> kept_restored_;
  // One identity over all attempts: reused manifests name the snapshot.
  std::int64_t snapshot_id_;
  std::string commit_uuid_;
  bool names_metadata_ = false;  ///< commit_uuid_ is the caller's
  int attempts_ = 0;
  int manifests_written_ = 0;
  std::optional<AddedManifests> reusable_;
};

/// A table made and filled in one commit.
Result<StagedCommit> StageNewTable(Env& env, const TableRef& ref, const NewTable& table,
                                   SnapshotUpdate& first);

}  // namespace amend::iceberg

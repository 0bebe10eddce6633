#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/partition_match.h"
#include "iceberg/update.h"

namespace amend::iceberg {

/// Live files of a table, or of a part of it.
struct FileTotals {
  std::int64_t files = 0;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;

  void Add(const DataFile& file) {
    files += 1;
    rows += file.record_count;
    bytes += file.file_size;
  }
};

/// Whether the plan can be applied to this table at all: arity and types of tuples, spec
/// ids, counts, INV-U3, paths that come twice, names of summary keys.
Status CheckPlan(const SnapshotPlan& plan, const TableMetadata& table);

/// What one attempt has in common with the others of its update.
struct AttemptIdentity {
  std::int64_t snapshot_id = 0;
  std::string commit_uuid;
  int attempt = 0;
};

/// The manifests and the manifest list of one attempt at a snapshot on one head. Internal
/// to update.cc, which adds the metadata file around it.
class SnapshotAttempt {
 public:
  /// Borrows all; `table` already has the snapshot's schema as its current one.
  SnapshotAttempt(Env& env, const SnapshotPlan& plan, const AttemptIdentity& identity,
                  const TableMetadata& table, std::int64_t sequence_number,
                  int& manifest_counter, std::vector<std::string>& files);

  /// Writes everything and gives back the snapshot. `reusable` is taken where it fits
  /// and still exists, and set anew otherwise.
  Result<Snapshot> Write(std::int64_t timestamp_ms,
                         std::optional<AddedManifests>& reusable);

 private:
  Status RewriteParent();
  bool Removes(const DataFile& file) const;
  Status TakeManifest(ManifestFile manifest);
  Status FillCounts(ManifestFile& manifest, const std::vector<ManifestEntry>& entries);
  Status RewriteManifest(const ManifestFile& manifest, std::vector<ManifestEntry> live);
  Status AddFiles(std::optional<AddedManifests>& reusable);
  Result<bool> CanReuse(const std::optional<AddedManifests>& reusable,
                        const AddedManifests& wanted);
  Result<std::vector<ManifestFile>> WriteAdded(const std::set<std::string>& left_out);
  Result<ManifestFile> WriteOne(const std::vector<EntryRef>& entries);
  Result<std::int64_t> LiveBytesBefore() const;
  Status Recount() const;
  Result<std::map<std::string, std::string>> Summary() const;

  std::string NextManifestPath();
  Status NoteWritten(const std::string& uri);

  Env& env_;
  const SnapshotPlan& plan_;
  const AttemptIdentity& identity_;
  const TableMetadata& table_;
  const Snapshot* parent_;
  std::int64_t sequence_number_;
  int& manifest_counter_;
  std::vector<std::string>& files_;

  std::unordered_set<std::string_view> incoming_paths_;  ///< borrowed from the plan
  PartitionMatcher touched_;  ///< replaced tuples, or those of added files
  std::vector<ManifestFile> parent_manifests_;
  std::vector<ManifestFile> added_manifests_;
  std::vector<ManifestFile> kept_manifests_;  ///< relisted and rewritten
  std::set<std::string> live_paths_;          ///< that stay in the touched partitions
  FileTotals before_;                         ///< bytes unknown
  FileTotals added_;
  FileTotals removed_;
  std::set<PartitionTuple> changed_;
};

}  // namespace amend::iceberg

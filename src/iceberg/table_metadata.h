#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "iceberg/partition_spec.h"
#include "iceberg/schema.h"

namespace amend::iceberg {

inline constexpr std::string_view kMainBranch = "main";

struct Snapshot {
  std::int64_t id = 0;
  std::optional<std::int64_t> parent_id;
  std::int64_t sequence_number = 0;
  std::int64_t timestamp_ms = 0;
  std::string manifest_list;  ///< URI; empty in snapshots kept from format version 1
  /// "operation" is always present; where its writer left it out it reads "overwrite",
  /// which assumes least.
  std::map<std::string, std::string> summary;
  std::optional<int> schema_id;
};

struct SnapshotRef {
  std::int64_t snapshot_id = 0;
  bool is_tag = false;
  std::optional<std::int64_t> max_ref_age_ms = std::nullopt;
  std::optional<int> min_snapshots_to_keep = std::nullopt;
  std::optional<std::int64_t> max_snapshot_age_ms = std::nullopt;
};

struct SnapshotLogEntry {
  std::int64_t timestamp_ms = 0;
  std::int64_t snapshot_id = 0;  ///< may have been expired since
};

struct MetadataLogEntry {
  std::int64_t timestamp_ms = 0;  ///< last_updated_ms of that version
  std::string file;               ///< URI as its writer spelled it
};

/// One version of a table: what a *.metadata.json holds. Immutable once read; changed
/// only through MetadataBuilder.
///
/// The parsed document is the truth and the typed members are a view of it, so members
/// that we do not know (statistics, other engines' keys, at any depth) survive a rewrite
/// byte for byte. Rejected: typed members with a bag of left-overs, which loses what is
/// unknown inside snapshots, refs and schemas.
///
/// INV-M1 refs["main"] is the current snapshot, or both are absent.
/// INV-M2 every ref points into the snapshots; no snapshot's sequence number exceeds
///        last_sequence_number; the current schema and the default spec exist.
/// INV-M3 ids of columns and partition fields are never reused: none exceeds the last
///        one handed out, none appears twice in one schema or spec.
/// INV-M4 last_updated_ms and both logs never run backwards (by more than the minute
///        that Iceberg grants to clocks of several machines).
///
/// A value; safe to read from several threads.
class TableMetadata {
 public:
  /// `what` names the document in messages. Unsupported: format version other than 2,
  /// encryption keys. Damaged: anything missing, mistyped or against an invariant.
  static Result<TableMetadata> FromJson(std::string_view text, std::string_view what);
  std::string ToJson() const;

  /// INV-M1 to INV-M4; FromJson and MetadataBuilder::Build have called it.
  Status Verify() const;

  const std::string& uuid() const { return uuid_; }
  /// URI without trailing slash.
  const std::string& location() const { return location_; }
  std::int64_t last_sequence_number() const { return last_sequence_number_; }
  std::int64_t last_updated_ms() const { return last_updated_ms_; }
  int last_column_id() const { return last_column_id_; }
  int last_partition_id() const { return last_partition_id_; }
  /// Current.
  const Schema& schema() const { return *FindSchema(current_schema_id_); }
  const Schema* FindSchema(int id) const;
  const std::vector<Schema>& schemas() const { return schemas_; }
  /// Default.
  const PartitionSpec& spec() const { return *FindSpec(default_spec_id_); }
  const PartitionSpec* FindSpec(int id) const;
  const std::vector<Snapshot>& snapshots() const { return snapshots_; }
  /// Null for an empty table.
  const Snapshot* current_snapshot() const;
  const Snapshot* FindSnapshot(std::int64_t id) const;
  const std::map<std::string, SnapshotRef>& refs() const { return refs_; }
  const std::map<std::string, std::string>& properties() const { return properties_; }
  const std::vector<SnapshotLogEntry>& snapshot_log() const { return snapshot_log_; }
  const std::vector<MetadataLogEntry>& metadata_log() const { return metadata_log_; }

  /// Where metadata files go: <location>/metadata unless `write.metadata.path` says else.
  std::string metadata_folder() const;

 private:
  friend class MetadataBuilder;
  TableMetadata() = default;

  static Result<TableMetadata> FromDocument(Json document, std::string_view what);
  Status ReadNumbers(std::string_view what);
  Status ReadSchemasAndSpecs(std::string_view what);
  Status ReadSnapshots(std::string_view what);
  Status ReadRefs(std::string_view what);
  Status ReadLogs(std::string_view what);
  Status VerifyReferences() const;
  Status VerifyIds() const;
  Status VerifyClock() const;

  Json document_;
  std::string uuid_;
  std::string location_;
  std::int64_t last_sequence_number_ = 0;
  std::int64_t last_updated_ms_ = 0;
  int last_column_id_ = 0;
  int last_partition_id_ = 0;
  int current_schema_id_ = 0;
  int default_spec_id_ = 0;
  std::optional<std::int64_t> current_snapshot_id_;
  std::vector<Schema> schemas_;
  std::vector<PartitionSpec> specs_;
  std::vector<Snapshot> snapshots_;
  std::map<std::string, SnapshotRef> refs_;
  std::map<std::string, std::string> properties_;
  std::vector<SnapshotLogEntry> snapshot_log_;
  std::vector<MetadataLogEntry> metadata_log_;
};

/// A snapshot as the metadata file holds it, and a ref.
Json SnapshotToJson(const Snapshot& snapshot);
Json RefToJson(const SnapshotRef& ref);

}  // namespace amend::iceberg

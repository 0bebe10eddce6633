#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/table_metadata.h"

namespace amend::iceberg {

/// What a table starts with. Ids of columns and partition fields are chosen before any
/// file is written, because the files carry them: see AssignFreshIds.
struct NewTable {
  std::string location;  ///< URI; two tables never share one
  Schema schema;
  PartitionSpec spec;
  std::map<std::string, std::string> properties;
};

/// The same columns with ids from 1, depth first, and schema id 0.
Schema AssignFreshIds(Schema schema);

/// Makes the next version of a table's metadata from a base version, or the first one.
/// Every method keeps INV-M1 to INV-M4 or returns a status and changes nothing; Build
/// verifies the whole. One builder makes one version. Not thread-safe.
class MetadataBuilder {
 public:
  /// The first version of a table: no snapshot yet. Invalid where names or ids clash, a
  /// partition field has no source column or a transform cannot be written.
  static Result<MetadataBuilder> Create(const NewTable& table, std::string uuid,
                                        std::int64_t now_ms);
  /// The first version of another table with the columns, specs, properties and the
  /// current snapshot of `live`, but none of its history, refs and logs.
  static MetadataBuilder Twin(const TableMetadata& live, std::string location,
                              std::string uuid, std::int64_t now_ms);
  /// The version after `base`, which was read from `base_file` (URI, as the catalog
  /// spells it; empty for a base that was never written).
  MetadataBuilder(const TableMetadata& base, std::string_view base_file,
                  std::int64_t now_ms);

  /// The stamp of everything in this version: the clock, never before the base.
  std::int64_t now_ms() const { return now_ms_; }
  std::int64_t next_sequence_number() const;

  /// Adds `snapshot` and points the branch `ref` to it. REQUIRES: its id is unused, its
  /// sequence number is next_sequence_number(), its parent (if any) exists.
  Status AddSnapshot(const Snapshot& snapshot, std::string_view ref = kMainBranch);
  /// Creates or moves a ref. Invalid for a tag that exists at another snapshot: tags do
  /// not move.
  Status SetRef(const std::string& name, const SnapshotRef& ref);
  /// Invalid for the main branch; NotFound for a name that is not there.
  Status RemoveRef(const std::string& name);

  /// Adds `schema` under a new id (or finds an equal one) and makes it current. New
  /// columns are optional and have ids above last-column-id; kept ids keep their type or
  /// are promoted (int to long, float to double, wider decimal); columns may be dropped.
  /// Returns the schema's id.
  Result<int> SetSchema(Schema schema);
  /// Adds one optional column at the end; its ids are assigned here. Returns its id.
  Result<int> AddColumn(Field column);

  void SetProperty(const std::string& key, std::string_view value);
  void RemoveProperty(const std::string& key);

  Result<TableMetadata> Build() const;

 private:
  MetadataBuilder(Json document, std::int64_t now_ms);
  Json* FindSnapshotJson(std::int64_t id);
  void LogMainChange(std::int64_t snapshot_id);

  Json document_;
  std::int64_t now_ms_ = 0;
};

/// `<folder>/<V>-<uuid>.metadata.json`: V counts up from the base file's, five digits.
std::string NextMetadataFile(const TableMetadata& metadata, std::string_view base_file,
                             std::string_view uuid);

}  // namespace amend::iceberg

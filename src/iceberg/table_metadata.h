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
  std::string manifest_list;                   ///< URI
  std::map<std::string, std::string> summary;  ///< "operation" always present
  std::optional<int> schema_id;
};

struct SnapshotRef {
  std::int64_t snapshot_id = 0;
  bool is_tag = false;
  std::optional<std::int64_t> max_ref_age_ms;
  std::optional<int> min_snapshots_to_keep;
  std::optional<std::int64_t> max_snapshot_age_ms;
};

/// One version of a table: what a *.metadata.json holds. Immutable once read; changed
/// only through MetadataBuilder, which keeps members it does not know (statistics, keys
/// of other engines) as they were read.
///
/// INV-M1 refs["main"] is the current snapshot, or both are absent.
/// INV-M2 every ref points into the snapshots; no snapshot's sequence number exceeds
///        last_sequence_number.
/// INV-M3 ids of columns and partition fields are never reused.
/// INV-M4 last_updated_ms and both logs never run backwards.
class TableMetadata {
 public:
  /// Unsupported: format version other than 2, encryption keys, unknown required
  /// features.
  static Result<TableMetadata> FromJson(std::string_view text, std::string_view what);
  std::string ToJson() const;

  const std::string& uuid() const;
  const std::string& location() const;  ///< URI without trailing slash
  std::int64_t last_sequence_number() const;
  std::int64_t last_updated_ms() const;
  int last_column_id() const;
  int last_partition_id() const;
  const Schema& schema() const;  ///< current
  const Schema* FindSchema(int id) const;
  const PartitionSpec& spec() const;  ///< default
  const PartitionSpec* FindSpec(int id) const;
  const std::vector<Snapshot>& snapshots() const;
  const Snapshot* current_snapshot() const;  ///< null for an empty table
  const Snapshot* FindSnapshot(std::int64_t id) const;
  const std::map<std::string, SnapshotRef>& refs() const;
  const std::map<std::string, std::string>& properties() const;
};

}  // namespace amend::iceberg

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "iceberg/value.h"

namespace amend::iceberg {

/// Counts or bounds of columns, by field id.
using ColumnCounts = FlatMap<int, std::int64_t>;
using ColumnBounds = FlatMap<int, std::string>;

enum class FileContent { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };

/// One file of a table as a manifest describes it. The engine writes the file and fills
/// this in; `path` is the full URI and is compared byte for byte.
struct DataFile {
  FileContent content = FileContent::kData;
  std::string path;  ///< file:///abs/path
  PartitionTuple partition;
  int spec_id = 0;
  std::int64_t record_count = 0;
  std::int64_t file_size = 0;  ///< bytes
  // Column metrics; an absent id means unknown. Flat, because a commit handles those of
  // every file of the partitions that it replaces.
  ColumnCounts column_sizes;
  ColumnCounts value_counts;
  ColumnCounts null_counts;
  ColumnCounts nan_counts;
  ColumnBounds lower_bounds;  ///< single-value binary
  ColumnBounds upper_bounds;
  std::optional<std::string> key_metadata;
  std::vector<std::int64_t> split_offsets;
  std::vector<int> equality_ids;
  std::optional<int> sort_order_id;
  std::optional<std::string> referenced_data_file;
};

enum class EntryStatus { kExisting = 0, kAdded = 1, kDeleted = 2 };

/// A manifest's line about one file, inheritance applied: the numbers are known for every
/// entry read from a committed table; on writing, an added entry leaves them empty so
/// that its manifest survives a retry of the commit.
struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<std::int64_t> snapshot_id;
  std::optional<std::int64_t> sequence_number;  ///< data sequence number
  std::optional<std::int64_t> file_sequence_number;
  DataFile file;
};

/// The same line about a file that somebody else keeps, for writing: the metrics of the
/// files of thousands of partitions are not copied on their way into a manifest.
struct EntryRef {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<std::int64_t> snapshot_id;
  std::optional<std::int64_t> sequence_number;
  std::optional<std::int64_t> file_sequence_number;
  const DataFile* file = nullptr;  ///< borrowed; never null where it is used
};

/// Null-safe minimum and maximum of one partition field over all entries of a manifest.
struct PartitionFieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<std::string> lower_bound;
  std::optional<std::string> upper_bound;
};

/// A manifest list's line about one manifest.
struct ManifestFile {
  std::string path;
  std::int64_t length = 0;  ///< bytes
  int spec_id = 0;
  bool is_deletes = false;
  std::int64_t sequence_number = 0;
  std::int64_t min_sequence_number = 0;
  std::int64_t added_snapshot_id = 0;
  // Unknown counts (older writers) read as "assume there are some".
  std::optional<int> added_files, existing_files, deleted_files;
  std::optional<std::int64_t> added_rows, existing_rows, deleted_rows;
  std::vector<PartitionFieldSummary> partitions;
  std::optional<std::string> key_metadata;

  bool HasLiveFiles() const {
    return added_files.value_or(1) > 0 || existing_files.value_or(1) > 0;
  }
};

}  // namespace amend::iceberg

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "iceberg/data_file.h"
#include "iceberg/schema.h"
#include "lineage/definition.h"
#include "partition/partition_set.h"
#include "state/write_set.h"

namespace amend::engine {

/// One name a SELECT reads, bound to exactly the files it may see.
struct TaskInput {
  std::string table;
  iceberg::Schema schema;          ///< columns are read by field id, under these names
  std::vector<std::string> files;  ///< local paths in canonical order
  bool show_landing_columns =
      false;  ///< `_amend_file`, `_amend_row` are named by the SQL
};

/// Values that a column may hold, NULL aside.
struct AcceptedValues {
  std::string column;
  std::vector<std::string> values;  ///< as text
};

/// What to measure of each staged partition besides rows and digests.
struct MeasureSpec {
  std::vector<std::string> nulls;                  ///< columns
  std::vector<std::vector<std::string>> distinct;  ///< column tuples, compared null-safe
  std::map<std::string, AcceptedValues> accepted;  ///< by any name
};

/// Everything that one task needs, as values: what to run, on which files, where to
/// write. Two equal specs give equal rows; `name` says so.
struct TaskSpec {
  std::string name;  ///< of the write set: hash of definition, engine, inputs, partitions
  std::string model;
  std::string sql;
  std::vector<TaskInput> inputs;
  partition::PartitionSpace space;
  /// Partitions to produce. Without end: each of them that rows fall into, and `known`.
  partition::PartitionSet asked;
  /// Where `asked` has no end, those of them that had rows before: they are produced even
  /// if they have none any more. Ascending.
  std::vector<partition::Partition> known;
  /// Where `asked` has no end, partitions of which the same evaluation tells whether they
  /// have rows, without producing them.
  partition::PartitionSet watched;
  /// Partitions that rows may fall into besides the asked ones because the inputs of the
  /// asked ones also feed them in part (Affected(Required(asked))). Such rows are
  /// dropped; rows outside of both are strays: the mapping was wrong, and the task says
  /// so.
  partition::PartitionSet tolerated;
  iceberg::Schema schema;  ///< of the output, with ids
  /// Columns of the published schema, where it had fewer: digests over both are taken.
  std::optional<std::vector<std::string>> old_columns;
  MeasureSpec measures;
  /// A landing: one COPY straight from its file, whatever partitions the rows fall into.
  /// One with many may be written as several files of a partition.
  bool streamed = false;
  /// Sort (spilling where needed) so that one file at a time is open: for streams over
  /// more partitions than a batch has, whose writers would not fit the memory.
  bool sort_by_partition = false;
  std::string folder;       ///< local folder for the files, made by the runner
  std::string file_prefix;  ///< `<task>-<attempt>`; files are `<prefix>-<n>.parquet`
};

/// Rows that fell outside of what the task may produce.
struct Stray {
  partition::Partition partition;
  std::int64_t rows = 0;
  std::vector<Json> samples;  ///< a few rows
};

/// How many offend, and a few of them.
struct Offenders {
  std::int64_t count = 0;
  std::vector<Json> samples;
};

/// What was measured of one staged partition, from the files as written.
struct PartitionMeasure {
  partition::Partition partition;
  std::int64_t rows = 0;
  std::map<std::string, std::int64_t> nulls;                 ///< by column
  std::map<std::vector<std::string>, Offenders> duplicates;  ///< keys, by column tuple
  std::map<std::string, Offenders> not_accepted;             ///< rows, by name
};

struct TaskResult {
  state::WriteSet write_set;
  std::vector<PartitionMeasure> measures;  ///< of asked partitions that have rows
  std::vector<Stray> strays;
};

}  // namespace amend::engine

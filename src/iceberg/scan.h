#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/data_file.h"
#include "iceberg/table_metadata.h"
#include "iceberg/value.h"

namespace amend::iceberg {

enum class CompareOp {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,  ///< equal to one of the literals
  kIsNull,
  kNotNull,
};

/// One column against literals, as SQL means it: a null or missing value satisfies only
/// kIsNull. NaN is greater than every number and equal to itself (DuckDB, Spark).
struct Condition {
  int field_id = 0;  ///< a top-level column of the current schema
  CompareOp op = CompareOp::kEqual;
  /// In the column's type, never null; one, none for the null tests, any number for kIn.
  std::vector<Value> literals = {};
};

/// All of these; empty keeps every file. Used for pruning only: a kept file may still
/// hold no matching row, a pruned one never holds any.
using Filter = std::vector<Condition>;

/// A data file that a snapshot holds.
struct LiveFile {
  DataFile file;
  std::int64_t snapshot_id = 0;      ///< that added it
  std::int64_t sequence_number = 0;  ///< data sequence number
  std::int64_t file_sequence_number = 0;
};

/// The live data files of a snapshot that may hold rows of `filter`, sorted by path.
/// Manifests are pruned by their partition summaries, each by its own spec, then files by
/// partition, null counts and bounds.
///
/// Unsupported for a table with delete files, named in the message: to read it without
/// them would show rows that are gone. Damaged where a path is live twice. Invalid for a
/// filter on a column that is not there.
Result<std::vector<LiveFile>> LiveFiles(Env& env, const TableMetadata& metadata,
                                        const Snapshot& snapshot,
                                        const Filter& filter = {});

/// A partition of one of a table's specs.
struct PartitionKey {
  int spec_id = 0;
  PartitionTuple tuple;
  friend auto operator<=>(const PartitionKey&, const PartitionKey&) = default;
  friend bool operator==(const PartitionKey&, const PartitionKey&) = default;
};

struct PartitionDelta {
  std::vector<LiveFile> removed;  ///< live before, not after; sorted by path
  std::vector<LiveFile> added;
};

/// Partitions whose live files differ. A partition that was rewritten into other files
/// with equal rows is here too: whether content changed is the caller's question.
using Changes = std::map<PartitionKey, PartitionDelta>;

/// One version of a table's state. Borrowed.
struct TableState {
  const TableMetadata& metadata;
  const Snapshot* snapshot = nullptr;  ///< null for an empty table
};

/// Compares state, not history: what changed between is told also across rollbacks,
/// expired ancestors and twins. Manifests that both list are not read, so the cost grows
/// with the change and not with the table.
///
/// Unsupported and Damaged as for LiveFiles.
Result<Changes> CompareState(Env& env, const TableState& before, const TableState& after);

}  // namespace amend::iceberg

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "partition/mapping.h"
#include "partition/space.h"

namespace amend::lineage {

/// Where something was written by a person: for messages.
struct SourceLocation {
  std::string file;  ///< relative to the project folder
  int line = 0;      ///< 1-based; 0 = the file as a whole
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// A column of a table. `type` is the canonical SQL spelling of one of the types that a
/// table may hold: BOOLEAN, INTEGER, BIGINT, FLOAT, DOUBLE, DECIMAL(p,s), DATE,
/// TIMESTAMP, TIMESTAMP WITH TIME ZONE, VARCHAR, UUID, BLOB, and T[], STRUCT and MAP of
/// these. Everything enters through CanonicalType (lineage/column_type.h), which refuses
/// the rest.
struct Column {
  std::string name;
  std::string type;
  bool nullable = true;
  friend bool operator==(const Column&, const Column&) = default;
};

/// Names of the columns that landing adds; left out of `SELECT *`, digests and diffs.
inline constexpr const char* kFileColumn = "_amend_file";
inline constexpr const char* kRowColumn = "_amend_row";

enum class SourceKind {
  kRaw,      ///< written by `amend land` alone
  kForeign,  ///< a table in the catalog that others write; only read
};

struct Source {
  std::string name;
  SourceKind kind = SourceKind::kRaw;
  std::vector<Column> columns;  ///< declared; a foreign table's come from the catalog
  partition::PartitionSpace space;
  std::vector<std::string> key;
  SourceLocation at;
};

/// What a column promises. Checked on every staged write set.
struct ColumnContract {
  std::string name;
  std::optional<std::string> type;
  bool not_null = false;
  bool unique = false;
  std::vector<std::string> accepted_values;
  double tolerance = 0;  ///< absolute; used by checks and diffs, never by cutoff
  SourceLocation at;
};

enum class CheckKind {
  kRowsAgainstPublished,  ///< rows may change by at most `limit` (a share, 0.5 = 50 %)
  kEmptyAllowed,          ///< a planned partition may end with 0 rows
  kNotNull,
  kUnique,
  kAcceptedValues,
};

enum class Severity { kBlock, kWarn };

struct CheckSpec {
  CheckKind kind = CheckKind::kRowsAgainstPublished;
  std::string name;  ///< unique in its model; shown in verdicts
  std::vector<std::string> columns;
  std::vector<std::string> values;
  double limit = 0;
  Severity severity = Severity::kBlock;
  SourceLocation at;
};

/// What a change of a kind does to history that is already built.
enum class Replay { kAll, kSince, kNone, kAsk };

struct ReplayPolicy {
  Replay code = Replay::kAll;
  std::optional<std::int64_t> code_since_day;  ///< days since the epoch, with kSince
};

enum class Writers {
  kExclusive,  ///< a foreign commit to our partitions is drift
  kShared,     ///< others may append to partitions that no plan writes
};

/// `inputs:` of a header: overrides inference for one input table.
struct DeclaredInput {
  std::string table;
  partition::PartitionMapping mapping;
  SourceLocation at;
};

/// A table that a SELECT of ours defines.
struct Model {
  std::string name;
  SourceLocation at;
  std::string sql;   ///< without its header
  int sql_line = 1;  ///< line of the file where `sql` starts
  partition::PartitionSpace space;
  std::vector<std::string> key;
  std::vector<ColumnContract> contracts;
  std::vector<CheckSpec> checks;
  std::vector<DeclaredInput> inputs;
  ReplayPolicy replay;
  Writers writers = Writers::kExclusive;
  std::string owner;
  std::vector<std::string> tags;
  bool critical = false;
  bool allow_empty = false;  ///< `allow_empty: true`: planned partitions may end empty
};

struct Limits {
  std::int64_t memory_bytes = 4'000'000'000;  ///< whole process, VmHWM
  int threads = 2;  ///< worker threads, each with one engine thread
};

/// amend.yaml and models/ as values.
struct Project {
  std::string root;  ///< absolute folder
  std::string name;
  std::string name_space = "main";  ///< catalog namespace of its tables
  std::string catalog;              ///< path of the SQLite file, absolute
  std::string warehouse;            ///< absolute folder
  Limits limits;
  std::vector<Source> sources;  ///< sorted by name
  std::vector<Model> models;    ///< sorted by name
  int tag_days = 14;            ///< age of amend_before_<n> tags
};

/// A column of an input.
struct ColumnRef {
  std::string table;
  std::string column;
  friend auto operator<=>(const ColumnRef&, const ColumnRef&) = default;
};

/// One reference to an input table inside a SELECT (a self join has two).
struct InputRef {
  std::string table;
  /// Superset of the real flow of partitions through this reference.
  partition::PartitionMapping mapping;
  /// Where set: an output partition exists only if this reference has rows in
  /// extent.Required of it (the driving side of an inner join, of a window, of a FROM).
  std::optional<partition::PartitionMapping> extent;
  std::set<std::string> columns;  ///< read in any role
  std::string why;  ///< for people: "same day", "window 7 days", "day → month"
};

struct OutputColumn {
  std::string name;
  std::string type;
  std::set<ColumnRef> reads;  ///< its value depends on these
  std::string fingerprint;    ///< of the bound expression
};

/// Something that makes a SELECT's result depend on more than its pinned inputs.
struct DeterminismFinding {
  enum class Kind { kRandom, kClock, kUnordered, kTies };
  Kind kind = Kind::kRandom;
  std::string text;  ///< "random() at line 3"
  int line = 0;      ///< in the model's file; 0 where it is not known
};

/// What a SELECT does, as understood from its bound plan. Made by sql/.
struct BoundModel {
  std::vector<OutputColumn> columns;
  /// Columns that decide which rows exist and how they are grouped, joined, ordered.
  std::set<ColumnRef> row_reads;
  std::vector<InputRef> inputs;
  /// An output partition exists only if, for some branch, every reference in it (index
  /// into inputs, each with an extent) has rows for it. Empty: not known, any.
  std::vector<std::vector<std::size_t>> extents;
  std::string rows_fingerprint;  ///< of the row-producing rest
  std::vector<DeterminismFinding> findings;
  /// Floating sums and the like: bits depend on the order of rows, which is why a task
  /// runs on one engine thread over files in canonical order.
  bool order_sensitive = false;
};

}  // namespace amend::lineage

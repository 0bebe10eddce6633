#include "engine/sql_text.h"

#include <algorithm>

#include "base/civil.h"
#include "base/text.h"
#include "duck/database.h"
#include "fmt/format.h"
#include "table/spaces.h"
#include "table/types.h"

namespace amend::engine {
namespace {

using iceberg::Field;
using iceberg::TypeId;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Period;
using partition::TimeRuns;

// Stands for NULL among ordinals; no period is that early.
constexpr std::int64_t kNoOrdinal = -9'223'372'036'854'775'807;

bool IsLandingColumn(const std::string& name) {
  return name == lineage::kFileColumn || name == lineage::kRowColumn;
}

/// `ARRAY['a', 'b']` of paths.
std::string FileListSql(const std::vector<std::string>& files) {
  std::vector<std::string> quoted;
  quoted.reserve(files.size());
  for (const std::string& file : files) quoted.push_back(duck::ToPathLiteral(file));
  return "[" + Join(quoted, ", ") + "]";
}

/// `map {1: {name: 'x', type: 'BIGINT', default_value: NULL}, …}`: read by field id.
std::string SchemaMapSql(const iceberg::Schema& schema) {
  std::vector<std::string> entries;
  for (const Field& field : schema.fields) {
    entries.push_back(fmt::format("{}: {{name: {}, type: {}, default_value: NULL}}",
                                  field.id, SqlLiteral(field.name),
                                  SqlLiteral(table::SqlFromType(field.type))));
  }
  return "map {" + Join(entries, ", ") + "}";
}

std::string ReadSql(const iceberg::Schema& schema, const std::vector<std::string>& files,
                    std::string_view extra) {
  return fmt::format("read_parquet({}, hive_partitioning=false, schema={}{})",
                     FileListSql(files), SchemaMapSql(schema), extra);
}

std::string EmptySql(const iceberg::Schema& schema, bool show_landing_columns) {
  std::vector<std::string> columns;
  for (const Field& field : schema.fields) {
    if (IsLandingColumn(field.name) && !show_landing_columns) continue;
    columns.push_back(fmt::format("NULL::{} AS {}", table::SqlFromType(field.type),
                                  SqlIdentifier(field.name)));
  }
  return "SELECT " + Join(columns, ", ") + " WHERE false";
}

/// Which side of a period's start a row is on. Compares the column itself: its ordinal
/// would have to be computed for every row, and says nothing to the engine, which skips
/// row groups by the column's bounds. Outside the calendar a period has no start of its
/// own, and ordinals are compared. A space without time has one period, 0.
std::string BoundSql(const partition::Dimension* time, std::string_view comparison,
                     std::int64_t ordinal) {
  if (time == nullptr) return fmt::format("0 {} {}", comparison, ordinal);
  std::string column = SqlIdentifier(time->column);
  Period period(time->grain, ordinal);
  std::int64_t micros = partition::StartMicros(period);
  if (partition::PeriodContainingMicros(time->grain, micros) != period) {
    return fmt::format("{} {} {}", table::TimeOrdinalSql(time->grain, column), comparison,
                       ordinal);
  }
  if (time->grain == partition::Grain::kHour) {
    return fmt::format("{} {} make_timestamp({})", column, comparison, micros);
  }
  return fmt::format("{} {} make_date({})", column, comparison,
                     partition::StartDay(period));
}

std::string TimesSql(const partition::Dimension* time, const TimeRuns& times) {
  const std::string column = time == nullptr ? "0" : SqlIdentifier(time->column);
  std::vector<std::string> parts;
  if (times.has_null()) parts.push_back(fmt::format("({} IS NULL)", column));
  for (const partition::Run& run : times.runs()) {
    std::vector<std::string> bounds;
    if (run.first != partition::kMinusInfinity) {
      bounds.push_back(BoundSql(time, ">=", run.first));
    }
    if (run.end != partition::kPlusInfinity) {
      bounds.push_back(BoundSql(time, "<", run.end));
    }
    if (bounds.empty()) bounds.push_back(column + " IS NOT NULL");
    parts.push_back("(" + Join(bounds, " AND ") + ")");
  }
  if (parts.empty()) return "false";
  return "coalesce(" + Join(parts, " OR ") + ", false)";
}

std::string ValueSql(const partition::Dimension& dimension,
                     const partition::Value& value) {
  if (partition::IsNull(value)) return "NULL";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return SqlLiteral(*text);
  std::int64_t number = std::get<std::int64_t>(value);
  switch (dimension.type) {
    case partition::ValueType::kDate:
      return "DATE " + SqlLiteral(FormatDay(number));
    case partition::ValueType::kTimestamp:
      return fmt::format("make_timestamp({})", number);
    default:
      return std::to_string(number);
  }
}

std::string TupleSql(const PartitionSpace& space, const partition::ValueTuple& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const partition::Dimension& dimension = space.value_dimensions()[i];
    parts.push_back(fmt::format("{} IS NOT DISTINCT FROM {}",
                                SqlIdentifier(dimension.column),
                                ValueSql(dimension, values[i])));
  }
  return "(" + Join(parts, " AND ") + ")";
}

void FieldIdEntry(const Field& field, const std::string& name, std::string* out) {
  *out += name + ": ";
  if (field.type.is_primitive()) {
    *out += std::to_string(field.id);
    return;
  }
  *out += fmt::format("{{__duckdb_field_id: {}", field.id);
  for (const Field& child : field.type.children) {
    *out += ", ";
    bool named = field.type.id == TypeId::kStruct;
    FieldIdEntry(child, named ? SqlIdentifier(child.name) : child.name, out);
  }
  *out += "}";
}

}  // namespace

std::string ScanSql(const iceberg::Schema& schema, const std::vector<std::string>& files,
                    bool show_landing_columns) {
  if (files.empty()) return EmptySql(schema, show_landing_columns);
  std::vector<std::string> columns;
  for (const Field& field : schema.fields) {
    if (IsLandingColumn(field.name) && !show_landing_columns) continue;
    columns.push_back(SqlIdentifier(field.name));
  }
  return fmt::format("SELECT {} FROM {}", Join(columns, ", "),
                     ReadSql(schema, files, ""));
}

std::string ReadWithPathSql(const iceberg::Schema& schema,
                            const std::vector<std::string>& files) {
  AMEND_CHECK(!files.empty());
  return ReadSql(schema, files, fmt::format(", filename='{}'", kPathColumn));
}

std::string MembershipSql(const PartitionSpace& space, const PartitionSet& set) {
  if (set.is_all()) return "true";
  if (set.empty()) return "false";
  if (set.named().empty()) return TimesSql(space.time(), set.rest());
  std::string sql = "CASE";
  for (const auto& [values, times] : set.named()) {
    sql += fmt::format(" WHEN {} THEN {}", TupleSql(space, values),
                       TimesSql(space.time(), times));
  }
  return sql + " ELSE " + TimesSql(space.time(), set.rest()) + " END";
}

std::string PartitionKeySql(const PartitionSpace& space) {
  if (space.unpartitioned()) return "'all'";
  std::string time;
  if (space.has_time()) {
    std::string ordinal = table::TimeOrdinalSql(space);
    // A number: text would be made once for every row.
    if (space.value_dimensions().empty()) {
      return fmt::format("coalesce({}, ({}))", ordinal, kNoOrdinal);
    }
    time = fmt::format("coalesce(({})::VARCHAR, 'none')", ordinal);
  }
  std::vector<std::string> values;
  for (const partition::Dimension& dimension : space.value_dimensions()) {
    values.push_back(SqlIdentifier(dimension.column));
  }
  // Values may be of any length and hold anything, and this text becomes a folder's name:
  // a hash of the tuple as a list of JSON texts keeps NULL, '' and 'NULL' apart.
  std::string hashed = fmt::format("md5(to_json(row({}))::VARCHAR)", Join(values, ", "));
  return time.empty() ? hashed : fmt::format("concat({}, '-', {})", time, hashed);
}

partition::Partition PartitionOfKey(std::int64_t key) {
  partition::Partition point;
  point.time = key == kNoOrdinal ? std::nullopt : std::optional(key);
  return point;
}

std::string FieldIdsSql(const iceberg::Schema& schema) {
  std::string out;
  for (const Field& field : schema.fields) {
    if (!out.empty()) out += ", ";
    FieldIdEntry(field, SqlIdentifier(field.name), &out);
  }
  return "{" + out + "}";
}

std::string KeyHashSql(std::vector<std::string> columns) {
  std::sort(columns.begin(), columns.end());
  for (std::string& column : columns) column = SqlIdentifier(column);
  return "hash(" + Join(columns, ", ") + ")";
}

std::string RowHashSql(const iceberg::Schema& schema, std::vector<std::string> columns) {
  std::sort(columns.begin(), columns.end());
  for (std::string& column : columns) {
    const Field* field = schema.FindByName(column);
    AMEND_CHECK(field != nullptr);
    std::string name = SqlIdentifier(column);
    column =
        field->type.is_primitive() ? name : fmt::format("to_json({})::VARCHAR", name);
  }
  return "hash(" + Join(columns, ", ") + ")";
}

std::string RowHashColumns(const TaskSpec& spec) {
  std::string columns = fmt::format(
      "{} AS {}", RowHashSql(spec.schema, ContentColumns(spec.schema)), kRowHash);
  if (spec.old_columns) {
    columns += fmt::format(", {} AS {}", RowHashSql(spec.schema, *spec.old_columns),
                           kOldRowHash);
  }
  return columns;
}

std::vector<std::string> DigestTerms(std::string_view row_hash) {
  return {std::string(row_hash), fmt::format("hash({}, 'amend')", row_hash)};
}

std::string DigestSql(std::string_view row_hash) {
  std::vector<std::string> sums = DigestTerms(row_hash);
  for (std::string& term : sums) {
    term = fmt::format("(sum({}) % 18446744073709551616::HUGEINT)::UBIGINT", term);
  }
  return Join(sums, ", ");
}

std::string DigestFormula(const iceberg::Schema& schema,
                          std::vector<std::string> columns) {
  std::sort(columns.begin(), columns.end());
  std::string text = "duckdb-" + std::string(duck::kPinnedVersion) + "/2";
  for (const std::string& column : columns) {
    const Field* field = schema.FindByName(column);
    AMEND_CHECK(field != nullptr);
    text +=
        fmt::format(" {} {};", SqlIdentifier(column), table::SqlFromType(field->type));
  }
  return text;
}

std::vector<std::string> ContentColumns(const iceberg::Schema& schema) {
  std::vector<std::string> names;
  for (const Field& field : schema.fields) {
    if (!IsLandingColumn(field.name)) names.push_back(field.name);
  }
  return names;
}

}  // namespace amend::engine

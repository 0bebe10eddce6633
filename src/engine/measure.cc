#include "engine/measure.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.h"
#include "engine/partition_columns.h"
#include "engine/sql_text.h"
#include "fmt/format.h"
#include "table/data_files.h"
#include "table/spaces.h"

namespace amend::engine {
namespace {

using partition::Dimension;

constexpr std::int64_t kSampleRows = 3;

std::string LocalPath(const iceberg::DataFile& file) { return file.path.substr(7); }

std::uint64_t Unsigned(const duck::Value& value) {
  if (const auto* huge = std::get_if<duck::HugeInt>(&value)) {
    return static_cast<std::uint64_t>(huge->number);
  }
  return static_cast<std::uint64_t>(CountOf(value));
}

/// Tells files apart while grouping: a number, because a path would be hashed and
/// compared for every row. A column of that name would hide the engine's own.
std::string FileGroup(const iceberg::Schema& schema) {
  bool hidden = std::any_of(
      schema.fields.begin(), schema.fields.end(),
      [](const iceberg::Field& field) { return ToLower(field.name) == "file_index"; });
  return hidden ? kPathColumn : "file_index";
}

/// Names a hash that the inner query computes once for each row.
std::string KeyHash(std::size_t tuple) { return fmt::format("amend_key_{}", tuple); }

/// What is asked of each file after its name, in this order.
std::string MeasureColumns(const TaskSpec& spec) {
  std::string sql = "count(*)";
  if (const Dimension* time = spec.space.time()) {
    // Ordinals of the bounds, not bounds of the ordinals: twice a file, not once a row.
    std::string column = SqlIdentifier(time->column);
    sql += fmt::format(", count({}), {}, {}", column,
                       table::TimeOrdinalSql(time->grain, "min(" + column + ")"),
                       table::TimeOrdinalSql(time->grain, "max(" + column + ")"));
  }
  for (const Dimension& dimension : spec.space.value_dimensions()) {
    std::string column = SqlIdentifier(dimension.column);
    // A file holds one value; NULL is told from values by the count.
    sql += fmt::format(", count({0}), min({0}), max({0})", column);
  }
  sql += ", " + DigestSql(kRowHash);
  if (spec.old_columns) sql += ", " + DigestSql(kOldRowHash);
  for (const std::string& column : spec.measures.nulls) {
    sql += fmt::format(", count(*) - count({})", SqlIdentifier(column));
  }
  for (std::size_t i = 0; i < spec.measures.distinct.size(); ++i) {
    sql += fmt::format(", count(DISTINCT {})", KeyHash(i));
  }
  return sql;
}

/// One row for each file: its name, then MeasureColumns.
std::string MeasureSql(const TaskSpec& spec, const std::vector<std::string>& paths) {
  std::string hashes = RowHashColumns(spec);
  for (std::size_t i = 0; i < spec.measures.distinct.size(); ++i) {
    hashes +=
        fmt::format(", {} AS {}", KeyHashSql(spec.measures.distinct[i]), KeyHash(i));
  }
  return fmt::format(
      "SELECT any_value({0}), {1} FROM (SELECT *, {2} AS amend_group, {3} FROM {4}) "
      "GROUP BY amend_group",
      kPathColumn, MeasureColumns(spec), FileGroup(spec.schema), hashes,
      ReadWithPathSql(spec.schema, paths));
}

/// Reads the values of one row from left to right.
class RowReader {
 public:
  explicit RowReader(const duck::Row& row) : row_(row) {}
  const duck::Value& Next() { return row_[at_++]; }

 private:
  const duck::Row& row_;
  std::size_t at_ = 1;  // after the file name
};

/// count, min, max of one dimension: all rows NULL, or all the same value.
Status ReadDimension(const Dimension& dimension, std::int64_t rows, RowReader& reader,
                     partition::Partition* point) {
  std::int64_t count = CountOf(reader.Next());
  const duck::Value& low = reader.Next();
  const duck::Value& high = reader.Next();
  if ((count != 0 && count != rows) || !(low == high)) {
    return Internal("a staged file holds more than one partition of " +
                    dimension.ToString());
  }
  bool null = count == 0;
  if (dimension.kind == Dimension::Kind::kTime) {
    point->time = null ? std::nullopt : std::optional(CountOf(low));
  } else {
    point->values.push_back(null ? partition::Value() : PointValue(low));
  }
  return {};
}

Result<MeasuredFile> ReadMeasure(const TaskSpec& spec, const duck::Row& row) {
  MeasuredFile file;
  RowReader reader(row);
  file.measure.rows = CountOf(reader.Next());
  if (const Dimension* time = spec.space.time()) {
    AMEND_FAIL_IF_ERROR(
        ReadDimension(*time, file.measure.rows, reader, &file.measure.partition));
  }
  for (const Dimension& dimension : spec.space.value_dimensions()) {
    AMEND_FAIL_IF_ERROR(
        ReadDimension(dimension, file.measure.rows, reader, &file.measure.partition));
  }
  auto digest = [&](std::vector<std::string> columns) {
    state::Digest d;
    d.formula = DigestFormula(spec.schema, std::move(columns));
    d.rows = file.measure.rows;
    d.low = Unsigned(reader.Next());
    d.high = Unsigned(reader.Next());
    return d;
  };
  file.digest = digest(ContentColumns(spec.schema));
  if (spec.old_columns) file.old_columns = digest(*spec.old_columns);
  for (const std::string& column : spec.measures.nulls) {
    file.measure.nulls[column] = CountOf(reader.Next());
  }
  // As many hashes of keys as rows: no key twice, for equal keys have equal hashes. The
  // converse does not hold, so fewer are only a reason to look.
  for (const std::vector<std::string>& tuple : spec.measures.distinct) {
    file.measure.duplicates[tuple] = {};
    if (CountOf(reader.Next()) != file.measure.rows) file.suspects.push_back(tuple);
  }
  return file;
}

Json RowToJson(const std::vector<duck::ColumnInfo>& columns, const duck::Row& row) {
  Json object = Json::object();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    object[columns[i].name] = duck::ToJson(row[i]);
  }
  return object;
}

/// Rows of a query whose first column is the file and whose last the file's total, as
/// samples between them.
Status ReadOffenders(
    duck::Connection& connection, const std::string& sql,
    const std::function<Offenders&(const std::string& path)>& offenders_of) {
  AMEND_ASSIGN_OR_RETURN(duck::Rows found, connection.Query(sql));
  for (const duck::Row& row : found.rows) {
    Offenders& offenders = offenders_of(std::get<std::string>(row.front()));
    offenders.count = CountOf(row.back());
    std::vector<duck::ColumnInfo> columns(found.columns.begin() + 1,
                                          found.columns.end() - 1);
    offenders.samples.push_back(
        RowToJson(columns, duck::Row(row.begin() + 1, row.end() - 1)));
  }
  return {};
}

using ByPath = std::map<std::string, MeasuredFile*>;

/// Keys that more than one row has, in the files where hashes repeat. GROUP BY treats
/// NULLs as equal.
Status CountDuplicates(duck::Connection& connection, const TaskSpec& spec,
                       const ByPath& files) {
  for (const std::vector<std::string>& tuple : spec.measures.distinct) {
    std::vector<std::string> suspects;
    for (const auto& [path, file] : files) {
      if (std::count(file->suspects.begin(), file->suspects.end(), tuple) > 0) {
        suspects.push_back(path);
      }
    }
    if (suspects.empty()) continue;
    std::vector<std::string> key;
    for (const std::string& column : tuple) key.push_back(SqlIdentifier(column));
    std::string groups = fmt::format(
        "SELECT {0}, {1}, count(*) AS rows FROM {2} GROUP BY ALL HAVING count(*) > 1",
        kPathColumn, Join(key, ", "), ReadWithPathSql(spec.schema, suspects));
    std::string sql = fmt::format(
        "SELECT *, count(*) OVER (PARTITION BY {0}) AS amend_total FROM ({1}) "
        "QUALIFY row_number() OVER (PARTITION BY {0} ORDER BY rows DESC, {2}) <= {3}",
        kPathColumn, groups, Join(key, ", "), kSampleRows);
    AMEND_RETURN_IF_ERROR(
        ReadOffenders(connection, sql, [&](const std::string& path) -> Offenders& {
          return files.at(path)->measure.duplicates[tuple];
        }));
  }
  return {};
}

Status CountNotAccepted(duck::Connection& connection, const TaskSpec& spec,
                        const ByPath& files) {
  std::vector<std::string> paths;
  for (const auto& [path, file] : files) paths.push_back(path);
  for (const auto& [name, accepted] : spec.measures.accepted) {
    for (const auto& [path, file] : files) file->measure.not_accepted[name] = {};
    std::string column = SqlIdentifier(accepted.column);
    std::vector<std::string> values;
    for (const std::string& value : accepted.values) values.push_back(SqlLiteral(value));
    std::string misfits = fmt::format(
        "SELECT {3}, {0}::VARCHAR AS {0}, count(*) AS rows FROM {1} WHERE {0} IS NOT "
        "NULL AND NOT list_contains([{2}]::VARCHAR[], {0}::VARCHAR) GROUP BY ALL",
        column, ReadWithPathSql(spec.schema, paths), Join(values, ", "), kPathColumn);
    std::string sql = fmt::format(
        "SELECT *, sum(rows) OVER (PARTITION BY {0}) AS amend_total FROM ({1}) "
        "QUALIFY row_number() OVER (PARTITION BY {0} ORDER BY rows DESC, {2}) <= {3}",
        kPathColumn, misfits, column, kSampleRows);
    AMEND_RETURN_IF_ERROR(ReadOffenders(
        connection, sql, [&, &kind = name](const std::string& path) -> Offenders& {
          return files.at(path)->measure.not_accepted[kind];
        }));
  }
  return {};
}

Status SampleStrays(duck::Connection& connection, const TaskSpec& spec,
                    const ByPath& files) {
  for (const auto& [path, file] : files) {
    if (spec.asked.Contains(file->measure.partition)) continue;
    AMEND_ASSIGN_OR_RETURN(
        duck::Rows rows,
        connection.Query(
            fmt::format("{} LIMIT {}", ScanSql(spec.schema, {path}, true), kSampleRows)));
    for (const duck::Row& row : rows.rows) {
      file->samples.push_back(RowToJson(rows.columns, row));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<MeasuredFile>> ScanFiles(duck::Connection& connection,
                                            const TaskSpec& spec,
                                            const std::vector<WrittenFile>& files) {
  if (files.empty()) return std::vector<MeasuredFile>();
  std::vector<std::string> paths;
  for (const WrittenFile& file : files) paths.push_back(LocalPath(file.file));
  AMEND_ASSIGN(duck::Rows rows, connection.Query(MeasureSql(spec, paths)));
  std::map<std::string, MeasuredFile> by_path;
  for (const duck::Row& row : rows.rows) {
    AMEND_ASSIGN(MeasuredFile file, ReadMeasure(spec, row));
    by_path.emplace(std::get<std::string>(row[0]), std::move(file));
  }
  std::vector<MeasuredFile> measured;
  for (const WrittenFile& file : files) {
    auto it = by_path.find(LocalPath(file.file));
    if (it == by_path.end() || it->second.measure.rows != file.file.record_count) {
      return Fail(Internal("a staged file does not hold the rows that were written: " +
                           file.file.path));
    }
    measured.push_back(std::move(it->second));
  }
  return measured;
}

Status AddDetails(duck::Connection& connection, const TaskSpec& spec,
                  const std::vector<WrittenFile>& files,
                  std::vector<MeasuredFile>* measured) {
  if (files.empty()) return {};
  ByPath by_path;
  for (std::size_t i = 0; i < files.size(); ++i) {
    by_path.emplace(LocalPath(files[i].file), &(*measured)[i]);
  }
  AMEND_RETURN_IF_ERROR(CountDuplicates(connection, spec, by_path));
  AMEND_RETURN_IF_ERROR(CountNotAccepted(connection, spec, by_path));
  return SampleStrays(connection, spec, by_path);
}

state::StagedFile ToStagedFile(const iceberg::DataFile& file,
                               const partition::Partition& point, int ordinal) {
  state::StagedFile staged;
  staged.path = LocalPath(file);
  staged.partition = point;
  staged.rows = file.record_count;
  staged.bytes = file.file_size;
  staged.ordinal = ordinal;
  staged.metrics = table::MetricsToJson(file);
  return staged;
}

}  // namespace amend::engine

#include "testing/equal/oracle.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "iceberg/scan.h"
#include "iceberg/update.h"
#include "lineage/definition.h"
#include "table/types.h"

namespace amend::equal {
namespace {

using partition::Dimension;
using partition::Partition;
using partition::PartitionSpace;

/// Local paths of the live files by partition, age and name.
Result<std::vector<std::string>> LivePaths(Env& env, const iceberg::LoadedTable& table) {
  std::vector<std::string> paths;
  const iceberg::Snapshot* head = table.metadata.current_snapshot();
  if (head == nullptr) return paths;
  AMEND_ASSIGN(std::vector<iceberg::LiveFile> files,
               iceberg::LiveFiles(env, table.metadata, *head));
  std::sort(files.begin(), files.end(),
            [](const iceberg::LiveFile& a, const iceberg::LiveFile& b) {
              return std::tie(a.file.partition, a.sequence_number, a.file.path) <
                     std::tie(b.file.partition, b.sequence_number, b.file.path);
            });
  for (const iceberg::LiveFile& file : files) {
    AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file.file.path));
    paths.push_back(SqlLiteral(path));
  }
  return paths;
}

partition::Value AsPartitionValue(const duck::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return {};
}

/// `row` holds the columns of the space's dimensions in order.
Partition PointOf(const PartitionSpace& space, const duck::Row& row) {
  Partition point;
  for (std::size_t i = 0; i < space.dimensions().size(); ++i) {
    const Dimension& dimension = space.dimensions()[i];
    if (dimension.kind != Dimension::Kind::kTime) {
      point.values.push_back(AsPartitionValue(row[i]));
    } else if (const auto* day = std::get_if<duck::Date>(&row[i])) {
      point.time = partition::PeriodContainingDay(dimension.grain, day->days).ordinal();
    } else if (const auto* at = std::get_if<duck::Timestamp>(&row[i])) {
      point.time =
          partition::PeriodContainingMicros(dimension.grain, at->micros).ordinal();
    } else {
      point.time = std::nullopt;
    }
  }
  return point;
}

/// The dimensions' columns; one constant where there are none.
std::string DimensionsSql(const PartitionSpace& space) {
  std::vector<std::string> columns;
  for (const Dimension& dimension : space.dimensions())
    columns.push_back(dimension.column);
  return columns.empty() ? "1" : Join(columns, ", ");
}

std::string Names(const std::vector<duck::ColumnInfo>& columns) {
  std::vector<std::string> names;
  for (const duck::ColumnInfo& column : columns) names.push_back(column.name);
  return Join(names, ", ");
}

}  // namespace

Result<Oracle> Oracle::Open() {
  duck::DatabaseOptions options;
  options.threads = 1;
  AMEND_ASSIGN(duck::Database database, duck::Database::Open(options));
  AMEND_ASSIGN(duck::Connection connection, database.Connect());
  return Oracle(std::move(database), std::move(connection));
}

Status Oracle::Load(Env& env, const std::string& name, const std::string& location) {
  if (loaded_[name] == location) return {};
  AMEND_ASSIGN_OR_RETURN(iceberg::LoadedTable table,
                         iceberg::LoadTable(env, {"random", name}, location));
  AMEND_ASSIGN_OR_RETURN(std::vector<std::string> paths, LivePaths(env, table));
  std::vector<std::string> names;
  std::vector<std::string> typed;
  for (const iceberg::Field& field : table.metadata.schema().fields) {
    if (field.name == lineage::kFileColumn || field.name == lineage::kRowColumn) continue;
    names.push_back(field.name);
    typed.push_back(
        fmt::format("NULL::{} AS {}", table::SqlFromType(field.type), field.name));
  }
  // Older files lack the columns that came later.
  std::string rows = fmt::format("SELECT {} WHERE false", Join(typed, ", "));
  if (!paths.empty()) {
    rows = fmt::format(
        "{} UNION ALL BY NAME SELECT * FROM read_parquet([{}], union_by_name=true)", rows,
        Join(paths, ", "));
  }
  // One thread keeps the order of files and rows.
  AMEND_ASSIGN_OR_RETURN(
      std::int64_t made,
      connection_.Execute(fmt::format("CREATE OR REPLACE TABLE {} AS SELECT {} FROM ({})",
                                      name, Join(names, ", "), rows)));
  static_cast<void>(made);
  loaded_[name] = location;
  return {};
}

Status Oracle::LoadEmpty(const std::string& name, const std::string& sql) {
  loaded_.erase(name);
  AMEND_ASSIGN_OR_RETURN(
      std::int64_t made,
      connection_.Execute(fmt::format(
          "CREATE OR REPLACE TABLE {} AS SELECT * FROM ({}) LIMIT 0", name, sql)));
  static_cast<void>(made);
  return {};
}

Result<std::vector<Partition>> Oracle::PointsIn(const std::string& sql,
                                                const PartitionSpace& space) {
  AMEND_ASSIGN(duck::Rows rows, connection_.Query(sql));
  std::vector<Partition> points;
  for (const duck::Row& row : rows.rows) points.push_back(PointOf(space, row));
  return points;
}

std::string Oracle::KeyOf(const std::string& name, const std::string& sql) const {
  std::string key = sql;
  for (const auto& [table, location] : loaded_) {
    if (table == name || sql.find(table) != std::string::npos) key += "\n" + location;
  }
  return key;
}

Result<Oracle::Comparison> Oracle::Compare(const std::string& name,
                                           const std::string& sql,
                                           const PartitionSpace& space) {
  std::string key = KeyOf(name, sql);
  Remembered& remembered = remembered_[name];
  if (remembered.of != key) {
    AMEND_ASSIGN(remembered.comparison, CompareAnew(name, sql, space));
    remembered.of = std::move(key);
  }
  return remembered.comparison;
}

Result<Oracle::Comparison> Oracle::CompareAnew(const std::string& name,
                                               const std::string& sql,
                                               const PartitionSpace& space) {
  AMEND_ASSIGN(std::int64_t rows,
               connection_.Execute(fmt::format(
                   "CREATE OR REPLACE TABLE expected AS SELECT * FROM (\n{}\n)", sql)));
  AMEND_ASSIGN(auto wanted, connection_.Describe("SELECT * FROM expected"));
  AMEND_ASSIGN(auto found, connection_.Describe("SELECT * FROM " + name));
  // A column that no published partition has yet reads as NULL.
  std::vector<std::string> published;
  for (const duck::ColumnInfo& column : wanted) {
    bool has = std::any_of(found.begin(), found.end(), [&](const duck::ColumnInfo& f) {
      return f.name == column.name;
    });
    published.push_back(has ? column.name
                            : fmt::format("NULL::{} AS {}", column.type, column.name));
  }
  const std::string names = Names(wanted);
  const std::string theirs = fmt::format("SELECT {} FROM expected", names);
  const std::string ours = fmt::format("SELECT {} FROM {}", Join(published, ", "), name);
  const std::string dimensions = DimensionsSql(space);
  Comparison comparison;
  comparison.rows = rows;
  AMEND_ASSIGN(comparison.points,
               PointsIn(fmt::format("SELECT DISTINCT {0} FROM expected UNION "
                                    "SELECT DISTINCT {0} FROM {1}",
                                    dimensions, name),
                        space));
  for (bool missing : {true, false}) {
    AMEND_ASSIGN(duck::Rows differing,
                 connection_.Query(fmt::format(
                     "SELECT {}, q.* FROM (({}) EXCEPT ALL ({})) AS q", dimensions,
                     missing ? theirs : ours, missing ? ours : theirs)));
    for (const duck::Row& row : differing.rows) {
      std::string text = missing ? "lacks (" : "has too many of (";
      const std::size_t skipped = std::max(space.dimensions().size(), std::size_t{1});
      for (std::size_t i = skipped; i < row.size(); ++i) {
        text += (i == skipped ? "" : ", ") + duck::ToText(row[i]);
      }
      text += ")";
      auto [at, first] = comparison.differing.emplace(PointOf(space, row), text);
      if (!first && at->second.size() < 400) at->second += ", " + text;
    }
  }
  return comparison;
}

Result<std::int64_t> Oracle::CountDifferences(const std::string& before,
                                              const std::string& after) {
  AMEND_ASSIGN(auto columns, connection_.Describe("SELECT * FROM " + before));
  const std::string old = fmt::format("SELECT {} FROM {}", Names(columns), before);
  const std::string now = fmt::format("SELECT {} FROM {}", Names(columns), after);
  AMEND_ASSIGN(duck::Value count,
               connection_.QueryValue(fmt::format(
                   "SELECT count(*) FROM ((({0}) EXCEPT ALL ({1})) UNION ALL (({1}) "
                   "EXCEPT ALL ({0})))",
                   old, now)));
  return std::get<std::int64_t>(count);
}

}  // namespace amend::equal

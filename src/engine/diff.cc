#include "engine/diff.h"

#include <algorithm>

#include "base/text.h"
#include "engine/partition_columns.h"
#include "engine/sql_text.h"
#include "fmt/format.h"

namespace amend::engine {
namespace {

std::string SideSql(const DiffSpec& spec, const std::vector<std::string>& files) {
  return fmt::format("SELECT *, {} FROM ({})", PointColumnsSql(spec.space),
                     ScanSql(spec.schema, files, false));
}

/// Whether every key is unique in these files, so that a join pairs rows one to one.
Result<bool> KeyIsUnique(duck::Connection& connection, const DiffSpec& spec,
                         const std::vector<std::string>& files) {
  std::vector<std::string> key;
  for (const std::string& column : spec.key) key.push_back(SqlIdentifier(column));
  AMEND_ASSIGN(duck::Value twice,
               connection.QueryValue(fmt::format(
                   "SELECT count(*) > 0 FROM (SELECT 1 FROM ({}) GROUP BY {} HAVING "
                   "count(*) > 1)",
                   ScanSql(spec.schema, files, false), Join(key, ", "))));
  return !std::get<bool>(twice);
}

/// Columns that can differ under one key.
std::vector<std::string> ValueColumns(const DiffSpec& spec) {
  std::vector<std::string> columns;
  for (const std::string& name : ContentColumns(spec.schema)) {
    if (std::find(spec.key.begin(), spec.key.end(), name) == spec.key.end()) {
      columns.push_back(name);
    }
  }
  return columns;
}

std::string KeyedSql(const DiffSpec& spec, const std::vector<std::string>& values) {
  std::vector<std::string> same_key;
  for (const std::string& column : spec.key) {
    same_key.push_back(
        fmt::format("b.{0} IS NOT DISTINCT FROM a.{0}", SqlIdentifier(column)));
  }
  std::vector<std::string> differs;
  for (const std::string& column : values) {
    differs.push_back(fmt::format("b.{0} IS DISTINCT FROM a.{0}", SqlIdentifier(column)));
  }
  std::string both = "b.amend_here AND a.amend_here";
  std::string counts;
  for (const std::string& differ : differs) {
    counts += fmt::format(", count(*) FILTER ({} AND {})", both, differ);
  }
  std::string any = differs.empty() ? "false" : "(" + Join(differs, " OR ") + ")";
  std::vector<std::string> points = PointColumnNames(spec.space);
  std::vector<std::string> merged;
  for (const std::string& point : points) {
    merged.push_back(
        fmt::format("CASE WHEN a.amend_here THEN a.{0} ELSE b.{0} END", point));
  }
  return fmt::format(
      "SELECT {0}, count(*) FILTER (b.amend_here), count(*) FILTER (a.amend_here), "
      "count(*) FILTER (b.amend_here IS NULL), count(*) FILTER (a.amend_here IS NULL), "
      "count(*) FILTER ({1} AND {2}){3} FROM (SELECT *, true AS amend_here FROM ({4})) b "
      "FULL JOIN (SELECT *, true AS amend_here FROM ({5})) a ON {6} GROUP BY {7}",
      Join(merged, ", "), both, any, counts, SideSql(spec, spec.before),
      SideSql(spec, spec.after), Join(same_key, " AND "), GroupList(points.size()));
}

std::string MultisetSql(const DiffSpec& spec) {
  std::vector<std::string> columns;
  for (const std::string& name : ContentColumns(spec.schema)) {
    columns.push_back(SqlIdentifier(name));
  }
  std::vector<std::string> points = PointColumnNames(spec.space);
  return fmt::format(
      "SELECT {0}, sum(nb)::BIGINT, sum(na)::BIGINT, sum(greatest(na - nb, 0))::BIGINT, "
      "sum(greatest(nb - na, 0))::BIGINT, 0::BIGINT FROM (SELECT {0}, {1}, "
      "count(*) FILTER (amend_side = 0) AS nb, count(*) FILTER (amend_side = 1) AS na "
      "FROM (SELECT *, 0 AS amend_side FROM ({2}) UNION ALL SELECT *, 1 FROM ({3})) "
      "GROUP BY {0}, {1}) GROUP BY {0}",
      Join(points, ", "), Join(columns, ", "), SideSql(spec, spec.before),
      SideSql(spec, spec.after));
}

}  // namespace

Result<std::vector<PartitionDiff>> DiffFiles(duck::Connection& connection,
                                             const DiffSpec& spec) {
  bool keyed = !spec.key.empty();
  for (const auto* files : {&spec.before, &spec.after}) {
    if (!keyed) break;
    AMEND_ASSIGN(keyed, KeyIsUnique(connection, spec, *files));
  }
  std::vector<std::string> values =
      keyed ? ValueColumns(spec) : std::vector<std::string>();
  AMEND_ASSIGN(duck::Rows rows,
               connection.Query(keyed ? KeyedSql(spec, values) : MultisetSql(spec)));
  std::vector<PartitionDiff> diffs;
  for (const duck::Row& row : rows.rows) {
    PartitionDiff diff;
    diff.partition = PointOfRow(spec.space, row, 0);
    std::size_t at = PointColumnNames(spec.space).size();
    diff.rows_before = CountOf(row[at]);
    diff.rows_after = CountOf(row[at + 1]);
    diff.added = CountOf(row[at + 2]);
    diff.removed = CountOf(row[at + 3]);
    diff.changed = CountOf(row[at + 4]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t changed = CountOf(row[at + 5 + i]);
      if (changed > 0) diff.columns[values[i]] = changed;
    }
    if (diff.added + diff.removed + diff.changed > 0) diffs.push_back(std::move(diff));
  }
  std::sort(diffs.begin(), diffs.end(),
            [](const PartitionDiff& a, const PartitionDiff& b) {
              return a.partition < b.partition;
            });
  return diffs;
}

}  // namespace amend::engine

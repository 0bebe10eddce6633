#include "engine/diff.h"

#include <algorithm>

#include "base/text.h"
#include "engine/partition_columns.h"
#include "engine/sql_text.h"
#include "fmt/format.h"

namespace amend::engine {
namespace {

using check::DiffMode;
using check::DiffSpec;
using check::PartitionDiff;

std::string SideSql(const DiffFiles& files, const std::vector<std::string>& paths) {
  return fmt::format("SELECT *, {} FROM ({})", PointColumnsSql(files.space),
                     ScanSql(files.schema, paths, false));
}

std::vector<std::string> Quoted(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string& name : names) quoted.push_back(SqlIdentifier(name));
  return quoted;
}

/// Whether a column differs, by more than its tolerance where it has one.
std::string DiffersSql(const DiffSpec& spec, const std::string& column) {
  std::string name = SqlIdentifier(column);
  std::string differs = fmt::format("b.{0} IS DISTINCT FROM a.{0}", name);
  auto tolerance = spec.tolerance.find(column);
  if (tolerance == spec.tolerance.end()) return differs;
  return fmt::format(
      "({0} AND NOT coalesce(abs(b.{1}::DOUBLE - a.{1}::DOUBLE) <= {2}, false))", differs,
      name, duck::ToSqlLiteral(tolerance->second));
}

std::string AnyOf(const std::vector<std::string>& conditions) {
  return conditions.empty() ? "false" : "(" + Join(conditions, " OR ") + ")";
}

std::string KeyedSql(const DiffFiles& files, const DiffSpec& spec) {
  const std::vector<std::string> points = PointColumnNames(files.space);
  std::vector<std::string> paired;
  for (const std::string& column : Quoted(spec.key)) paired.push_back(column);
  paired.insert(paired.end(), points.begin(), points.end());
  for (std::string& column : paired) {
    column = fmt::format("b.{0} IS NOT DISTINCT FROM a.{0}", column);
  }
  const std::string both = "b.amend_here AND a.amend_here";
  std::vector<std::string> differs;
  std::vector<std::string> exactly;
  std::string counts;
  for (const std::string& column : spec.columns) {
    differs.push_back(DiffersSql(spec, column));
    exactly.push_back(fmt::format("b.{0} IS DISTINCT FROM a.{0}", SqlIdentifier(column)));
    counts += fmt::format(", count(*) FILTER ({} AND {})", both, differs.back());
  }
  std::vector<std::string> merged;
  for (const std::string& point : points) {
    merged.push_back(
        fmt::format("CASE WHEN a.amend_here THEN a.{0} ELSE b.{0} END", point));
  }
  return fmt::format(
      "SELECT {0}, count(*) FILTER (b.amend_here), count(*) FILTER (a.amend_here), "
      "count(*) FILTER (b.amend_here IS NULL), count(*) FILTER (a.amend_here IS NULL), "
      "count(*) FILTER ({1} AND {2}), count(*) FILTER ({1} AND {3} AND NOT {2}){4} "
      "FROM (SELECT *, true AS amend_here FROM ({5})) b "
      "FULL JOIN (SELECT *, true AS amend_here FROM ({6})) a ON {7} GROUP BY {8}",
      Join(merged, ", "), both, AnyOf(differs), AnyOf(exactly), counts,
      SideSql(files, files.before), SideSql(files, files.after), Join(paired, " AND "),
      GroupList(points.size()));
}

std::string MultisetSql(const DiffFiles& files, const DiffSpec& spec) {
  std::vector<std::string> points = PointColumnNames(files.space);
  return fmt::format(
      "SELECT {0}, sum(nb)::BIGINT, sum(na)::BIGINT, sum(greatest(na - nb, 0))::BIGINT, "
      "sum(greatest(nb - na, 0))::BIGINT, 0::BIGINT, 0::BIGINT FROM (SELECT {0}, {1}, "
      "count(*) FILTER (amend_side = 0) AS nb, count(*) FILTER (amend_side = 1) AS na "
      "FROM (SELECT *, 0 AS amend_side FROM ({2}) UNION ALL SELECT *, 1 FROM ({3})) "
      "GROUP BY {0}, {1}) GROUP BY {0}",
      Join(points, ", "), Join(Quoted(spec.columns), ", "), SideSql(files, files.before),
      SideSql(files, files.after));
}

PartitionDiff DiffOf(const DiffFiles& files, const DiffSpec& spec, const duck::Row& row) {
  PartitionDiff diff;
  diff.partition = PointOfRow(files.space, row, 0);
  std::size_t at = PointColumnNames(files.space).size();
  for (std::int64_t* count : {&diff.rows_before, &diff.rows_after, &diff.added,
                              &diff.removed, &diff.changed, &diff.within_tolerance}) {
    *count = CountOf(row[at++]);
  }
  if (spec.mode == DiffMode::kMultiset) return diff;
  for (const std::string& column : spec.columns) {
    std::int64_t changed = CountOf(row[at++]);
    if (changed > 0) diff.columns[column] = changed;
  }
  return diff;
}

}  // namespace

Result<bool> KeyIsUnique(duck::Connection& connection, const DiffFiles& files,
                         const std::vector<std::string>& key) {
  if (key.empty()) return true;
  std::vector<std::string> columns = Quoted(key);
  for (std::string& point : PointColumnNames(files.space)) columns.push_back(point);
  for (const auto* paths : {&files.before, &files.after}) {
    AMEND_ASSIGN(duck::Value twice,
                 connection.QueryValue(fmt::format(
                     "SELECT count(*) > 0 FROM (SELECT 1 FROM ({}) GROUP BY {} HAVING "
                     "count(*) > 1)",
                     SideSql(files, *paths), Join(columns, ", "))));
    if (std::get<bool>(twice)) return false;
  }
  return true;
}

Result<std::vector<PartitionDiff>> Diff(duck::Connection& connection,
                                        const DiffFiles& files, const DiffSpec& spec) {
  const bool keyed = spec.mode == DiffMode::kKeyed;
  AMEND_ASSIGN(duck::Rows rows, connection.Query(keyed ? KeyedSql(files, spec)
                                                       : MultisetSql(files, spec)));
  std::vector<PartitionDiff> diffs;
  for (const duck::Row& row : rows.rows) {
    PartitionDiff diff = DiffOf(files, spec, row);
    if (!diff.same() || diff.within_tolerance > 0) diffs.push_back(std::move(diff));
  }
  std::sort(diffs.begin(), diffs.end(),
            [](const PartitionDiff& a, const PartitionDiff& b) {
              return a.partition < b.partition;
            });
  return diffs;
}

}  // namespace amend::engine

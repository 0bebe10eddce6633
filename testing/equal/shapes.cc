#include "testing/equal/shapes.h"

#include <iterator>

#include "fmt/format.h"

namespace amend::equal {

namespace {

// What an as-of join takes for NULL is open in DuckDB (the binder says so): none is
// asked. {t}: the time column and a comma, {at}: the same of `a`, {T}: its name alone;
// {G}, {H}: B and A with one row for each time and key (or key), so that joins do not
// multiply.
constexpr Shape kShapes[] = {
    {"project", Needs::kAny, OutputTime::kAsA,
     "SELECT {t}k, region, v + 1 AS v, x * 1.1 AS x FROM {A} WHERE {filter}"},
    {"distinct", Needs::kAny, OutputTime::kAsA,
     "SELECT DISTINCT {t}k, region, v, x FROM {A} WHERE {filter}"},
    {"group", Needs::kAny, OutputTime::kAsA,
     "SELECT {t}k, region, CAST(sum(v) AS BIGINT) AS v, {agg}(x) AS x\n"
     "FROM {A} WHERE {filter} GROUP BY {t}k, region"},
    {"count by time", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, CAST(count(*) AS INTEGER) AS k, max(region) AS region,\n"
     "  count(v) AS v, {agg}(x) AS x\nFROM {A} WHERE {filter} GROUP BY {T}"},
    {"having", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, min(region) AS region, CAST(sum(v) AS BIGINT) AS v, {agg}(x) AS "
     "x\n"
     "FROM {A} GROUP BY {T}, k HAVING count(*) > 1"},
    {"roll-up", Needs::kTime, OutputTime::kDate,
     "SELECT CAST(date_trunc('{unit}', {T}) AS DATE) AS d, k, region,\n"
     "  CAST(sum(v) AS BIGINT) AS v, {agg}(x) AS x\n"
     "FROM {A} WHERE {filter} GROUP BY 1, 2, 3"},
    {"day of", Needs::kTimestamp, OutputTime::kDate,
     "SELECT CAST(ts AS DATE) AS d, k, region, v, x FROM {A} WHERE {filter}"},
    {"hour of", Needs::kTimestamp, OutputTime::kAsA,
     "SELECT date_trunc('hour', ts) AS ts, k, region, CAST(sum(v) AS BIGINT) AS v,\n"
     "  {agg}(x) AS x\nFROM {A} GROUP BY 1, 2, 3"},
    {"totals", Needs::kAny, OutputTime::kNone,
     "SELECT k, region, CAST(sum(v) AS BIGINT) AS v, {agg}(x) AS x\n"
     "FROM {A} WHERE {filter} GROUP BY k, region",
     false, 1, true},
    {"join on time", Needs::kSameTime, OutputTime::kAsA,
     "SELECT a.{T}, a.k, a.region, a.v + coalesce(b.v, 0) AS v, b.x\n"
     "FROM {A} AS a {join} JOIN {G} AS b ON b.{T} = a.{T} AND b.k = a.k"},
    {"join and group", Needs::kSameTime, OutputTime::kAsA,
     "SELECT a.{T}, a.k, max(a.region) AS region, CAST(sum(b.v) AS BIGINT) AS v,\n"
     "  {agg}(b.x) AS x\n"
     "FROM {A} AS a {join} JOIN {B} AS b ON b.{T} = a.{T} AND b.k = a.k\n"
     "GROUP BY a.{T}, a.k",
     true},
    {"join dimension", Needs::kAnyAndAny, OutputTime::kAsA,
     "SELECT {at}a.k, coalesce(b.region, a.region) AS region, b.v, a.x + b.x AS x\n"
     "FROM {A} AS a {join} JOIN (SELECT k, max(region) AS region, max(v) AS v, "
     "{agg}(x) AS x FROM {B} GROUP BY k) AS b\n  ON b.k = a.k",
     false, 1, true},
    {"join the day before", Needs::kSameDate, OutputTime::kAsA,
     "SELECT a.d, a.k, a.region, coalesce(b.v, a.v) AS v, a.x\n"
     "FROM {A} AS a {join} JOIN {G} AS b ON b.d = a.d - {back} AND b.k = a.k"},
    {"window by range join", Needs::kSameDate, OutputTime::kAsA,
     "SELECT a.d, a.k, a.region, CAST(sum(w.v) AS BIGINT) AS v, {agg}(w.x) AS x\n"
     "FROM (SELECT DISTINCT d, k, region FROM {A} WHERE {filter}) AS a\n"
     "JOIN {B} AS w ON w.d BETWEEN a.d - {back} AND a.d + {ahead} AND w.k = a.k\n"
     "GROUP BY a.d, a.k, a.region",
     true},
    {"window by range join of instants", Needs::kSameTime, OutputTime::kAsA,
     "SELECT a.{T}, a.k, a.region, CAST(sum(w.v) AS BIGINT) AS v, {agg}(w.x) AS x\n"
     "FROM (SELECT DISTINCT {T}, k, region FROM {A}) AS a\n"
     "LEFT JOIN {B} AS w ON w.{T} > a.{T} - INTERVAL {back} DAYS\n"
     "  AND w.{T} <= a.{T} + INTERVAL {ahead} DAYS AND w.k = a.k\n"
     "GROUP BY a.{T}, a.k, a.region",
     true},
    {"range frame", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, CAST(sum(v) OVER w AS BIGINT) AS v, {agg}(x) OVER w AS x\n"
     "FROM {A} WHERE {filter}\nWINDOW w AS (PARTITION BY k ORDER BY {T}\n"
     "  RANGE BETWEEN INTERVAL {back} DAYS PRECEDING\n"
     "    AND INTERVAL {ahead} DAYS FOLLOWING)",
     true},
    {"running total", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, CAST(sum(v) OVER (PARTITION BY k ORDER BY {T}) AS BIGINT) "
     "AS v, x\nFROM {A} WHERE {filter}",
     false, 1, true},
    {"lag", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, lag(v) OVER (PARTITION BY k ORDER BY {T}, region, v, x) "
     "AS v, x\nFROM {A}",
     false, 1, true},
    {"union all", Needs::kSameKind, OutputTime::kAsA,
     "SELECT {t}k, region, v, x FROM {A} WHERE {filter}\nUNION ALL\n"
     "SELECT {t}k, region, -v, x FROM {B}"},
    {"union all shifted", Needs::kSameDate, OutputTime::kAsA,
     "SELECT d, k, region, v, x FROM {A}\nUNION ALL\n"
     "SELECT d + {back}, k, region, v, NULL FROM {B}"},
    {"union", Needs::kSameKind, OutputTime::kAsA,
     "SELECT {t}k, region, v, x FROM {A}\nUNION\nSELECT {t}k, region, v, x FROM {B}"},
    {"except", Needs::kSameKind, OutputTime::kAsA,
     "SELECT {t}k, region, v, x FROM {A}\nEXCEPT\n"
     "SELECT {t}k, region, v, x FROM {B} WHERE v > 10"},
    {"rank over all", Needs::kAny, OutputTime::kAsA,
     "SELECT {t}k, region, rank() OVER (ORDER BY v DESC NULLS LAST) AS v, x FROM {A}",
     false, 1, true},
    {"rank in time", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, dense_rank() OVER (PARTITION BY {T} ORDER BY v) AS v, x\n"
     "FROM {A} WHERE {filter}"},
    {"shift", Needs::kTime, OutputTime::kAsA,
     "SELECT CAST({T} + INTERVAL {back} DAYS AS {type}) AS {T}, k, region, v, x\n"
     "FROM {A} WHERE {filter}"},
    {"anti join", Needs::kSameTime, OutputTime::kAsA,
     "SELECT {T}, k, region, v, x FROM {A} AS a\nWHERE NOT EXISTS (SELECT 1 FROM {B} "
     "AS "
     "b WHERE b.{T} = a.{T} AND b.k = a.k AND b.v > 20)"},
    {"semi join", Needs::kAnyAndAny, OutputTime::kAsA,
     "SELECT {t}k, region, v, x FROM {A}\nWHERE k IN (SELECT k FROM {B} WHERE v > 60)",
     false, 1, true},
    {"key from the right", Needs::kAnyAndTime, OutputTime::kAsB,
     "SELECT b.{U}, a.k, a.region, a.v, a.x\n"
     "FROM {H} AS a LEFT JOIN (SELECT DISTINCT {U}, k, v FROM {B}) AS b\n"
     "  ON b.k = a.k AND b.v >= a.v",
     false, 1, true},
    {"full join", Needs::kSameTime, OutputTime::kAsA,
     "SELECT coalesce(a.{T}, b.{T}) AS {T}, coalesce(a.k, b.k) AS k, a.region, b.v, "
     "a.x\n"
     "FROM {A} AS a FULL JOIN {G} AS b ON b.{T} = a.{T} AND b.k = a.k"},
    {"unknown days", Needs::kDate, OutputTime::kAsA,
     "SELECT coalesce(d, DATE '2023-02-01') AS d, k, region, v, x FROM {A}"},
    {"above average", Needs::kAnyAndAny, OutputTime::kAsA,
     "SELECT {t}k, region, v, x FROM {A}\nWHERE v > (SELECT avg(v) FROM {B})", false, 1,
     true},
    {"share of the key", Needs::kTime, OutputTime::kAsA,
     "WITH t AS (SELECT {T}, k, sum(v) AS s FROM {A} GROUP BY {T}, k)\n"
     "SELECT a.{T}, a.k, a.region, CAST(t.s - a.v AS BIGINT) AS v, a.x\n"
     "FROM {A} AS a JOIN t ON t.{T} = a.{T} AND t.k IS NOT DISTINCT FROM a.k"},
    {"right join", Needs::kSameTime, OutputTime::kAsA,
     "SELECT b.{T}, b.k, a.region, b.v, a.x\n"
     "FROM {A} AS a RIGHT JOIN {G} AS b ON b.{T} = a.{T} AND b.k = a.k"},
    {"as-of join", Needs::kSameTime, OutputTime::kAsA,
     "SELECT a.{T}, a.k, a.region, b.v, a.x\n"
     "FROM (SELECT * FROM {A} WHERE {T} IS NOT NULL) AS a\n"
     "ASOF LEFT JOIN {G} AS b ON b.k = a.k AND a.{T} >= b.{T}",
     false, 1, true},
    {"join a month before", Needs::kSameTime, OutputTime::kAsA,
     "SELECT a.{T}, a.k, a.region, coalesce(b.v, a.v) AS v, a.x\n"
     "FROM {A} AS a {join} JOIN {G} AS b\n"
     "  ON b.{T} = a.{T} - INTERVAL 1 MONTH AND b.k = a.k"},
    {"window of months", Needs::kTime, OutputTime::kDate,
     "WITH m AS (SELECT CAST(date_trunc('{unit}', {T}) AS DATE) AS d, k,\n"
     "  max(region) AS region, sum(v) AS v, max(x) AS x FROM {A} GROUP BY 1, 2)\n"
     "SELECT a.d, a.k, a.region, CAST(sum(w.v) AS BIGINT) AS v, max(w.x) AS x\n"
     "FROM m AS a JOIN m AS w ON w.k = a.k AND w.d <= a.d\n"
     "  AND w.d > a.d - INTERVAL {back} MONTHS\nGROUP BY a.d, a.k, a.region"},
    {"range frame backwards", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, CAST(sum(v) OVER w AS BIGINT) AS v, {agg}(x) OVER w AS x\n"
     "FROM {A}\nWINDOW w AS (PARTITION BY k ORDER BY {T} DESC\n"
     "  RANGE BETWEEN INTERVAL {back} DAYS PRECEDING\n"
     "    AND INTERVAL {ahead} DAYS FOLLOWING)",
     true},
    {"latest of each key", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, v, x FROM {A} WHERE {filter}\n"
     "QUALIFY rank() OVER (PARTITION BY k ORDER BY {T} DESC NULLS LAST) = 1",
     false, 1, true},
    {"correlated", Needs::kSameTime, OutputTime::kAsA,
     "SELECT {T}, k, region, (SELECT max(b.v) FROM {B} AS b\n"
     "  WHERE b.{T} = a.{T} AND b.k = a.k) AS v, x\nFROM {A} AS a"},
    {"each on three days", Needs::kDate, OutputTime::kAsA,
     "SELECT d + n AS d, k, region, v, x\n"
     "FROM {A} CROSS JOIN (VALUES (0), (1), ({back})) AS t(n)",
     false, 3},
    {"late ones", Needs::kDate, OutputTime::kAsA,
     "SELECT CASE WHEN v > 50 THEN d + {back} ELSE d END AS d, k, region, v, x\n"
     "FROM {A}"},
    {"one list, twice", Needs::kTime, OutputTime::kAsA,
     "WITH c AS (SELECT {T}, k, region, v, x FROM {A} WHERE {filter})\n"
     "SELECT {T}, k, region, v, x FROM c\nUNION ALL\n"
     "SELECT {T}, k, max(region), max(v), NULL FROM c GROUP BY {T}, k",
     false, 2},
    {"with subtotals", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, max(region) AS region, CAST(sum(v) AS BIGINT) AS v, max(x) AS x\n"
     "FROM {A} GROUP BY GROUPING SETS (({T}, k), ({T}))"},
    {"with totals", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, max(region) AS region, CAST(sum(v) AS BIGINT) AS v, max(x) AS x\n"
     "FROM {A} GROUP BY GROUPING SETS (({T}, k), (k))",
     false, 1, true},
    {"intersect", Needs::kSameKind, OutputTime::kAsA,
     "SELECT {t}k, region, v, x FROM {A}\nINTERSECT\n"
     "SELECT {t}k, region, v, x FROM {B}"},
    {"first day of each key", Needs::kTime, OutputTime::kDate,
     "SELECT CAST(min({T}) AS DATE) AS d, k, region, max(v) AS v, max(x) AS x\n"
     "FROM {A} GROUP BY k, region",
     false, 1, true},
    {"all on one day", Needs::kAny, OutputTime::kDate,
     "SELECT DATE '2023-02-01' AS d, k, region, max(v) AS v, {agg}(x) AS x\n"
     "FROM {A} GROUP BY k, region",
     false, 1, true},
    {"top ten", Needs::kTime, OutputTime::kAsA,
     "SELECT {T}, k, region, v, x FROM {A}\n"
     "ORDER BY v DESC NULLS LAST, {T}, k, region, x LIMIT 10",
     false, 1, true},
    {"share of the month", Needs::kTime, OutputTime::kAsA,
     "SELECT a.{T}, a.k, a.region, CAST(m.s AS BIGINT) AS v, a.x\n"
     "FROM {A} AS a JOIN (SELECT date_trunc('month', {T}) AS at, sum(v) AS s\n"
     "  FROM {A} GROUP BY 1) AS m ON m.at = date_trunc('month', a.{T})"},
};

}  // namespace

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> kAll(std::begin(kShapes), std::end(kShapes));
  return kAll;
}

std::string TimeColumn(TimeKind kind) {
  return kind == TimeKind::kNone ? "" : kind == TimeKind::kDate ? "d" : "ts";
}

TimeKind TimeOfOutput(const Shape& shape, const ShapeChoices& choices) {
  switch (shape.time) {
    case OutputTime::kAsA:
      return choices.a.time;
    case OutputTime::kAsB:
      return choices.b.time;
    case OutputTime::kNone:
      return TimeKind::kNone;
    case OutputTime::kDate:
      return TimeKind::kDate;
  }
  return TimeKind::kNone;
}

std::string RenderShape(const Shape& shape, const ShapeChoices& choices) {
  const std::string time = TimeColumn(choices.a.time);
  const std::string list = time.empty() ? "" : time + ", ";
  const std::string grouped =
      fmt::format("(SELECT {0}k, max(v) AS v, {1}(x) AS x FROM {2} GROUP BY {0}k)", list,
                  choices.aggregate, choices.b.name);
  const std::string by_key = fmt::format(
      "(SELECT k, max(region) AS region, max(v) AS v, max(x) AS x FROM {} GROUP BY k)",
      choices.a.name);
  return fmt::format(
      fmt::runtime(shape.sql), fmt::arg("A", choices.a.name),
      fmt::arg("B", choices.b.name), fmt::arg("G", grouped), fmt::arg("H", by_key),
      fmt::arg("T", time), fmt::arg("U", TimeColumn(choices.b.time)), fmt::arg("t", list),
      fmt::arg("at", time.empty() ? "" : "a." + list),
      fmt::arg("type", choices.a.time == TimeKind::kDate ? "DATE" : "TIMESTAMP"),
      fmt::arg("agg", choices.aggregate), fmt::arg("join", choices.join),
      fmt::arg("unit", choices.unit), fmt::arg("filter", choices.filter),
      fmt::arg("back", choices.back), fmt::arg("ahead", choices.ahead));
}

}  // namespace amend::equal

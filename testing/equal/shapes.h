#pragma once

#include <string>
#include <vector>

namespace amend::equal {

/// What the time column of a table holds; every table calls it `d` (DATE) or `ts`.
enum class TimeKind { kNone, kDate, kTimestamp };

/// A table of a random project. All have the columns k INTEGER, region VARCHAR, v BIGINT,
/// x DOUBLE beside their time, so that any model can read any table.
struct Table {
  std::string name;
  TimeKind time = TimeKind::kNone;
  /// About how many rows there are for one row of a source: unions grow.
  int growth = 1;
  /// Sums over x are exact, whatever the order.
  bool exact = false;
};

/// Which tables a shape can read.
enum class Needs {
  kAny,        ///< A may have time or not; no B
  kTime,       ///< A has time
  kDate,       ///< A has dates
  kTimestamp,  ///< A has timestamps
  kAnyAndAny,  ///< a second table B, whatever its time
  kSameTime,   ///< A and B have time of one kind
  kSameDate,   ///< A and B have dates
  kSameKind,   ///< A and B both without time, or with time of one kind
  kAnyAndTime  ///< B has time
};

/// Where the output's time comes from.
enum class OutputTime { kAsA, kAsB, kNone, kDate };

/// One way to compute a model: SQL with `{A}`, `{B}` for its inputs and the placeholders
/// that RenderShape fills.
struct Shape {
  const char* name;
  Needs needs;
  OutputTime time;
  const char* sql;
  /// `{agg}` adds rows of x in an order that depends on rows beside them.
  bool adds_in_any_order = false;
  int copies = 1;          ///< rows for one row of A, about
  bool reads_all = false;  ///< any row of an input may count for any row
};

/// Every shape. Each gives one answer whatever the order of its input rows: ranks with
/// ties, never row numbers.
const std::vector<Shape>& Shapes();

/// What is filled in.
struct ShapeChoices {
  Table a, b;
  std::string aggregate = "sum";  ///< over doubles: sum, avg, min, max
  std::string join = "LEFT";      ///< or INNER
  std::string unit = "month";     ///< of date_trunc
  std::string filter = "true";    ///< over A's columns, unqualified
  int back = 2;                   ///< reach, days or hours
  int ahead = 0;
};

std::string TimeColumn(TimeKind kind);
TimeKind TimeOfOutput(const Shape& shape, const ShapeChoices& choices);

/// The SELECT: columns time (if any), k, region, v, x in any order.
std::string RenderShape(const Shape& shape, const ShapeChoices& choices);

}  // namespace amend::equal

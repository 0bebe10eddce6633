#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"

namespace amend::duck {

/// HUGEINT, UHUGEINT below 2^127 and UBIGINT.
struct HugeInt {
  __int128 number = 0;
  auto operator<=>(const HugeInt&) const = default;
};

/// unscaled / 10^scale, exact; 1.23 is {123, 9, 2} in a DECIMAL(9,2).
struct Decimal {
  __int128 unscaled = 0;
  int width = 18;  ///< 1…38 digits
  int scale = 0;   ///< 0…width
  auto operator<=>(const Decimal&) const = default;
};

struct Blob {
  std::string bytes;
  auto operator<=>(const Blob&) const = default;
};

/// Days since 1970-01-01. `infinity` is INT32_MAX, `-infinity` -INT32_MAX.
struct Date {
  std::int32_t days = 0;
  auto operator<=>(const Date&) const = default;
};

/// Microseconds since midnight.
struct Time {
  std::int64_t micros = 0;
  auto operator<=>(const Time&) const = default;
};

/// Microseconds since the epoch. `zoned` is TIMESTAMPTZ (an instant); otherwise a wall
/// clock reading without a zone.
struct Timestamp {
  std::int64_t micros = 0;
  bool zoned = false;
  auto operator<=>(const Timestamp&) const = default;
};

struct Interval {
  std::int32_t months = 0;
  std::int32_t days = 0;
  std::int64_t micros = 0;
  auto operator<=>(const Interval&) const = default;
};

/// One typed value of the engine. NULL is monostate. Integers up to BIGINT are int64,
/// FLOAT is widened to double, UUID and ENUM are text, TIMESTAMP_S/_MS/_NS are
/// microseconds (nanoseconds are refused where that would lose digits). LIST, ARRAY,
/// STRUCT, MAP are Json: a list is an array, a struct an object, a map an array of
/// {"key", "value"}; inside, values take the form of ToJson.
using Value = std::variant<std::monostate, bool, std::int64_t, HugeInt, Decimal, double,
                           std::string, Blob, Date, Time, Timestamp, Interval, Json>;

inline bool IsNull(const Value& value) { return value.index() == 0; }

using Row = std::vector<Value>;

/// For people and messages: 2001-03-05, 1.23, NULL. Floats in shortest exact form.
std::string ToText(const Value& value);

/// As `--json` wants it: 64-bit integers and finite doubles are numbers, booleans are
/// booleans, NULL is null; decimals, huge integers, dates, timestamps, NaN are text;
/// blobs are hex.
Json ToJson(const Value& value);

/// As an SQL literal that binds back to the same typed value, for places that take no
/// parameters. REQUIRES: not Json.
std::string ToSqlLiteral(const Value& value);

/// A path as an SQL literal that names this file alone: where the engine reads, it takes
/// every path as a glob pattern, so `o[1].csv` would read o1.csv.
std::string ToPathLiteral(std::string_view path);

/// "-170141183460469231731687303715884105728"; with a scale the decimal point is set.
std::string FormatInt128(__int128 number, int scale = 0);

/// A column of a result: name and type in DuckDB's words ("DECIMAL(18,3)", "INTEGER[]").
struct ColumnInfo {
  std::string name;
  std::string type;
  friend bool operator==(const ColumnInfo&, const ColumnInfo&) = default;
};

/// A whole result in memory.
struct Rows {
  std::vector<ColumnInfo> columns;
  std::vector<Row> rows;
};

}  // namespace amend::duck

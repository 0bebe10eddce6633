#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "partition/grain.h"

namespace amend::partition {

/// What a value dimension holds. Floats cannot name partitions: -0.0 and NaN have no one
/// spelling.
enum class ValueType : std::uint8_t { kBoolean, kInteger, kDate, kTimestamp, kString };

std::string_view ValueTypeName(ValueType type);
std::optional<ValueType> ParseValueType(std::string_view name);

/// One typed value; NULL is monostate and a value like any other. Dates count days,
/// timestamps microseconds since the epoch. Never text that stands for something else:
/// the string 'NULL' and NULL are two values.
using Value = std::variant<std::monostate, bool, std::int64_t, std::string>;

/// Values of a space's value and bucket dimensions, in the order of the space.
using ValueTuple = std::vector<Value>;

inline bool IsNull(const Value& value) { return value.index() == 0; }

/// One way in which a table is cut.
struct Dimension {
  enum class Kind : std::uint8_t { kTime, kValue, kBucket };

  Kind kind = Kind::kValue;
  std::string column;
  Grain grain = Grain::kDay;            ///< kTime
  std::string zone;                     ///< kTime: IANA name; empty is UTC
  ValueType type = ValueType::kString;  ///< kValue
  int buckets = 0;                      ///< kBucket: 1 …

  static Dimension Time(std::string column, Grain grain, std::string zone = "");
  static Dimension OfValue(std::string column, ValueType type);
  static Dimension Bucket(std::string column, int buckets);

  /// As `partition_by` has it: "day(ts)", "region", "bucket(16, id)".
  std::string ToString() const;

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// What sets, maps and points of one space share; small enough to be copied into each of
/// them, so that mixing days with months stops at once instead of giving a wrong set.
struct Shape {
  std::optional<Grain> grain;  ///< nothing: no time dimension
  std::uint8_t values = 0;     ///< how many value and bucket dimensions
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// A typed point of one space. Spaces without a time dimension use ordinal 0 of a line
/// that has one point. Ordered NULL first, then by ordinal, then by values.
struct Partition {
  std::optional<std::int64_t> time =
      0;  ///< ordinal in the space's grain; nothing is NULL
  ValueTuple values;

  friend auto operator<=>(const Partition&, const Partition&) = default;
};

/// The ordered dimensions of a table's partitioning. Without dimensions the table is
/// unpartitioned: it has one point, printed "all". Immutable after Make.
class PartitionSpace {
 public:
  /// The unpartitioned space.
  PartitionSpace() = default;

  /// Unsupported with more than one time dimension (a set would need runs in a plane, and
  /// no table met so far has two); Invalid for a bucket count below 1 or a dimension
  /// given twice.
  static Result<PartitionSpace> Make(std::vector<Dimension> dimensions);

  /// One time dimension in UTC; the commonest space. Never fails.
  static PartitionSpace OfTime(std::string column, Grain grain);

  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  bool unpartitioned() const { return dimensions_.empty(); }
  bool has_time() const { return shape_.grain.has_value(); }
  /// The time dimension, or null.
  const Dimension* time() const;
  /// Value and bucket dimensions in order; a ValueTuple has one entry for each.
  const std::vector<Dimension>& value_dimensions() const { return value_dimensions_; }
  Shape shape() const { return shape_; }

  /// "day(ts), region", or "unpartitioned".
  std::string ToString() const;

  /// Whether the point has the space's number of values, each NULL or of its dimension's
  /// type, and time 0 where there is no time dimension.
  bool Holds(const Partition& point) const;

  /// "2001-03-05", "null", "all", "2001-03-05/region=EU": for people. A string that could
  /// be taken for something else is written as a JSON string, so it is unambiguous.
  std::string Format(const Partition& point) const;
  /// The inverse of Format. Invalid names what was expected.
  Result<Partition> Parse(std::string_view text) const;

  /// A value of a value or bucket dimension from the text of a `column=value` request;
  /// null (unquoted) is NULL. NotFound for a column that is not one, with the nearest
  /// name; Invalid where the text is not of its type.
  Result<Value> ParseValue(std::string_view column, std::string_view text) const;

  Json ToJson() const;
  static Result<PartitionSpace> FromJson(const Json& json);

  friend bool operator==(const PartitionSpace& a, const PartitionSpace& b) {
    return a.dimensions_ == b.dimensions_;
  }

 private:
  std::vector<Dimension> dimensions_;
  std::vector<Dimension> value_dimensions_;
  Shape shape_;
};

/// One value as people and JSON read it: dates and timestamps as text.
std::string FormatValue(ValueType type, const Value& value);
Json ValueToJson(ValueType type, const Value& value);
Result<Value> ValueFromJson(ValueType type, const Json& json);

}  // namespace amend::partition

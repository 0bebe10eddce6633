#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "iceberg/schema.h"

namespace amend::iceberg {

/// One typed value without its type: null, boolean, integers (int, long, date in days,
/// time and timestamps in microseconds), floats, or bytes (string in UTF-8, binary,
/// fixed, uuid as 16 bytes big-endian, decimal as minimal big-endian two's complement).
/// Ordered by alternative, then value; decimals must not be compared this way.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

inline bool IsNull(const Value& value) { return value.index() == 0; }

/// A partition as the tuple of its spec's fields, in spec order.
using PartitionTuple = std::vector<Value>;

/// Binary single-value form (Iceberg specification, appendix D). Never for NaN or null.
Result<std::string> EncodeSingleValue(const Type& type, const Value& value);
/// Also reads a bound that was written before a promotion (4 bytes for long, float for
/// double). Damaged where the width fits neither.
Result<Value> DecodeSingleValue(const Type& type, std::string_view bytes);

/// A lower or upper bound as Java's default metrics mode makes them: strings and binaries
/// cut to 16 code points (bytes), an upper bound incremented where cut, -0.0/+0.0 for
/// zeros. Nothing where no valid bound exists (NaN, an upper bound of only U+10FFFF).
std::optional<std::string> MakeBound(const Type& type, const Value& value, bool upper);

/// Order of two non-null values of one type, as SQL orders them: decimals by number, text
/// and bytes by byte, false before true. Unordered for NaN, nulls and values that are not
/// of the type.
std::partial_ordering CompareValues(const Type& type, const Value& a, const Value& b);

/// For messages and JSON: 2001-03-05, 12, null.
std::string ValueToString(const Type& type, const Value& value);

}  // namespace amend::iceberg

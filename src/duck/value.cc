#include "duck/value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::duck {
namespace {

constexpr std::int64_t kInfiniteMicros = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t kInfiniteDays = std::numeric_limits<std::int32_t>::max();

std::string Hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char byte : bytes) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

std::string DateText(const Date& date) {
  if (date.days == kInfiniteDays) return "infinity";
  if (date.days == -kInfiniteDays) return "-infinity";
  return FormatDay(date.days);
}

std::string TimeText(const Time& time) {
  std::int64_t seconds = time.micros / kMicrosPerSecond;
  std::int64_t micros = time.micros % kMicrosPerSecond;
  std::string text =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return micros == 0 ? text : text + fmt::format(".{:06}", micros);
}

std::string TimestampText(const Timestamp& timestamp) {
  if (timestamp.micros == kInfiniteMicros) return "infinity";
  if (timestamp.micros == -kInfiniteMicros) return "-infinity";
  std::string text = FormatMicros(timestamp.micros);
  if (!timestamp.zoned && text.ends_with('Z')) text.pop_back();
  return text;
}

std::string IntervalText(const Interval& interval) {
  return fmt::format("{} months {} days {} microseconds", interval.months, interval.days,
                     interval.micros);
}

std::string DoubleText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return fmt::format("{}", number);
}

/// Values whose ToText is also their JSON text.
struct TextOf {
  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(const HugeInt& huge) const { return FormatInt128(huge.number); }
  std::string operator()(const Decimal& decimal) const {
    return FormatInt128(decimal.unscaled, decimal.scale);
  }
  std::string operator()(double number) const { return DoubleText(number); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const Blob& blob) const { return Hex(blob.bytes); }
  std::string operator()(const Date& date) const { return DateText(date); }
  std::string operator()(const Time& time) const { return TimeText(time); }
  std::string operator()(const Timestamp& stamp) const { return TimestampText(stamp); }
  std::string operator()(const Interval& interval) const {
    return IntervalText(interval);
  }
  std::string operator()(const Json& json) const { return json.dump(); }
};

/// Years 1 to 9999 have a date literal that every reader understands.
bool HasPlainYear(std::int64_t days) {
  int year = CivilFromDays(days).year;
  return year >= 1 && year <= 9999;
}

std::string DateLiteral(const Date& date) {
  bool finite = std::abs(date.days) != kInfiniteDays;
  if (finite && !HasPlainYear(date.days)) return fmt::format("make_date({})", date.days);
  return SqlLiteral(DateText(date)) + "::DATE";
}

std::string TimestampLiteral(const Timestamp& stamp) {
  bool finite = std::abs(stamp.micros) != kInfiniteMicros;
  if (finite && !HasPlainYear(FloorDiv(stamp.micros, kMicrosPerDay))) {
    return fmt::format("make_timestamp{}({})", stamp.zoned ? "tz" : "", stamp.micros);
  }
  return SqlLiteral(TimestampText(stamp)) +
         (stamp.zoned ? "::TIMESTAMPTZ" : "::TIMESTAMP");
}

std::string BlobLiteral(std::string_view bytes) {
  std::string text = "'";
  for (char byte : bytes) {
    text += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
  }
  return text + "'::BLOB";
}

struct LiteralOf {
  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const {
    return fmt::format("({})::BIGINT", number);
  }
  std::string operator()(const HugeInt& huge) const {
    return SqlLiteral(FormatInt128(huge.number)) + "::HUGEINT";
  }
  std::string operator()(const Decimal& decimal) const {
    return fmt::format("'{}'::DECIMAL({},{})",
                       FormatInt128(decimal.unscaled, decimal.scale), decimal.width,
                       decimal.scale);
  }
  std::string operator()(double number) const {
    return SqlLiteral(DoubleText(number)) + "::DOUBLE";
  }
  std::string operator()(const std::string& text) const {
    // A NUL byte would end the statement.
    if (text.find('\0') != std::string::npos) return "decode(" + BlobLiteral(text) + ")";
    return SqlLiteral(text);
  }
  std::string operator()(const Blob& blob) const { return BlobLiteral(blob.bytes); }
  std::string operator()(const Date& date) const { return DateLiteral(date); }
  std::string operator()(const Time& time) const {
    return SqlLiteral(TimeText(time)) + "::TIME";
  }
  std::string operator()(const Timestamp& stamp) const { return TimestampLiteral(stamp); }
  std::string operator()(const Interval& interval) const {
    return SqlLiteral(IntervalText(interval)) + "::INTERVAL";
  }
  std::string operator()(const Json&) const {
    CheckFailed(__FILE__, __LINE__, "a nested value has no literal");
  }
};

}  // namespace

std::string FormatInt128(__int128 number, int scale) {
  bool negative = number < 0;
  auto magnitude = static_cast<unsigned __int128>(number);
  if (negative) magnitude = ~magnitude + 1;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  while (static_cast<int>(digits.size()) <= scale) digits += '0';
  std::reverse(digits.begin(), digits.end());
  if (scale > 0) digits.insert(digits.size() - static_cast<std::size_t>(scale), ".");
  return negative ? "-" + digits : digits;
}

std::string ToText(const Value& value) { return std::visit(TextOf{}, value); }

Json ToJson(const Value& value) {
  if (IsNull(value)) return nullptr;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) {
    return std::isfinite(*number) ? Json(*number) : Json(DoubleText(*number));
  }
  if (const auto* json = std::get_if<Json>(&value)) return *json;
  return ToText(value);
}

std::string ToPathLiteral(std::string_view path) {
  std::string pattern;
  for (char c : path) {
    const bool special = c == '[' || c == '*' || c == '?';
    pattern += special ? std::string{'[', c, ']'} : std::string(1, c);
  }
  return SqlLiteral(pattern);
}

std::string ToSqlLiteral(const Value& value) { return std::visit(LiteralOf{}, value); }

}  // namespace amend::duck

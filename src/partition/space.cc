#include "partition/space.h"

#include <array>
#include <utility>

#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::partition {
namespace {

constexpr std::array<std::string_view, 5> kTypeNames = {"boolean", "integer", "date",
                                                        "timestamp", "string"};

/// Whether a string reads back as itself when written without quotes.
bool IsPlain(std::string_view text) {
  if (text.empty() || text == "null") return false;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ' ' ||
                 static_cast<unsigned char>(c) >= 0x80;
    if (!plain) return false;
  }
  return text.front() != ' ' && text.back() != ' ';
}

std::string Quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

ValueType TypeOf(const Dimension& dimension) {
  return dimension.kind == Dimension::Kind::kBucket ? ValueType::kInteger
                                                    : dimension.type;
}

bool IsOfType(ValueType type, const Value& value) {
  if (IsNull(value)) return true;
  switch (type) {
    case ValueType::kBoolean:
      return std::holds_alternative<bool>(value);
    case ValueType::kInteger:
    case ValueType::kDate:
    case ValueType::kTimestamp:
      return std::holds_alternative<std::int64_t>(value);
    case ValueType::kString:
      return std::holds_alternative<std::string>(value);
  }
  return false;
}

/// One value from unquoted text; nothing if it is not of the type.
std::optional<Value> FromText(ValueType type, std::string_view text) {
  std::optional<std::int64_t> number;
  switch (type) {
    case ValueType::kBoolean:
      if (text == "true") return Value(true);
      if (text == "false") return Value(false);
      return std::nullopt;
    case ValueType::kInteger:
      number = ParseInt(text);
      break;
    case ValueType::kDate:
      number = ParseDay(text);
      break;
    case ValueType::kTimestamp:
      number = ParseMicros(text);
      break;
    case ValueType::kString:
      return Value(std::string(text));
  }
  if (!number) return std::nullopt;
  return Value(*number);
}

Result<Value> ParseTyped(const Dimension& dimension, std::string_view text) {
  if (text == "null") return Value();
  ValueType type = TypeOf(dimension);
  std::optional<Value> value;
  if (type == ValueType::kString && !text.empty() && text.front() == '"') {
    AMEND_ASSIGN(Json quoted, ParseJson(text, "value of " + dimension.column));
    if (quoted.is_string()) value = Value(quoted.get<std::string>());
  } else {
    value = FromText(type, text);
  }
  if (!value) {
    return Fail(Invalid(fmt::format("'{}' is not a {}", text, ValueTypeName(type)))
                    .Column(dimension.column)
                    .Value(std::string(text)));
  }
  return *value;
}

/// Length of the piece of `text` that ends before the next '/' outside quotes.
std::size_t PieceLength(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == '/' && !quoted) {
      return i;
    }
  }
  return text.size();
}

Result<std::optional<std::int64_t>> ParseTime(const Dimension& time,
                                              std::string_view text) {
  if (text == "null") return std::optional<std::int64_t>();
  auto period = ParsePeriod(text);
  if (!period || period->grain() != time.grain) {
    return Fail(Invalid(fmt::format("'{}' is not a {}", text, GrainName(time.grain)))
                    .Column(time.column)
                    .Hint(fmt::format("write it like {}, or null",
                                      FormatPeriod(RoundDownTo(
                                          time.grain, Period(Grain::kDay, 11'386))))));
  }
  return std::optional<std::int64_t>(period->ordinal());
}

}  // namespace

std::string_view ValueTypeName(ValueType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

std::optional<ValueType> ParseValueType(std::string_view name) {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<ValueType>(i);
  }
  return std::nullopt;
}

Dimension Dimension::Time(std::string column, Grain grain, std::string zone) {
  Dimension d;
  d.kind = Kind::kTime;
  d.column = std::move(column);
  d.grain = grain;
  d.zone = std::move(zone);
  return d;
}

Dimension Dimension::OfValue(std::string column, ValueType type) {
  Dimension d;
  d.column = std::move(column);
  d.type = type;
  return d;
}

Dimension Dimension::Bucket(std::string column, int buckets) {
  Dimension d;
  d.kind = Kind::kBucket;
  d.column = std::move(column);
  d.type = ValueType::kInteger;
  d.buckets = buckets;
  return d;
}

std::string Dimension::ToString() const {
  switch (kind) {
    case Kind::kTime:
      return zone.empty() ? fmt::format("{}({})", GrainName(grain), column)
                          : fmt::format("{}({}, '{}')", GrainName(grain), column, zone);
    case Kind::kBucket:
      return fmt::format("bucket({}, {})", buckets, column);
    case Kind::kValue:
      break;
  }
  return column;
}

Result<PartitionSpace> PartitionSpace::Make(std::vector<Dimension> dimensions) {
  PartitionSpace space;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Dimension& d = dimensions[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (dimensions[j] == d) {
        return Fail(Invalid("partitioned twice by " + d.ToString()).Column(d.column));
      }
    }
    if (d.kind == Dimension::Kind::kTime) {
      if (space.shape_.grain) {
        return Fail(
            Unsupported(
                fmt::format("partitioned by two times, {} and {}; only one can be",
                            space.time()->ToString(), d.ToString()))
                .Column(d.column)
                .Hint("keep the one by which the table is rewritten"));
      }
      space.shape_.grain = d.grain;
    } else {
      if (d.kind == Dimension::Kind::kBucket && d.buckets < 1) {
        return Fail(Invalid("bucket count must be at least 1").Column(d.column));
      }
      if (space.shape_.values == 255) return Fail(Unsupported("over 255 dimensions"));
      ++space.shape_.values;
      space.value_dimensions_.push_back(d);
    }
    space.dimensions_.push_back(d);
  }
  return space;
}

PartitionSpace PartitionSpace::OfTime(std::string column, Grain grain) {
  PartitionSpace space;
  space.dimensions_.push_back(Dimension::Time(std::move(column), grain));
  space.shape_.grain = grain;
  return space;
}

const Dimension* PartitionSpace::time() const {
  for (const Dimension& d : dimensions_) {
    if (d.kind == Dimension::Kind::kTime) return &d;
  }
  return nullptr;
}

std::string PartitionSpace::ToString() const {
  if (unpartitioned()) return "unpartitioned";
  std::vector<std::string> parts;
  for (const Dimension& d : dimensions_) parts.push_back(d.ToString());
  return Join(parts, ", ");
}

bool PartitionSpace::Holds(const Partition& point) const {
  if (point.values.size() != value_dimensions_.size()) return false;
  if (!has_time() && point.time != 0) return false;
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    if (!IsOfType(TypeOf(value_dimensions_[i]), point.values[i])) return false;
  }
  return true;
}

std::string PartitionSpace::Format(const Partition& point) const {
  if (unpartitioned()) return "all";
  AMEND_CHECK(Holds(point));
  std::vector<std::string> parts;
  std::size_t next = 0;
  for (const Dimension& d : dimensions_) {
    if (d.kind == Dimension::Kind::kTime) {
      parts.push_back(point.time ? FormatPeriod(Period(d.grain, *point.time)) : "null");
    } else {
      parts.push_back(d.column + "=" + FormatValue(TypeOf(d), point.values[next++]));
    }
  }
  return Join(parts, "/");
}

Result<Partition> PartitionSpace::Parse(std::string_view text) const {
  Partition point;
  if (unpartitioned()) {
    if (text == "all") return point;
    return Fail(
        Invalid(fmt::format("'{}' is not a partition of an unpartitioned table", text))
            .Hint("write all"));
  }
  std::string_view left = text;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    const Dimension& d = dimensions_[i];
    std::string_view prefix = d.column;
    bool is_time = d.kind == Dimension::Kind::kTime;
    if (!is_time && left.starts_with(prefix) &&
        left.substr(prefix.size()).starts_with('=')) {
      left.remove_prefix(prefix.size() + 1);
    } else if (!is_time) {
      return Fail(Invalid(fmt::format("'{}' lacks {}=…", text, d.column))
                      .Hint("a partition is written in the order " + ToString()));
    }
    std::size_t length = PieceLength(left);
    std::string_view piece = left.substr(0, length);
    if (is_time) {
      AMEND_ASSIGN(point.time, ParseTime(d, piece));
    } else {
      AMEND_ASSIGN(Value value, ParseTyped(d, piece));
      point.values.push_back(std::move(value));
    }
    bool last = i + 1 == dimensions_.size();
    if (last != (length == left.size())) {
      return Fail(
          Invalid(fmt::format("'{}' has not one part for each of {}", text, ToString())));
    }
    left.remove_prefix(last ? length : length + 1);
  }
  return point;
}

Result<Value> PartitionSpace::ParseValue(std::string_view column,
                                         std::string_view text) const {
  std::vector<std::string> names;
  for (const Dimension& d : value_dimensions_) {
    if (d.column == column) return ParseTyped(d, text);
    names.push_back(d.column);
  }
  Status error = NotFound(fmt::format("no value dimension '{}'", column));
  auto near = NearestName(column, names);
  return Fail(std::move(error).Hint(near ? "did you mean " + *near + "?"
                                         : "the table is partitioned by " + ToString()));
}

Json PartitionSpace::ToJson() const {
  Json list = Json::array();
  for (const Dimension& d : dimensions_) {
    Json item = {{"column", d.column}};
    switch (d.kind) {
      case Dimension::Kind::kTime:
        item["grain"] = GrainName(d.grain);
        if (!d.zone.empty()) item["zone"] = d.zone;
        break;
      case Dimension::Kind::kValue:
        item["type"] = ValueTypeName(d.type);
        break;
      case Dimension::Kind::kBucket:
        item["buckets"] = d.buckets;
        break;
    }
    list.push_back(std::move(item));
  }
  return list;
}

Result<PartitionSpace> PartitionSpace::FromJson(const Json& json) {
  constexpr std::string_view kWhat = "partition space";
  if (!json.is_array()) return Fail(Damaged("a partition space is not a list"));
  std::vector<Dimension> dimensions;
  for (const Json& item : json) {
    AMEND_ASSIGN(std::string column, JsonString(item, "column", kWhat));
    if (item.contains("grain")) {
      AMEND_ASSIGN(std::string name, JsonString(item, "grain", kWhat));
      auto grain = ParseGrain(name);
      if (!grain) return Fail(Damaged("no grain '" + name + "'"));
      std::string zone;
      if (item.contains("zone")) {
        AMEND_ASSIGN(zone, JsonString(item, "zone", kWhat));
      }
      dimensions.push_back(Dimension::Time(column, *grain, zone));
    } else if (item.contains("buckets")) {
      AMEND_ASSIGN(std::int64_t buckets, JsonInt(item, "buckets", kWhat));
      if (buckets < 1 || buckets > 1'000'000) return Fail(Damaged("bad bucket count"));
      dimensions.push_back(Dimension::Bucket(column, static_cast<int>(buckets)));
    } else {
      AMEND_ASSIGN(std::string name, JsonString(item, "type", kWhat));
      auto type = ParseValueType(name);
      if (!type) return Fail(Damaged("no value type '" + name + "'"));
      dimensions.push_back(Dimension::OfValue(column, *type));
    }
  }
  return Make(std::move(dimensions));
}

std::string FormatValue(ValueType type, const Value& value) {
  if (IsNull(value)) return "null";
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) {
    return IsPlain(*text) ? *text : Quoted(*text);
  }
  std::int64_t number = std::get<std::int64_t>(value);
  if (type == ValueType::kDate) return FormatDay(number);
  if (type == ValueType::kTimestamp) return FormatMicros(number);
  return std::to_string(number);
}

Json ValueToJson(ValueType type, const Value& value) {
  if (IsNull(value)) return nullptr;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (type == ValueType::kInteger) return std::get<std::int64_t>(value);
  return FormatValue(type, value);
}

Result<Value> ValueFromJson(ValueType type, const Json& json) {
  if (json.is_null()) return Value();
  std::optional<Value> value;
  if (type == ValueType::kBoolean && json.is_boolean()) value = json.get<bool>();
  if (type == ValueType::kInteger && json.is_number_integer()) {
    bool too_large =
        json.is_number_unsigned() &&
        json.get<std::uint64_t>() > static_cast<std::uint64_t>(kPlusInfinity);
    if (!too_large) value = json.get<std::int64_t>();
  }
  bool is_text = type == ValueType::kString || type == ValueType::kDate ||
                 type == ValueType::kTimestamp;
  if (is_text && json.is_string()) value = FromText(type, json.get<std::string>());
  if (!value) {
    return Fail(Damaged(fmt::format(
        "{} is not a {}", json.dump(-1, ' ', false, Json::error_handler_t::replace),
        ValueTypeName(type))));
  }
  return *value;
}

}  // namespace amend::partition

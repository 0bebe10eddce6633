#include "iceberg/partition_spec.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"
#include "iceberg/code_points.h"
#include "iceberg/decimal.h"

namespace amend::iceberg {
namespace {

constexpr std::pair<std::string_view, TransformKind> kPlainTransforms[] = {
    {"identity", TransformKind::kIdentity}, {"year", TransformKind::kYear},
    {"month", TransformKind::kMonth},       {"day", TransformKind::kDay},
    {"hour", TransformKind::kHour},         {"void", TransformKind::kVoid},
};

/// The n of "bucket[n]": 1 and up, else nothing.
std::optional<int> Parameter(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || text.size() < name.size() + 3) return std::nullopt;
  if (text[name.size()] != '[' || text.back() != ']') return std::nullopt;
  auto number = ParseInt(text.substr(name.size() + 1, text.size() - name.size() - 2));
  if (!number || *number < 1 || *number > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  return static_cast<int>(*number);
}

std::uint32_t LittleEndian32(std::string_view bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    word |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

/// MurmurHash3 x86 32 with seed 0 (Iceberg specification, appendix B).
std::uint32_t Murmur3(std::string_view bytes) {
  auto scramble = [](std::uint32_t word) {
    return std::rotl(word * 0xcc9e2d51U, 15) * 0x1b873593U;
  };
  std::uint32_t hash = 0;
  auto length = static_cast<std::uint32_t>(bytes.size());
  while (bytes.size() >= 4) {
    hash ^= scramble(LittleEndian32(bytes.substr(0, 4)));
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64U;
    bytes.remove_prefix(4);
  }
  hash ^= scramble(LittleEndian32(bytes));
  hash ^= length;
  hash = (hash ^ (hash >> 16U)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13U)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16U);
}

bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestamptz;
}

/// The day of a date or timestamp value.
std::int64_t DayOf(const Type& source, std::int64_t value) {
  return source.id == TypeId::kDate ? value : FloorDiv(value, kMicrosPerDay);
}

Status DoesNotTake(const Transform& transform, const Type& source) {
  return Unsupported(fmt::format("partition transform {} does not take type {}",
                                 transform.ToString(), source.ToString()));
}

Result<Value> ApplyTime(const Transform& transform, const Type& source,
                        const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  bool fits = IsTimestamp(source.id) ||
              (source.id == TypeId::kDate && transform.kind != TransformKind::kHour);
  if (number == nullptr || !fits) return Fail(DoesNotTake(transform, source));
  if (transform.kind == TransformKind::kHour) return FloorDiv(*number, kMicrosPerHour);
  std::int64_t day = DayOf(source, *number);
  if (transform.kind == TransformKind::kDay) return day;
  CivilDay civil = CivilFromDays(day);
  std::int64_t years = std::int64_t{civil.year} - 1970;
  if (transform.kind == TransformKind::kYear) return years;
  return years * 12 + civil.month - 1;
}

Result<Value> ApplyBucket(const Transform& transform, const Type& source,
                          const Value& value) {
  std::string input;
  switch (source.id) {
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (number == nullptr) return Fail(DoesNotTake(transform, source));
      AMEND_ASSIGN(input, EncodeSingleValue(Type{.id = TypeId::kLong}, value));
      break;
    }
    case TypeId::kDecimal:
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary: {
      AMEND_ASSIGN(input, EncodeSingleValue(source, value));
      break;
    }
    default:
      return Fail(DoesNotTake(transform, source));
  }
  std::uint32_t positive = Murmur3(input) & 0x7fffffffU;
  return std::int64_t{positive % static_cast<std::uint32_t>(transform.parameter)};
}

/// v - floormod(v, width); nothing where that leaves the type.
std::optional<Int128> TruncateNumber(Int128 value, int width, Int128 least) {
  Int128 rest = value % width;
  if (rest < 0) rest += width;
  if (value < least + rest) return std::nullopt;
  return value - rest;
}

Int128 LeastOf(const Type& type) {
  if (type.id == TypeId::kInt) return std::numeric_limits<std::int32_t>::min();
  if (type.id == TypeId::kLong) return std::numeric_limits<std::int64_t>::min();
  Int128 power = 1;
  for (int i = 0; i < type.precision; ++i) power *= 10;
  return 1 - power;
}

Result<Value> ApplyTruncate(const Transform& transform, const Type& source,
                            const Value& value) {
  int width = transform.parameter;
  Status out_of_range =
      Invalid(fmt::format("{} of {} leaves the range of type {}", transform.ToString(),
                          ValueToString(source, value), source.ToString()));
  if (source.id == TypeId::kInt || source.id == TypeId::kLong) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr) return Fail(DoesNotTake(transform, source));
    auto truncated = TruncateNumber(*number, width, LeastOf(source));
    if (!truncated) return Fail(out_of_range);
    return static_cast<std::int64_t>(*truncated);
  }
  const auto* bytes = std::get_if<std::string>(&value);
  if (bytes == nullptr) return Fail(DoesNotTake(transform, source));
  if (source.id == TypeId::kDecimal) {
    auto unscaled = DecimalFromBytes(*bytes);
    if (!unscaled) return Fail(out_of_range);
    auto truncated = TruncateNumber(*unscaled, width, LeastOf(source));
    if (!truncated) return Fail(out_of_range);
    return DecimalToBytes(*truncated);
  }
  if (source.id == TypeId::kBinary) {
    return bytes->substr(0, static_cast<std::size_t>(width));
  }
  if (source.id != TypeId::kString) return Fail(DoesNotTake(transform, source));
  auto prefix = FirstCodePoints(*bytes, width);
  if (!prefix) return Fail(Invalid("a text to truncate is not UTF-8"));
  return std::string(*prefix);
}

Result<int> IntMember(const Json& json, std::string_view member) {
  AMEND_ASSIGN(std::int64_t number, JsonInt(json, member, "partition spec"));
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    return Fail(
        Damaged(fmt::format("partition spec: {} {} is out of range", member, number)));
  }
  return static_cast<int>(number);
}

}  // namespace

Transform Transform::Parse(std::string_view text) {
  for (const auto& [name, kind] : kPlainTransforms) {
    if (name == text) return {.kind = kind};
  }
  if (auto count = Parameter(text, "bucket")) {
    return {.kind = TransformKind::kBucket, .parameter = *count};
  }
  if (auto width = Parameter(text, "truncate")) {
    return {.kind = TransformKind::kTruncate, .parameter = *width};
  }
  return {.kind = TransformKind::kUnknown, .text = std::string(text)};
}

std::string Transform::ToString() const {
  if (kind == TransformKind::kUnknown) return text;
  if (kind == TransformKind::kBucket) return fmt::format("bucket[{}]", parameter);
  if (kind == TransformKind::kTruncate) return fmt::format("truncate[{}]", parameter);
  for (const auto& [name, plain] : kPlainTransforms) {
    if (plain == kind) return std::string(name);
  }
  return text;
}

Type Transform::ResultType(const Type& source) const {
  switch (kind) {
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour:
    case TransformKind::kBucket:
      return {.id = TypeId::kInt};
    case TransformKind::kDay:
      return {.id = TypeId::kDate};
    case TransformKind::kUnknown:
      return {.id = TypeId::kString};
    case TransformKind::kIdentity:
    case TransformKind::kTruncate:
    case TransformKind::kVoid:
      return source;
  }
  return source;
}

Result<Value> Transform::Apply(const Type& source, const Value& value) const {
  if (kind == TransformKind::kUnknown) return Fail(DoesNotTake(*this, source));
  if (kind == TransformKind::kVoid || IsNull(value)) return Value();
  switch (kind) {
    case TransformKind::kBucket:
      return ApplyBucket(*this, source, value);
    case TransformKind::kTruncate:
      return ApplyTruncate(*this, source, value);
    case TransformKind::kIdentity:
      if (!source.is_primitive()) return Fail(DoesNotTake(*this, source));
      return value;
    default:
      return ApplyTime(*this, source, value);
  }
}

Result<PartitionSpec> SpecFromJson(const Json& json) {
  PartitionSpec spec;
  AMEND_ASSIGN(spec.id, IntMember(json, "spec-id"));
  auto fields = json.find("fields");
  if (fields == json.end() || !fields->is_array()) {
    return Fail(Damaged("partition spec has no list 'fields'"));
  }
  for (const Json& one : *fields) {
    if (one.is_object() && one.contains("source-ids") && !one.contains("source-id")) {
      return Fail(Unsupported(
          "a partition field of several columns needs Iceberg format version 3"));
    }
    PartitionField field;
    AMEND_ASSIGN(field.source_id, IntMember(one, "source-id"));
    AMEND_ASSIGN(field.field_id, IntMember(one, "field-id"));
    AMEND_ASSIGN(field.name, JsonString(one, "name", "partition spec"));
    AMEND_ASSIGN(std::string transform, JsonString(one, "transform", "partition spec"));
    field.transform = Transform::Parse(transform);
    for (const PartitionField& other : spec.fields) {
      if (other.field_id == field.field_id || other.name == field.name) {
        return Fail(Damaged(fmt::format("partition spec {} has field '{}' (id {}) twice",
                                        spec.id, field.name, field.field_id)));
      }
    }
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

Json SpecToJson(const PartitionSpec& spec) {
  return {{"spec-id", spec.id}, {"fields", SpecFieldsToJson(spec)}};
}

Json SpecFieldsToJson(const PartitionSpec& spec) {
  Json fields = Json::array();
  for (const PartitionField& field : spec.fields) {
    fields.push_back({{"source-id", field.source_id},
                      {"field-id", field.field_id},
                      {"name", field.name},
                      {"transform", field.transform.ToString()}});
  }
  return fields;
}

}  // namespace amend::iceberg

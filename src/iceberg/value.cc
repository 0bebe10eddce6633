#include "iceberg/value.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/civil.h"
#include "fmt/format.h"
#include "iceberg/code_points.h"
#include "iceberg/decimal.h"

namespace amend::iceberg {
namespace {

constexpr int kBoundLength = 16;  // code points or bytes, as Java's truncate(16)

template <typename T>
std::string LittleEndian(T number) {
  std::string bytes(sizeof(T), '\0');
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
  return bytes;
}

std::uint64_t FromLittleEndian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

bool IsInt32(const Type& type) {
  return type.id == TypeId::kInt || type.id == TypeId::kDate;
}

Status DoesNotFit(const Type& type, std::string_view why) {
  return Invalid(fmt::format("a value is not a {}: {}", type.ToString(), why));
}

Result<std::string> EncodeNumber(const Type& type, std::int64_t number) {
  if (!IsInt32(type)) return LittleEndian(static_cast<std::uint64_t>(number));
  if (number < std::numeric_limits<std::int32_t>::min() ||
      number > std::numeric_limits<std::int32_t>::max()) {
    return Fail(DoesNotFit(type, std::to_string(number)));
  }
  return LittleEndian(static_cast<std::uint32_t>(number));
}

Result<std::string> EncodeDouble(const Type& type, double number) {
  if (std::isnan(number)) return Fail(DoesNotFit(type, "NaN has no binary form"));
  if (type.id == TypeId::kDouble)
    return LittleEndian(std::bit_cast<std::uint64_t>(number));
  return LittleEndian(std::bit_cast<std::uint32_t>(static_cast<float>(number)));
}

Result<std::string> EncodeBytes(const Type& type, const std::string& bytes) {
  if (type.id == TypeId::kDecimal) {
    auto unscaled = DecimalFromBytes(bytes);
    if (!unscaled) return Fail(DoesNotFit(type, fmt::format("{} bytes", bytes.size())));
    return DecimalToBytes(*unscaled);
  }
  bool is_uuid = type.id == TypeId::kUuid;
  std::size_t width = is_uuid ? 16 : static_cast<std::size_t>(type.length);
  if ((is_uuid || type.id == TypeId::kFixed) && bytes.size() != width) {
    return Fail(DoesNotFit(type, fmt::format("{} bytes", bytes.size())));
  }
  return bytes;
}

/// Which alternative of Value a type uses.
std::size_t AlternativeOf(const Type& type) {
  switch (type.id) {
    case TypeId::kBoolean:
      return 1;
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return 2;
    case TypeId::kFloat:
    case TypeId::kDouble:
      return 3;
    case TypeId::kDecimal:
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return 4;
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      return 0;
  }
  return 0;
}

Status WrongWidth(const Type& type, std::size_t size) {
  return Damaged(fmt::format("a stored {} value has {} bytes", type.ToString(), size));
}

Result<Value> DecodeNumber(const Type& type, std::string_view bytes) {
  if (bytes.size() == 4) {
    auto word = static_cast<std::uint32_t>(FromLittleEndian(bytes));
    if (IsInt32(type) || type.id == TypeId::kLong) {
      return std::int64_t{static_cast<std::int32_t>(word)};
    }
  }
  if (bytes.size() != 8 || IsInt32(type)) return Fail(WrongWidth(type, bytes.size()));
  return static_cast<std::int64_t>(FromLittleEndian(bytes));
}

Result<Value> DecodeDouble(const Type& type, std::string_view bytes) {
  if (bytes.size() == 4) {
    return double{
        std::bit_cast<float>(static_cast<std::uint32_t>(FromLittleEndian(bytes)))};
  }
  if (bytes.size() != 8 || type.id == TypeId::kFloat) {
    return Fail(WrongWidth(type, bytes.size()));
  }
  return std::bit_cast<double>(FromLittleEndian(bytes));
}

Result<Value> DecodeBytes(const Type& type, std::string_view bytes) {
  if (type.id == TypeId::kDecimal) {
    auto unscaled = DecimalFromBytes(bytes);
    if (!unscaled) return Fail(WrongWidth(type, bytes.size()));
    return DecimalToBytes(*unscaled);
  }
  bool too_long =
      type.id == TypeId::kFixed && bytes.size() > static_cast<std::size_t>(type.length);
  if (too_long || (type.id == TypeId::kUuid && bytes.size() != 16)) {
    return Fail(WrongWidth(type, bytes.size()));
  }
  return std::string(bytes);
}

std::optional<std::string> TextBound(const std::string& text, bool upper) {
  auto prefix = FirstCodePoints(text, kBoundLength);
  if (!prefix) return std::nullopt;
  if (!upper || prefix->size() == text.size()) return std::string(*prefix);
  return NextAfterPrefix(*prefix);
}

std::optional<std::string> BinaryBound(const std::string& bytes, bool upper) {
  if (bytes.size() <= kBoundLength) return bytes;
  std::string_view prefix = std::string_view(bytes).substr(0, kBoundLength);
  return upper ? NextAfterBytes(prefix) : std::string(prefix);
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string NumberToString(const Type& type, std::int64_t number) {
  if (type.id == TypeId::kDate) return FormatDay(number);
  if (type.id == TypeId::kTimestamptz) return FormatMicros(number);
  if (type.id != TypeId::kTimestamp && type.id != TypeId::kTime) {
    return std::to_string(number);
  }
  std::string text = FormatMicros(number);  // ends in Z, which only timestamptz has
  text.pop_back();
  return type.id == TypeId::kTime ? text.substr(text.find('T') + 1) : text;
}

std::string BytesToString(const Type& type, const std::string& bytes) {
  if (type.id == TypeId::kString) return bytes;
  if (type.id == TypeId::kDecimal) {
    auto unscaled = DecimalFromBytes(bytes);
    if (unscaled) return DecimalToString(*unscaled, type.scale);
  }
  std::string text = Hex(bytes);
  if (type.id == TypeId::kUuid && text.size() == 32) {
    for (std::size_t at : {20, 16, 12, 8}) text.insert(at, "-");
  }
  return text;
}

}  // namespace

Result<std::string> EncodeSingleValue(const Type& type, const Value& value) {
  if (IsNull(value) || value.index() != AlternativeOf(type)) {
    return Fail(DoesNotFit(
        type, IsNull(value) ? "null has no binary form" : "it is of another kind"));
  }
  switch (value.index()) {
    case 1:
      return std::string(1, std::get<bool>(value) ? '\1' : '\0');
    case 2:
      return EncodeNumber(type, std::get<std::int64_t>(value));
    case 3:
      return EncodeDouble(type, std::get<double>(value));
    default:
      return EncodeBytes(type, std::get<std::string>(value));
  }
}

Result<Value> DecodeSingleValue(const Type& type, std::string_view bytes) {
  switch (AlternativeOf(type)) {
    case 1:
      if (bytes.size() != 1) return Fail(WrongWidth(type, bytes.size()));
      return bytes[0] != '\0';
    case 2:
      return DecodeNumber(type, bytes);
    case 3:
      return DecodeDouble(type, bytes);
    case 4:
      return DecodeBytes(type, bytes);
    default:
      return Fail(Damaged(fmt::format("a {} has no single value", type.ToString())));
  }
}

std::optional<std::string> MakeBound(const Type& type, const Value& value, bool upper) {
  if (const auto* bytes = std::get_if<std::string>(&value)) {
    if (type.id == TypeId::kString) return TextBound(*bytes, upper);
    if (type.id == TypeId::kBinary) return BinaryBound(*bytes, upper);
  }
  Value bound = value;
  if (auto* number = std::get_if<double>(&bound)) {
    if (type.id == TypeId::kFloat) *number = static_cast<float>(*number);
    if (*number == 0) *number = upper ? 0.0 : -0.0;
  }
  auto encoded = EncodeSingleValue(type, bound);
  if (!encoded) return std::nullopt;
  return std::move(*encoded);
}

std::partial_ordering CompareValues(const Type& type, const Value& a, const Value& b) {
  if (IsNull(a) || a.index() != b.index() || a.index() != AlternativeOf(type)) {
    return std::partial_ordering::unordered;
  }
  if (type.id != TypeId::kDecimal) return a <=> b;
  auto left = DecimalFromBytes(std::get<std::string>(a));
  auto right = DecimalFromBytes(std::get<std::string>(b));
  if (!left || !right) return std::partial_ordering::unordered;
  if (*left == *right) return std::partial_ordering::equivalent;
  return *left < *right ? std::partial_ordering::less : std::partial_ordering::greater;
}

std::string ValueToString(const Type& type, const Value& value) {
  switch (value.index()) {
    case 0:
      return "null";
    case 1:
      return std::get<bool>(value) ? "true" : "false";
    case 2:
      return NumberToString(type, std::get<std::int64_t>(value));
    case 3:
      return fmt::format("{}", std::get<double>(value));
    default:
      return BytesToString(type, std::get<std::string>(value));
  }
}

}  // namespace amend::iceberg

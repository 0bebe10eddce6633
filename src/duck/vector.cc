#include "duck/vector.h"

#include <limits>
#include <memory>

#include "base/text.h"
#include "duckdb.h"
#include "fmt/format.h"

namespace amend::duck {
namespace {

struct FreeType {
  void operator()(duckdb_logical_type type) const { duckdb_destroy_logical_type(&type); }
};
using OwnedType = std::unique_ptr<_duckdb_logical_type, FreeType>;

struct FreeText {
  void operator()(char* text) const { duckdb_free(text); }
};
using OwnedText = std::unique_ptr<char, FreeText>;

struct NamedType {
  duckdb_type id;
  std::string_view name;
};

constexpr NamedType kPlainTypes[] = {
    {DUCKDB_TYPE_BOOLEAN, "BOOLEAN"},
    {DUCKDB_TYPE_TINYINT, "TINYINT"},
    {DUCKDB_TYPE_SMALLINT, "SMALLINT"},
    {DUCKDB_TYPE_INTEGER, "INTEGER"},
    {DUCKDB_TYPE_BIGINT, "BIGINT"},
    {DUCKDB_TYPE_UTINYINT, "UTINYINT"},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT"},
    {DUCKDB_TYPE_UINTEGER, "UINTEGER"},
    {DUCKDB_TYPE_UBIGINT, "UBIGINT"},
    {DUCKDB_TYPE_FLOAT, "FLOAT"},
    {DUCKDB_TYPE_DOUBLE, "DOUBLE"},
    {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP"},
    {DUCKDB_TYPE_DATE, "DATE"},
    {DUCKDB_TYPE_TIME, "TIME"},
    {DUCKDB_TYPE_INTERVAL, "INTERVAL"},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT"},
    {DUCKDB_TYPE_UHUGEINT, "UHUGEINT"},
    {DUCKDB_TYPE_VARCHAR, "VARCHAR"},
    {DUCKDB_TYPE_BLOB, "BLOB"},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S"},
    {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS"},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS"},
    {DUCKDB_TYPE_UUID, "UUID"},
    {DUCKDB_TYPE_UNION, "UNION"},
    {DUCKDB_TYPE_BIT, "BIT"},
    {DUCKDB_TYPE_TIME_TZ, "TIME WITH TIME ZONE"},
    {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE"},
    {DUCKDB_TYPE_BIGNUM, "BIGNUM"},
    {DUCKDB_TYPE_SQLNULL, "\"NULL\""},
    {DUCKDB_TYPE_TIME_NS, "TIME_NS"},
    {DUCKDB_TYPE_GEOMETRY, "GEOMETRY"},
    {DUCKDB_TYPE_VARIANT, "VARIANT"},
};

std::string_view PlainTypeName(duckdb_type id) {
  for (const NamedType& type : kPlainTypes) {
    if (type.id == id) return type.name;
  }
  return "UNKNOWN";
}

template <typename T>
const T& At(duckdb_vector vector, std::uint64_t row) {
  return static_cast<const T*>(duckdb_vector_get_data(vector))[row];
}

template <typename T>
Value Integer(duckdb_vector vector, std::uint64_t row) {
  return static_cast<std::int64_t>(At<T>(vector, row));
}

__int128 Wide(const duckdb_hugeint& huge) {
  auto upper = static_cast<unsigned __int128>(static_cast<std::uint64_t>(huge.upper));
  return static_cast<__int128>((upper << 64) | huge.lower);
}

std::string Bytes(duckdb_vector vector, std::uint64_t row) {
  auto text = At<duckdb_string_t>(vector, row);
  return {duckdb_string_t_data(&text), duckdb_string_t_length(text)};
}

Value ReadDecimal(duckdb_vector vector, duckdb_logical_type type, std::uint64_t row) {
  Decimal decimal;
  decimal.width = duckdb_decimal_width(type);
  decimal.scale = duckdb_decimal_scale(type);
  switch (duckdb_decimal_internal_type(type)) {
    case DUCKDB_TYPE_SMALLINT:
      decimal.unscaled = At<std::int16_t>(vector, row);
      break;
    case DUCKDB_TYPE_INTEGER:
      decimal.unscaled = At<std::int32_t>(vector, row);
      break;
    case DUCKDB_TYPE_BIGINT:
      decimal.unscaled = At<std::int64_t>(vector, row);
      break;
    default:
      decimal.unscaled = Wide(At<duckdb_hugeint>(vector, row));
  }
  return decimal;
}

std::string ReadUuid(duckdb_vector vector, std::uint64_t row) {
  const auto& huge = At<duckdb_hugeint>(vector, row);
  // Stored with the top bit flipped, so that it sorts as a signed number.
  std::uint64_t upper = static_cast<std::uint64_t>(huge.upper) ^ (std::uint64_t{1} << 63);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", upper >> 32,
                     (upper >> 16) & 0xffff, upper & 0xffff, huge.lower >> 48,
                     huge.lower & 0xffffffffffff);
}

std::string ReadEnum(duckdb_vector vector, duckdb_logical_type type, std::uint64_t row) {
  std::uint64_t index = 0;
  switch (duckdb_enum_internal_type(type)) {
    case DUCKDB_TYPE_UTINYINT:
      index = At<std::uint8_t>(vector, row);
      break;
    case DUCKDB_TYPE_USMALLINT:
      index = At<std::uint16_t>(vector, row);
      break;
    default:
      index = At<std::uint32_t>(vector, row);
  }
  return OwnedText(duckdb_enum_dictionary_value(type, index)).get();
}

/// Timestamps of another unit. Infinities keep their meaning.
Result<Value> ScaledTimestamp(std::int64_t stored, std::int64_t multiply,
                              std::int64_t divide) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (stored == kMax || stored == -kMax) return Timestamp{stored, false};
  if (stored % divide != 0) {
    return Fail(Unsupported("a TIMESTAMP_NS holds nanoseconds; cast it to TIMESTAMP"));
  }
  std::int64_t micros = 0;
  if (__builtin_mul_overflow(stored / divide, multiply, &micros)) {
    return Fail(Unsupported("a timestamp lies beyond what microseconds can hold"));
  }
  return Timestamp{micros, false};
}

Result<Json> ReadElements(duckdb_vector child, duckdb_logical_type child_type,
                          std::uint64_t offset, std::uint64_t length) {
  Json list = Json::array();
  for (std::uint64_t i = 0; i < length; ++i) {
    AMEND_ASSIGN(Value element, ReadValue(child, child_type, offset + i));
    list.push_back(ToJson(element));
  }
  return list;
}

Result<Value> ReadStruct(duckdb_vector vector, duckdb_logical_type type,
                         std::uint64_t row) {
  Json object = Json::object();
  for (idx_t i = 0; i < duckdb_struct_type_child_count(type); ++i) {
    OwnedType child_type(duckdb_struct_type_child_type(type, i));
    OwnedText name(duckdb_struct_type_child_name(type, i));
    AMEND_ASSIGN(Value member, ReadValue(duckdb_struct_vector_get_child(vector, i),
                                         child_type.get(), row));
    object[name.get()] = ToJson(member);
  }
  return object;
}

Result<Value> ReadNested(duckdb_vector vector, duckdb_logical_type type,
                         std::uint64_t row) {
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_STRUCT:
      return ReadStruct(vector, type, row);
    case DUCKDB_TYPE_ARRAY: {
      OwnedType child(duckdb_array_type_child_type(type));
      std::uint64_t size = duckdb_array_type_array_size(type);
      return ReadElements(duckdb_array_vector_get_child(vector), child.get(), row * size,
                          size);
    }
    case DUCKDB_TYPE_MAP: {  // Stored as a list of STRUCT(key, value).
      OwnedType key(duckdb_map_type_key_type(type));
      OwnedType value(duckdb_map_type_value_type(type));
      auto entry = At<duckdb_list_entry>(vector, row);
      duckdb_vector child = duckdb_list_vector_get_child(vector);
      AMEND_ASSIGN(Json keys, ReadElements(duckdb_struct_vector_get_child(child, 0),
                                           key.get(), entry.offset, entry.length));
      AMEND_ASSIGN(Json values, ReadElements(duckdb_struct_vector_get_child(child, 1),
                                             value.get(), entry.offset, entry.length));
      Json map = Json::array();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        map.push_back({{"key", keys[i]}, {"value", values[i]}});
      }
      return map;
    }
    default: {
      OwnedType child(duckdb_list_type_child_type(type));
      auto entry = At<duckdb_list_entry>(vector, row);
      return ReadElements(duckdb_list_vector_get_child(vector), child.get(), entry.offset,
                          entry.length);
    }
  }
}

Result<Value> NoValueFor(duckdb_logical_type type) {
  return Fail(Unsupported("values of type " + TypeName(type) + " are not read")
                  .Hint("cast the column to VARCHAR or another plain type"));
}

Result<Value> ReadTemporal(duckdb_vector vector, duckdb_logical_type type,
                           std::uint64_t row) {
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_DATE:
      return Date{At<std::int32_t>(vector, row)};
    case DUCKDB_TYPE_TIME:
      return Time{At<std::int64_t>(vector, row)};
    case DUCKDB_TYPE_TIMESTAMP:
      return Timestamp{At<std::int64_t>(vector, row), false};
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return Timestamp{At<std::int64_t>(vector, row), true};
    case DUCKDB_TYPE_TIMESTAMP_S:
      return ScaledTimestamp(At<std::int64_t>(vector, row), 1'000'000, 1);
    case DUCKDB_TYPE_TIMESTAMP_MS:
      return ScaledTimestamp(At<std::int64_t>(vector, row), 1'000, 1);
    case DUCKDB_TYPE_TIMESTAMP_NS:
      return ScaledTimestamp(At<std::int64_t>(vector, row), 1, 1'000);
    case DUCKDB_TYPE_INTERVAL: {
      const auto& interval = At<duckdb_interval>(vector, row);
      return Interval{interval.months, interval.days, interval.micros};
    }
    default:
      return NoValueFor(type);
  }
}

Result<Value> ReadWide(duckdb_vector vector, duckdb_logical_type type,
                       std::uint64_t row) {
  if (duckdb_get_type_id(type) == DUCKDB_TYPE_UBIGINT) {
    return HugeInt{static_cast<__int128>(At<std::uint64_t>(vector, row))};
  }
  if (duckdb_get_type_id(type) == DUCKDB_TYPE_UHUGEINT &&
      (At<duckdb_uhugeint>(vector, row).upper >> 63) != 0) {
    return Fail(Unsupported("a UHUGEINT lies beyond the range of HUGEINT"));
  }
  return HugeInt{Wide(At<duckdb_hugeint>(vector, row))};
}

}  // namespace

std::string TypeName(duckdb_logical_type type) {
  if (OwnedText alias(duckdb_logical_type_get_alias(type)); alias) return alias.get();
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_DECIMAL:
      return fmt::format("DECIMAL({},{})", duckdb_decimal_width(type),
                         duckdb_decimal_scale(type));
    case DUCKDB_TYPE_LIST:
      return TypeName(OwnedType(duckdb_list_type_child_type(type)).get()) + "[]";
    case DUCKDB_TYPE_ARRAY:
      return fmt::format("{}[{}]",
                         TypeName(OwnedType(duckdb_array_type_child_type(type)).get()),
                         duckdb_array_type_array_size(type));
    case DUCKDB_TYPE_MAP:
      return "MAP(" + TypeName(OwnedType(duckdb_map_type_key_type(type)).get()) + ", " +
             TypeName(OwnedType(duckdb_map_type_value_type(type)).get()) + ")";
    case DUCKDB_TYPE_STRUCT: {
      std::vector<std::string> members;
      for (idx_t i = 0; i < duckdb_struct_type_child_count(type); ++i) {
        OwnedText name(duckdb_struct_type_child_name(type, i));
        OwnedType child(duckdb_struct_type_child_type(type, i));
        members.push_back(SqlIdentifier(name.get()) + " " + TypeName(child.get()));
      }
      return "STRUCT(" + Join(members, ", ") + ")";
    }
    case DUCKDB_TYPE_ENUM: {
      std::vector<std::string> members;
      for (std::uint32_t i = 0; i < duckdb_enum_dictionary_size(type); ++i) {
        members.push_back(
            SqlLiteral(OwnedText(duckdb_enum_dictionary_value(type, i)).get()));
      }
      return "ENUM(" + Join(members, ", ") + ")";
    }
    default:
      return std::string(PlainTypeName(duckdb_get_type_id(type)));
  }
}

Result<Value> ReadValue(duckdb_vector vector, duckdb_logical_type type,
                        std::uint64_t row) {
  std::uint64_t* validity = duckdb_vector_get_validity(vector);
  if (validity != nullptr && !duckdb_validity_row_is_valid(validity, row)) return Value{};
  switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_BOOLEAN:
      return At<bool>(vector, row);
    case DUCKDB_TYPE_TINYINT:
      return Integer<std::int8_t>(vector, row);
    case DUCKDB_TYPE_SMALLINT:
      return Integer<std::int16_t>(vector, row);
    case DUCKDB_TYPE_INTEGER:
      return Integer<std::int32_t>(vector, row);
    case DUCKDB_TYPE_BIGINT:
      return Integer<std::int64_t>(vector, row);
    case DUCKDB_TYPE_UTINYINT:
      return Integer<std::uint8_t>(vector, row);
    case DUCKDB_TYPE_USMALLINT:
      return Integer<std::uint16_t>(vector, row);
    case DUCKDB_TYPE_UINTEGER:
      return Integer<std::uint32_t>(vector, row);
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
      return ReadWide(vector, type, row);
    case DUCKDB_TYPE_FLOAT:
      return static_cast<double>(At<float>(vector, row));
    case DUCKDB_TYPE_DOUBLE:
      return At<double>(vector, row);
    case DUCKDB_TYPE_DECIMAL:
      return ReadDecimal(vector, type, row);
    case DUCKDB_TYPE_VARCHAR:
      return Bytes(vector, row);
    case DUCKDB_TYPE_BLOB:
      return Blob{Bytes(vector, row)};
    case DUCKDB_TYPE_UUID:
      return ReadUuid(vector, row);
    case DUCKDB_TYPE_ENUM:
      return ReadEnum(vector, type, row);
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_ARRAY:
    case DUCKDB_TYPE_STRUCT:
    case DUCKDB_TYPE_MAP:
      return ReadNested(vector, type, row);
    default:
      return ReadTemporal(vector, type, row);
  }
}

}  // namespace amend::duck

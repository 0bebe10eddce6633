#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace amend::iceberg {

/// Types of format version 2 (Iceberg specification, "Schemas and Data Types").
enum class TypeId {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestamptz,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kStruct,
  kList,
  kMap,
};

struct Field;

/// A type as a value. Children: struct = its fields; list = one field named "element";
/// map = "key" then "value".
struct Type {
  TypeId id = TypeId::kLong;
  int precision = 0;            ///< decimal: 1…38
  int scale = 0;                ///< decimal
  int length = 0;               ///< fixed: bytes
  std::vector<Field> children;  // no initialiser: Field is not complete here

  bool is_primitive() const {
    return id != TypeId::kStruct && id != TypeId::kList && id != TypeId::kMap;
  }
  /// Specification text of a primitive: "long", "decimal(9, 2)", "fixed[16]".
  std::string ToString() const;
  friend bool operator==(const Type&, const Type&);
};

struct Field {
  int id = 0;  ///< unique in the table's whole history
  std::string name = {};
  bool required = false;
  Type type = {};
  std::string doc = {};
  friend bool operator==(const Field&, const Field&);
};

/// One version of a table's columns. Columns are matched by id, never by position.
struct Schema {
  int id = 0;
  std::vector<Field> fields = {};
  std::vector<int> identifier_field_ids = {};

  /// Top-level columns; null where there is none. Borrowed from the schema.
  const Field* FindByName(std::string_view name) const;
  const Field* FindById(int field_id) const;
  /// The highest id used, nested ones included; 0 for an empty schema.
  int HighestId() const;
  friend bool operator==(const Schema&, const Schema&) = default;
};

/// Specification JSON. Damaged or Unsupported (v3 types) with the member's name.
Result<Type> ParsePrimitive(std::string_view text);
Result<Schema> SchemaFromJson(const Json& json);
Json SchemaToJson(const Schema& schema);

}  // namespace amend::iceberg

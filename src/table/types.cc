#include "table/types.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.h"
#include "fmt/format.h"

namespace amend::table {
namespace {

using iceberg::Field;
using iceberg::Type;
using iceberg::TypeId;

const std::map<std::string, TypeId, std::less<>>& Primitives() {
  static const std::map<std::string, TypeId, std::less<>> kTypes = {
      {"BOOLEAN", TypeId::kBoolean},
      {"INTEGER", TypeId::kInt},
      {"BIGINT", TypeId::kLong},
      {"FLOAT", TypeId::kFloat},
      {"DOUBLE", TypeId::kDouble},
      {"DATE", TypeId::kDate},
      {"TIMESTAMP", TypeId::kTimestamp},
      {"TIMESTAMP WITH TIME ZONE", TypeId::kTimestamptz},
      {"VARCHAR", TypeId::kString},
      {"UUID", TypeId::kUuid},
      {"BLOB", TypeId::kBinary},
  };
  return kTypes;
}

/// What to write instead of a type that no table can hold.
std::string CastHint(std::string_view sql_type) {
  static const std::map<std::string, std::string, std::less<>> kHints = {
      {"TINYINT", "INTEGER"},
      {"SMALLINT", "INTEGER"},
      {"UTINYINT", "INTEGER"},
      {"USMALLINT", "INTEGER"},
      {"UINTEGER", "BIGINT"},
      {"UBIGINT", "DECIMAL(20,0)"},
      {"HUGEINT", "BIGINT or DECIMAL(38,0)"},
      {"UHUGEINT", "DECIMAL(38,0)"},
      {"TIME", "VARCHAR"},
      {"INTERVAL", "BIGINT"},
      {"TIMESTAMP_NS", "TIMESTAMP"},
      {"TIMESTAMP_MS", "TIMESTAMP"},
      {"TIMESTAMP_S", "TIMESTAMP"},
      {"TIME WITH TIME ZONE", "VARCHAR"},
  };
  auto it = kHints.find(sql_type);
  return it == kHints.end() ? "VARCHAR" : it->second;
}

/// Parts of "a, b(c, d), e" at the top level.
std::vector<std::string> SplitTopLevel(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  bool quoted = false;
  std::string part;
  for (char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[')) ++depth;
    if (!quoted && (c == ')' || c == ']')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      parts.emplace_back(Trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  parts.emplace_back(Trim(part));
  return parts;
}

/// "name TYPE" or "\"odd name\" TYPE" of a STRUCT's member.
std::optional<std::pair<std::string, std::string>> SplitMember(std::string_view text) {
  if (!text.empty() && text[0] == '"') {
    std::string name;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i] != '"') {
        name += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        name += text[i++];
      } else {
        return std::pair(name, std::string(Trim(text.substr(i + 1))));
      }
    }
    return std::nullopt;
  }
  std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(text.substr(0, blank)),
                   std::string(Trim(text.substr(blank + 1))));
}

/// The text inside "NAME(…)", if that is the form.
std::optional<std::string_view> Inside(std::string_view text, std::string_view name) {
  if (text.size() < name.size() + 2 || text.substr(0, name.size()) != name ||
      text[name.size()] != '(' || text.back() != ')') {
    return std::nullopt;
  }
  return text.substr(name.size() + 1, text.size() - name.size() - 2);
}

Field Child(std::string name, Type type, bool required) {
  Field field;
  field.name = std::move(name);
  field.type = std::move(type);
  field.required = required;
  return field;
}

Result<Type> ParseDecimal(std::string_view inside, std::string_view whole) {
  std::vector<std::string> parts = SplitTopLevel(inside);
  auto precision = parts.size() == 2 ? ParseInt(parts[0]) : std::nullopt;
  auto scale = parts.size() == 2 ? ParseInt(parts[1]) : std::nullopt;
  if (!precision || !scale || *precision < 1 || *precision > 38 || *scale < 0 ||
      *scale > *precision) {
    return Fail(Invalid("'" + std::string(whole) + "' is not a decimal type")
                    .Hint("Write DECIMAL(precision,scale), precision at most 38."));
  }
  Type type;
  type.id = TypeId::kDecimal;
  type.precision = static_cast<int>(*precision);
  type.scale = static_cast<int>(*scale);
  return type;
}

Result<Type> ParseStruct(std::string_view inside, std::string_view whole) {
  Type type;
  type.id = TypeId::kStruct;
  for (const std::string& part : SplitTopLevel(inside)) {
    auto member = SplitMember(part);
    if (!member) return Fail(Invalid("'" + std::string(whole) + "' is not a type"));
    AMEND_ASSIGN(Type child, TypeFromSql(member->second));
    type.children.push_back(Child(member->first, std::move(child), false));
  }
  return type;
}

Result<Type> ParseMap(std::string_view inside, std::string_view whole) {
  std::vector<std::string> parts = SplitTopLevel(inside);
  if (parts.size() != 2)
    return Fail(Invalid("'" + std::string(whole) + "' is not a type"));
  AMEND_ASSIGN(Type key, TypeFromSql(parts[0]));
  AMEND_ASSIGN(Type value, TypeFromSql(parts[1]));
  Type type;
  type.id = TypeId::kMap;
  type.children.push_back(Child("key", std::move(key), true));
  type.children.push_back(Child("value", std::move(value), false));
  return type;
}

bool CanReadOldFiles(const Type& before, const Type& after) {
  if (before.id == TypeId::kInt && after.id == TypeId::kLong) return true;
  if (before.id == TypeId::kFloat && after.id == TypeId::kDouble) return true;
  if (before.id == TypeId::kDecimal && after.id == TypeId::kDecimal) {
    return before.scale == after.scale && before.precision <= after.precision;
  }
  // Nested types compare by their SQL spelling: ids are not part of what a model says.
  return SqlFromType(before) == SqlFromType(after);
}

/// Gives ids above `last` to a new column and everything nested in it.
void NumberFields(Field& field, int& last) {
  field.id = ++last;
  for (Field& child : field.type.children) NumberFields(child, last);
}

}  // namespace

Result<Type> TypeFromSql(std::string_view sql_type) {
  std::string_view text = Trim(sql_type);
  if (auto it = Primitives().find(text); it != Primitives().end()) {
    Type type;
    type.id = it->second;
    return type;
  }
  if (text.size() > 2 && text.substr(text.size() - 2) == "[]") {
    AMEND_ASSIGN(Type element, TypeFromSql(text.substr(0, text.size() - 2)));
    Type type;
    type.id = TypeId::kList;
    type.children.push_back(Child("element", std::move(element), false));
    return type;
  }
  if (auto inside = Inside(text, "DECIMAL")) return ParseDecimal(*inside, text);
  if (auto inside = Inside(text, "STRUCT")) return ParseStruct(*inside, text);
  if (auto inside = Inside(text, "MAP")) return ParseMap(*inside, text);
  return Fail(Unsupported("a table cannot hold the type " + std::string(text))
                  .Hint("Cast it in the SELECT, for example to " + CastHint(text) + "."));
}

std::string SqlFromType(const Type& type) {
  switch (type.id) {
    case TypeId::kDecimal:
      return fmt::format("DECIMAL({},{})", type.precision, type.scale);
    case TypeId::kFixed:
      return "BLOB";
    case TypeId::kTime:
      return "TIME";
    case TypeId::kList:
      return SqlFromType(type.children[0].type) + "[]";
    case TypeId::kMap:
      return fmt::format("MAP({}, {})", SqlFromType(type.children[0].type),
                         SqlFromType(type.children[1].type));
    case TypeId::kStruct: {
      std::vector<std::string> members;
      for (const Field& child : type.children) {
        members.push_back(SqlIdentifier(child.name) + " " + SqlFromType(child.type));
      }
      return "STRUCT(" + Join(members, ", ") + ")";
    }
    default:
      break;
  }
  for (const auto& [name, id] : Primitives()) {
    if (id == type.id) return name;
  }
  return "VARCHAR";
}

std::vector<lineage::Column> ColumnsOf(const iceberg::Schema& schema) {
  std::vector<lineage::Column> columns;
  for (const Field& field : schema.fields) {
    if (field.name == lineage::kFileColumn || field.name == lineage::kRowColumn) continue;
    columns.push_back({field.name, SqlFromType(field.type), !field.required});
  }
  return columns;
}

Result<iceberg::Schema> ContinueSchema(const iceberg::Schema& base, int last_column_id,
                                       const std::vector<lineage::Column>& columns) {
  iceberg::Schema schema;
  schema.id = base.id;
  int last = std::max(last_column_id, base.HighestId());
  for (const lineage::Column& column : columns) {
    AMEND_ASSIGN(Type type, TypeFromSql(column.type));
    const Field* old = base.FindByName(column.name);
    if (old == nullptr) {
      Field field = Child(column.name, std::move(type), false);
      NumberFields(field, last);
      schema.fields.push_back(std::move(field));
      continue;
    }
    if (!CanReadOldFiles(old->type, type)) {
      return Fail(
          Unsupported(fmt::format("column {} changes from {} to {}, which files "
                                  "that exist cannot be read with",
                                  column.name, SqlFromType(old->type), column.type))
              .Column(column.name)
              .Hint("Keep the type, or give the new one another column name."));
    }
    Field field = *old;
    if (type.is_primitive()) field.type = std::move(type);
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

}  // namespace amend::table

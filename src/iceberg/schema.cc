#include "iceberg/schema.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"

namespace amend::iceberg {
namespace {

constexpr int kMaxFieldId = 2147483447;  // above it the format reserves ids
constexpr int kMaxPrecision = 38;

constexpr std::array<std::pair<std::string_view, TypeId>, 12> kPlainTypes = {{
    {"boolean", TypeId::kBoolean},
    {"int", TypeId::kInt},
    {"long", TypeId::kLong},
    {"float", TypeId::kFloat},
    {"double", TypeId::kDouble},
    {"date", TypeId::kDate},
    {"time", TypeId::kTime},
    {"timestamp", TypeId::kTimestamp},
    {"timestamptz", TypeId::kTimestamptz},
    {"string", TypeId::kString},
    {"uuid", TypeId::kUuid},
    {"binary", TypeId::kBinary},
}};

/// Types that exist in format version 3 only; geography and geometry take parameters.
bool IsLaterType(std::string_view text) {
  constexpr std::array<std::string_view, 6> kLater = {
      "timestamp_ns", "timestamptz_ns", "variant", "unknown", "geometry", "geography"};
  std::string_view name = text.substr(0, text.find('('));
  return std::find(kLater.begin(), kLater.end(), Trim(name)) != kLater.end();
}

Status BadType(std::string_view text) {
  return Damaged(fmt::format("'{}' is not a type of Iceberg format version 2", text));
}

/// The text between `open` at the end of `name` and the closing last character.
std::optional<std::string_view> Parameters(std::string_view text, std::string_view name,
                                           char close) {
  if (!text.starts_with(name) || !text.ends_with(close)) return std::nullopt;
  return text.substr(name.size(), text.size() - name.size() - 1);
}

std::optional<int> Number(std::string_view text, int least, int most) {
  auto number = ParseInt(Trim(text));
  if (!number || *number < least || *number > most) return std::nullopt;
  return static_cast<int>(*number);
}

Result<Type> ParseDecimal(std::string_view text, std::string_view parameters) {
  auto parts = Split(parameters, ',');
  if (parts.size() != 2) return Fail(BadType(text));
  auto precision = Number(parts[0], 1, kMaxPrecision);
  auto scale = Number(parts[1], 0, kMaxPrecision);
  if (!precision || !scale || *scale > *precision) return Fail(BadType(text));
  Type type{.id = TypeId::kDecimal};
  type.precision = *precision;
  type.scale = *scale;
  return type;
}

/// Reads a schema's types; keeps the ids seen, for no two fields may share one.
class SchemaReader {
 public:
  Result<std::vector<Field>> Fields(const Json& object, std::string_view what) {
    auto it = object.find("fields");
    if (it == object.end() || !it->is_array()) {
      return Fail(Damaged(fmt::format("{} has no list 'fields'", what)));
    }
    std::vector<Field> fields;
    std::set<std::string> names;
    for (const Json& json : *it) {
      AMEND_ASSIGN(Field field, OneField(json, what));
      if (!names.insert(field.name).second) {
        return Fail(Damaged(fmt::format("{} has two fields '{}'", what, field.name)));
      }
      fields.push_back(std::move(field));
    }
    return fields;
  }

  bool Has(const Json& id) const {
    return id.is_number_integer() &&
           std::any_of(ids_.begin(), ids_.end(),
                       [&id](int known) { return id.get<std::int64_t>() == known; });
  }

 private:
  Result<int> Id(const Json& json, std::string_view member, std::string_view what) {
    AMEND_ASSIGN(std::int64_t id, JsonInt(json, member, what));
    if (id < 0 || id > kMaxFieldId) {
      return Fail(Damaged(fmt::format("{}: field id {} is out of range", what, id)));
    }
    if (!ids_.insert(static_cast<int>(id)).second) {
      return Fail(Damaged(fmt::format("{}: field id {} is used twice", what, id)));
    }
    return static_cast<int>(id);
  }

  static Result<bool> Flag(const Json& json, std::string_view member,
                           std::string_view what) {
    auto it = json.find(std::string(member));
    if (it == json.end() || !it->is_boolean()) {
      return Fail(Damaged(fmt::format("{} has no boolean member '{}'", what, member)));
    }
    return it->get<bool>();
  }

  Result<Type> TypeOf(const Json& json, std::string_view member, std::string_view what) {
    auto it = json.find(std::string(member));
    if (it == json.end()) {
      return Fail(Damaged(fmt::format("{} has no member '{}'", what, member)));
    }
    if (it->is_string()) return ParsePrimitive(it->get<std::string>());
    AMEND_ASSIGN(std::string kind, JsonString(*it, "type", what));
    if (kind == "struct") {
      AMEND_ASSIGN(std::vector<Field> fields, Fields(*it, what));
      return Type{.id = TypeId::kStruct, .children = std::move(fields)};
    }
    if (kind == "list") return List(*it, what);
    if (kind == "map") return Map(*it, what);
    return Fail(BadType(kind));
  }

  Result<Type> List(const Json& json, std::string_view what) {
    Field element{.name = "element"};
    AMEND_ASSIGN(element.id, Id(json, "element-id", what));
    AMEND_ASSIGN(element.required, Flag(json, "element-required", what));
    AMEND_ASSIGN(element.type, TypeOf(json, "element", what));
    Type type{.id = TypeId::kList};
    type.children.push_back(std::move(element));
    return type;
  }

  Result<Type> Map(const Json& json, std::string_view what) {
    Field key{.name = "key", .required = true};
    Field value{.name = "value"};
    AMEND_ASSIGN(key.id, Id(json, "key-id", what));
    AMEND_ASSIGN(key.type, TypeOf(json, "key", what));
    AMEND_ASSIGN(value.id, Id(json, "value-id", what));
    AMEND_ASSIGN(value.required, Flag(json, "value-required", what));
    AMEND_ASSIGN(value.type, TypeOf(json, "value", what));
    Type type{.id = TypeId::kMap};
    type.children.push_back(std::move(key));
    type.children.push_back(std::move(value));
    return type;
  }

  Result<Field> OneField(const Json& json, std::string_view what) {
    Field field;
    AMEND_ASSIGN(field.name, JsonString(json, "name", what));
    std::string where = fmt::format("{}, field '{}'", what, field.name);
    AMEND_ASSIGN(field.id, Id(json, "id", where));
    AMEND_ASSIGN(field.required, Flag(json, "required", where));
    auto type = TypeOf(json, "type", where);
    if (!type) return Fail(type.error().Annotate(where));
    field.type = std::move(*type);
    for (const char* member : {"initial-default", "write-default"}) {
      if (auto it = json.find(member); it != json.end() && !it->is_null()) {
        return Fail(Unsupported(fmt::format(
            "{} has a default value, which format version 2 does not know", where)));
      }
    }
    if (auto it = json.find("doc"); it != json.end() && it->is_string()) {
      field.doc = it->get<std::string>();
    }
    return field;
  }

  std::set<int> ids_;
};

Json TypeToJson(const Type& type);

Json FieldsToJson(const std::vector<Field>& fields) {
  Json list = Json::array();
  for (const Field& field : fields) {
    Json json = {{"id", field.id},
                 {"name", field.name},
                 {"required", field.required},
                 {"type", TypeToJson(field.type)}};
    if (!field.doc.empty()) json["doc"] = field.doc;
    list.push_back(std::move(json));
  }
  return list;
}

Json TypeToJson(const Type& type) {
  if (type.id == TypeId::kStruct) {
    return {{"type", "struct"}, {"fields", FieldsToJson(type.children)}};
  }
  if (type.id == TypeId::kList) {
    const Field& element = type.children.at(0);
    return {{"type", "list"},
            {"element-id", element.id},
            {"element", TypeToJson(element.type)},
            {"element-required", element.required}};
  }
  if (type.id == TypeId::kMap) {
    const Field& key = type.children.at(0);
    const Field& value = type.children.at(1);
    return {{"type", "map"},
            {"key-id", key.id},
            {"key", TypeToJson(key.type)},
            {"value-id", value.id},
            {"value", TypeToJson(value.type)},
            {"value-required", value.required}};
  }
  return type.ToString();
}

int HighestOf(const std::vector<Field>& fields) {
  int highest = 0;
  for (const Field& field : fields) {
    highest = std::max({highest, field.id, HighestOf(field.type.children)});
  }
  return highest;
}

}  // namespace

std::string Type::ToString() const {
  if (id == TypeId::kDecimal) return fmt::format("decimal({}, {})", precision, scale);
  if (id == TypeId::kFixed) return fmt::format("fixed[{}]", length);
  for (const auto& [name, plain] : kPlainTypes) {
    if (plain == id) return std::string(name);
  }
  return id == TypeId::kStruct ? "struct" : id == TypeId::kList ? "list" : "map";
}

bool operator==(const Type& a, const Type& b) {
  return a.id == b.id && a.precision == b.precision && a.scale == b.scale &&
         a.length == b.length && a.children == b.children;
}

bool operator==(const Field& a, const Field& b) {
  return a.id == b.id && a.name == b.name && a.required == b.required &&
         a.type == b.type && a.doc == b.doc;
}

const Field* Schema::FindByName(std::string_view name) const {
  auto it = std::find_if(fields.begin(), fields.end(),
                         [name](const Field& field) { return field.name == name; });
  return it == fields.end() ? nullptr : &*it;
}

const Field* Schema::FindById(int field_id) const {
  auto it = std::find_if(fields.begin(), fields.end(),
                         [field_id](const Field& field) { return field.id == field_id; });
  return it == fields.end() ? nullptr : &*it;
}

int Schema::HighestId() const { return HighestOf(fields); }

Result<Type> ParsePrimitive(std::string_view text) {
  for (const auto& [name, id] : kPlainTypes) {
    if (name == text) return Type{.id = id};
  }
  if (auto parameters = Parameters(text, "decimal(", ')')) {
    return ParseDecimal(text, *parameters);
  }
  if (auto parameters = Parameters(text, "fixed[", ']')) {
    auto length = Number(*parameters, 1, 1 << 30);
    if (!length) return Fail(BadType(text));
    return Type{.id = TypeId::kFixed, .length = *length};
  }
  if (IsLaterType(text)) {
    return Fail(Unsupported(
        fmt::format("type '{}' needs Iceberg format version 3, Amend reads 2", text)));
  }
  return Fail(BadType(text));
}

Result<Schema> SchemaFromJson(const Json& json) {
  constexpr std::string_view kWhat = "table schema";
  if (!json.is_object()) return Fail(Damaged("table schema is not a JSON object"));
  Schema schema;
  if (auto it = json.find("schema-id"); it != json.end()) {
    AMEND_ASSIGN(std::int64_t id, JsonInt(json, "schema-id", kWhat));
    if (id < 0 || id > kMaxFieldId) {
      return Fail(Damaged(fmt::format("schema-id {} is out of range", id)));
    }
    schema.id = static_cast<int>(id);
  }
  SchemaReader reader;
  AMEND_ASSIGN(schema.fields, reader.Fields(json, kWhat));
  auto ids = json.find("identifier-field-ids");
  if (ids == json.end() || ids->is_null()) return schema;
  if (!ids->is_array()) return Fail(Damaged("identifier-field-ids is not a list"));
  for (const Json& id : *ids) {
    if (!reader.Has(id)) {
      return Fail(Damaged("identifier-field-ids names no field: " + id.dump()));
    }
    schema.identifier_field_ids.push_back(id.get<int>());
  }
  return schema;
}

Json SchemaToJson(const Schema& schema) {
  Json json = {{"type", "struct"}, {"schema-id", schema.id}};
  if (!schema.identifier_field_ids.empty()) {
    json["identifier-field-ids"] = schema.identifier_field_ids;
  }
  json["fields"] = FieldsToJson(schema.fields);
  return json;
}

}  // namespace amend::iceberg

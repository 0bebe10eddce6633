#include "iceberg/manifest_schema.h"

#include <cstdint>
#include <set>

#include "base/json.h"
#include "fmt/format.h"
#include "iceberg/decimal.h"

namespace amend::iceberg {
namespace {

constexpr int kUuidSize = 16;

Json Required(const char* name, Json type, int id) {
  return {{"name", name}, {"type", std::move(type)}, {"field-id", id}};
}

Json Optional(const char* name, Json type, int id) {
  return {{"name", name},
          {"type", Json::array({"null", std::move(type)})},
          {"default", nullptr},
          {"field-id", id}};
}

Json Record(const std::string& name, Json fields) {
  return {{"type", "record"}, {"name", name}, {"fields", std::move(fields)}};
}

Json List(const char* item, int element_id) {
  return {{"type", "array"}, {"items", item}, {"element-id", element_id}};
}

/// Avro maps have text keys only, so a map by column id is an array of pairs.
Json MapById(int key_id, int value_id, const char* value) {
  Json pair = Record(
      fmt::format("k{}_v{}", key_id, value_id),
      Json::array({Required("key", "int", key_id), Required("value", value, value_id)}));
  return {{"type", "array"}, {"logicalType", "map"}, {"items", std::move(pair)}};
}

/// An Avro name is defined once in a schema; a second use of it gets the field's id.
Json Fixed(const std::string& name, int size, int field_id, std::set<std::string>& used) {
  std::string unique =
      used.insert(name).second ? name : fmt::format("{}_{}", name, field_id);
  return {{"type", "fixed"}, {"name", unique}, {"size", size}};
}

Json Logical(const char* type, const char* logical) {
  return {{"type", type}, {"logicalType", logical}};
}

Json PartitionType(const PartitionColumn& column, std::set<std::string>& used) {
  const Type& type = column.type;
  switch (type.id) {
    case TypeId::kDate:
      return Logical("int", "date");
    case TypeId::kTime:
      return Logical("long", "time-micros");
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: {
      Json json = Logical("long", "timestamp-micros");
      json["adjust-to-utc"] = type.id == TypeId::kTimestamptz;
      return json;
    }
    case TypeId::kBinary:
      return "bytes";
    case TypeId::kUuid: {
      Json json = Fixed("uuid_fixed", kUuidSize, column.field_id, used);
      json["logicalType"] = "uuid";
      return json;
    }
    case TypeId::kFixed:
      return Fixed(fmt::format("fixed_{}", type.length), type.length, column.field_id,
                   used);
    case TypeId::kDecimal: {
      Json json = Fixed(fmt::format("decimal_{}_{}", type.precision, type.scale),
                        DecimalWidth(type.precision), column.field_id, used);
      json["logicalType"] = "decimal";
      json["precision"] = type.precision;
      json["scale"] = type.scale;
      return json;
    }
    default:
      return type
          .ToString();  // boolean, int, long, float, double, string: the same words
  }
}

Json PartitionRecord(const std::vector<PartitionColumn>& columns) {
  Json fields = Json::array();
  std::set<std::string> used;
  for (const PartitionColumn& column : columns) {
    std::string name = AvroName(column.name);
    Json field = Optional(name.c_str(), PartitionType(column, used), column.field_id);
    if (name != column.name) field["iceberg-field-name"] = column.name;
    fields.push_back(std::move(field));
  }
  return Record("r102", std::move(fields));
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Field* FindNested(const std::vector<Field>& fields, int id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (const Field* nested = FindNested(field.type.children, id)) return nested;
  }
  return nullptr;
}

}  // namespace

Result<std::vector<PartitionColumn>> PartitionColumns(const PartitionSpec& spec,
                                                      const Schema& schema) {
  std::vector<PartitionColumn> columns;
  for (const PartitionField& field : spec.fields) {
    if (field.transform.kind == TransformKind::kUnknown) {
      return Fail(Unsupported(
          fmt::format("partition field '{}' has the transform '{}', which Amend does not "
                      "know and so does not write",
                      field.name, field.transform.ToString())));
    }
    const Field* source = FindNested(schema.fields, field.source_id);
    if (source == nullptr || !source->type.is_primitive()) {
      return Fail(Unsupported(fmt::format(
          "partition field '{}' of spec {} has no source column (id {}) in schema {}",
          field.name, spec.id, field.source_id, schema.id)));
    }
    columns.push_back(
        {field.name, field.field_id, field.transform.ResultType(source->type)});
  }
  return columns;
}

std::string ManifestSchemaJson(const std::vector<PartitionColumn>& columns) {
  Json file = Json::array({
      Required("content", "int", 134),
      Required("file_path", "string", 100),
      Required("file_format", "string", 101),
      Required("partition", PartitionRecord(columns), 102),
      Required("record_count", "long", 103),
      Required("file_size_in_bytes", "long", 104),
      Optional("column_sizes", MapById(117, 118, "long"), 108),
      Optional("value_counts", MapById(119, 120, "long"), 109),
      Optional("null_value_counts", MapById(121, 122, "long"), 110),
      Optional("nan_value_counts", MapById(138, 139, "long"), 137),
      Optional("lower_bounds", MapById(126, 127, "bytes"), 125),
      Optional("upper_bounds", MapById(129, 130, "bytes"), 128),
      Optional("key_metadata", "bytes", 131),
      Optional("split_offsets", List("long", 133), 132),
      Optional("equality_ids", List("int", 136), 135),
      Optional("sort_order_id", "int", 140),
      Optional("referenced_data_file", "string", 143),
  });
  return Text(Record("manifest_entry",
                     Json::array({
                         Required("status", "int", 0),
                         Optional("snapshot_id", "long", 1),
                         Optional("sequence_number", "long", 3),
                         Optional("file_sequence_number", "long", 4),
                         Required("data_file", Record("r2", std::move(file)), 2),
                     })));
}

std::string ManifestListSchemaJson() {
  Json summary = Record("r508", Json::array({
                                    Required("contains_null", "boolean", 509),
                                    Optional("contains_nan", "boolean", 518),
                                    Optional("lower_bound", "bytes", 510),
                                    Optional("upper_bound", "bytes", 511),
                                }));
  Json partitions = {
      {"type", "array"}, {"items", std::move(summary)}, {"element-id", 508}};
  return Text(
      Record("manifest_file", Json::array({
                                  Required("manifest_path", "string", 500),
                                  Required("manifest_length", "long", 501),
                                  Required("partition_spec_id", "int", 502),
                                  Required("content", "int", 517),
                                  Required("sequence_number", "long", 515),
                                  Required("min_sequence_number", "long", 516),
                                  Required("added_snapshot_id", "long", 503),
                                  Required("added_files_count", "int", 504),
                                  Required("existing_files_count", "int", 505),
                                  Required("deleted_files_count", "int", 506),
                                  Required("added_rows_count", "long", 512),
                                  Required("existing_rows_count", "long", 513),
                                  Required("deleted_rows_count", "long", 514),
                                  Optional("partitions", std::move(partitions), 507),
                                  Optional("key_metadata", "bytes", 519),
                              })));
}

std::string AvroName(std::string_view name) {
  std::string out;
  for (char c : name) {
    bool digit = c >= '0' && c <= '9';
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (digit && out.empty()) out += '_';
    if (digit || letter) {
      out += c;
    } else {
      out += fmt::format("_x{:X}", static_cast<unsigned char>(c));
    }
  }
  return out.empty() ? "_" : out;
}

Status EncodePartitionValue(const Type& type, const Value& value, AvroEncoder& out) {
  out.Present(!IsNull(value));
  if (IsNull(value)) return {};
  auto checked = EncodeSingleValue(type, value);
  if (!checked) return checked.error();
  if (const auto* truth = std::get_if<bool>(&value)) out.Boolean(*truth);
  if (const auto* number = std::get_if<std::int64_t>(&value)) out.Long(*number);
  if (const auto* real = std::get_if<double>(&value)) {
    type.id == TypeId::kFloat ? out.Float(static_cast<float>(*real)) : out.Double(*real);
  }
  const auto* bytes = std::get_if<std::string>(&value);
  if (bytes == nullptr) return {};
  if (type.id == TypeId::kDecimal) {
    auto unscaled = DecimalFromBytes(*bytes);
    auto fixed =
        unscaled ? DecimalToFixed(*unscaled, DecimalWidth(type.precision)) : std::nullopt;
    if (!fixed) return Invalid("a decimal partition value exceeds its precision");
    out.Raw(*fixed);
  } else if (type.id == TypeId::kUuid || type.id == TypeId::kFixed) {
    out.Raw(*bytes);
  } else {
    out.Sized(*bytes);
  }
  return {};
}

Value DecodePartitionValue(AvroDecoder& decoder, const AvroType& type) {
  const AvroType& actual = decoder.Resolve(type);
  switch (actual.kind) {
    case AvroKind::kNull:
      return {};
    case AvroKind::kBoolean:
      return decoder.Boolean(actual);
    case AvroKind::kInt:
    case AvroKind::kLong:
      return decoder.Integer(actual);
    case AvroKind::kFloat:
    case AvroKind::kDouble:
      return decoder.Number(actual);
    case AvroKind::kString:
    case AvroKind::kBytes:
    case AvroKind::kFixed: {
      std::string_view bytes = decoder.Bytes(actual);
      if (actual.logical != "decimal") return std::string(bytes);
      auto unscaled = DecimalFromBytes(bytes);
      if (!unscaled) decoder.Fail("a decimal partition value has an impossible width");
      return unscaled ? DecimalToBytes(*unscaled) : std::string();
    }
    default:
      decoder.Fail("a partition value has an impossible type");
      return {};
  }
}

}  // namespace amend::iceberg

#include "iceberg/metadata_builder.h"

#include <algorithm>
#include <set>

#include "base/env.h"
#include "base/text.h"
#include "fmt/format.h"

namespace amend::iceberg {
namespace {

constexpr int kFirstPartitionId = 1000;
constexpr int kHighestUserId = 2147483447;  // beyond are reserved columns
constexpr std::size_t kPreviousVersionsMax = 100;
constexpr std::string_view kPreviousVersionsKey = "write.metadata.previous-versions-max";

void Renumber(std::vector<Field>& fields, int& next) {
  for (Field& field : fields) {
    field.id = next++;
    Renumber(field.type.children, next);
  }
}

int HighestPartitionId(const PartitionSpec& spec) {
  int highest = kFirstPartitionId - 1;
  for (const PartitionField& field : spec.fields) {
    highest = std::max(highest, field.field_id);
  }
  return highest;
}

Status CheckFields(const std::vector<Field>& fields, std::set<int>& ids) {
  std::set<std::string> names;
  for (const Field& field : fields) {
    if (field.name.empty()) return Invalid("a column has no name");
    if (!names.insert(field.name).second) {
      return Invalid("column name '" + field.name + "' is used twice").Column(field.name);
    }
    if (field.id < 1 || field.id > kHighestUserId || !ids.insert(field.id).second) {
      return Invalid(fmt::format("column '{}' has id {}, which is out of range or taken",
                                 field.name, field.id))
          .Column(field.name);
    }
    AMEND_RETURN_IF_ERROR(CheckFields(field.type.children, ids));
  }
  return {};
}

Status CheckSchema(const Schema& schema) {
  if (schema.fields.empty()) return Invalid("a table needs at least one column");
  std::set<int> ids;
  AMEND_RETURN_IF_ERROR(CheckFields(schema.fields, ids));
  for (int id : schema.identifier_field_ids) {
    const Field* field = schema.FindById(id);
    bool fits = field != nullptr && field->required && field->type.is_primitive() &&
                field->type.id != TypeId::kFloat && field->type.id != TypeId::kDouble;
    if (!fits) {
      return Invalid(fmt::format(
          "identifier column {} is not a required primitive other than float", id));
    }
  }
  return {};
}

Status CheckPartitionField(const PartitionField& field, const Schema& schema) {
  const Field* source = schema.FindById(field.source_id);
  if (source == nullptr || !source->type.is_primitive()) {
    return Invalid(fmt::format("partition field '{}' has no primitive source column {}",
                               field.name, field.source_id));
  }
  if (field.transform.kind == TransformKind::kUnknown) {
    return Unsupported("partition field '" + field.name + "' has the unknown transform " +
                       field.transform.text);
  }
  const Field* same_name = schema.FindByName(field.name);
  bool is_identity = field.transform.kind == TransformKind::kIdentity;
  if (same_name != nullptr && !(is_identity && same_name->id == field.source_id)) {
    return Invalid("partition field '" + field.name +
                   "' has the name of a column that it is not")
        .Hint("Name it after column and transform, such as ts_day.");
  }
  // Readers find the field by name in Avro records.
  bool plain = !field.name.empty() && !std::isdigit(field.name[0] & 0xFF) &&
               std::all_of(field.name.begin(), field.name.end(), [](char c) {
                 return std::isalnum(c & 0xFF) != 0 || c == '_';
               });
  if (!plain) {
    return Invalid("partition field '" + field.name +
                   "' must be letters, digits and underscores");
  }
  return {};
}

Status CheckSpec(const PartitionSpec& spec, const Schema& schema) {
  std::set<int> ids;
  std::set<std::string> names;
  for (const PartitionField& field : spec.fields) {
    AMEND_RETURN_IF_ERROR(CheckPartitionField(field, schema));
    if (field.field_id < kFirstPartitionId || !ids.insert(field.field_id).second ||
        !names.insert(field.name).second) {
      return Invalid(
          fmt::format("partition field '{}' ({}) needs a name and an id of its own, "
                      "from {}",
                      field.name, field.field_id, kFirstPartitionId));
    }
  }
  return {};
}

bool IsPromotion(const Type& from, const Type& to) {
  if (from.id == TypeId::kInt && to.id == TypeId::kLong) return true;
  if (from.id == TypeId::kFloat && to.id == TypeId::kDouble) return true;
  return from.id == TypeId::kDecimal && to.id == TypeId::kDecimal &&
         from.scale == to.scale && from.precision <= to.precision;
}

/// Every field of the table's whole history by id; the newest schema wins.
void IndexFields(const std::vector<Field>& fields, std::map<int, const Field*>& index) {
  for (const Field& field : fields) {
    index[field.id] = &field;
    IndexFields(field.type.children, index);
  }
}

/// INV-M3 for one level of a changed schema: what each column was before, if anything.
Status CheckEvolution(const std::vector<Field>& fields,
                      const std::map<int, const Field*>& before, int last_column_id) {
  for (const Field& field : fields) {
    auto old = before.find(field.id);
    if (old == before.end()) {
      if (field.id <= last_column_id) {
        return Invalid(
                   fmt::format("new column '{}' has id {}, but ids up to {} were used",
                               field.name, field.id, last_column_id))
            .Column(field.name);
      }
      if (field.required) {
        return Invalid("new column '" + field.name +
                       "' must be optional: older files do not have it")
            .Column(field.name);
      }
      continue;
    }
    const Field& was = *old->second;
    if (field.required && !was.required) {
      return Invalid("column '" + field.name + "' cannot become required")
          .Column(field.name);
    }
    bool nested = !field.type.is_primitive() && field.type.id == was.type.id;
    if (nested) {
      AMEND_RETURN_IF_ERROR(CheckEvolution(field.type.children, before, last_column_id));
    } else if (!(field.type == was.type) && !IsPromotion(was.type, field.type)) {
      return Invalid(fmt::format("column '{}' cannot change from {} to {}", field.name,
                                 was.type.ToString(), field.type.ToString()))
          .Column(field.name)
          .Hint("Give it a new id: it is another column then, empty in older files.");
    }
  }
  return {};
}

Json LogEntry(std::int64_t now_ms, const char* key, Json value) {
  Json entry = Json::object();
  entry["timestamp-ms"] = now_ms;
  entry[key] = std::move(value);
  return entry;
}

/// A member that readers may leave out, made sure of.
Json& ArrayMember(Json& document, const char* member) {
  if (!document.contains(member) || !document[member].is_array()) {
    document[member] = Json::array();
  }
  return document[member];
}

void TrimMetadataLog(Json& document, const Json& properties) {
  std::size_t keep = kPreviousVersionsMax;
  if (auto it = properties.find(std::string(kPreviousVersionsKey));
      it != properties.end() && it->is_string()) {
    auto number = ParseInt(it->get<std::string>());
    if (number && *number >= 1) keep = static_cast<std::size_t>(*number);
  }
  Json& log = ArrayMember(document, "metadata-log");
  while (log.size() > keep) log.erase(0);
}

}  // namespace

Schema AssignFreshIds(Schema schema) {
  schema.id = 0;
  int next = 1;
  Renumber(schema.fields, next);
  return schema;
}

std::string NextMetadataFile(const TableMetadata& metadata, std::string_view base_file,
                             std::string_view uuid) {
  std::string_view name = FileNameOf(base_file);
  std::int64_t version = ParseInt(name.substr(0, name.find('-')))
                             .value_or(-1);  // foreign names count from 0
  return fmt::format("{}/{:05}-{}.metadata.json", metadata.metadata_folder(), version + 1,
                     uuid);
}

MetadataBuilder::MetadataBuilder(Json document, std::int64_t now_ms)
    : document_(std::move(document)), now_ms_(now_ms) {}

MetadataBuilder::MetadataBuilder(const TableMetadata& base, std::string_view base_file,
                                 std::int64_t now_ms)
    : document_(base.document_), now_ms_(std::max(now_ms, base.last_updated_ms())) {
  if (!base_file.empty()) {
    ArrayMember(document_, "metadata-log")
        .push_back(LogEntry(base.last_updated_ms(), "metadata-file", base_file));
  }
  if (!document_.contains("properties")) document_["properties"] = Json::object();
  TrimMetadataLog(document_, document_["properties"]);
}

Result<MetadataBuilder> MetadataBuilder::Create(const NewTable& table, std::string uuid,
                                                std::int64_t now_ms) {
  if (table.location.empty() || table.location.back() == '/') {
    return Fail(Invalid("a table's location is a URI without trailing slash, not '" +
                        table.location + "'"));
  }
  AMEND_FAIL_IF_ERROR(CheckSchema(table.schema));
  AMEND_FAIL_IF_ERROR(CheckSpec(table.spec, table.schema));
  Schema schema = table.schema;
  schema.id = 0;
  PartitionSpec spec = table.spec;
  spec.id = 0;
  Json unsorted = Json::object();
  unsorted["order-id"] = 0;
  unsorted["fields"] = Json::array();

  Json document = Json::object();
  document["format-version"] = 2;
  document["table-uuid"] = std::move(uuid);
  document["location"] = table.location;
  document["last-sequence-number"] = 0;
  document["last-updated-ms"] = now_ms;
  document["last-column-id"] = schema.HighestId();
  document["current-schema-id"] = 0;
  document["schemas"] = Json::array({SchemaToJson(schema)});
  document["default-spec-id"] = 0;
  document["partition-specs"] = Json::array({SpecToJson(spec)});
  document["last-partition-id"] = HighestPartitionId(spec);
  document["default-sort-order-id"] = 0;
  document["sort-orders"] = Json::array({unsorted});
  document["properties"] = Json::object();
  for (const auto& [key, value] : table.properties) document["properties"][key] = value;
  document["current-snapshot-id"] = -1;
  document["refs"] = Json::object();
  for (const char* member : {"snapshots", "statistics", "partition-statistics",
                             "snapshot-log", "metadata-log"}) {
    document[member] = Json::array();
  }
  return MetadataBuilder(std::move(document), now_ms);
}

MetadataBuilder MetadataBuilder::Twin(const TableMetadata& live, std::string location,
                                      std::string uuid, std::int64_t now_ms) {
  MetadataBuilder twin(live, "", now_ms);
  Json& document = twin.document_;
  document["table-uuid"] = std::move(uuid);
  document["location"] = std::move(location);
  // Statistics files and redirected folders belong to the live table.
  for (const char* member : {"metadata-log", "snapshot-log", "snapshots", "statistics",
                             "partition-statistics"}) {
    document[member] = Json::array();
  }
  document["refs"] = Json::object();
  document["current-snapshot-id"] = -1;
  twin.RemoveProperty("write.metadata.path");
  twin.RemoveProperty("write.data.path");
  const Snapshot* head = live.current_snapshot();
  if (head != nullptr) {
    Json first = *MetadataBuilder(live, "", now_ms).FindSnapshotJson(head->id);
    first.erase("parent-snapshot-id");  // its parents are not in this table
    document["snapshots"].push_back(std::move(first));
    document["current-snapshot-id"] = head->id;
    document["refs"]["main"] = RefToJson({.snapshot_id = head->id});
    document["snapshot-log"].push_back(
        LogEntry(head->timestamp_ms, "snapshot-id", head->id));
  }
  return twin;
}

std::int64_t MetadataBuilder::next_sequence_number() const {
  return document_.at("last-sequence-number").get<std::int64_t>() + 1;
}

Json* MetadataBuilder::FindSnapshotJson(std::int64_t id) {
  for (Json& snapshot : ArrayMember(document_, "snapshots")) {
    if (snapshot.at("snapshot-id") == id) return &snapshot;
  }
  return nullptr;
}

void MetadataBuilder::LogMainChange(std::int64_t snapshot_id) {
  document_["current-snapshot-id"] = snapshot_id;
  ArrayMember(document_, "snapshot-log")
      .push_back(LogEntry(now_ms_, "snapshot-id", snapshot_id));
}

Status MetadataBuilder::AddSnapshot(const Snapshot& snapshot, std::string_view ref) {
  std::string id = std::to_string(snapshot.id);
  if (snapshot.id <= 0 || FindSnapshotJson(snapshot.id) != nullptr) {
    return Invalid("snapshot id " + id + " is taken or not positive");
  }
  if (snapshot.sequence_number != next_sequence_number()) {
    return Invalid(fmt::format("snapshot {} has sequence number {}, the next is {}", id,
                               snapshot.sequence_number, next_sequence_number()));
  }
  if (snapshot.parent_id && FindSnapshotJson(*snapshot.parent_id) == nullptr) {
    return Invalid(fmt::format("the parent {} of snapshot {} is not there",
                               *snapshot.parent_id, id));
  }
  const Json& refs = document_["refs"];
  if (auto it = refs.find(std::string(ref));
      it != refs.end() && it->at("type") == "tag") {
    return Invalid("'" + std::string(ref) + "' is a tag: no snapshot can be added to it");
  }
  Snapshot added = snapshot;
  if (!added.schema_id) added.schema_id = document_.at("current-schema-id").get<int>();
  document_["snapshots"].push_back(SnapshotToJson(added));
  document_["last-sequence-number"] = snapshot.sequence_number;
  // A branch that moves keeps its own retention members.
  Json& branch = document_["refs"][std::string(ref)];
  if (branch.is_null()) {
    branch = RefToJson({.snapshot_id = snapshot.id});
  } else {
    branch["snapshot-id"] = snapshot.id;
  }
  if (ref == kMainBranch) LogMainChange(snapshot.id);
  return {};
}

Status MetadataBuilder::SetRef(const std::string& name, const SnapshotRef& ref) {
  bool is_main = name == kMainBranch;
  if (name.empty()) return Invalid("a ref needs a name");
  if (is_main && ref.is_tag) return Invalid("the main branch cannot be a tag");
  if (FindSnapshotJson(ref.snapshot_id) == nullptr) {
    return NotFound(
        fmt::format("ref '{}': there is no snapshot {}", name, ref.snapshot_id));
  }
  Json& refs = document_["refs"];
  auto old = refs.find(name);
  bool moves = old == refs.end() || old->at("snapshot-id") != ref.snapshot_id;
  if (old != refs.end() && moves && (ref.is_tag || old->at("type") == "tag")) {
    return Invalid("tag '" + name + "' exists at another snapshot, and tags do not move");
  }
  refs[name] = RefToJson(ref);
  if (is_main && moves) LogMainChange(ref.snapshot_id);
  return {};
}

Status MetadataBuilder::RemoveRef(const std::string& name) {
  if (name == kMainBranch) return Invalid("the main branch cannot be removed");
  if (document_["refs"].erase(name) == 0)
    return NotFound("there is no ref '" + name + "'");
  return {};
}

Result<int> MetadataBuilder::SetSchema(Schema schema) {
  AMEND_FAIL_IF_ERROR(CheckSchema(schema));
  AMEND_ASSIGN(TableMetadata now, TableMetadata::FromDocument(document_, "the base"));
  int highest = -1;
  for (const Schema& known : now.schemas()) {
    highest = std::max(highest, known.id);
    schema.id = known.id;
    if (schema == known) {
      document_["current-schema-id"] = known.id;
      return known.id;
    }
  }
  std::map<int, const Field*> before;
  for (const Schema& known : now.schemas()) IndexFields(known.fields, before);
  IndexFields(now.schema().fields, before);
  AMEND_FAIL_IF_ERROR(CheckEvolution(schema.fields, before, now.last_column_id()));
  for (const PartitionField& field : now.spec().fields) {
    if (schema.FindById(field.source_id) == nullptr) {
      return Fail(Invalid("the source column of partition field '" + field.name +
                          "' cannot be dropped"));
    }
  }
  schema.id = highest + 1;
  document_["schemas"].push_back(SchemaToJson(schema));
  document_["current-schema-id"] = schema.id;
  document_["last-column-id"] = std::max(now.last_column_id(), schema.HighestId());
  return schema.id;
}

Result<int> MetadataBuilder::AddColumn(Field column) {
  AMEND_ASSIGN(TableMetadata now, TableMetadata::FromDocument(document_, "the base"));
  Schema schema = now.schema();
  column.required = false;
  int next = now.last_column_id() + 1;
  std::vector<Field> fresh = {std::move(column)};
  Renumber(fresh, next);
  int id = fresh[0].id;
  schema.fields.push_back(std::move(fresh[0]));
  AMEND_ASSIGN([[maybe_unused]] int schema_id, SetSchema(std::move(schema)));
  return id;
}

void MetadataBuilder::SetProperty(const std::string& key, std::string_view value) {
  document_["properties"][key] = value;
}

void MetadataBuilder::RemoveProperty(const std::string& key) {
  document_["properties"].erase(key);
}

Result<TableMetadata> MetadataBuilder::Build() const {
  Json document = document_;
  document["last-updated-ms"] = now_ms_;
  return TableMetadata::FromDocument(std::move(document), "the new version");
}

}  // namespace amend::iceberg

#include "iceberg/table_metadata.h"

#include <algorithm>
#include <limits>
#include <set>

namespace amend::iceberg {
namespace {

constexpr std::int64_t kClockToleranceMs = 60'000;
constexpr std::int64_t kFormatVersion = 2;

std::string Text(std::string_view what, std::string_view rest) {
  return std::string(what) + " " + std::string(rest);
}

/// The member, or null where it is absent or JSON null.
const Json* Find(const Json& object, const char* member) {
  auto it = object.find(member);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

Result<int> SmallInt(const Json& object, std::string_view member, std::string_view what) {
  AMEND_ASSIGN(std::int64_t number, JsonInt(object, member, what));
  if (number < 0 || number > std::numeric_limits<int>::max()) {
    return Fail(Damaged(Text(what, "has an impossible '") + std::string(member) +
                        "': " + std::to_string(number)));
  }
  return static_cast<int>(number);
}

Result<std::optional<std::int64_t>> OptionalInt(const Json& object, const char* member,
                                                std::string_view what) {
  if (Find(object, member) == nullptr) return std::optional<std::int64_t>();
  AMEND_ASSIGN(std::int64_t number, JsonInt(object, member, what));
  return std::optional<std::int64_t>(number);
}

/// An array member; an absent one reads as empty where `required` is false.
Result<const Json*> Array(const Json& object, const char* member, bool required,
                          std::string_view what) {
  static const Json kEmpty = Json::array();
  const Json* found = Find(object, member);
  if (found == nullptr && !required) return &kEmpty;
  if (found == nullptr || !found->is_array()) {
    return Fail(Damaged(Text(what, "has no list '") + member + "'"));
  }
  return found;
}

Result<std::map<std::string, std::string>> Strings(const Json& object,
                                                   std::string_view what) {
  std::map<std::string, std::string> strings;
  if (!object.is_object()) return Fail(Damaged(Text(what, "is not an object")));
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) {
      return Fail(Damaged(Text(what, "has a value that is not text: '") + key + "'"));
    }
    strings[key] = value.get<std::string>();
  }
  return strings;
}

Result<Snapshot> SnapshotFromJson(const Json& json, std::string_view document) {
  std::string what = Text(document, "snapshots[]");
  Snapshot snapshot;
  AMEND_ASSIGN(snapshot.id, JsonInt(json, "snapshot-id", what));
  what = Text(document, "snapshot " + std::to_string(snapshot.id));
  AMEND_ASSIGN(snapshot.parent_id, OptionalInt(json, "parent-snapshot-id", what));
  // Snapshots kept from before an upgrade to format version 2 have neither number.
  AMEND_ASSIGN(auto sequence, OptionalInt(json, "sequence-number", what));
  snapshot.sequence_number = sequence.value_or(0);
  AMEND_ASSIGN(snapshot.timestamp_ms, JsonInt(json, "timestamp-ms", what));
  if (Find(json, "manifest-list") != nullptr) {
    AMEND_ASSIGN(snapshot.manifest_list, JsonString(json, "manifest-list", what));
  }
  if (const Json* summary = Find(json, "summary")) {
    AMEND_ASSIGN(snapshot.summary, Strings(*summary, what + " summary"));
  }
  snapshot.summary.try_emplace("operation", "overwrite");
  if (Find(json, "schema-id") != nullptr) {
    AMEND_ASSIGN(snapshot.schema_id, SmallInt(json, "schema-id", what));
  }
  return snapshot;
}

Result<SnapshotRef> RefFromJson(const Json& json, const std::string& what) {
  SnapshotRef ref;
  AMEND_ASSIGN(ref.snapshot_id, JsonInt(json, "snapshot-id", what));
  AMEND_ASSIGN(std::string type, JsonString(json, "type", what));
  if (type != "branch" && type != "tag") {
    return Fail(Damaged(what + " is neither branch nor tag: '" + type + "'"));
  }
  ref.is_tag = type == "tag";
  AMEND_ASSIGN(ref.max_ref_age_ms, OptionalInt(json, "max-ref-age-ms", what));
  AMEND_ASSIGN(ref.max_snapshot_age_ms, OptionalInt(json, "max-snapshot-age-ms", what));
  if (Find(json, "min-snapshots-to-keep") != nullptr) {
    AMEND_ASSIGN(ref.min_snapshots_to_keep,
                 SmallInt(json, "min-snapshots-to-keep", what));
  }
  return ref;
}

/// Collects the ids of a field and of everything inside it; false if one comes twice.
bool CollectIds(const std::vector<Field>& fields, std::set<int>& ids) {
  return std::all_of(fields.begin(), fields.end(), [&ids](const Field& field) {
    return ids.insert(field.id).second && CollectIds(field.type.children, ids);
  });
}

template <typename T>
const T* FindId(const std::vector<T>& values, decltype(T::id) id) {
  auto it = std::find_if(values.begin(), values.end(),
                         [id](const T& value) { return value.id == id; });
  return it == values.end() ? nullptr : &*it;
}

}  // namespace

Json SnapshotToJson(const Snapshot& snapshot) {
  Json json = Json::object();
  json["sequence-number"] = snapshot.sequence_number;
  json["snapshot-id"] = snapshot.id;
  // Readers expect the member to be absent, not null, where there is no parent.
  if (snapshot.parent_id) json["parent-snapshot-id"] = *snapshot.parent_id;
  json["timestamp-ms"] = snapshot.timestamp_ms;
  Json summary = Json::object();
  summary["operation"] = snapshot.summary.at("operation");
  for (const auto& [key, value] : snapshot.summary) summary[key] = value;
  json["summary"] = std::move(summary);
  json["manifest-list"] = snapshot.manifest_list;
  if (snapshot.schema_id) json["schema-id"] = *snapshot.schema_id;
  return json;
}

Json RefToJson(const SnapshotRef& ref) {
  Json json = Json::object();
  json["snapshot-id"] = ref.snapshot_id;
  json["type"] = ref.is_tag ? "tag" : "branch";
  if (ref.min_snapshots_to_keep) {
    json["min-snapshots-to-keep"] = *ref.min_snapshots_to_keep;
  }
  if (ref.max_snapshot_age_ms) json["max-snapshot-age-ms"] = *ref.max_snapshot_age_ms;
  if (ref.max_ref_age_ms) json["max-ref-age-ms"] = *ref.max_ref_age_ms;
  return json;
}

Result<TableMetadata> TableMetadata::FromJson(std::string_view text,
                                              std::string_view what) {
  AMEND_ASSIGN(Json document, ParseJson(text, what));
  return FromDocument(std::move(document), what);
}

Result<TableMetadata> TableMetadata::FromDocument(Json document, std::string_view what) {
  AMEND_ASSIGN(std::int64_t version, JsonInt(document, "format-version", what));
  if (version != kFormatVersion) {
    return Fail(Unsupported(Text(what, "is of Iceberg format version ") +
                            std::to_string(version) + "; Amend works on version 2"));
  }
  if (const Json* keys = Find(document, "encryption-keys"); keys && !keys->empty()) {
    return Fail(Unsupported(Text(what, "is encrypted; Amend has no keys for it")));
  }
  TableMetadata table;
  table.document_ = std::move(document);
  AMEND_FAIL_IF_ERROR(table.ReadNumbers(what));
  AMEND_FAIL_IF_ERROR(table.ReadSchemasAndSpecs(what));
  AMEND_FAIL_IF_ERROR(table.ReadSnapshots(what));
  AMEND_FAIL_IF_ERROR(table.ReadRefs(what));
  AMEND_FAIL_IF_ERROR(table.ReadLogs(what));
  if (Status status = table.Verify(); !status.ok()) return Fail(status.Annotate(what));
  return table;
}

Status TableMetadata::ReadNumbers(std::string_view what) {
  const Json& json = document_;
  AMEND_ASSIGN_OR_RETURN(uuid_, JsonString(json, "table-uuid", what));
  AMEND_ASSIGN_OR_RETURN(location_, JsonString(json, "location", what));
  while (location_.size() > 1 && location_.back() == '/') location_.pop_back();
  AMEND_ASSIGN_OR_RETURN(last_sequence_number_,
                         JsonInt(json, "last-sequence-number", what));
  AMEND_ASSIGN_OR_RETURN(last_updated_ms_, JsonInt(json, "last-updated-ms", what));
  AMEND_ASSIGN_OR_RETURN(last_column_id_, SmallInt(json, "last-column-id", what));
  AMEND_ASSIGN_OR_RETURN(last_partition_id_, SmallInt(json, "last-partition-id", what));
  AMEND_ASSIGN_OR_RETURN(current_schema_id_, SmallInt(json, "current-schema-id", what));
  AMEND_ASSIGN_OR_RETURN(default_spec_id_, SmallInt(json, "default-spec-id", what));
  if (const Json* properties = Find(json, "properties")) {
    AMEND_ASSIGN_OR_RETURN(properties_, Strings(*properties, Text(what, "properties")));
  }
  return {};
}

Status TableMetadata::ReadSchemasAndSpecs(std::string_view what) {
  AMEND_ASSIGN_OR_RETURN(const Json* schemas, Array(document_, "schemas", true, what));
  for (const Json& json : *schemas) {
    auto schema = SchemaFromJson(json);
    if (!schema) return schema.error().Annotate(what);
    schemas_.push_back(*std::move(schema));
  }
  AMEND_ASSIGN_OR_RETURN(const Json* specs,
                         Array(document_, "partition-specs", true, what));
  for (const Json& json : *specs) {
    auto spec = SpecFromJson(json);
    if (!spec) return spec.error().Annotate(what);
    specs_.push_back(*std::move(spec));
  }
  return {};
}

Status TableMetadata::ReadSnapshots(std::string_view what) {
  AMEND_ASSIGN_OR_RETURN(const Json* snapshots,
                         Array(document_, "snapshots", false, what));
  for (const Json& json : *snapshots) {
    AMEND_ASSIGN_OR_RETURN(Snapshot snapshot, SnapshotFromJson(json, what));
    snapshots_.push_back(std::move(snapshot));
  }
  AMEND_ASSIGN_OR_RETURN(current_snapshot_id_,
                         OptionalInt(document_, "current-snapshot-id", what));
  if (current_snapshot_id_ == -1) current_snapshot_id_.reset();  // "none" in version 2
  return {};
}

Status TableMetadata::ReadRefs(std::string_view what) {
  // Writers older than refs leave them out; main then is the current snapshot.
  if (Find(document_, "refs") == nullptr) {
    document_["refs"] = Json::object();
    if (current_snapshot_id_) {
      document_["refs"]["main"] = RefToJson({.snapshot_id = *current_snapshot_id_});
    }
  }
  const Json& refs = document_["refs"];
  if (!refs.is_object()) return Damaged(Text(what, "has refs that are not an object"));
  for (const auto& [name, json] : refs.items()) {
    AMEND_ASSIGN_OR_RETURN(refs_[name],
                           RefFromJson(json, Text(what, "ref '" + name + "'")));
  }
  return {};
}

Status TableMetadata::ReadLogs(std::string_view what) {
  AMEND_ASSIGN_OR_RETURN(const Json* snapshots,
                         Array(document_, "snapshot-log", false, what));
  for (const Json& json : *snapshots) {
    SnapshotLogEntry entry;
    AMEND_ASSIGN_OR_RETURN(entry.timestamp_ms, JsonInt(json, "timestamp-ms", what));
    AMEND_ASSIGN_OR_RETURN(entry.snapshot_id, JsonInt(json, "snapshot-id", what));
    snapshot_log_.push_back(entry);
  }
  AMEND_ASSIGN_OR_RETURN(const Json* files,
                         Array(document_, "metadata-log", false, what));
  for (const Json& json : *files) {
    MetadataLogEntry entry;
    AMEND_ASSIGN_OR_RETURN(entry.timestamp_ms, JsonInt(json, "timestamp-ms", what));
    AMEND_ASSIGN_OR_RETURN(entry.file, JsonString(json, "metadata-file", what));
    metadata_log_.push_back(std::move(entry));
  }
  return {};
}

std::string TableMetadata::ToJson() const {
  // The document came from valid UTF-8, or from a builder; a stray byte in a caller's
  // text must not throw.
  return document_.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status TableMetadata::Verify() const {
  AMEND_RETURN_IF_ERROR(VerifyReferences());
  AMEND_RETURN_IF_ERROR(VerifyIds());
  return VerifyClock();
}

Status TableMetadata::VerifyReferences() const {
  if (uuid_.empty() || location_.empty()) return Damaged("uuid or location is empty");
  if (FindSchema(current_schema_id_) == nullptr) {
    return Damaged("there is no schema " + std::to_string(current_schema_id_));
  }
  if (FindSpec(default_spec_id_) == nullptr) {
    return Damaged("there is no partition spec " + std::to_string(default_spec_id_));
  }
  std::set<std::int64_t> ids;
  for (const Snapshot& snapshot : snapshots_) {
    std::string id = std::to_string(snapshot.id);
    if (!ids.insert(snapshot.id).second)
      return Damaged("snapshot " + id + " comes twice");
    if (snapshot.sequence_number > last_sequence_number_) {
      return Damaged("snapshot " + id + " has sequence number " +
                     std::to_string(snapshot.sequence_number) + " beyond the table's " +
                     std::to_string(last_sequence_number_));
    }
  }
  for (const auto& [name, ref] : refs_) {
    if (!ids.contains(ref.snapshot_id)) {
      return Damaged("ref '" + name + "' points to snapshot " +
                     std::to_string(ref.snapshot_id) + ", which is not there");
    }
  }
  auto main = refs_.find(std::string(kMainBranch));
  bool has_main = main != refs_.end();
  if (has_main != current_snapshot_id_.has_value() ||
      (has_main && main->second.snapshot_id != *current_snapshot_id_)) {
    return Damaged("the main branch is not at the current snapshot");
  }
  if (has_main && main->second.is_tag) return Damaged("the main branch is a tag");
  return {};
}

Status TableMetadata::VerifyIds() const {
  for (const Schema& schema : schemas_) {
    std::set<int> ids;
    if (!CollectIds(schema.fields, ids)) {
      return Damaged("schema " + std::to_string(schema.id) + " uses a column id twice");
    }
    if (!ids.empty() && *ids.rbegin() > last_column_id_) {
      return Damaged("column id " + std::to_string(*ids.rbegin()) +
                     " exceeds last-column-id " + std::to_string(last_column_id_));
    }
  }
  for (const PartitionSpec& spec : specs_) {
    std::set<int> ids;
    for (const PartitionField& field : spec.fields) {
      if (!ids.insert(field.field_id).second || field.field_id > last_partition_id_) {
        return Damaged("partition field id " + std::to_string(field.field_id) +
                       " is used twice or exceeds last-partition-id " +
                       std::to_string(last_partition_id_));
      }
    }
  }
  return {};
}

Status TableMetadata::VerifyClock() const {
  std::int64_t before = std::numeric_limits<std::int64_t>::min() + kClockToleranceMs;
  auto check = [&before](std::int64_t next, const char* where) -> Status {
    if (next < before - kClockToleranceMs) {
      return Damaged(std::string("time runs backwards in ") + where + " at " +
                     std::to_string(next) + " ms");
    }
    before = std::max(before, next);
    return {};
  };
  for (const SnapshotLogEntry& entry : snapshot_log_) {
    AMEND_RETURN_IF_ERROR(check(entry.timestamp_ms, "snapshot-log"));
  }
  AMEND_RETURN_IF_ERROR(check(last_updated_ms_, "last-updated-ms"));
  before = std::numeric_limits<std::int64_t>::min() + kClockToleranceMs;
  for (const MetadataLogEntry& entry : metadata_log_) {
    AMEND_RETURN_IF_ERROR(check(entry.timestamp_ms, "metadata-log"));
  }
  return check(last_updated_ms_, "last-updated-ms");
}

const Schema* TableMetadata::FindSchema(int id) const { return FindId(schemas_, id); }

const PartitionSpec* TableMetadata::FindSpec(int id) const { return FindId(specs_, id); }

const Snapshot* TableMetadata::FindSnapshot(std::int64_t id) const {
  return FindId(snapshots_, id);
}

const Snapshot* TableMetadata::current_snapshot() const {
  return current_snapshot_id_ ? FindSnapshot(*current_snapshot_id_) : nullptr;
}

std::string TableMetadata::metadata_folder() const {
  auto it = properties_.find("write.metadata.path");
  if (it == properties_.end() || it->second.empty()) return location_ + "/metadata";
  std::string folder = it->second;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

}  // namespace amend::iceberg

#include "state/hold.h"

#include "partition/partition_set.h"
#include "state/encode.h"

namespace amend::state {
namespace {

constexpr const char* kWhat = "a hold";

}  // namespace

Json HoldToJson(const partition::PartitionSpace& space, const Hold& hold) {
  Json json = Json::object();
  json["partitions"] = RangesToJson(space, hold.partitions);
  json["by"] = hold.by;
  json["reason"] = hold.reason;
  json["definition"] = hold.definition;
  json["input_versions"] = Json::object();
  for (const auto& [table, version] : hold.input_versions) {
    json["input_versions"][table] = version;
  }
  json["input_tables"] = Json::object();
  for (const auto& [table, uuid] : hold.input_tables) json["input_tables"][table] = uuid;
  return json;
}

Result<Hold> HoldFromJson(const partition::PartitionSpace& space, std::int64_t id,
                          const std::string& table, const Json& json) {
  JsonReader in(json, kWhat);
  Hold hold;
  hold.id = id;
  hold.table = table;
  hold.by = in.Text("by");
  hold.reason = in.Text("reason");
  hold.definition = in.Text("definition");
  const Json& versions = in.Object("input_versions");
  JsonReader each(versions, "the input versions of a hold");
  for (const auto& [input, version] : versions.items()) {
    hold.input_versions[input] = each.Int(input);
  }
  in.Note(each.status());
  if (in.Has("input_tables")) {  // holds of before uuids were kept have none
    const Json& tables = in.Object("input_tables");
    JsonReader uuids(tables, "the input tables of a hold");
    for (const auto& [input, uuid] : tables.items()) {
      hold.input_tables[input] = uuids.Text(input);
    }
    in.Note(uuids.status());
  }
  const Json& ranges = in.Array("partitions");
  AMEND_FAIL_IF_ERROR(in.status());
  auto partitions = partition::RangesFromJson(space, ranges);
  hold.partitions = partitions ? *partitions : partition::PartitionSet::All(space);
  return hold;
}

}  // namespace amend::state

#include "state/encode.h"

#include <set>
#include <utility>

#include "base/hash.h"

namespace amend::state {
namespace {

using partition::Partition;
using partition::PartitionSet;
using partition::Run;
using partition::TimeRuns;
using partition::Value;
using partition::ValueTuple;

Json ValueToJson(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b;
  if (const std::int64_t* n = std::get_if<std::int64_t>(&value)) return *n;
  if (const std::string* s = std::get_if<std::string>(&value)) return *s;
  return nullptr;
}

Result<Value> ValueFromJson(const Json& json) {
  if (json.is_null()) return Value();
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_string()) return Value(json.get<std::string>());
  return Fail(Damaged("a partition value is neither text, whole number, truth nor null"));
}

Json ValuesToJson(const ValueTuple& values) {
  Json json = Json::array();
  for (const Value& value : values) json.push_back(ValueToJson(value));
  return json;
}

Result<ValueTuple> ValuesFromJson(const Json& json) {
  if (!json.is_array()) return Fail(Damaged("partition values are not a list"));
  ValueTuple values;
  for (const Json& item : json) {
    AMEND_ASSIGN(Value value, ValueFromJson(item));
    values.push_back(std::move(value));
  }
  return values;
}

Json TimesToJson(const TimeRuns& times) {
  Json json = Json::array();
  if (times.has_null()) json.push_back(nullptr);
  for (const Run& run : times.runs()) json.push_back(Json::array({run.first, run.end}));
  return json;
}

Result<TimeRuns> TimesFromJson(const Json& json, const TimeRuns& universe) {
  const Status bad = Damaged("partition times are not a list of [first, end) pairs");
  if (!json.is_array()) return Fail(bad);
  std::vector<Run> runs;
  bool has_null = false;
  for (const Json& item : json) {
    if (item.is_null() && !has_null && runs.empty()) {
      has_null = true;
      continue;
    }
    if (!item.is_array() || item.size() != 2 || !item[0].is_number_integer() ||
        !item[1].is_number_integer()) {
      return Fail(bad);
    }
    Run run{item[0].get<std::int64_t>(), item[1].get<std::int64_t>()};
    if (run.first >= run.end || (!runs.empty() && run.first <= runs.back().end)) {
      return Fail(bad);
    }
    runs.push_back(run);
  }
  TimeRuns times = TimeRuns::FromRuns(std::move(runs), has_null);
  if (!times.SubsetOf(universe)) {
    return Fail(Damaged("partition times lie outside their space"));
  }
  return times;
}

Result<partition::Shape> ShapeFromJson(const Json& json) {
  JsonReader in(json, "the shape of a partition set");
  partition::Shape shape;
  const std::string grain = in.Text("grain");
  const std::int64_t values = in.Int("values");
  if (!in.status().ok()) return Fail(in.status());
  if (!grain.empty()) {
    shape.grain = partition::ParseGrain(grain);
    if (!shape.grain) return Fail(Damaged("unknown grain '" + grain + "'"));
  }
  if (values < 0 || values > 255) return Fail(Damaged("a shape has 0 to 255 values"));
  shape.values = static_cast<std::uint8_t>(values);
  return shape;
}

std::string SealOf(Json object) {
  object.erase("seal");
  return Sha256Hex(CanonicalJson(object));
}

}  // namespace

Json SetToJson(const PartitionSet& set) {
  const partition::Shape shape = set.shape();
  Json json;
  json["shape"] = {
      {"grain", shape.grain ? std::string(partition::GrainName(*shape.grain)) : ""},
      {"values", static_cast<int>(shape.values)}};
  json["rest"] = TimesToJson(set.rest());
  json["named"] = Json::array();
  for (const auto& [values, times] : set.named()) {
    json["named"].push_back(Json::array({ValuesToJson(values), TimesToJson(times)}));
  }
  return json;
}

Result<PartitionSet> SetFromJson(const Json& json) {
  JsonReader in(json, "a partition set");
  AMEND_ASSIGN(partition::Shape shape, ShapeFromJson(in.Object("shape")));
  const TimeRuns universe = PartitionSet::Universe(shape);
  AMEND_ASSIGN(TimeRuns rest, TimesFromJson(in.Array("rest"), universe));
  PartitionSet::Named named;
  std::set<ValueTuple> seen;
  for (const Json& entry : in.Array("named")) {
    if (!entry.is_array() || entry.size() != 2) {
      return Fail(Damaged("a named entry of a partition set is not [values, times]"));
    }
    AMEND_ASSIGN(ValueTuple values, ValuesFromJson(entry[0]));
    AMEND_ASSIGN(TimeRuns times, TimesFromJson(entry[1], universe));
    if (values.size() != shape.values || !seen.insert(values).second) {
      return Fail(Damaged("a partition set names values twice or too few of them"));
    }
    named.emplace_back(std::move(values), std::move(times));
  }
  if (!in.status().ok()) return Fail(in.status());
  PartitionSet set = PartitionSet::Of(shape, std::move(rest), std::move(named));
  AMEND_FAIL_IF_ERROR(set.Verify());
  return set;
}

Json PartitionToJson(const Partition& partition) {
  Json json;
  json["time"] = partition.time ? Json(*partition.time) : Json(nullptr);
  json["values"] = ValuesToJson(partition.values);
  return json;
}

Result<Partition> PartitionFromJson(const Json& json) {
  JsonReader in(json, "a partition");
  Partition partition;
  if (json.is_object() && json.contains("time") && json["time"].is_null()) {
    partition.time = std::nullopt;
  } else {
    partition.time = in.Int("time");
  }
  const Json& values = in.Array("values");
  if (!in.status().ok()) return Fail(in.status());
  AMEND_ASSIGN(partition.values, ValuesFromJson(values));
  return partition;
}

Json Seal(Json object, int format) {
  object["format"] = format;
  object["seal"] = SealOf(object);
  return object;
}

Status CheckSeal(const Json& object, int format, std::string_view what) {
  AMEND_ASSIGN_OR_RETURN(std::int64_t found, JsonInt(object, "format", what));
  AMEND_ASSIGN_OR_RETURN(std::string seal, JsonString(object, "seal", what));
  if (found != format) {
    return Unsupported(std::string(what) + " has format " + std::to_string(found) +
                       ", this program reads format " + std::to_string(format))
        .Hint("use the version of Amend that wrote it, or make it anew");
  }
  if (seal != SealOf(object)) {
    return Damaged(std::string(what) + " is not what was written: its seal does not fit")
        .Hint("make it anew, or restore it from a copy");
  }
  return Status();
}

JsonReader::JsonReader(const Json& object, std::string what)
    : object_(object), what_(std::move(what)) {
  if (!object_.is_object()) Note(Damaged(what_ + " is not an object"));
}

void JsonReader::Note(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool JsonReader::Has(std::string_view member) const {
  return object_.is_object() && object_.contains(std::string(member));
}

const Json* JsonReader::Find(std::string_view member, std::string_view expected,
                             bool (Json::*is)() const noexcept) {
  if (!status_.ok()) return nullptr;
  auto it = object_.find(std::string(member));
  if (it != object_.end() && ((*it).*is)()) return &*it;
  Note(Damaged(what_ + " has no member '" + std::string(member) + "' that is " +
               std::string(expected)));
  return nullptr;
}

std::string JsonReader::Text(std::string_view member) {
  const Json* json = Find(member, "text", &Json::is_string);
  return json == nullptr ? "" : json->get<std::string>();
}

std::int64_t JsonReader::Int(std::string_view member) {
  const Json* json = Find(member, "a whole number", &Json::is_number_integer);
  if (json == nullptr) return 0;
  if (json->is_number_unsigned() && json->get<std::uint64_t>() > INT64_MAX) {
    Note(Damaged(what_ + ": '" + std::string(member) + "' is too large"));
    return 0;
  }
  return json->get<std::int64_t>();
}

std::uint64_t JsonReader::Unsigned(std::string_view member) {
  const Json* json = Find(member, "a whole number from 0", &Json::is_number_unsigned);
  return json == nullptr ? 0 : json->get<std::uint64_t>();
}

bool JsonReader::Bool(std::string_view member) {
  const Json* json = Find(member, "true or false", &Json::is_boolean);
  return json != nullptr && json->get<bool>();
}

double JsonReader::Number(std::string_view member) {
  const Json* json = Find(member, "a number", &Json::is_number);
  return json == nullptr ? 0 : json->get<double>();
}

const Json& JsonReader::Array(std::string_view member) {
  static const Json empty = Json::array();
  const Json* json = Find(member, "a list", &Json::is_array);
  return json == nullptr ? empty : *json;
}

const Json& JsonReader::Object(std::string_view member) {
  static const Json empty = Json::object();
  const Json* json = Find(member, "an object", &Json::is_object);
  return json == nullptr ? empty : *json;
}

std::vector<std::string> JsonReader::Texts(std::string_view member) {
  std::vector<std::string> texts;
  for (const Json& item : Array(member)) {
    if (item.is_string()) {
      texts.push_back(item.get<std::string>());
    } else {
      Note(Damaged(what_ + ": '" + std::string(member) + "' holds more than texts"));
    }
  }
  return texts;
}

PartitionSet JsonReader::Set(std::string_view member) {
  const Json& json = Object(member);
  if (!status_.ok()) return PartitionSet();
  auto set = SetFromJson(json);
  if (set) return *std::move(set);
  Note(set.error().Annotate(what_ + ", member '" + std::string(member) + "'"));
  return PartitionSet();
}

void JsonReader::Each(std::string_view member,
                      const std::function<void(JsonReader&)>& read) {
  for (const Json& item : Array(member)) {
    if (!status_.ok()) return;
    JsonReader in(item, what_ + ", " + std::string(member));
    if (in.status().ok()) read(in);
    Note(in.status());
  }
}

}  // namespace amend::state

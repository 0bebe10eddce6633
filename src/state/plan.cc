#include "state/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "state/encode.h"

namespace amend::state {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kIdDigits = 12;

constexpr std::array<std::pair<ReasonKind, std::string_view>, 6> kReasonKinds = {
    {{ReasonKind::kSource, "source"},
     {ReasonKind::kUpstream, "upstream"},
     {ReasonKind::kCode, "code"},
     {ReasonKind::kMissing, "missing"},
     {ReasonKind::kDrifted, "drifted"},
     {ReasonKind::kRequested, "requested"}}};

constexpr std::array<std::pair<Origin, std::string_view>, 4> kOrigins = {
    {{Origin::kUnknown, "unknown"},
     {Origin::kFileMetadata, "file_metadata"},
     {Origin::kExtrapolated, "extrapolated"},
     {Origin::kMeasured, "measured"}}};

template <typename Enum, std::size_t N>
Enum FromName(const std::array<std::pair<Enum, std::string_view>, N>& names,
              std::string_view member, JsonReader& in) {
  const std::string text = in.Text(member);
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  in.Note(Damaged("'" + text + "' is no " + std::string(member) + " of a plan"));
  return names.front().first;
}

template <typename T, typename Encode>
Json ListOf(const std::vector<T>& items, Encode encode) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(encode(item));
  return list;
}

Json PinToJson(const Pin& pin) {
  Json json = {{"table", pin.table},
               {"snapshot_id", pin.snapshot_id},
               {"version", pin.version},
               {"schema_id", pin.schema_id},
               {"metadata_location", pin.metadata_location}};
  if (!pin.uuid.empty()) json["uuid"] = pin.uuid;
  return json;
}

Pin ReadPin(JsonReader& in) {
  return {.table = in.Text("table"),
          .snapshot_id = in.Int("snapshot_id"),
          .version = in.Int("version"),
          .schema_id = static_cast<int>(in.Int("schema_id")),
          .metadata_location = in.Text("metadata_location"),
          .uuid = in.Has("uuid") ? in.Text("uuid") : ""};
}

Json ReasonToJson(const Reason& reason) {
  return {{"kind", ReasonKindName(reason.kind)},
          {"from", reason.from},
          {"text", reason.text},
          {"partitions", SetToJson(reason.partitions)},
          {"standing", reason.standing}};
}

Reason ReadReason(JsonReader& in) {
  return {.kind = FromName(kReasonKinds, "kind", in),
          .from = in.Text("from"),
          .text = in.Text("text"),
          .partitions = in.Set("partitions"),
          // Plans of before it was told: computing is never wrong, cutting off may be.
          .standing = !in.Has("standing") || in.Bool("standing")};
}

Json EstimateToJson(const Estimate& estimate) {
  return {{"origin", OriginName(estimate.origin)},
          {"rows", estimate.rows},
          {"bytes_read", estimate.bytes_read},
          {"bytes_written", estimate.bytes_written},
          {"seconds", estimate.seconds}};
}

Estimate ReadEstimate(JsonReader& in) {
  return {.origin = FromName(kOrigins, "origin", in),
          .rows = in.Int("rows"),
          .bytes_read = in.Int("bytes_read"),
          .bytes_written = in.Int("bytes_written"),
          .seconds = in.Number("seconds")};
}

/// What the id covers of one model; the rest of it is added by ModelToJson.
Json ModelWork(const ModelPlan& model) {
  Json json = {{"model", model.model},
               {"definition", model.definition},
               {"partitions", SetToJson(model.partitions)}};
  if (model.changed_columns) json["changed_columns"] = *model.changed_columns;
  if (model.last_entry != 0) json["last_entry"] = model.last_entry;
  const partition::PartitionSet own = OwnCause(model);
  if (own != model.partitions) json["own_cause"] = SetToJson(own);
  return json;
}

Json ModelToJson(const ModelPlan& model) {
  Json json = ModelWork(model);
  json["because"] = ListOf(model.because, ReasonToJson);
  json["estimate"] = EstimateToJson(model.estimate);
  return json;
}

ModelPlan ReadModel(JsonReader& in) {
  ModelPlan model;
  model.model = in.Text("model");
  model.definition = in.Text("definition");
  model.partitions = in.Set("partitions");
  if (in.Has("changed_columns")) {
    std::vector<std::string> columns = in.Texts("changed_columns");
    model.changed_columns.emplace(columns.begin(), columns.end());
  }
  if (in.Has("last_entry")) model.last_entry = in.Int("last_entry");
  in.Each("because",
          [&model](JsonReader& reason) { model.because.push_back(ReadReason(reason)); });
  JsonReader estimate(in.Object("estimate"), "the estimate of a plan");
  if (in.status().ok()) model.estimate = ReadEstimate(estimate);
  in.Note(estimate.status());
  return model;
}

Json HeldToJson(const HeldPartitions& held) {
  return {{"model", held.model},
          {"partitions", SetToJson(held.partitions)},
          {"by", held.by},
          {"until", held.until}};
}

Json ClassesToJson(const ClassCounts& counts) {
  return {{"missing", counts.missing}, {"drifted", counts.drifted},
          {"held", counts.held},       {"open", counts.open},
          {"stale", counts.stale},     {"older", counts.older},
          {"current", counts.current}};
}

ClassCounts ReadClasses(JsonReader& in) {
  return {.missing = in.Int("missing"),
          .drifted = in.Int("drifted"),
          .held = in.Int("held"),
          .open = in.Int("open"),
          .stale = in.Int("stale"),
          .older = in.Int("older"),
          .current = in.Int("current")};
}

Json RequestToJson(const PlanRequest& request) {
  Json json = {
      {"select", request.select}, {"full", request.full}, {"partitions", Json::array()}};
  for (const auto& [model, set] : request.partitions) {
    json["partitions"].push_back({{"model", model}, {"partitions", SetToJson(set)}});
  }
  return json;
}

PlanRequest ReadRequest(JsonReader& in) {
  PlanRequest request;
  request.select = in.Texts("select");
  request.full = in.Bool("full");
  in.Each("partitions", [&request](JsonReader& entry) {
    request.partitions[entry.Text("model")] = entry.Set("partitions");
  });
  return request;
}

Json PinsToJson(const Plan& plan) {
  Json pins = Json::array();
  for (const auto& [table, pin] : plan.pins) pins.push_back(PinToJson(pin));
  return pins;
}

}  // namespace

std::string_view ReasonKindName(ReasonKind kind) {
  for (const auto& [value, name] : kReasonKinds) {
    if (value == kind) return name;
  }
  return "source";
}

std::string_view OriginName(Origin origin) {
  for (const auto& [value, name] : kOrigins) {
    if (value == origin) return name;
  }
  return "unknown";
}

const ModelPlan* Plan::Find(const std::string& model) const {
  auto at = std::find_if(models.begin(), models.end(),
                         [&](const ModelPlan& plan) { return plan.model == model; });
  return at == models.end() ? nullptr : &*at;
}

partition::PartitionSet OwnCause(const ModelPlan& plan) {
  partition::PartitionSet own(plan.partitions.shape());
  for (const Reason& reason : plan.because) {
    if (reason.standing) own = own.Union(reason.partitions);
  }
  return own.Intersect(plan.partitions);
}

std::string PlanIdOf(const Plan& plan) {
  Json work = {{"pins", PinsToJson(plan)},
               {"models", ListOf(plan.models, ModelWork)},
               {"full", plan.request.full}};
  return "p" + Sha256Hex(CanonicalJson(work)).substr(0, kIdDigits);
}

Json PlanToJson(const Plan& plan) {
  Json json;
  json["plan"] = plan.id;
  json["pins"] = PinsToJson(plan);
  json["models"] = ListOf(plan.models, ModelToJson);
  json["skipped"] = ListOf(plan.skipped, [](const SkippedModel& skipped) {
    return Json{{"model", skipped.model}, {"why", skipped.why}};
  });
  json["held"] = ListOf(plan.held, HeldToJson);
  json["warnings"] = ListOf(plan.warnings, [](const Warning& warning) {
    return Json{{"code", warning.code}, {"text", warning.text}};
  });
  json["classes"] = Json::array();
  for (const auto& [model, counts] : plan.classes) {
    json["classes"].push_back({{"model", model}, {"counts", ClassesToJson(counts)}});
  }
  json["request"] = RequestToJson(plan.request);
  json["reason"] = plan.reason;
  json["ticket"] = plan.ticket;
  json["author"] = plan.author;
  json["created_micros"] = plan.created_micros;
  return Seal(std::move(json), kFormat);
}

Result<Plan> PlanFromJson(const Json& json) {
  AMEND_FAIL_IF_ERROR(CheckSeal(json, kFormat, "the stored plan"));
  JsonReader in(json, "the stored plan");
  Plan plan;
  plan.id = in.Text("plan");
  in.Each("pins", [&plan](JsonReader& pin) {
    Pin read = ReadPin(pin);
    plan.pins[read.table] = std::move(read);
  });
  in.Each("models", [&](JsonReader& model) { plan.models.push_back(ReadModel(model)); });
  in.Each("skipped", [&plan](JsonReader& skipped) {
    plan.skipped.push_back({skipped.Text("model"), skipped.Text("why")});
  });
  in.Each("held", [&plan](JsonReader& held) {
    plan.held.push_back({held.Text("model"), held.Set("partitions"), held.Text("by"),
                         held.Text("until")});
  });
  in.Each("warnings", [&plan](JsonReader& warning) {
    plan.warnings.push_back({warning.Text("code"), warning.Text("text")});
  });
  in.Each("classes", [&plan](JsonReader& entry) {
    JsonReader counts(entry.Object("counts"), "the classes of a plan");
    plan.classes[entry.Text("model")] = ReadClasses(counts);
    entry.Note(counts.status());
  });
  JsonReader request(in.Object("request"), "the request of a plan");
  plan.request = ReadRequest(request);
  in.Note(request.status());
  plan.reason = in.Text("reason");
  plan.ticket = in.Text("ticket");
  plan.author = in.Text("author");
  plan.created_micros = in.Int("created_micros");
  if (!in.status().ok()) return Fail(in.status());
  if (plan.id != PlanIdOf(plan)) {
    return Fail(Damaged("the stored plan " + plan.id +
                        " does not have the content that its "
                        "id names"));
  }
  return plan;
}

}  // namespace amend::state

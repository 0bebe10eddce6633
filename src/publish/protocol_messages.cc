#include "publish/protocol_messages.h"

#include <array>
#include <optional>
#include <utility>

namespace amend::publish {
namespace {

constexpr std::string_view kWhat = "intent record";
constexpr std::int64_t kFormat = 1;

constexpr std::array kKinds = {Kind::kPublish, Kind::kRollback, Kind::kLand};

Result<Kind> KindNamed(std::string_view name) {
  for (Kind kind : kKinds) {
    if (Name(kind) == name) return kind;
  }
  return Fail(Damaged("intent record has the unknown kind '" + std::string(name) + "'"));
}

Result<std::vector<std::string>> TextList(const Json& object, const char* member) {
  auto it = object.find(member);
  if (it == object.end() || !it->is_array()) {
    return Fail(Damaged("intent record has no list '" + std::string(member) + "'"));
  }
  std::vector<std::string> texts;
  for (const Json& item : *it) {
    if (!item.is_string()) {
      return Fail(Damaged("intent record's list '" + std::string(member) +
                          "' holds something that is not text"));
    }
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

Result<std::vector<TableTarget>> Targets(const Json& object) {
  auto it = object.find("tables");
  if (it == object.end() || !it->is_array()) {
    return Fail(Damaged("intent record has no list 'tables'"));
  }
  std::vector<TableTarget> targets;
  for (const Json& item : *it) {
    TableTarget target;
    AMEND_ASSIGN(target.table, JsonString(item, "table", kWhat));
    AMEND_ASSIGN(target.pin, JsonString(item, "pin", kWhat));
    if (!targets.empty() && targets.back().table >= target.table) {
      return Fail(Damaged("intent record lists table " + target.table + " out of order"));
    }
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

Json ToJson(const IntentRecord& record) {
  Json tables = Json::array();
  for (const TableTarget& target : record.intent.tables) {
    tables.push_back(Json{{"table", target.table}, {"pin", target.pin}});
  }
  return Json{{"format", kFormat},
              {"id", record.intent.id},
              {"kind", Name(record.intent.kind)},
              {"subject", record.intent.subject},
              {"tables", std::move(tables)},
              {"folders", record.intent.folders},
              {"attempts", record.attempts}};
}

Result<IntentRecord> FromJson(const Json& json) {
  AMEND_ASSIGN(std::int64_t format, JsonInt(json, "format", kWhat));
  if (format != kFormat) {
    return Fail(Unsupported("intent record has format " + std::to_string(format) +
                            ", this version of Amend knows " + std::to_string(kFormat))
                    .Hint("recover it with the version of Amend that wrote it"));
  }
  IntentRecord record;
  AMEND_ASSIGN(record.intent.id, JsonString(json, "id", kWhat));
  AMEND_ASSIGN(std::string kind, JsonString(json, "kind", kWhat));
  AMEND_ASSIGN(record.intent.kind, KindNamed(kind));
  AMEND_ASSIGN(record.intent.subject, JsonString(json, "subject", kWhat));
  AMEND_ASSIGN(record.intent.tables, Targets(json));
  AMEND_ASSIGN(record.intent.folders, TextList(json, "folders"));
  AMEND_ASSIGN(record.attempts, TextList(json, "attempts"));
  if (record.intent.id.empty() || record.attempts.empty()) {
    return Fail(Damaged("intent record names no intent or no attempt"));
  }
  for (const std::string& attempt : record.attempts) {
    // A short prefix would make cleanup match files of others (INV-P8).
    if (attempt.size() < kMinAttemptLength) {
      return Fail(Damaged("intent record holds the attempt '" + attempt + "'"));
    }
  }
  return record;
}

std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kPublish:
      return "publish";
    case Kind::kRollback:
      return "rollback";
    case Kind::kLand:
      return "land";
  }
  return "?";
}

std::string_view Name(IntentStatus status) {
  switch (status) {
    case IntentStatus::kOpen:
      return "open";
    case IntentStatus::kCommitted:
      return "committed";
    case IntentStatus::kConfirmed:
      return "confirmed";
    case IntentStatus::kOverruled:
      return "overruled";
    case IntentStatus::kFailed:
      return "failed";
  }
  return "?";
}

std::string_view Name(const Action& action) {
  static constexpr std::array<std::string_view, std::variant_size_v<Action>> kNames = {
      "write-intent",  "renumber",     "read-heads",
      "lock-rows",     "release-rows", "compare-partitions",
      "build-commits", "sync-files",   "commit-swap",
      "resolve",       "read-back",    "discard-files",
      "finish-intent", "pause",        "stop"};
  return kNames.at(action.index());
}

std::string_view Name(const Event& event) {
  static constexpr std::array<std::string_view, std::variant_size_v<Event>> kNames = {
      "start", "recover",   "intent-written", "heads-read",     "rows-locked", "compared",
      "built", "committed", "resolved",       "read-back-done", "done",        "failed",
      "lost"};
  return kNames.at(event.index());
}

}  // namespace amend::publish

// pins, query, status, why, show: the commands that only read.
#include <algorithm>
#include <set>

#include "amend/commands.h"
#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"
#include "plan/request.h"
#include "plan/survey.h"
#include "report/plan_text.h"
#include "sql/binder.h"
#include "state/encode.h"

namespace amend {
namespace {

/// Pointers of the project's tables at one instant, or as entry `at` left them.
struct PinSet {
  std::int64_t publication = 0;
  std::map<std::string, state::Pin> pins;
};

std::vector<std::string> AllTables(const lineage::Lineage& lineage) {
  std::vector<std::string> names;
  for (const auto& source : lineage.sources()) names.push_back(source.name);
  for (const auto& entry : lineage.models()) names.push_back(entry.model.name);
  return names;
}

/// A table's location after entry `at`: the last entry up to it that moved the table.
std::map<std::string, std::string> LocationsAt(const std::vector<ledger::Entry>& entries,
                                               std::int64_t at) {
  std::map<std::string, std::string> locations;
  for (const ledger::Entry& entry : entries) {
    if (entry.number > at) continue;
    for (const ledger::EntryTable& table : entry.tables) {
      if (table.snapshot_id != 0) locations[table.table] = table.metadata_location;
    }
  }
  return locations;
}

Result<PinSet> ReadPins(Workspace& w, std::optional<std::int64_t> at) {
  PinSet set;
  std::vector<ledger::Entry> entries;
  AMEND_FAIL_IF_ERROR(
      w.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(set.pins, w.store().Heads(tx, AllTables(w.lineage())));
        AMEND_ASSIGN_OR_RETURN(entries, w.ledger().Entries(tx));
        return Status();
      }));
  for (const ledger::Entry& entry : entries) set.publication = entry.number;
  if (!at) return set;
  bool known = std::any_of(entries.begin(), entries.end(),
                           [&](const ledger::Entry& e) { return e.number == *at; });
  if (!known) {
    return Fail(NotFound(fmt::format("there is no #{}", *at))
                    .Hint(fmt::format("The last is #{}.", set.publication)));
  }
  set.publication = *at;
  set.pins.clear();
  for (const auto& [table, location] : LocationsAt(entries, *at)) {
    if (w.lineage().FindModel(table) == nullptr &&
        w.lineage().FindSource(table) == nullptr) {
      continue;
    }
    AMEND_ASSIGN(const iceberg::LoadedTable* loaded, w.store().Load(table, location));
    set.pins[table] = table::PinOf(*loaded);
  }
  return set;
}

Result<std::vector<engine::TaskInput>> BindPins(Workspace& w, const PinSet& set,
                                                const std::set<std::string>& names,
                                                const std::string& sql) {
  std::vector<engine::TaskInput> inputs;
  for (const std::string& name : names) {
    const lineage::Source* source = w.lineage().FindSource(name);
    const lineage::BoundModelEntry* model = w.lineage().FindModel(name);
    if (source == nullptr && model == nullptr) {
      return Fail(NotFound("there is no source or model " + name)
                      .Table(name)
                      .Hint(project::Suggest(name, AllTables(w.lineage()))));
    }
    engine::TaskInput input;
    input.table = source != nullptr ? source->name : model->model.name;
    auto pin = set.pins.find(input.table);
    if (pin == set.pins.end()) {
      return Fail(NotFound(input.table + " has no data yet")
                      .Table(input.table)
                      .Hint(source != nullptr ? "Land files into it: amend land."
                                              : "Build it: amend backfill."));
    }
    AMEND_ASSIGN(const iceberg::LoadedTable* loaded, w.store().Load(pin->second));
    const partition::PartitionSpace& space = w.lineage().SpaceOf(input.table);
    AMEND_ASSIGN(table::Contents contents, w.store().ReadPinned(pin->second, space));
    input.schema = loaded->metadata.schema();
    AMEND_ASSIGN(input.files, contents.PathsIn(partition::PartitionSet::All(space)));
    input.show_landing_columns = sql.find("_amend_") != std::string::npos;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

/// Cells padded to their columns' widths, without blanks at the end.
std::string Line(const std::vector<std::string>& cells,
                 const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += fmt::format("{:<{}}  ", cells[i], widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string RowsText(const duck::Rows& rows) {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> cells;
  for (const duck::ColumnInfo& column : rows.columns)
    widths.push_back(column.name.size());
  for (const duck::Row& row : rows.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(duck::ToText(row[i]));
      widths[i] = std::max(widths[i], line.back().size());
    }
  }
  std::vector<std::string> names;
  for (const duck::ColumnInfo& column : rows.columns) names.push_back(column.name);
  std::string text = Line(names, widths);
  for (const auto& line : cells) text += Line(line, widths);
  return text + fmt::format("({} rows)\n", rows.rows.size());
}

Json CountsJson(const std::string& model, const state::ClassCounts& counts) {
  Json json = Json::object();
  json["model"] = model;
  json["current"] = counts.current;
  json["stale"] = counts.stale;
  json["missing"] = counts.missing;
  json["open"] = counts.open;
  json["held"] = counts.held;
  json["drifted"] = counts.drifted;
  json["older"] = counts.older;
  return json;
}

/// Whether a plan of all models would find something here. Never built wins over held
/// and open in the counts, but those are planned neither way.
bool Plannable(const plan::Standing& standing) {
  return !standing.missing.Union(standing.drifted)
              .Union(standing.stale)
              .Difference(standing.on_hold)
              .Difference(standing.unfinished)
              .empty();
}

/// The command that makes sense next, from plans (latest first) and classes.
std::string NextCommand(const std::vector<ledger::StoredPlan>& open, bool work) {
  if (open.empty()) return work ? "amend plan" : "";
  const ledger::StoredPlan& plan = open.front();
  switch (plan.run_state) {
    case state::RunState::kStaged:
      return "amend publish " + plan.id;
    case state::RunState::kQuarantined:
      return "amend show " + plan.id;
    case state::RunState::kNone:
    case state::RunState::kFailed:
      return "amend stage " + plan.id;
  }
  return "";
}

std::string_view StateText(const ledger::StoredPlan& open) {
  if (open.run_state == state::RunState::kNone) return "planned";
  return state::RunStateName(open.run_state);
}

/// The snapshot that a table had at a version; null where it has expired, or the table
/// of that uuid was dropped.
Json SnapshotAt(Workspace& w, const std::string& table, state::Version version,
                const std::string& uuid) {
  auto pins = ReadPins(w, std::nullopt);
  if (!pins || !pins->pins.contains(table)) return nullptr;
  auto loaded = w.store().Load(pins->pins.at(table));
  if (!loaded) return nullptr;
  if (!uuid.empty() && (*loaded)->metadata.uuid() != uuid) return nullptr;
  for (const iceberg::Snapshot& snapshot : (*loaded)->metadata.snapshots()) {
    if (snapshot.sequence_number == version) return snapshot.id;
  }
  return nullptr;
}

/// The partitions of an input that one partition needs, over all of the input's uses;
/// null where the model reads it no more.
Json RequiredJson(const lineage::Lineage& lineage, const std::string& model,
                  const partition::Partition& point, const std::string& input) {
  const auto at = partition::PartitionSet::Of(lineage.SpaceOf(model).shape(), point);
  std::optional<partition::PartitionSet> required;
  for (const lineage::Edge* edge : lineage.InputsOf(model)) {
    if (edge->from != input) continue;
    partition::PartitionSet set = edge->Required(at);
    required = required ? required->Union(set) : std::move(set);
  }
  return required ? RangesToJson(lineage.SpaceOf(input), *required) : Json();
}

/// What built a partition: its last fact and the entry that wrote it.
Result<Json> WhyJson(Workspace& w, const std::string& model, const ledger::Entry& entry,
                     const state::PartitionFact& fact) {
  Json json = Json::object();
  json["publication"] = entry.number;
  json["plan"] = entry.plan;
  json["definition"] = fact.record.definition;
  json["inputs"] = Json::array();
  for (const auto& [table, version] : fact.record.verified_at) {
    Json input = Json::object();
    input["table"] = table;
    input["partitions"] = RequiredJson(w.lineage(), model, fact.partition, table);
    input["version"] = version;
    auto uuid = fact.record.verified_in.find(table);
    input["snapshot"] = SnapshotAt(
        w, table, version, uuid == fact.record.verified_in.end() ? "" : uuid->second);
    json["inputs"].push_back(std::move(input));
  }
  json["rows"] = fact.digest.rows;
  json["verdicts"] = Json::array();
  state::JsonReader body(entry.body, fmt::format("the entry #{}", entry.number));
  if (body.Has("verdicts")) {
    body.Each("verdicts", [&](state::JsonReader& verdict) {
      if (verdict.Text("write_set") == fact.write_set) {
        json["verdicts"].push_back(verdict.json());
      }
    });
  }
  AMEND_FAIL_IF_ERROR(body.status());
  json["reason"] = entry.reason;
  json["by"] = entry.author;
  json["at"] = FormatMicros(entry.at_micros);
  return json;
}

}  // namespace

Result<Answer> Amend::Pins(std::optional<std::int64_t> at) {
  AMEND_ASSIGN(PinSet set, ReadPins(*workspace_, at));
  Answer answer;
  answer.json["publication"] = set.publication;
  answer.json["tables"] = Json::object();
  answer.text = fmt::format("as of #{}\n", set.publication);
  for (const auto& [name, pin] : set.pins) {
    Json table = Json::object();
    table["snapshot"] = pin.snapshot_id == 0 ? Json() : Json(pin.snapshot_id);
    table["metadata_location"] = pin.metadata_location;
    answer.json["tables"][name] = std::move(table);
    answer.text += fmt::format("  {:<24} {}\n", name, pin.snapshot_id);
  }
  return answer;
}

Result<Answer> Amend::Query(const QueryOptions& options) {
  AMEND_ASSIGN(std::set<std::string> names,
               workspace_->binder().TablesRead({options.sql, "", 1}));
  AMEND_ASSIGN(PinSet set, ReadPins(*workspace_, options.at));
  AMEND_ASSIGN(std::vector<engine::TaskInput> inputs,
               BindPins(*workspace_, set, names, options.sql));
  AMEND_ASSIGN(engine::Engine * engine, workspace_->engine());
  AMEND_ASSIGN(duck::Rows rows, engine->Query(inputs, options.sql));
  Answer answer;
  answer.json["columns"] = Json::array();
  for (const duck::ColumnInfo& column : rows.columns) {
    answer.json["columns"].push_back(Json{{"name", column.name}, {"type", column.type}});
  }
  answer.json["rows"] = Json::array();
  for (const duck::Row& row : rows.rows) {
    Json line = Json::array();
    for (const duck::Value& value : row) line.push_back(duck::ToJson(value));
    answer.json["rows"].push_back(std::move(line));
  }
  answer.text = RowsText(rows);
  return answer;
}

Result<Answer> Amend::Status() {
  AMEND_ASSIGN(Gathered gathered,
               GatherWorld(*workspace_, {}, workspace_->env().NowMicros()));
  AMEND_FAIL_IF_ERROR(plan::Validate(gathered.world));
  std::vector<ledger::StoredPlan> open;
  AMEND_FAIL_IF_ERROR(
      workspace_->InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(open,
                               workspace_->ledger().PlansIn(tx, state::PlanState::kOpen));
        return amend::Status();
      }));
  Answer answer;
  answer.json["models"] = Json::array();
  answer.text =
      fmt::format("  {:<20} {:>9} {:>7} {:>8} {:>6} {:>6} {:>8} {:>6}\n", "MODEL",
                  "CURRENT", "STALE", "MISSING", "OPEN", "HELD", "DRIFTED", "OLDER");
  auto standings = plan::SurveyModels(gathered.world);
  bool work = false;
  for (const lineage::BoundModelEntry& entry : workspace_->lineage().models()) {
    const state::ClassCounts& counts = standings.at(entry.model.name).counts;
    work = work || Plannable(standings.at(entry.model.name));
    answer.json["models"].push_back(CountsJson(entry.model.name, counts));
    answer.text +=
        fmt::format("  {:<20} {:>9} {:>7} {:>8} {:>6} {:>6} {:>8} {:>6}\n",
                    entry.model.name, counts.current, counts.stale, counts.missing,
                    counts.open, counts.held, counts.drifted, counts.older);
  }
  answer.json["open_plans"] = Json::array();
  for (const ledger::StoredPlan& plan : open) {
    Json json = Json::object();
    json["plan"] = plan.id;
    json["state"] = StateText(plan);
    answer.json["open_plans"].push_back(std::move(json));
    answer.text += fmt::format("plan {} · {}\n", plan.id, StateText(plan));
  }
  std::string next = NextCommand(open, work);
  answer.json["next"] = next.empty() ? Json() : Json(next);
  answer.text += next.empty() ? "Nothing to do.\n" : "Next   " + next + "\n";
  return answer;
}

Result<Answer> Amend::Why(const std::string& table, const std::string& partition) {
  const lineage::BoundModelEntry* model = workspace_->lineage().FindModel(table);
  if (model == nullptr) {
    return Fail(NotFound("there is no model " + table)
                    .Table(table)
                    .Hint(project::Suggest(table, AllTables(workspace_->lineage()))));
  }
  AMEND_FAIL_IF_ERROR(workspace_->RefuseRepartitioned({model->model.name}));
  const partition::PartitionSpace& space = model->model.space;
  AMEND_ASSIGN(partition::PartitionSet wanted, plan::PartitionRequest(space, partition));
  AMEND_ASSIGN(std::vector<partition::Partition> points, wanted.Points(1));
  std::vector<ledger::Entry> entries;
  AMEND_FAIL_IF_ERROR(
      workspace_->InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(entries, workspace_->ledger().Entries(tx));
        return amend::Status();
      }));
  AMEND_ASSIGN(state::FactsInForce facts, workspace_->Facts(entries, model->model.name));
  std::optional<state::PartitionFact> fact;
  if (!points.empty()) fact = facts.Of(points.front());
  if (!fact) {
    return Fail(NotFound("it was never built, or its build was taken back")
                    .Table(model->model.name)
                    .Partition(partition)
                    .Hint("amend plan says whether it is missing."));
  }
  auto entry = std::find_if(entries.begin(), entries.end(), [&](const ledger::Entry& e) {
    return e.number == fact->record.publication;
  });
  if (entry == entries.end()) {
    return Fail(Damaged("the ledger has no entry that built it").Table(table));
  }
  Answer answer;
  AMEND_ASSIGN(answer.json, WhyJson(*workspace_, model->model.name, *entry, *fact));
  answer.text = fmt::format(
      "{} {}\n  built by #{} (plan {}) at {} by {}\n  because: {}\n  {} rows, definition "
      "{}\n",
      model->model.name, space.Format(points.front()), entry->number, entry->plan,
      FormatMicros(entry->at_micros), entry->author,
      entry->reason.empty() ? "no reason given" : entry->reason,
      GroupDigits(fact->digest.rows), fact->record.definition.substr(0, 12));
  for (const auto& [input, version] : fact->record.verified_at) {
    answer.text += fmt::format("  from {} at version {}\n", input, version);
  }
  return answer;
}

Result<Answer> Amend::Show(const std::string& id) {
  Answer answer;
  std::string number_text = id.rfind('#', 0) == 0 ? id.substr(1) : id;
  if (auto number = ParseInt(number_text)) {
    std::optional<ledger::Entry> entry;
    AMEND_FAIL_IF_ERROR(
        workspace_->InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
          AMEND_ASSIGN_OR_RETURN(entry, workspace_->ledger().FindEntry(tx, *number));
          return amend::Status();
        }));
    if (!entry) return Fail(NotFound(fmt::format("there is no #{}", *number)));
    answer = PublishedAnswer(*workspace_, *entry, false);
    answer.json["no_op"] = entry->no_op;
    answer.json["reason"] = entry->reason;
    answer.json["ticket"] = entry->ticket;
    answer.json["by"] = entry->author;
    answer.json["at"] = FormatMicros(entry->at_micros);
    answer.json["plan"] = entry->plan;
    answer.json["hash"] = entry->hash;
    answer.text = fmt::format("#{} {} · {} · by {}\n  {}\n", entry->number,
                              EntryKindName(entry->kind), FormatMicros(entry->at_micros),
                              entry->author,
                              entry->reason.empty() ? "no reason given" : entry->reason);
    for (const ledger::EntryTable& table : entry->tables) {
      answer.text += fmt::format("  {:<24} {}\n", table.table, table.changed.dump());
    }
    return answer;
  }
  AMEND_ASSIGN(LoadedPlan loaded, LoadPlan(*workspace_, id));
  answer.json = report::PlanToAnswer(workspace_->lineage(), loaded.plan);
  answer.json["state"] = PlanStateName(loaded.stored.state);
  answer.text = report::PlanToText(workspace_->lineage(), loaded.plan);
  return answer;
}

}  // namespace amend

#include "ledger/ledger.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "fmt/core.h"
#include "ledger/entry_json.h"
#include "ledger/schema.h"
#include "ledger/store.h"

namespace amend::ledger {
namespace {

constexpr std::array<std::string_view, 5> kStatusNames = {
    "open", "committed", "confirmed", "overruled", "failed"};

std::string_view NameOf(IntentStatus status) {
  return kStatusNames.at(static_cast<std::size_t>(status));
}

Result<IntentStatus> StatusNamed(const std::string& name) {
  for (std::size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames[i] == name) return static_cast<IntentStatus>(i);
  }
  return Fail(Damaged("the ledger holds an intent with the unknown status " + name));
}

/// The status of a call whose answer does not matter, or whose row must exist.
Status Done(Result<std::int64_t> affected) {
  return affected.has_value() ? Status() : std::move(affected).error();
}

/// INV-L3: of a compare-and-set by primary key.
Result<bool> Took(Result<std::int64_t> affected) {
  if (!affected.has_value()) return Fail(std::move(affected).error());
  AMEND_CHECK(*affected == 0 || *affected == 1);
  return *affected == 1;
}

Result<IntentRow> Decode(const IntentData& data) {
  IntentRow row;
  row.id = data.id;
  row.epoch = data.epoch;
  row.number = data.number;
  AMEND_ASSIGN(row.kind, EntryKindNamed(data.kind));
  AMEND_ASSIGN(row.status, StatusNamed(data.status));
  AMEND_ASSIGN(row.record, ParseJson(data.record, "the record of intent " + data.id));
  AMEND_ASSIGN(row.context, ParseJson(data.context, "the context of intent " + data.id));
  return row;
}

Result<StoredPlan> Decode(const PlanData& data) {
  std::optional<state::PlanState> state = state::ParsePlanState(data.state);
  std::optional<state::RunState> run_state = state::ParseRunState(data.run_state);
  if (!state || !run_state) {
    return Fail(Damaged(
        fmt::format("the ledger holds plan {} in the unknown state {}{}{}", data.id,
                    data.state, run_state ? "" : ", ", run_state ? "" : data.run_state)));
  }
  StoredPlan plan{data.id, *state, data.created_micros, {}, data.run, *run_state};
  AMEND_ASSIGN(plan.plan, ParseJson(data.body, "stored plan " + data.id));
  return plan;
}

Result<StoredHold> Decode(const HoldData& data) {
  StoredHold hold{data.id,         data.table,        {},
                  data.created_by, data.ended_micros, data.ended_why};
  AMEND_ASSIGN(hold.hold, ParseJson(data.body, fmt::format("hold {}", data.id)));
  return hold;
}

template <typename Row, typename Data>
Result<std::vector<Row>> DecodeAll(const std::vector<Data>& all) {
  std::vector<Row> rows;
  rows.reserve(all.size());
  for (const Data& data : all) {
    AMEND_ASSIGN(Row row, Decode(data));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::optional<Entry>> DecodeFound(const std::optional<EntryData>& data) {
  if (!data) return std::nullopt;
  AMEND_ASSIGN(Entry entry, EntryFromRow(*data));
  return entry;
}

}  // namespace

Result<Ledger> Ledger::Open(db::Transaction& tx) {
  AMEND_FAIL_IF_ERROR(OpenSchema(tx, Migrations()));
  return Ledger();
}

Status Ledger::Claim(db::Transaction& tx, const std::string& name_space) {
  Store store(tx);
  AMEND_ASSIGN_OR_RETURN(std::optional<std::string> owner, store.Owner());
  if (owner == name_space) return {};
  if (owner) {
    return Invalid(fmt::format("this catalog's ledger is that of the namespace {}, and "
                               "the project's is {}",
                               *owner, name_space))
        .Hint("Give the project a catalog of its own, or the namespace " + *owner +
              " in amend.yaml.");
  }
  if (tx.mode() != db::TransactionMode::kWrite) {
    return NotFound("the ledger is of no namespace yet");
  }
  AMEND_ASSIGN_OR_RETURN(bool took, Took(store.InsertOwner(name_space)));
  return took ? Status() : Conflict("the ledger was claimed meanwhile");
}

// ---- intents ----

Result<std::int64_t> Ledger::WriteIntent(db::Transaction& tx, const IntentRow& intent) {
  Store store(tx);
  AMEND_ASSIGN(std::optional<IntentData> known, store.FindIntent(intent.id));
  if (known) return known->number;
  AMEND_ASSIGN(std::int64_t number, store.NextOf("number"));
  AMEND_ASSIGN(bool took,
               Took(store.InsertIntent(
                   {intent.id, number, std::string(EntryKindName(intent.kind)),
                    std::string(NameOf(IntentStatus::kOpen)), 1,
                    CanonicalJson(intent.record), CanonicalJson(intent.context)})));
  if (!took) {
    return Fail(Damaged(fmt::format("number {} was given out twice", number)));
  }
  return number;
}

Result<std::optional<std::int64_t>> Ledger::Renumber(db::Transaction& tx,
                                                     const std::string& id,
                                                     std::int64_t epoch) {
  Store store(tx);
  AMEND_ASSIGN(std::int64_t number, store.NextOf("number"));
  AMEND_ASSIGN(bool took, Took(store.SetIntentNumber(
                              id, epoch, NameOf(IntentStatus::kOpen), number)));
  if (!took) return std::nullopt;
  return number;
}

Result<std::optional<IntentRow>> Ledger::FindIntent(db::Transaction& tx,
                                                    const std::string& id) {
  AMEND_ASSIGN(std::optional<IntentData> data, Store(tx).FindIntent(id));
  if (!data) return std::nullopt;
  AMEND_ASSIGN(IntentRow row, Decode(*data));
  return row;
}

Result<std::vector<IntentRow>> Ledger::UnfinishedIntents(db::Transaction& tx) {
  AMEND_ASSIGN(
      std::vector<IntentData> all,
      Store(tx).IntentsIn(NameOf(IntentStatus::kOpen), NameOf(IntentStatus::kCommitted)));
  return DecodeAll<IntentRow>(all);
}

Result<std::vector<IntentRow>> Ledger::ClosedIntents(db::Transaction& tx) {
  AMEND_ASSIGN(std::vector<IntentData> all,
               Store(tx).IntentsNotIn(NameOf(IntentStatus::kOpen),
                                      NameOf(IntentStatus::kCommitted)));
  return DecodeAll<IntentRow>(all);
}

Result<bool> Ledger::TakeOver(db::Transaction& tx, const std::string& id,
                              std::int64_t epoch, const Json& record) {
  return Took(Store(tx).SetIntentRecord(id, epoch, NameOf(IntentStatus::kOpen),
                                        CanonicalJson(record), epoch + 1));
}

Result<bool> Ledger::SetIntentStatus(db::Transaction& tx, const std::string& id,
                                     std::int64_t epoch, IntentStatus from,
                                     IntentStatus to) {
  return Took(Store(tx).SetIntentStatus(id, epoch, NameOf(from), NameOf(to)));
}

// ---- entries ----

Result<std::int64_t> Ledger::Tip(db::Transaction& tx) {
  AMEND_ASSIGN(std::optional<EntryData> last, Store(tx).LastEntry());
  return last ? last->number : 0;
}

Status Ledger::Insert(db::Transaction& tx, Entry entry) {
  Store store(tx);
  AMEND_ASSIGN_OR_RETURN(std::optional<EntryData> last, store.LastEntry());
  if (entry.number <= (last ? last->number : 0)) {
    Status late = Conflict(fmt::format("#{} cannot follow #{}, which is in the ledger",
                                       entry.number, last ? last->number : 0));
    tx.Doom(late);
    return late;
  }
  std::sort(entry.tables.begin(), entry.tables.end(),
            [](const EntryTable& a, const EntryTable& b) { return a.table < b.table; });
  entry.previous_hash = last ? last->hash : "";
  EntryData row = RowOfEntry(entry);
  AMEND_ASSIGN_OR_RETURN(bool took, Took(store.InsertEntry(row)));
  if (!took) {
    Status twice = Conflict(fmt::format("intent {} of #{} has been published already",
                                        entry.intent, entry.number));
    tx.Doom(twice);
    return twice;
  }
  for (const EntryTable& table : entry.tables) {
    AMEND_RETURN_IF_ERROR(Done(store.InsertEntryTable(entry.number, table)));
  }
  return {};
}

Result<std::optional<Entry>> Ledger::FindEntry(db::Transaction& tx, std::int64_t number) {
  AMEND_ASSIGN(std::optional<EntryData> data, Store(tx).FindEntry(number));
  return DecodeFound(data);
}

Result<std::optional<Entry>> Ledger::FindEntryOfIntent(db::Transaction& tx,
                                                       const std::string& intent) {
  AMEND_ASSIGN(std::optional<EntryData> data, Store(tx).FindEntryOfIntent(intent));
  return DecodeFound(data);
}

Result<std::vector<Entry>> Ledger::Entries(db::Transaction& tx) {
  AMEND_ASSIGN(std::vector<EntryData> all, Store(tx).Entries());
  std::vector<Entry> entries;
  entries.reserve(all.size());
  for (const EntryData& data : all) {
    AMEND_ASSIGN(Entry entry, EntryFromRow(data));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Status Ledger::VerifyChain(db::Transaction& tx) {
  Store store(tx);
  AMEND_ASSIGN_OR_RETURN(std::vector<EntryData> all, store.Entries());
  std::string previous_hash;
  for (const EntryData& data : all) {
    AMEND_ASSIGN_OR_RETURN(std::vector<EntryTable> tables,
                           store.EntryTables(data.number));
    AMEND_RETURN_IF_ERROR(VerifyEntry(data, previous_hash, tables));
    previous_hash = data.hash;
  }
  return {};
}

// ---- plans ----

Status Ledger::SavePlan(db::Transaction& tx, const StoredPlan& plan) {
  Store store(tx);
  AMEND_ASSIGN_OR_RETURN(
      bool took,
      Took(store.InsertPlan({plan.id, std::string(PlanStateName(plan.state)),
                             plan.created_micros, CanonicalJson(plan.plan), plan.run,
                             std::string(RunStateName(plan.run_state))})));
  if (took) return {};
  return Done(store.SetPlanState(plan.id, PlanStateName(state::PlanState::kSuperseded),
                                 PlanStateName(state::PlanState::kOpen)));
}

Result<StoredPlan> Ledger::FindPlan(db::Transaction& tx, std::string_view id) {
  Store store(tx);
  if (id.empty()) {
    AMEND_ASSIGN(std::vector<PlanData> open,
                 store.PlansIn(PlanStateName(state::PlanState::kOpen)));
    if (open.empty()) {
      return Fail(NotFound("there is no open plan").Hint("Make one: amend plan."));
    }
    return Decode(open.front());
  }
  AMEND_ASSIGN(std::vector<PlanData> found, store.PlansBeginningWith(id));
  if (found.empty()) {
    return Fail(NotFound(fmt::format("there is no plan {}", id))
                    .Hint("amend status lists the open ones."));
  }
  // Sorted by id: a plan whose whole id was given comes before those it begins.
  if (found.size() == 1 || found.front().id == id) return Decode(found.front());
  std::vector<std::string> candidates;
  for (const PlanData& plan : found) candidates.push_back(plan.id);
  return Fail(Invalid(fmt::format("{} may be any of {}", id, Join(candidates, ", "))));
}

Result<std::vector<StoredPlan>> Ledger::PlansIn(db::Transaction& tx,
                                                state::PlanState state) {
  AMEND_ASSIGN(std::vector<PlanData> found, Store(tx).PlansIn(PlanStateName(state)));
  return DecodeAll<StoredPlan>(found);
}

Result<std::vector<std::string>> Ledger::PlanIds(db::Transaction& tx,
                                                 state::PlanState state) {
  AMEND_ASSIGN(std::vector<PlanData> found, Store(tx).PlansIn(PlanStateName(state)));
  std::vector<std::string> ids;
  ids.reserve(found.size());
  for (PlanData& plan : found) ids.push_back(std::move(plan.id));
  return ids;
}

Status Ledger::SetPlanState(db::Transaction& tx, const std::string& id,
                            state::PlanState state) {
  Store store(tx);
  AMEND_ASSIGN_OR_RETURN(std::optional<PlanData> data, store.FindPlan(id));
  if (!data) return NotFound("there is no plan " + id);
  AMEND_ASSIGN_OR_RETURN(StoredPlan plan, Decode(*data));
  if (plan.state == state) return {};
  if (!CanFollow(plan.state, state)) {
    return Conflict(fmt::format("plan {} is {} already", id, PlanStateName(plan.state)));
  }
  AMEND_ASSIGN_OR_RETURN(bool took,
                         Took(store.SetPlanState(id, data->state, PlanStateName(state))));
  return took ? Status() : Conflict("another process changed plan " + id);
}

Status Ledger::SetPlanRun(db::Transaction& tx, const std::string& id,
                          const std::string& run, state::RunState run_state) {
  AMEND_ASSIGN_OR_RETURN(bool took,
                         Took(Store(tx).SetPlanRun(id, run, RunStateName(run_state))));
  return took ? Status() : NotFound("there is no plan " + id);
}

// ---- holds, definitions, paths ----

Status Ledger::AddHold(db::Transaction& tx, const StoredHold& hold) {
  Store store(tx);
  AMEND_ASSIGN_OR_RETURN(std::int64_t id, store.NextOf("hold"));
  AMEND_ASSIGN_OR_RETURN(bool took,
                         Took(store.InsertHold({id, hold.table, CanonicalJson(hold.hold),
                                                hold.created_by, std::nullopt, ""})));
  return took ? Status() : Damaged(fmt::format("hold {} was given out twice", id));
}

Result<std::vector<StoredHold>> Ledger::ActiveHolds(db::Transaction& tx) {
  AMEND_ASSIGN(std::vector<HoldData> open, Store(tx).OpenHolds());
  return DecodeAll<StoredHold>(open);
}

Result<bool> Ledger::EndHold(db::Transaction& tx, std::int64_t id, std::int64_t at_micros,
                             const std::string& why) {
  return Took(Store(tx).EndHold(id, at_micros, why));
}

Status Ledger::SaveDefinition(db::Transaction& tx, const StoredDefinition& definition) {
  return Done(Store(tx).InsertDefinition(
      {definition.id, definition.model, CanonicalJson(definition.definition)}));
}

Result<std::optional<StoredDefinition>> Ledger::FindDefinition(db::Transaction& tx,
                                                               const std::string& id) {
  AMEND_ASSIGN(std::optional<DefinitionData> data, Store(tx).FindDefinition(id));
  if (!data) return std::nullopt;
  StoredDefinition definition{data->id, data->model, {}};
  AMEND_ASSIGN(definition.definition, ParseJson(data->body, "stored definition " + id));
  return definition;
}

Status Ledger::RegisterPath(db::Transaction& tx, const std::string& path,
                            const std::string& owner) {
  return Done(Store(tx).InsertPath({path, owner}));
}

Result<std::vector<Ledger::RegisteredPath>> Ledger::RegisteredPaths(db::Transaction& tx) {
  AMEND_ASSIGN(std::vector<PathData> all, Store(tx).Paths());
  std::vector<RegisteredPath> paths;
  paths.reserve(all.size());
  for (PathData& data : all) {
    paths.push_back({std::move(data.path), std::move(data.owner)});
  }
  return paths;
}

Status Ledger::ForgetPath(db::Transaction& tx, const std::string& path) {
  return Done(Store(tx).DeletePath(path));
}

}  // namespace amend::ledger

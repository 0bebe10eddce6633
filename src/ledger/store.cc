#include "ledger/store.h"

#include <string>

#include "fmt/core.h"
#include "ledger/ledger.h"

namespace amend::ledger {
namespace {

/// Reads the columns of one row in order; the first failure sticks, so that a row is
/// written down column by column and checked once.
class RowReader {
 public:
  explicit RowReader(const db::Row& row) : row_(row) {}
  RowReader& operator>>(std::string& text) { return Take(row_.Text(column_), text); }
  RowReader& operator>>(std::int64_t& number) { return Take(row_.Int(column_), number); }
  RowReader& operator>>(std::optional<std::int64_t>& number) {
    return Take(row_.OptionalInt(column_), number);
  }
  const Status& status() const { return status_; }

 private:
  template <typename T>
  RowReader& Take(Result<T> value, T& into) {
    ++column_;
    if (value.has_value()) {
      into = *std::move(value);
    } else if (status_.ok()) {
      status_ = std::move(value).error();
    }
    return *this;
  }

  const db::Row& row_;
  std::size_t column_ = 0;
  Status status_;
};

/// The table of a row type, and its columns in the order of Read.
template <typename T>
struct TableOf;
template <>
struct TableOf<IntentData> {
  static constexpr std::string_view kName = "amend_intents";
  static constexpr std::string_view kColumns =
      "id, number, kind, status, epoch, record, context";
};
template <>
struct TableOf<EntryData> {
  static constexpr std::string_view kName = "amend_entries";
  static constexpr std::string_view kColumns =
      "number, intent, kind, plan, at_micros, canonical, previous_hash, hash";
};
template <>
struct TableOf<EntryTable> {
  static constexpr std::string_view kName = "amend_entry_tables";
  static constexpr std::string_view kColumns =
      "table_name, snapshot_id, version, previous_snapshot_id, metadata_location, "
      "previous_location, facts_path, facts_digest";
};
template <>
struct TableOf<PlanData> {
  static constexpr std::string_view kName = "amend_plans";
  static constexpr std::string_view kColumns =
      "id, state, created_micros, body, run, run_state";
};
template <>
struct TableOf<HoldData> {
  static constexpr std::string_view kName = "amend_holds";
  static constexpr std::string_view kColumns =
      "id, table_name, body, created_by, ended_micros, ended_why";
};
template <>
struct TableOf<DefinitionData> {
  static constexpr std::string_view kName = "amend_definitions";
  static constexpr std::string_view kColumns = "id, model, body";
};
template <>
struct TableOf<PathData> {
  static constexpr std::string_view kName = "amend_paths";
  static constexpr std::string_view kColumns = "path, owner";
};

void Read(RowReader& in, IntentData& row) {
  in >> row.id >> row.number >> row.kind >> row.status >> row.epoch >> row.record >>
      row.context;
}
void Read(RowReader& in, EntryData& row) {
  in >> row.number >> row.intent >> row.kind >> row.plan >> row.at_micros >>
      row.canonical >> row.previous_hash >> row.hash;
}
void Read(RowReader& in, EntryTable& row) {
  in >> row.table >> row.snapshot_id >> row.version >> row.previous_snapshot_id >>
      row.metadata_location >> row.previous_location >> row.facts_path >>
      row.facts_digest;
}
void Read(RowReader& in, PlanData& row) {
  in >> row.id >> row.state >> row.created_micros >> row.body >> row.run >> row.run_state;
}
void Read(RowReader& in, HoldData& row) {
  in >> row.id >> row.table >> row.body >> row.created_by >> row.ended_micros >>
      row.ended_why;
}
void Read(RowReader& in, DefinitionData& row) { in >> row.id >> row.model >> row.body; }
void Read(RowReader& in, PathData& row) { in >> row.path >> row.owner; }

/// Rows of T's table; `rest` is what follows FROM.
template <typename T>
Result<std::vector<T>> All(db::Transaction& tx, std::string_view rest,
                           const std::vector<db::Value>& parameters = {}) {
  AMEND_ASSIGN(db::Rows rows,
               tx.Query(fmt::format("SELECT {} FROM {} {}", TableOf<T>::kColumns,
                                    TableOf<T>::kName, rest),
                        parameters));
  std::vector<T> values(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowReader reader(rows[i]);
    Read(reader, values[i]);
    AMEND_FAIL_IF_ERROR(reader.status());
  }
  return values;
}

template <typename T>
Result<std::optional<T>> First(db::Transaction& tx, std::string_view rest,
                               const std::vector<db::Value>& parameters = {}) {
  AMEND_ASSIGN(std::vector<T> values, All<T>(tx, rest, parameters));
  if (values.empty()) return std::nullopt;
  return std::move(values.front());
}

/// Leaves a row alone whose key exists, and answers 0 then.
template <typename T>
Result<std::int64_t> Insert(db::Transaction& tx, const std::vector<db::Value>& values) {
  std::string marks = "?";
  for (std::size_t i = 1; i < values.size(); ++i) marks += ", ?";
  return tx.Execute(fmt::format("INSERT INTO {}({}) VALUES({}) ON CONFLICT DO NOTHING",
                                TableOf<T>::kName, TableOf<T>::kColumns, marks),
                    values);
}

std::string Text(std::string_view text) { return std::string(text); }

}  // namespace

Result<std::int64_t> Store::NextOf(const std::string& counter) {
  AMEND_ASSIGN(db::Rows rows, tx_.Query("UPDATE amend_counters SET value = value + 1 "
                                        "WHERE name = ? RETURNING value",
                                        {counter}));
  if (rows.size() != 1) return Fail(Damaged("the ledger has no counter " + counter));
  return rows.front().Int(0);
}

Result<std::optional<std::string>> Store::Owner() {
  AMEND_ASSIGN(db::Rows rows, tx_.Query("SELECT name_space FROM amend_owner"));
  if (rows.empty()) return std::nullopt;
  AMEND_ASSIGN(std::string owner, rows.front().Text(0));
  return owner;
}

Result<std::int64_t> Store::InsertOwner(const std::string& name_space) {
  return tx_.Execute("INSERT INTO amend_owner(name_space) VALUES(?)", {name_space});
}

// ---- intents ----

Result<std::int64_t> Store::InsertIntent(const IntentData& row) {
  return Insert<IntentData>(tx_, {row.id, row.number, row.kind, row.status, row.epoch,
                                  row.record, row.context});
}

Result<std::optional<IntentData>> Store::FindIntent(const std::string& id) {
  return First<IntentData>(tx_, "WHERE id = ?", {id});
}

Result<std::vector<IntentData>> Store::IntentsIn(std::string_view status,
                                                 std::string_view or_status) {
  return All<IntentData>(tx_, "WHERE status IN (?, ?) ORDER BY number",
                         {Text(status), Text(or_status)});
}

Result<std::vector<IntentData>> Store::IntentsNotIn(std::string_view status,
                                                    std::string_view nor_status) {
  return All<IntentData>(tx_, "WHERE status NOT IN (?, ?) ORDER BY number",
                         {Text(status), Text(nor_status)});
}

Result<std::int64_t> Store::SetIntentNumber(const std::string& id, std::int64_t epoch,
                                            std::string_view status,
                                            std::int64_t number) {
  return tx_.Execute(
      "UPDATE amend_intents SET number = ? WHERE id = ? AND epoch = ? AND status = ?",
      {number, id, epoch, Text(status)});
}

Result<std::int64_t> Store::SetIntentRecord(const std::string& id, std::int64_t epoch,
                                            std::string_view status,
                                            const std::string& record,
                                            std::int64_t next_epoch) {
  return tx_.Execute(
      "UPDATE amend_intents SET record = ?, epoch = ? "
      "WHERE id = ? AND epoch = ? AND status = ?",
      {record, next_epoch, id, epoch, Text(status)});
}

Result<std::int64_t> Store::SetIntentStatus(const std::string& id, std::int64_t epoch,
                                            std::string_view from, std::string_view to) {
  return tx_.Execute(
      "UPDATE amend_intents SET status = ? WHERE id = ? AND epoch = ? AND status = ?",
      {Text(to), id, epoch, Text(from)});
}

// ---- entries ----

Result<std::int64_t> Store::InsertEntry(const EntryData& row) {
  return Insert<EntryData>(
      tx_, {row.number, row.intent, row.kind, row.plan, row.at_micros, row.canonical,
            row.previous_hash, row.hash});
}

Result<std::int64_t> Store::InsertEntryTable(std::int64_t number, const EntryTable& row) {
  return tx_.Execute(
      fmt::format("INSERT INTO amend_entry_tables(number, {}) "
                  "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  TableOf<EntryTable>::kColumns),
      {number, row.table, row.snapshot_id, row.version, row.previous_snapshot_id,
       row.metadata_location, row.previous_location, row.facts_path, row.facts_digest});
}

Result<std::optional<EntryData>> Store::FindEntry(std::int64_t number) {
  return First<EntryData>(tx_, "WHERE number = ?", {number});
}

Result<std::optional<EntryData>> Store::FindEntryOfIntent(const std::string& intent) {
  return First<EntryData>(tx_, "WHERE intent = ?", {intent});
}

Result<std::optional<EntryData>> Store::LastEntry() {
  return First<EntryData>(tx_, "ORDER BY number DESC LIMIT 1");
}

Result<std::vector<EntryData>> Store::Entries() {
  return All<EntryData>(tx_, "ORDER BY number");
}

Result<std::vector<EntryTable>> Store::EntryTables(std::int64_t number) {
  return All<EntryTable>(tx_, "WHERE number = ? ORDER BY table_name", {number});
}

// ---- plans ----

Result<std::int64_t> Store::InsertPlan(const PlanData& row) {
  return Insert<PlanData>(
      tx_, {row.id, row.state, row.created_micros, row.body, row.run, row.run_state});
}

Result<std::optional<PlanData>> Store::FindPlan(const std::string& id) {
  return First<PlanData>(tx_, "WHERE id = ?", {id});
}

Result<std::vector<PlanData>> Store::PlansBeginningWith(std::string_view id) {
  return All<PlanData>(tx_, "WHERE substr(id, 1, CAST(? AS INTEGER)) = ? ORDER BY id",
                       {static_cast<std::int64_t>(id.size()), Text(id)});
}

Result<std::vector<PlanData>> Store::PlansIn(std::string_view state) {
  return All<PlanData>(tx_, "WHERE state = ? ORDER BY created_micros DESC, id DESC",
                       {Text(state)});
}

Result<std::int64_t> Store::SetPlanState(const std::string& id, std::string_view from,
                                         std::string_view to) {
  return tx_.Execute("UPDATE amend_plans SET state = ? WHERE id = ? AND state = ?",
                     {Text(to), id, Text(from)});
}

Result<std::int64_t> Store::SetPlanRun(const std::string& id, const std::string& run,
                                       std::string_view run_state) {
  return tx_.Execute("UPDATE amend_plans SET run = ?, run_state = ? WHERE id = ?",
                     {run, Text(run_state), id});
}

// ---- holds, definitions, paths ----

Result<std::int64_t> Store::InsertHold(const HoldData& row) {
  return Insert<HoldData>(tx_, {row.id, row.table, row.body, row.created_by,
                                db::OrNull(row.ended_micros), row.ended_why});
}

Result<std::vector<HoldData>> Store::OpenHolds() {
  return All<HoldData>(tx_, "WHERE ended_micros IS NULL ORDER BY id");
}

Result<std::int64_t> Store::EndHold(std::int64_t id, std::int64_t at_micros,
                                    const std::string& why) {
  return tx_.Execute(
      "UPDATE amend_holds SET ended_micros = ?, ended_why = ? "
      "WHERE id = ? AND ended_micros IS NULL",
      {at_micros, why, id});
}

Result<std::int64_t> Store::InsertDefinition(const DefinitionData& row) {
  return Insert<DefinitionData>(tx_, {row.id, row.model, row.body});
}

Result<std::optional<DefinitionData>> Store::FindDefinition(const std::string& id) {
  return First<DefinitionData>(tx_, "WHERE id = ?", {id});
}

Result<std::int64_t> Store::InsertPath(const PathData& row) {
  return Insert<PathData>(tx_, {row.path, row.owner});
}

Result<std::vector<PathData>> Store::Paths() {
  return All<PathData>(tx_, "ORDER BY path");
}

Result<std::int64_t> Store::DeletePath(const std::string& path) {
  return tx_.Execute("DELETE FROM amend_paths WHERE path = ?", {path});
}

}  // namespace amend::ledger

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/connection.h"

namespace amend::ledger {

struct EntryTable;  // ledger.h

// Rows as the tables have them: text is not looked into here.

struct IntentData {
  std::string id;
  std::int64_t number = 0;
  std::string kind;
  std::string status;
  std::int64_t epoch = 0;
  std::string record;
  std::string context;
};

struct EntryData {
  std::int64_t number = 0;
  std::string intent;
  std::string kind;
  std::string plan;
  std::int64_t at_micros = 0;
  std::string canonical;
  std::string previous_hash;
  std::string hash;
};

struct PlanData {
  std::string id;
  std::string state;
  std::int64_t created_micros = 0;
  std::string body;
  std::string run;
  std::string run_state;
};

struct HoldData {
  std::int64_t id = 0;
  std::string table;
  std::string body;
  std::int64_t created_by = 0;
  std::optional<std::int64_t> ended_micros;
  std::string ended_why;
};

struct DefinitionData {
  std::string id;
  std::string model;
  std::string body;
};

struct PathData {
  std::string path;
  std::string owner;
};

/// The ledger's tables as row operations, and the only place of its SQL. What the rows
/// mean, and what must hold between them, is ledger.h's: so the rules are read without
/// SQL, and the SQL without rules.
///
/// Writes answer how many rows they touched: 0 where a key exists (inserts) or where the
/// row is not in the state that the operation names (updates).
///
/// Borrows the transaction; use from one thread.
class Store {
 public:
  explicit Store(db::Transaction& tx) : tx_(tx) {}

  /// Counts up and answers the new value.
  Result<std::int64_t> NextOf(const std::string& counter);

  Result<std::optional<std::string>> Owner();
  Result<std::int64_t> InsertOwner(const std::string& name_space);

  Result<std::int64_t> InsertIntent(const IntentData& row);
  Result<std::optional<IntentData>> FindIntent(const std::string& id);
  /// In one of the two statuses, by number.
  Result<std::vector<IntentData>> IntentsIn(std::string_view status,
                                            std::string_view or_status);
  /// In neither of the two statuses, by number.
  Result<std::vector<IntentData>> IntentsNotIn(std::string_view status,
                                               std::string_view nor_status);
  Result<std::int64_t> SetIntentNumber(const std::string& id, std::int64_t epoch,
                                       std::string_view status, std::int64_t number);
  Result<std::int64_t> SetIntentRecord(const std::string& id, std::int64_t epoch,
                                       std::string_view status, const std::string& record,
                                       std::int64_t next_epoch);
  Result<std::int64_t> SetIntentStatus(const std::string& id, std::int64_t epoch,
                                       std::string_view from, std::string_view to);

  Result<std::int64_t> InsertEntry(const EntryData& row);
  Result<std::int64_t> InsertEntryTable(std::int64_t number, const EntryTable& row);
  Result<std::optional<EntryData>> FindEntry(std::int64_t number);
  Result<std::optional<EntryData>> FindEntryOfIntent(const std::string& intent);
  /// With the highest number.
  Result<std::optional<EntryData>> LastEntry();
  Result<std::vector<EntryData>> Entries();
  /// Of one entry, by table; without `changed` and `columns`, which only the entry has.
  Result<std::vector<EntryTable>> EntryTables(std::int64_t number);

  Result<std::int64_t> InsertPlan(const PlanData& row);
  Result<std::optional<PlanData>> FindPlan(const std::string& id);
  Result<std::vector<PlanData>> PlansBeginningWith(std::string_view id);
  /// Latest first.
  Result<std::vector<PlanData>> PlansIn(std::string_view state);
  Result<std::int64_t> SetPlanState(const std::string& id, std::string_view from,
                                    std::string_view to);
  Result<std::int64_t> SetPlanRun(const std::string& id, const std::string& run,
                                  std::string_view run_state);

  Result<std::int64_t> InsertHold(const HoldData& row);
  /// Not ended, by id.
  Result<std::vector<HoldData>> OpenHolds();
  Result<std::int64_t> EndHold(std::int64_t id, std::int64_t at_micros,
                               const std::string& why);

  Result<std::int64_t> InsertDefinition(const DefinitionData& row);
  Result<std::optional<DefinitionData>> FindDefinition(const std::string& id);

  Result<std::int64_t> InsertPath(const PathData& row);
  Result<std::vector<PathData>> Paths();
  Result<std::int64_t> DeletePath(const std::string& path);

 private:
  db::Transaction& tx_;
};

}  // namespace amend::ledger

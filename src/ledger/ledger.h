#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "db/connection.h"
#include "state/lifecycle.h"

namespace amend::ledger {

/// Landings, publications and rollbacks share one sequence of numbers (#1, #2, …).
enum class EntryKind { kLand, kPublish, kRollback };
std::string_view EntryKindName(EntryKind kind);  ///< "land", "publish", "rollback"

enum class IntentStatus { kOpen, kCommitted, kConfirmed, kOverruled, kFailed };

/// The row of publish/protocol.h's intents: who may commit, under which epoch. The record
/// is the protocol's own JSON; this room does not look into it.
struct IntentRow {
  std::string id;
  EntryKind kind = EntryKind::kPublish;
  IntentStatus status = IntentStatus::kOpen;
  std::int64_t epoch = 1;
  std::int64_t number = 0;
  Json record;
  /// What the driver needs to go on with it after a kill (plan, run, reason …).
  Json context;
};

/// One table's part of an entry.
struct EntryTable {
  std::string table;  ///< bare name
  std::int64_t snapshot_id = 0;
  std::int64_t version = 0;               ///< sequence number of that snapshot
  std::int64_t previous_snapshot_id = 0;  ///< 0 = the table was empty or absent
  std::string metadata_location;
  std::string previous_location;  ///< "" = the table did not exist
  std::string facts_path;         ///< local path; "" = none
  std::string facts_digest;       ///< SHA-256 of that file
  Json changed;                   ///< partition ranges whose content changed
  /// Columns that differ, where not rows: array of names, or null.
  Json columns;
};

/// What happened and why: the only evidence that a publication happened is its row.
/// `hash` = SHA-256 over the canonical JSON of everything else, the previous hash
/// included: the audit chain.
struct Entry {
  std::int64_t number = 0;
  EntryKind kind = EntryKind::kPublish;
  std::string intent;
  std::string plan;  ///< id; "" for landings
  std::string run;
  std::string author;
  std::int64_t at_micros = 0;
  std::string reason;
  std::string ticket;
  bool no_op = false;                      ///< every task was cut off
  std::optional<std::int64_t> rolls_back;  ///< the number that a rollback takes back
  Json body;  ///< verdicts, counts, landed files …: canonical, part of the hash
  std::vector<EntryTable> tables;  ///< by name
  std::string previous_hash;       ///< set by Insert
  std::string hash;                ///< set by Insert
};

struct StoredPlan {
  std::string id;
  state::PlanState state = state::PlanState::kOpen;
  std::int64_t created_micros = 0;
  Json plan;                                           ///< state::PlanToJson
  std::string run;                                     ///< last run, "" = none
  state::RunState run_state = state::RunState::kNone;  ///< of that run
};

struct StoredHold {
  std::int64_t id = 0;  ///< set by AddHold
  std::string table;
  Json hold;  ///< partitions (ranges), definition, input versions, by, reason
  std::int64_t created_by = 0;  ///< number of the entry that made it
  std::optional<std::int64_t> ended_micros;
  std::string ended_why;
};

/// A definition in force at some time: what is needed to bind it again by today's engine.
struct StoredDefinition {
  std::string id;
  std::string model;
  Json definition;  ///< sql, header, input columns
};

/// The durable record in the catalog's database: meaning over rows.
///
/// Every function works inside the caller's transaction and commits nothing, so that a
/// publication's row and the pointers it is about become visible in one instant.
///
/// INV-L1 Entries are never changed or deleted; numbers ascend; one entry an intent.
/// INV-L2 Each entry's hash covers the one before it.
/// INV-L3 A compare-and-set says whether it took (one row) or not (none), never more.
/// INV-L4 An older program does not touch a newer ledger: Unsupported, with both
/// versions.
///
/// Thread-safe as far as the transactions passed are.
class Ledger {
 public:
  /// Makes or migrates the `amend_…` tables where the transaction may write.
  static Result<Ledger> Open(db::Transaction& tx);

  /// Numbers, facts and holds name tables without their namespace, so a ledger is of one:
  /// of the first that a writer claimed it for. NotFound for a reader where nobody did
  /// yet; Invalid where another has it.
  Status Claim(db::Transaction& tx, const std::string& name_space);

  // Intents (publish/protocol_messages.h says what each must guarantee).
  /// Allocates a number above every number ever given out. Again with the same id:
  /// answers the number it has.
  Result<std::int64_t> WriteIntent(db::Transaction& tx, const IntentRow& intent);
  /// Another number for an open intent under `epoch`; nothing if it is not.
  Result<std::optional<std::int64_t>> Renumber(db::Transaction& tx, const std::string& id,
                                               std::int64_t epoch);
  Result<std::optional<IntentRow>> FindIntent(db::Transaction& tx, const std::string& id);
  /// kOpen and kCommitted ones, by number: what recovery looks for.
  Result<std::vector<IntentRow>> UnfinishedIntents(db::Transaction& tx);
  /// The others, by number: nothing is written in their name any more, so that gc may
  /// remove what their attempts left.
  Result<std::vector<IntentRow>> ClosedIntents(db::Transaction& tx);
  /// Sets `record` and epoch + 1 where the intent is open under `epoch`.
  Result<bool> TakeOver(db::Transaction& tx, const std::string& id, std::int64_t epoch,
                        const Json& record);
  /// Sets the status where the intent is under `epoch` and in status `from`.
  Result<bool> SetIntentStatus(db::Transaction& tx, const std::string& id,
                               std::int64_t epoch, IntentStatus from, IntentStatus to);
  /// The highest number of an entry; 0 = none.
  Result<std::int64_t> Tip(db::Transaction& tx);

  // Entries.
  /// Conflict where the number or the intent has one already.
  Status Insert(db::Transaction& tx, Entry entry);
  Result<std::optional<Entry>> FindEntry(db::Transaction& tx, std::int64_t number);
  Result<std::optional<Entry>> FindEntryOfIntent(db::Transaction& tx,
                                                 const std::string& intent);
  /// By number, ascending.
  Result<std::vector<Entry>> Entries(db::Transaction& tx);
  /// Recomputes the chain; Damaged names the first entry that does not fit.
  Status VerifyChain(db::Transaction& tx);

  // Plans.
  /// Ok also where the same plan is stored; one that was superseded is open again.
  Status SavePlan(db::Transaction& tx, const StoredPlan& plan);
  /// By id or a beginning of it that only one plan has; NotFound, or Invalid naming the
  /// candidates. "" = the latest open one.
  Result<StoredPlan> FindPlan(db::Transaction& tx, std::string_view id);
  Result<std::vector<std::string>> PlanIds(db::Transaction& tx, state::PlanState state);
  /// Latest first.
  Result<std::vector<StoredPlan>> PlansIn(db::Transaction& tx, state::PlanState state);
  /// Ok also where it is so already; Conflict, naming the state, where it may not follow
  /// (state/lifecycle.h).
  Status SetPlanState(db::Transaction& tx, const std::string& id, state::PlanState state);
  Status SetPlanRun(db::Transaction& tx, const std::string& id, const std::string& run,
                    state::RunState run_state);

  // Holds.
  Status AddHold(db::Transaction& tx, const StoredHold& hold);
  Result<std::vector<StoredHold>> ActiveHolds(db::Transaction& tx);
  Result<bool> EndHold(db::Transaction& tx, std::int64_t id, std::int64_t at_micros,
                       const std::string& why);

  // Definitions.
  Status SaveDefinition(db::Transaction& tx, const StoredDefinition& definition);
  Result<std::optional<StoredDefinition>> FindDefinition(db::Transaction& tx,
                                                         const std::string& id);

  // Paths: folders that runs wrote into and files that attempts left, for gc.
  Status RegisterPath(db::Transaction& tx, const std::string& path,
                      const std::string& owner);
  struct RegisteredPath {
    std::string path;
    std::string owner;  ///< run or intent
  };
  Result<std::vector<RegisteredPath>> RegisteredPaths(db::Transaction& tx);
  Status ForgetPath(db::Transaction& tx, const std::string& path);

 private:
  Ledger() = default;
};

}  // namespace amend::ledger

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "publish/protocol.h"
#include "testing/simulation/mutants.h"

/// A world in which the publication protocol is run to death: tables, files that a power
/// loss can take, a transactional store, and truths that nobody in it may break. What is
/// written here is the oracle: it judges by rows, knows nothing of how the protocol
/// works, and looks after every step.
namespace amend::simulation {

/// SplitMix64: small, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  /// In [0, n). REQUIRES: n > 0.
  int Below(int n) { return static_cast<int>(Next() % static_cast<std::uint64_t>(n)); }
  bool PerMille(int chance) { return Below(1000) < chance; }

 private:
  std::uint64_t state_;
};

inline constexpr int kPartitions = 3;

/// Row ids, sorted. Every row ever written has an id of its own, so two equal contents
/// are the same rows.
using Rows = std::vector<int>;

/// Live data files of each partition, by id.
using Live = std::array<std::vector<int>, kPartitions>;

struct DataFile {
  Rows rows;
  int plan = -1;  ///< whose run wrote it; -1: a neighbour
  bool exists = true;
};

struct Snapshot {
  int id = 0;
  int parent = 0;           ///< 0: none
  std::int64_t number = 0;  ///< in the summary; 0: a neighbour's
  Live live;
  std::string list;  ///< path of the manifest list
};

/// What one metadata file holds.
struct Version {
  int table = 0;
  std::vector<std::shared_ptr<const Snapshot>> snapshots;  ///< retained
  std::shared_ptr<const Snapshot> current;                 ///< null: empty table
  std::map<std::int64_t, int> tags;  ///< amend_before_<number> → snapshot id
  std::vector<std::string> log;      ///< metadata files before this one
  std::string intent;                ///< who built it; "": a neighbour
};

struct MetadataFile {
  bool synced = false;
  bool lost = false;  ///< a sync failed: only memory has it, whatever later syncs say
  std::shared_ptr<const Version> version;  ///< null for a manifest list
};

/// What a plan wants of one table, and what it saw. Durable, like a real plan.
struct PlanTable {
  int table = 0;
  std::vector<int> partitions;  ///< replaced ones; none for an append
  int append_to = -1;           ///< partition a landing appends to
  std::string pin;
  std::string from;                       ///< rollback: pointer before what it takes back
  std::map<int, Rows> before;             ///< rows of `partitions` at the pin
  std::map<int, Rows> after;              ///< rows they are to have
  std::map<int, std::vector<int>> files;  ///< data files that hold `after`
};

struct Plan {
  int id = 0;
  publish::Kind kind = publish::Kind::kPublish;
  std::vector<PlanTable> tables;  ///< sorted
  std::int64_t tip = 0;           ///< ledger when it was planned
  std::int64_t rolls_back = 0;
  std::set<int> reads;     ///< tables whose rows it was computed from
  bool retired = false;    ///< gc has claimed its run's files
  bool published = false;  ///< an intent of it has committed
  int intents = 0;         ///< so far
};

struct LedgerRow {
  std::int64_t number = 0;
  std::string intent;
  int plan = 0;
  publish::Kind kind = publish::Kind::kPublish;
  std::vector<publish::Swap> swaps;
};

struct IntentRow {
  publish::IntentRecord record;
  int plan = 0;
  std::int64_t number = 0;
  std::int64_t epoch = 1;
  publish::IntentStatus status = publish::IntentStatus::kOpen;
};

/// A request whose answer was lost and that may still reach the store.
struct InFlight {
  int id = 0;
  int sender = 0;
  std::optional<publish::CommitSwap> commit;
  std::optional<publish::FinishIntent> finish;
  bool holds_locks = false;  ///< done but for the COMMIT
};

class World {
 public:
  World(std::uint64_t seed, Mutant mutant, bool tracing);

  Random random;
  const Mutant mutant;
  const bool sqlite;  ///< one write lock for all; otherwise row locks

  // Files.
  std::vector<DataFile> data;
  std::map<std::string, MetadataFile> metadata;  ///< those that exist

  // The store: durable, transactional.
  std::vector<std::string> pointers;  ///< by table; "": no row
  std::vector<LedgerRow> ledger;
  std::map<std::string, IntentRow> intents;
  std::int64_t last_number = 0;  ///< ever given out
  std::vector<InFlight> in_flight;
  int last_request = 0;       ///< id of the newest InFlight
  int lock_owner = 0;         ///< process of LockRows, or −id of an InFlight; 0: nobody
  std::set<int> lock_tables;  ///< what it holds, unless `sqlite`

  std::vector<Plan> plans;

  // Store operations used by more than one actor.
  std::int64_t Tip() const;
  const LedgerRow* FindLedger(const std::string& intent) const;
  /// Whether `who` would have to wait for another's transaction.
  bool Blocked(int who, const std::vector<int>& tables) const;
  /// Conditions of CommitSwap; nullopt if they hold. `begun`: its intent's row was looked
  /// at and locked earlier.
  std::optional<publish::FailureKind> CheckCommit(const publish::CommitSwap& commit,
                                                  bool begun = false) const;
  /// Applies a commit whose conditions were checked, and judges it.
  void ApplyCommit(const publish::CommitSwap& commit, int sender);
  /// The second half of the mutant that writes the ledger row apart.
  void ApplyLedgerRow(const publish::CommitSwap& commit);
  bool ApplyFinish(const publish::FinishIntent& finish);
  void Deliver(std::size_t index);
  void Drop(std::size_t index);
  void EndLock(int owner);

  // Reading tables.
  std::shared_ptr<const Version> ReadVersion(const std::string& location) const;
  Rows RowsOf(const Live& live, int partition) const;
  Rows RowsAt(const std::string& location, int partition) const;
  /// Whether `snapshot` is the current one of `table` or truly before it.
  bool InHistory(int table, int snapshot) const;
  static std::string TableName(int table) { return "ns.t" + std::to_string(table); }
  static int TableIndex(const std::string& name) { return std::stoi(name.substr(4)); }
  static std::string Folder(int table) { return "t" + std::to_string(table) + "/"; }

  int NewSnapshotId(int parent);
  int NewRow() { return ++last_row_; }
  int NewDataFile(Rows rows, int plan);
  void SetPointer(int table, const std::string& location);

  // Conflicts that are real, for drivers and for the judge of conflicts.
  bool Held(const Plan& plan) const;
  bool BuiltUpon(const Plan& plan) const;

  // Judges. The first violation stays.
  void Violate(const std::string& what);
  const std::string& violation() const { return violation_; }
  /// The reader: all pointers in one transaction. Cheap unless something changed.
  void Look();
  /// An ending was reported by `process`.
  void JudgeEnding(int process, const publish::ProtocolState& state);
  /// A conflict was reported for `target`, whose head is `head`.
  void JudgeConflict(const Plan& plan, const PlanTable& target, const std::string& head);

  void PowerLoss();

  // The trace, for people; empty unless tracing.
  template <typename F>
  void Trace(F text) {
    if (tracing_) trace_.push_back(text());
  }
  const std::vector<std::string>& trace() const { return trace_; }

  // What the run did.
  std::map<std::string, std::int64_t> counts;
  bool changed = true;  ///< something a reader could notice

 private:
  void JudgeSwap(const Plan& plan, const PlanTable& target, const publish::Swap& swap);
  void JudgeLedger();
  void JudgeFiles(int table);

  bool tracing_;
  std::vector<std::string> trace_;
  std::string violation_;
  int last_row_ = 0;
  std::vector<int> parents_ = {0};                ///< truth: by snapshot id
  std::vector<std::set<std::string>> history_;    ///< truth: every pointer a table had
  std::set<std::pair<int, std::string>> failed_;  ///< process, intent reported failed
  std::size_t judged_ledger_ = 0;
};

}  // namespace amend::simulation

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/status.h"

/// The words in which the publication protocol (protocol.h, whose invariants are meant by
/// INV-P…) and its driver talk: plain values, nothing that can act.
namespace amend::publish {

enum class Kind { kPublish, kRollback, kLand };

/// One table of an intent.
struct TableTarget {
  std::string table;  ///< "namespace.name"; an intent's tables are sorted and distinct
  /// Metadata location at which the planned partitions were as the plan saw them. For a
  /// rollback of N: what N published. "" = the table did not exist.
  std::string pin;

  friend bool operator==(const TableTarget&, const TableTarget&) = default;
};

/// What is wanted. Immutable once written.
struct Intent {
  std::string id;  ///< UUID; the ledger row carries it
  Kind kind = Kind::kPublish;
  std::string subject;  ///< plan id, landing id, or the number that is rolled back
  std::vector<TableTarget> tables;   ///< may be empty: a no-op that moves `verified_at`
  std::vector<std::string> folders;  ///< every folder its attempts write into

  friend bool operator==(const Intent&, const Intent&) = default;
};

inline constexpr std::size_t kMinAttemptLength = 8;

/// What the intent's row must keep for a process that finds it: no more, since nothing
/// else that a dead process knew is evidence (INV-P2).
struct IntentRecord {
  Intent intent;
  /// UUID of each process that worked on it, the present owner last; at least
  /// kMinAttemptLength characters, none the beginning of another. File names of an
  /// attempt begin with it: registering it registers every path it will ever write, at no
  /// transaction per round. (Rejected: lists of exact paths. Under LockRows SQLite could
  /// not make them durable before the files are written.)
  std::vector<std::string> attempts;

  friend bool operator==(const IntentRecord&, const IntentRecord&) = default;
};

/// Status of an intent's row. Recovery looks for the first two.
enum class IntentStatus {
  kOpen,       ///< may commit
  kCommitted,  ///< set by the commit itself; not read back yet
  kConfirmed,  ///< read back
  kOverruled,  ///< committed, and another writer has taken it back since
  kFailed,     ///< certainly not published, files discarded
};

/// What comparing the planned partitions at the pin and at the head gave.
enum class Verdict {
  kEqual,        ///< the same live data and delete files
  kCompacted,    ///< other files, same content digest: not a change
  kDifferent,    ///< changed by another writer, held, or no longer allowed: a conflict
  kUndecidable,  ///< e.g. the pinned snapshot was expired: refused
};

/// What the read-back found for one table.
enum class Served {
  kYes,       ///< our snapshot is current or an ancestor of it; its summary is as built
  kReplaced,  ///< readable, but another writer took our snapshot out of the history
  kWrong,     ///< unreadable, or the summary is not what was staged
};

/// What was written for one table in one round, not yet visible.
struct StagedCommit {
  std::string table;
  std::string location;       ///< of the new metadata file
  std::int64_t snapshot = 0;  ///< id of the new snapshot
  /// Every file of ours that this commit needs, reused ones too.
  std::vector<std::string> files;

  friend bool operator==(const StagedCommit&, const StagedCommit&) = default;
};

/// One table's swap, as the commit makes it and the ledger keeps it.
struct Swap {
  std::string table;
  std::string from;  ///< metadata location to compare with; "" = no row: insert
  std::string to;
  std::int64_t snapshot = 0;

  friend bool operator==(const Swap&, const Swap&) = default;
};

// ── Actions: what the driver is asked to do next ─────────────────────────────────────
//
// For all: carry out once, answer with one event. A failure that had no effect is
// Failed; where the effect may or may not have happened, Lost. An action may come again
// after a kill or a lost answer, so each says what repeating it means.

/// In one transaction: allocate a number above every number ever given out, and write the
/// intent's row (open, epoch 1, `record`), keyed by the intent's id. Durable before the
/// answer. Again: the row is there, its number is answered. → IntentWritten
struct WriteIntent {
  IntentRecord record;
};

/// In one transaction: give the open intent a number above every number ever given out,
/// if it is still under `epoch` (else Failed kFenced). Again: another number, which costs
/// a gap. → IntentWritten
struct Renumber {
  std::string intent;
  std::int64_t epoch = 0;
};

/// In one read transaction: the ledger's highest number and each table's pointer, in the
/// order asked. No effect. → HeadsRead
struct ReadHeads {
  std::vector<std::string> tables;
};

/// Begin a transaction, lock the pointer rows in this order (and, in SQLite, all), check
/// that the intent is open under `epoch`, read tip and pointers; if tip ≥ `number`, give
/// the intent a fresh number inside this transaction. The transaction stays open until
/// CommitSwap or ReleaseRows; it dies with the process or its connection. On Failed or
/// Lost it is rolled back already. → RowsLocked
struct LockRows {
  std::string intent;
  std::int64_t epoch = 0;
  std::int64_t number = 0;
  std::vector<std::string> tables;
};

/// Roll back the transaction of LockRows. Any answer will do. → Done
struct ReleaseRows {};

/// For each table: is the *state* of the planned partitions at `head` that at `pin`?
/// Never judged by ancestry or snapshot ids. kDifferent also for partitions held since
/// the plan was made and, in a rollback, for later publications built on it that the
/// person did not name. No effect. → Compared
struct ComparePartitions {
  struct Item {
    std::string table;
    std::string pin;
    std::string head;
  };
  std::vector<Item> items;
};

/// For each table write the files of one new snapshot = `head` − planned partitions +
/// approved write sets (rollback: + the previous files, with their sequence numbers),
/// its summary and tag carrying `number`. Always from `head`, never from an earlier
/// staged snapshot. File names begin with `stem`; names never exist before. Files need
/// not be durable yet. Again: comes with another stem. → Built
struct BuildCommits {
  struct Item {
    std::string table;
    std::string head;
  };
  std::int64_t number = 0;
  std::string stem;
  std::vector<Item> items;
};

/// Returns Done once `files`, their folders and those above are on stable storage. A
/// failed sync is Failed kFatal and is never tried again on the same file: after an error
/// the kernel may have dropped the pages.
///
/// `needs` are files that others made and that the commit will refer to: data files,
/// facts. Their makers put bytes and names on stable storage before they told of them;
/// that each is still there is this action's duty. One that is gone is Failed kFatal,
/// kRefused. They are never discarded: a failed publication leaves what was staged. →
/// Done
struct SyncFiles {
  std::vector<std::string> files;
  std::vector<std::string> needs = {};
};

/// One transaction (or the one that LockRows opened): the intent is open under `epoch`,
/// else kFenced; highest ledger number = `tip` and each pointer = `from`, in this order,
/// else kMoved; set each pointer to `to`; insert the ledger row (number, intent, swaps,
/// and what the driver's plan adds: stamps, build records, holds); intent → kCommitted.
/// Synchronous commit (SQLite: synchronous=FULL). Failed only if the store said that the
/// transaction is rolled back; an error in or after COMMIT is Lost. → Committed
struct CommitSwap {
  std::string intent;
  Kind kind = Kind::kPublish;
  std::int64_t epoch = 0;
  std::int64_t number = 0;
  std::int64_t tip = 0;
  std::vector<Swap> swaps;
  bool locked = false;  ///< the transaction of LockRows is open
};

/// On a new connection, in one transaction: lock the intent's row, then the pointer rows
/// in this order, which waits for any older transaction of ours to end; look for the
/// ledger row of `intent`. Found: answer it. Not found: if the intent is open under
/// `epoch`, set epoch + 1 and `record`, so that a commit still on its way fails; else
/// kFenced. Again: the row under epoch + 1 with the same owner is success. → Resolved
struct Resolve {
  IntentRecord record;  ///< owner: this process
  std::int64_t epoch = 0;
};

/// On a fresh connection and from the files: pointer and summary of each table against
/// what was committed. No effect. → ReadBackDone
struct ReadBack {
  std::int64_t number = 0;
  std::vector<Swap> swaps;
};

/// Delete, in `folders`, every file whose name begins with one of `attempts`, and each of
/// `files`. Missing files are fine. Again: the same. What a failure leaves behind is
/// registered and goes with gc. → Done
struct DiscardFiles {
  std::vector<std::string> folders;
  std::vector<std::string> attempts;
  std::vector<std::string> files;
};

/// Set the intent's status if it is under `epoch`, and kFailed only from kOpen, the
/// others only from kCommitted (else kFenced). Again: the same. → Done
struct FinishIntent {
  std::string intent;
  std::int64_t epoch = 0;
  IntentStatus status = IntentStatus::kFailed;
};

/// Wait, longer with each try, with jitter. → Done
struct Pause {
  int tries = 0;
};

/// Nothing is left to do; the state holds the ending.
struct Stop {};

using Action = std::variant<WriteIntent, Renumber, ReadHeads, LockRows, ReleaseRows,
                            ComparePartitions, BuildCommits, SyncFiles, CommitSwap,
                            Resolve, ReadBack, DiscardFiles, FinishIntent, Pause, Stop>;

// ── Events: what happened ────────────────────────────────────────────────────────────

/// Begin a new intent. `attempt` is a fresh UUID: this process's name in file names.
struct Start {
  Intent intent;
  std::string attempt;
  std::vector<std::string> needs = {};  ///< of SyncFiles
};

struct IntentWritten {
  std::int64_t number = 0;
};

struct HeadsRead {
  std::int64_t tip = 0;            ///< 0 = empty ledger
  std::vector<std::string> heads;  ///< "" = no row
};

struct RowsLocked {
  std::int64_t number = 0;
  std::int64_t tip = 0;
  std::vector<std::string> heads;
};

struct Compared {
  struct Item {
    Verdict verdict = Verdict::kUndecidable;
    std::string why;  ///< for people: partition, snapshots, rows
  };
  std::vector<Item> items;  ///< in the order asked
};

struct Built {
  std::vector<StagedCommit> staged;  ///< in the order asked
};

struct Committed {};

struct Resolved {
  bool committed = false;
  std::int64_t number = 0;  ///< of the ledger row
  std::vector<Swap> swaps;  ///< of the ledger row
};

struct ReadBackDone {
  std::vector<Served> served;  ///< in the order asked
};

struct Done {};

enum class FailureKind {
  kBusy,    ///< the same call may succeed later
  kMoved,   ///< CommitSwap: a pointer or the ledger is not what we compared with
  kFenced,  ///< another process has taken the intent over
  kFatal,   ///< `code` says what: kExhausted (full), kRefused (files gone), …
};

/// It certainly had no effect.
struct Failed {
  FailureKind kind = FailureKind::kFatal;
  StatusCode code = StatusCode::kInternal;
  std::string why;
};

/// It may have had its effect or not, or may still have it later.
struct Lost {
  std::string why;
};

/// A new process found the row of an intent that is kOpen or kCommitted. Only safe, never
/// polite, while its owner still runs: the owner will end as kSuperseded.
struct Recover {
  IntentRecord record;      ///< of the row
  std::int64_t epoch = 0;   ///< of the row
  std::int64_t number = 0;  ///< of the row
  std::string attempt;      ///< a fresh UUID
  bool resume = true;       ///< go on with it, or give it up
};

using Event = std::variant<Start, Recover, IntentWritten, HeadsRead, RowsLocked, Compared,
                           Built, Committed, Resolved, ReadBackDone, Done, Failed, Lost>;

/// The record as it is kept in the intent's row. FromJson gives what ToJson was given;
/// Unsupported for another format's number, Damaged for anything else.
Json ToJson(const IntentRecord& record);
Result<IntentRecord> FromJson(const Json& json);

/// Stable names for rows, logs and docs: "rollback", "confirmed", "commit-swap", …
std::string_view Name(Kind kind);
std::string_view Name(IntentStatus status);
std::string_view Name(const Action& action);
std::string_view Name(const Event& event);

}  // namespace amend::publish

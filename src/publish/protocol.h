#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "publish/protocol_messages.h"

/// The publication protocol: how new partitions of many tables become visible in one
/// step, or not at all, whatever dies meanwhile. docs/publish.md tells it as a story.
///
/// Why a pure function: every effect (store, files) is an Action that a driver carries
/// out and answers with an Event. The driver of publisher.cc talks to the real world, the
/// one of testing/simulation to a hostile one; both run this code and no other. The
/// rejected alternative, a straight-line function over the real stores, can be killed
/// in tests only where someone thought of it.
///
/// Invariants. [S] is kept by Step (VerifyState), [D] by the driver's duty at an Action.
/// INV-P1  All or nothing: the pointers of all tables, the ledger row and the intent's
///         status change in one transaction, or none does. [D CommitSwap]
/// INV-P2  A publication happened if and only if its ledger row exists. No pointer, file,
///         reply or memory of a process is evidence. [S]
/// INV-P3  An intent commits at most once: the commit requires its intent to be open
///         under the committer's epoch, and the ledger is unique by intent. [D]
/// INV-P4  Numbers are unique and commit in ascending order: the commit requires that the
///         ledger's highest number is the `tip` we read, and tip < number. [S, D]
/// INV-P5  Acknowledged commits of others survive: each swap compares with the very head
///         that the staged snapshot was built on, and that head's planned partitions hold
///         what the plan had seen at its pin. [S, D]
/// INV-P6  Durable before visible: a commit is asked for only when all its files and
///         their folders are on stable storage, and everything else that it refers to
///         was seen to be there. [S, D SyncFiles]
/// INV-P7  Files of an attempt are deleted only once it is certain that no commit of it
///         happened or can still happen. A failure is certain when the store refused, or
///         when Resolve found no ledger row and moved the epoch on. [S]
/// INV-P8  Cleanup touches only names that begin with an attempt id of this intent, in
///         folders that the intent registered before the first of them was written. [S]
/// INV-P9  Success is reported only after pointers and summaries were read back. [S]
/// INV-P10 From an unknown outcome only Resolve leads out. [S]
/// INV-P11 A process that was fenced off (its intent is under another epoch) writes and
///         deletes nothing more; whoever fenced it owns the intent and its files. [S]
namespace amend::publish {

// ── State ────────────────────────────────────────────────────────────────────────────

/// Where an intent stands. One action belongs to each phase (NextAction); Step alone
/// moves between them. docs/publish.md has the table of transitions.
enum class Phase {
  kNew,       ///< REQUIRES nothing; only Start and Recover are accepted
  kIntent,    ///< WriteIntent asked
  kHeads,     ///< ReadHeads asked: first look, or the recheck before the commit
  kRenumber,  ///< Renumber asked: a higher number has committed
  kLock,      ///< LockRows asked: lost three times
  kCompare,   ///< ComparePartitions asked for tables whose head or whose ledger moved
  kBuild,     ///< BuildCommits asked for tables whose head or number moved
  kSync,      ///< SyncFiles asked
  kCommit,    ///< CommitSwap asked. REQUIRES all tables built on `head`, synced, fresh
  kResolve,   ///< Resolve asked: the outcome is unknown, or another process left it
  kConfirm,   ///< ReadBack asked. REQUIRES a ledger row
  kRelease,   ///< ReleaseRows asked. REQUIRES locked, an ending of failure
  kDiscard,   ///< DiscardFiles asked. REQUIRES an ending that is certain
  kFinish,    ///< FinishIntent asked. REQUIRES an ending that is certain
  kDone,      ///< Stop
};

/// How it ended. docs/cli.md maps these to exit codes.
enum class Ending {
  kNone,         ///< not yet
  kConfirmed,    ///< published and read back
  kOverruled,    ///< published; another writer has taken it back since
  kUnconfirmed,  ///< published (ledger row), not read back: the next command confirms
  kConflict,     ///< nothing published: another writer changed the planned partitions
  kFailed,       ///< nothing published; `code` says why
  kUnknown,      ///< nobody knows yet: the next command resolves it
  kSuperseded,   ///< another process took the intent over: ask it
};

struct TableProgress {
  std::string head;  ///< pointer as last read
  bool compared = false;
  bool built = false;   ///< `staged` was built on `head` with the present number
  bool synced = false;  ///< all files of `staged`
  StagedCommit staged;

  friend bool operator==(const TableProgress&, const TableProgress&) = default;
};

/// Everything the protocol knows: a plain value. Not thread-safe; copy it.
struct ProtocolState {
  Phase phase = Phase::kNew;
  IntentRecord record;
  bool resume = true;       ///< after Recover: go on, or give the intent up
  std::int64_t number = 0;  ///< 0 = not allocated
  std::int64_t epoch = 0;
  std::int64_t tip = 0;
  int round = 0;              ///< of BuildCommits; makes stems unique
  int losses = 0;             ///< commits or rechecks lost
  bool loss_counted = false;  ///< that of the refused commit which sent us to kHeads
  int tries = 0;              ///< of the present phase
  bool pausing = false;       ///< waiting before the phase's action is asked for again
  bool locked = false;        ///< the transaction of LockRows is open
  bool seen = false;          ///< heads were read at least once
  bool fresh = false;         ///< heads were read after the last build, and had not moved
  bool in_doubt = false;      ///< a commit of ours may have happened or may still happen
  bool published = false;     ///< the ledger row is known to exist
  bool read_back = false;     ///< pointers and summaries were seen after it
  std::vector<TableProgress> tables;    ///< parallel to record.intent.tables
  std::vector<std::string> needs;       ///< files of others that must be there
  bool needs_seen = false;              ///< they are
  std::vector<Swap> committed;          ///< of the ledger row
  std::vector<std::string> superseded;  ///< files of rounds that were lost
  Ending ending = Ending::kNone;
  StatusCode code = StatusCode::kOk;
  std::string why;

  friend bool operator==(const ProtocolState&, const ProtocolState&) = default;
};

inline constexpr int kLossesBeforeLock = 3;
inline constexpr int kMaxLosses = 8;
inline constexpr int kMaxTries = 6;

struct StepResult {
  ProtocolState state;
  Action action;  ///< NextAction(state)
};

/// The one function that changes a state. REQUIRES: `event` answers NextAction(state)
/// (or, in kNew, begins); anything else is a bug of the driver and aborts. Pure.
StepResult Step(ProtocolState state, const Event& event);

/// The action that `state` waits for. Pure; asking again asks for the same.
Action NextAction(const ProtocolState& state);

/// Internal with the number of the first invariant marked [S] that does not hold. Step
/// checks it after each transition, in release builds too.
Status VerifyState(const ProtocolState& state);

/// What the caller of the protocol reports. REQUIRES: phase kDone.
Status EndingStatus(const ProtocolState& state);

/// Stable names for logs and docs: "compare", "conflict", …
std::string_view Name(Phase phase);
std::string_view Name(Ending ending);

}  // namespace amend::publish

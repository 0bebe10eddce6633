#include "publish/protocol.h"

#include <algorithm>
#include <array>
#include <set>
#include <type_traits>
#include <utility>

namespace amend::publish {
namespace {

bool IsFailure(Ending ending) {
  return ending == Ending::kConflict || ending == Ending::kFailed;
}

bool IsPublished(Ending ending) {
  return ending == Ending::kConfirmed || ending == Ending::kOverruled ||
         ending == Ending::kUnconfirmed;
}

std::vector<std::string> TableNames(const Intent& intent) {
  std::vector<std::string> names;
  names.reserve(intent.tables.size());
  for (const TableTarget& target : intent.tables) names.push_back(target.table);
  return names;
}

std::vector<Swap> StagedSwaps(const ProtocolState& state) {
  std::vector<Swap> swaps;
  swaps.reserve(state.tables.size());
  for (const TableProgress& table : state.tables) {
    swaps.push_back({.table = table.staged.table,
                     .from = table.head,
                     .to = table.staged.location,
                     .snapshot = table.staged.snapshot});
  }
  return swaps;
}

void Enter(ProtocolState& state, Phase phase) {
  state.phase = phase;
  state.tries = 0;
  state.pausing = false;
  if (phase == Phase::kBuild) ++state.round;
}

void End(ProtocolState& state, Ending ending, StatusCode code, std::string why) {
  state.ending = ending;
  state.code = code;
  state.why = std::move(why);
}

// ── Ways out ─────────────────────────────────────────────────────────────────────────

/// It is certain that nothing was published.
void Abandon(ProtocolState& state, Ending ending, StatusCode code, std::string why) {
  End(state, ending, code, std::move(why));
  Enter(state, state.locked ? Phase::kRelease : Phase::kDiscard);
}

void Supersede(ProtocolState& state, const std::string& why) {
  End(state, Ending::kSuperseded, StatusCode::kUnknown, why);
  Enter(state, state.locked ? Phase::kRelease : Phase::kDone);
}

void LeaveUnknown(ProtocolState& state, const std::string& why) {
  End(state, Ending::kUnknown, StatusCode::kUnknown, why);
  Enter(state, Phase::kDone);
}

/// Asks again after a pause; false once there were enough tries.
bool TryAgain(ProtocolState& state) {
  if (++state.tries >= kMaxTries) return false;
  state.pausing = true;
  return true;
}

/// The transaction of LockRows is gone, and with it a number that was given inside it.
void ForgetLock(ProtocolState& state) {
  if (!state.locked) return;
  state.locked = false;
  state.number = 0;
  for (TableProgress& table : state.tables) table.built = false;
}

bool NeedsSeen(const ProtocolState& state) {
  return state.needs_seen || state.needs.empty();
}

// ── Prepare: go on until everything planned is compared, built, synced and fresh ─────

void Prepare(ProtocolState& state) {
  auto all = [&state](auto member) { return std::ranges::all_of(state.tables, member); };
  const bool lock = state.losses >= kLossesBeforeLock && !state.locked;
  if (state.losses >= kMaxLosses) {
    Abandon(state, Ending::kFailed, StatusCode::kTransient,
            "lost " + std::to_string(state.losses) + " times; last: " + state.why);
  } else if (lock) {
    Enter(state, Phase::kLock);
  } else if (!state.seen) {
    Enter(state, Phase::kHeads);
  } else if (state.tip >= state.number) {
    Enter(state, Phase::kRenumber);
  } else if (!all(&TableProgress::compared)) {
    Enter(state, Phase::kCompare);
  } else if (!all(&TableProgress::built)) {
    Enter(state, Phase::kBuild);
  } else if (!all(&TableProgress::synced) || !NeedsSeen(state)) {
    Enter(state, Phase::kSync);
  } else if (!state.fresh && !state.locked) {
    Enter(state, Phase::kHeads);
  } else {
    Enter(state, Phase::kCommit);
  }
}

/// Takes in what ReadHeads or LockRows saw; says whether anything had moved.
bool Absorb(ProtocolState& state, std::int64_t tip,
            const std::vector<std::string>& heads) {
  AMEND_CHECK(heads.size() == state.tables.size());
  bool moved = false;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    TableProgress& table = state.tables[i];
    if (state.seen && table.head == heads[i]) continue;
    table.head = heads[i];
    table.compared = false;
    table.built = false;
    moved = true;
  }
  if (!state.seen || tip != state.tip) {
    // Another publication: holds and dependants may differ though no pointer moved.
    for (TableProgress& table : state.tables) table.compared = false;
    moved = true;
  }
  state.tip = tip;
  state.fresh = !moved;
  state.seen = true;
  return moved;
}

void Lose(ProtocolState& state, const std::string& why) {
  ++state.losses;
  state.loss_counted = true;
  state.fresh = false;
  state.why = why;
}

void OnHeads(ProtocolState& state, const HeadsRead& event) {
  // The first look loses nothing, and a commit that was refused has counted its loss.
  const bool counts = state.seen && !state.loss_counted;
  if (Absorb(state, event.tip, event.heads) && counts) {
    Lose(state, "another writer committed while this publication was being prepared");
  }
  state.loss_counted = false;
  Prepare(state);
}

void OnLocked(ProtocolState& state, const RowsLocked& event) {
  AMEND_CHECK(event.number > event.tip);
  state.locked = true;
  if (event.number != state.number) {
    state.number = event.number;
    for (TableProgress& table : state.tables) table.built = false;
  }
  Absorb(state, event.tip, event.heads);
  state.fresh = true;
  Prepare(state);
}

void OnNumber(ProtocolState& state, const IntentWritten& event) {
  AMEND_CHECK(event.number > 0);
  state.number = event.number;
  for (TableProgress& table : state.tables) table.built = false;
  Prepare(state);
}

void OnCompared(ProtocolState& state, const Compared& event) {
  std::vector<TableProgress*> asked;
  for (TableProgress& table : state.tables) {
    if (!table.compared) asked.push_back(&table);
  }
  AMEND_CHECK(event.items.size() == asked.size());
  std::string why;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Compared::Item& item = event.items[i];
    if (item.verdict == Verdict::kEqual || item.verdict == Verdict::kCompacted) {
      asked[i]->compared = true;
    } else {
      why += (why.empty() ? "" : "; ") + item.why;
    }
  }
  if (why.empty() && !std::ranges::all_of(asked, &TableProgress::compared)) {
    why = "the planned partitions changed";
  }
  if (!why.empty()) {
    Abandon(state, Ending::kConflict, StatusCode::kConflict, std::move(why));
    return;
  }
  Prepare(state);
}

void OnBuilt(ProtocolState& state, const Built& event) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < state.tables.size(); ++i) {
    TableProgress& table = state.tables[i];
    if (table.built) continue;
    AMEND_CHECK(next < event.staged.size());
    const StagedCommit& staged = event.staged[next++];
    AMEND_CHECK(staged.table == state.record.intent.tables[i].table);
    state.superseded.insert(state.superseded.end(), table.staged.files.begin(),
                            table.staged.files.end());
    table.staged = staged;
    table.built = true;
    table.synced = false;
  }
  AMEND_CHECK(next == event.staged.size());
  state.fresh = false;
  Prepare(state);
}

void OnSynced(ProtocolState& state) {
  for (TableProgress& table : state.tables) table.synced = true;
  state.needs_seen = true;
  Prepare(state);
}

// ── Outcome ──────────────────────────────────────────────────────────────────────────

void OnCommitted(ProtocolState& state) {
  state.published = true;
  state.committed = StagedSwaps(state);
  state.locked = false;
  Enter(state, Phase::kConfirm);
}

void OnCommitFailed(ProtocolState& state, const Failed& failed) {
  const bool was_locked = state.locked;
  switch (failed.kind) {
    case FailureKind::kMoved:
      ForgetLock(state);
      Lose(state, failed.why);
      // What moved is unknown until the heads are read again.
      Enter(state, state.losses < kLossesBeforeLock ? Phase::kHeads : Phase::kLock);
      if (state.losses >= kMaxLosses) Prepare(state);
      return;
    case FailureKind::kFenced:
      state.locked = false;
      Supersede(state, failed.why);
      return;
    case FailureKind::kBusy:
      ForgetLock(state);
      if (was_locked) {
        Lose(state, failed.why);
        Prepare(state);
      } else if (!TryAgain(state)) {
        Abandon(state, Ending::kFailed, StatusCode::kTransient, failed.why);
      }
      return;
    case FailureKind::kFatal:
      ForgetLock(state);
      Abandon(state,
              failed.code == StatusCode::kConflict ? Ending::kConflict : Ending::kFailed,
              failed.code, failed.why);
      return;
  }
}

void OnCommitLost(ProtocolState& state, const Lost& lost) {
  state.in_doubt = true;
  ForgetLock(state);
  state.why = lost.why;
  Enter(state, Phase::kResolve);
}

void OnResolved(ProtocolState& state, const Resolved& event) {
  state.in_doubt = false;
  if (event.committed) {
    state.published = true;
    state.number = event.number;
    state.committed = event.swaps;
    Enter(state, Phase::kConfirm);
    return;
  }
  ++state.epoch;
  if (!state.resume) {
    Abandon(state, Ending::kFailed, StatusCode::kTransient,
            "given up: the process that began it ended before its commit");
    return;
  }
  if (!state.seen) {
    Prepare(state);
    return;
  }
  Lose(state, state.why);
  Enter(state, state.losses < kLossesBeforeLock ? Phase::kHeads : Phase::kLock);
  if (state.losses >= kMaxLosses) Prepare(state);
}

bool NothingToDiscard(const ProtocolState& state);

void OnReadBack(ProtocolState& state, const ReadBackDone& event) {
  AMEND_CHECK(event.served.size() == state.committed.size());
  state.read_back = true;
  std::string replaced;
  std::string wrong;
  for (std::size_t i = 0; i < event.served.size(); ++i) {
    if (event.served[i] == Served::kYes) continue;
    std::string& names = event.served[i] == Served::kWrong ? wrong : replaced;
    names += (names.empty() ? "" : ", ") + state.committed[i].table;
  }
  if (!wrong.empty()) {
    End(state, Ending::kUnconfirmed, StatusCode::kDamaged,
        "published, but what is read back differs from what was staged: " + wrong);
    Enter(state, Phase::kDone);
    return;
  }
  if (replaced.empty()) {
    End(state, Ending::kConfirmed, StatusCode::kOk, "");
  } else {
    End(state, Ending::kOverruled, StatusCode::kConflict,
        "published, and taken back since by another writer: " + replaced);
  }
  Enter(state, NothingToDiscard(state) ? Phase::kFinish : Phase::kDiscard);
}

/// What is certainly of no use any more. After a failure: all that any attempt wrote.
/// After a commit: files of lost rounds by exact name and, if the commit was this
/// process's own, what the attempts before it wrote, since those were fenced off first.
DiscardFiles Discardable(const ProtocolState& state) {
  DiscardFiles discard{
      .folders = state.record.intent.folders, .attempts = {}, .files = {}};
  if (IsFailure(state.ending)) {
    discard.attempts = state.record.attempts;
    return discard;
  }
  std::set<std::string> live;
  for (const TableProgress& table : state.tables) {
    live.insert(table.staged.files.begin(), table.staged.files.end());
  }
  if (state.committed != StagedSwaps(state) || live.empty()) return discard;
  discard.attempts = state.record.attempts;
  discard.attempts.pop_back();
  std::set<std::string> lost(state.superseded.begin(), state.superseded.end());
  std::ranges::set_difference(lost, live, std::back_inserter(discard.files));
  return discard;
}

bool NothingToDiscard(const ProtocolState& state) {
  const DiscardFiles discard = Discardable(state);
  return discard.attempts.empty() && discard.files.empty();
}

// ── Failures outside the commit ──────────────────────────────────────────────────────

struct Trouble {
  FailureKind kind = FailureKind::kBusy;
  StatusCode code = StatusCode::kTransient;
  std::string why;
};

/// A lost answer of an action that may be repeated counts as busy.
Trouble TroubleOf(const Event& event) {
  if (const auto* failed = std::get_if<Failed>(&event)) {
    const bool busy = failed->kind == FailureKind::kBusy;
    return {failed->kind, busy ? StatusCode::kTransient : failed->code, failed->why};
  }
  const auto* lost = std::get_if<Lost>(&event);
  AMEND_CHECK(lost != nullptr);
  return {FailureKind::kBusy, StatusCode::kTransient, lost->why};
}

void OnIntentTrouble(ProtocolState& state, const Trouble& trouble) {
  if (trouble.kind == FailureKind::kBusy && TryAgain(state)) return;
  // Nothing was prepared yet. If the row was written unseen, recovery closes it.
  End(state, Ending::kFailed, trouble.code, trouble.why);
  Enter(state, Phase::kDone);
}

void OnPrepareTrouble(ProtocolState& state, const Trouble& trouble, bool lost) {
  if (trouble.kind == FailureKind::kFenced) {
    Supersede(state, trouble.why);
    return;
  }
  // After an unclear sync the pages may be gone while the next sync says fine.
  const bool repeatable = !(state.phase == Phase::kSync && lost);
  if (trouble.kind == FailureKind::kBusy && repeatable && TryAgain(state)) return;
  Abandon(state, Ending::kFailed, trouble.code, trouble.why);
}

void OnResolveTrouble(ProtocolState& state, const Trouble& trouble) {
  if (trouble.kind == FailureKind::kFenced) {
    Supersede(state, trouble.why);
  } else if (trouble.kind != FailureKind::kBusy || !TryAgain(state)) {
    LeaveUnknown(state, trouble.why);
  }
}

void OnConfirmTrouble(ProtocolState& state, const Trouble& trouble) {
  if (trouble.kind == FailureKind::kBusy && TryAgain(state)) return;
  End(state, Ending::kUnconfirmed, StatusCode::kUnknown,
      "published, but it could not be read back: " + trouble.why);
  Enter(state, Phase::kDone);
}

void OnFinishTrouble(ProtocolState& state, const Trouble& trouble) {
  if (trouble.kind == FailureKind::kBusy && TryAgain(state)) return;
  if (trouble.kind == FailureKind::kFenced && IsFailure(state.ending)) {
    // Whoever took it over may yet publish it.
    Supersede(state, trouble.why);
    return;
  }
  Enter(state, Phase::kDone);
}

void OnTrouble(ProtocolState& state, const Event& event) {
  const Trouble trouble = TroubleOf(event);
  switch (state.phase) {
    case Phase::kIntent:
      return OnIntentTrouble(state, trouble);
    case Phase::kHeads:
    case Phase::kRenumber:
    case Phase::kLock:
    case Phase::kCompare:
    case Phase::kBuild:
    case Phase::kSync:
      return OnPrepareTrouble(state, trouble, std::holds_alternative<Lost>(event));
    case Phase::kResolve:
      return OnResolveTrouble(state, trouble);
    case Phase::kConfirm:
      return OnConfirmTrouble(state, trouble);
    case Phase::kRelease:
      state.locked = false;
      return Enter(state,
                   state.ending == Ending::kSuperseded ? Phase::kDone : Phase::kDiscard);
    case Phase::kDiscard:
      if (trouble.kind == FailureKind::kBusy && TryAgain(state)) return;
      return Enter(state, Phase::kFinish);
    case Phase::kFinish:
      return OnFinishTrouble(state, trouble);
    case Phase::kNew:
    case Phase::kCommit:
    case Phase::kDone:
      AMEND_CHECK(false);
  }
}

// ── Beginnings and plain answers ─────────────────────────────────────────────────────

void Begin(ProtocolState& state, const IntentRecord& record) {
  state.record = record;
  state.tables.assign(record.intent.tables.size(), TableProgress{});
  state.epoch = 1;
}

void OnStart(ProtocolState& state, const Start& start) {
  Begin(state, {.intent = start.intent, .attempts = {start.attempt}});
  state.needs = start.needs;
  Enter(state, Phase::kIntent);
}

void OnRecover(ProtocolState& state, const Recover& recover) {
  Begin(state, recover.record);
  state.record.attempts.push_back(recover.attempt);
  state.epoch = recover.epoch;
  state.number = recover.number;
  state.resume = recover.resume;
  // The dead process may have asked for a commit.
  state.in_doubt = true;
  Enter(state, Phase::kResolve);
}

void OnDone(ProtocolState& state) {
  if (state.pausing) {
    state.pausing = false;
    if (state.phase == Phase::kBuild) ++state.round;
    return;
  }
  switch (state.phase) {
    case Phase::kSync:
      return OnSynced(state);
    case Phase::kRelease:
      state.locked = false;
      return Enter(state,
                   state.ending == Ending::kSuperseded ? Phase::kDone : Phase::kDiscard);
    case Phase::kDiscard:
      return Enter(state, Phase::kFinish);
    case Phase::kFinish:
      return Enter(state, Phase::kDone);
    default:
      AMEND_CHECK(false);
  }
}

/// Whether `event` may answer the action of `phase`.
bool Answers(const ProtocolState& state, const Event& event) {
  if (state.pausing) return std::holds_alternative<Done>(event);
  const bool trouble =
      std::holds_alternative<Failed>(event) || std::holds_alternative<Lost>(event);
  switch (state.phase) {
    case Phase::kNew:
      return std::holds_alternative<Start>(event) ||
             std::holds_alternative<Recover>(event);
    case Phase::kIntent:
    case Phase::kRenumber:
      return trouble || std::holds_alternative<IntentWritten>(event);
    case Phase::kHeads:
      return trouble || std::holds_alternative<HeadsRead>(event);
    case Phase::kLock:
      return trouble || std::holds_alternative<RowsLocked>(event);
    case Phase::kCompare:
      return trouble || std::holds_alternative<Compared>(event);
    case Phase::kBuild:
      return trouble || std::holds_alternative<Built>(event);
    case Phase::kCommit:
      return trouble || std::holds_alternative<Committed>(event);
    case Phase::kResolve:
      return trouble || std::holds_alternative<Resolved>(event);
    case Phase::kConfirm:
      return trouble || std::holds_alternative<ReadBackDone>(event);
    case Phase::kSync:
    case Phase::kRelease:
    case Phase::kDiscard:
    case Phase::kFinish:
      return trouble || std::holds_alternative<Done>(event);
    case Phase::kDone:
      return false;
  }
  return false;
}

void Dispatch(ProtocolState& state, const Event& event) {
  std::visit(
      [&state, &event](const auto& e) {
        using T = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<T, Start>) {
          OnStart(state, e);
        } else if constexpr (std::is_same_v<T, Recover>) {
          OnRecover(state, e);
        } else if constexpr (std::is_same_v<T, IntentWritten>) {
          OnNumber(state, e);
        } else if constexpr (std::is_same_v<T, HeadsRead>) {
          OnHeads(state, e);
        } else if constexpr (std::is_same_v<T, RowsLocked>) {
          OnLocked(state, e);
        } else if constexpr (std::is_same_v<T, Compared>) {
          OnCompared(state, e);
        } else if constexpr (std::is_same_v<T, Built>) {
          OnBuilt(state, e);
        } else if constexpr (std::is_same_v<T, Committed>) {
          OnCommitted(state);
        } else if constexpr (std::is_same_v<T, Resolved>) {
          OnResolved(state, e);
        } else if constexpr (std::is_same_v<T, ReadBackDone>) {
          OnReadBack(state, e);
        } else if constexpr (std::is_same_v<T, Done>) {
          OnDone(state);
        } else if (state.phase != Phase::kCommit) {
          OnTrouble(state, event);
        } else if constexpr (std::is_same_v<T, Failed>) {
          OnCommitFailed(state, e);
        } else {
          OnCommitLost(state, e);
        }
      },
      event);
}

// ── Verifier ─────────────────────────────────────────────────────────────────────────

Status Broken(const ProtocolState& state, const char* invariant) {
  return Internal(std::string(invariant) + " does not hold in phase " +
                  std::string(Name(state.phase)));
}

Status VerifyRecord(const ProtocolState& state) {
  const Intent& intent = state.record.intent;
  if (intent.id.empty() || state.record.attempts.empty() ||
      state.tables.size() != intent.tables.size()) {
    return Broken(state, "INV-P8 (intent, attempts)");
  }
  for (const std::string& attempt : state.record.attempts) {
    if (attempt.size() < kMinAttemptLength) return Broken(state, "INV-P8 (attempt)");
  }
  for (std::size_t i = 1; i < intent.tables.size(); ++i) {
    if (intent.tables[i - 1].table >= intent.tables[i].table) {
      return Broken(state, "INV-P1 (sorted tables)");
    }
  }
  return {};
}

Status VerifyCommit(const ProtocolState& state) {
  if (state.tip >= state.number) return Broken(state, "INV-P4");
  for (const TableProgress& table : state.tables) {
    if (!table.compared || !table.built) return Broken(state, "INV-P5");
    if (!table.synced) return Broken(state, "INV-P6");
    if (table.staged.location.empty()) return Broken(state, "INV-P5 (location)");
  }
  if (!NeedsSeen(state)) return Broken(state, "INV-P6 (needs)");
  // Under the row locks nothing can have moved since they were taken.
  if (!state.seen || (!state.fresh && !state.locked))
    return Broken(state, "INV-P5 (heads)");
  return {};
}

Status VerifyEnding(const ProtocolState& state) {
  const bool unresolved =
      state.ending == Ending::kUnknown || state.ending == Ending::kSuperseded;
  if (state.published && IsFailure(state.ending)) return Broken(state, "INV-P2");
  if (!state.published && IsPublished(state.ending)) return Broken(state, "INV-P2");
  if (state.ending == Ending::kConfirmed && !state.read_back) {
    return Broken(state, "INV-P9");
  }
  if (state.in_doubt && state.phase != Phase::kResolve &&
      !(state.phase == Phase::kDone && unresolved)) {
    return Broken(state, "INV-P10");
  }
  const bool closing = state.phase == Phase::kDiscard || state.phase == Phase::kFinish;
  if (closing && (state.ending == Ending::kNone || unresolved || state.locked)) {
    return Broken(state, "INV-P7");
  }
  if (state.ending == Ending::kSuperseded && state.phase != Phase::kDone &&
      state.phase != Phase::kRelease) {
    return Broken(state, "INV-P11");
  }
  if (state.phase == Phase::kDone && (state.ending == Ending::kNone || state.locked)) {
    return Broken(state, "INV-P2 (ending)");
  }
  return {};
}

IntentStatus FinalStatus(Ending ending) {
  if (ending == Ending::kConfirmed) return IntentStatus::kConfirmed;
  if (ending == Ending::kOverruled) return IntentStatus::kOverruled;
  return IntentStatus::kFailed;
}

Action CompareAction(const ProtocolState& state) {
  ComparePartitions compare;
  for (std::size_t i = 0; i < state.tables.size(); ++i) {
    if (state.tables[i].compared) continue;
    const TableTarget& target = state.record.intent.tables[i];
    compare.items.push_back({target.table, target.pin, state.tables[i].head});
  }
  return compare;
}

Action BuildAction(const ProtocolState& state) {
  BuildCommits build{
      .number = state.number,
      .stem = state.record.attempts.back() + "-" + std::to_string(state.round),
      .items = {}};
  for (std::size_t i = 0; i < state.tables.size(); ++i) {
    if (state.tables[i].built) continue;
    build.items.push_back({state.record.intent.tables[i].table, state.tables[i].head});
  }
  return build;
}

Action SyncAction(const ProtocolState& state) {
  SyncFiles sync;
  for (const TableProgress& table : state.tables) {
    if (table.synced) continue;
    sync.files.insert(sync.files.end(), table.staged.files.begin(),
                      table.staged.files.end());
  }
  if (!NeedsSeen(state)) sync.needs = state.needs;
  return sync;
}

}  // namespace

Action NextAction(const ProtocolState& state) {
  if (state.pausing) return Pause{.tries = state.tries};
  const Intent& intent = state.record.intent;
  switch (state.phase) {
    case Phase::kIntent:
      return WriteIntent{.record = state.record};
    case Phase::kHeads:
      return ReadHeads{.tables = TableNames(intent)};
    case Phase::kRenumber:
      return Renumber{.intent = intent.id, .epoch = state.epoch};
    case Phase::kLock:
      return LockRows{.intent = intent.id,
                      .epoch = state.epoch,
                      .number = state.number,
                      .tables = TableNames(intent)};
    case Phase::kCompare:
      return CompareAction(state);
    case Phase::kBuild:
      return BuildAction(state);
    case Phase::kSync:
      return SyncAction(state);
    case Phase::kCommit:
      return CommitSwap{.intent = intent.id,
                        .kind = intent.kind,
                        .epoch = state.epoch,
                        .number = state.number,
                        .tip = state.tip,
                        .swaps = StagedSwaps(state),
                        .locked = state.locked};
    case Phase::kResolve:
      return Resolve{.record = state.record, .epoch = state.epoch};
    case Phase::kConfirm:
      return ReadBack{.number = state.number, .swaps = state.committed};
    case Phase::kRelease:
      return ReleaseRows{};
    case Phase::kDiscard:
      return Discardable(state);
    case Phase::kFinish:
      return FinishIntent{
          .intent = intent.id, .epoch = state.epoch, .status = FinalStatus(state.ending)};
    case Phase::kNew:
    case Phase::kDone:
      return Stop{};
  }
  return Stop{};
}

StepResult Step(ProtocolState state, const Event& event) {
  AMEND_CHECK(Answers(state, event));
  Dispatch(state, event);
  if (const Status broken = VerifyState(state); !broken.ok()) {
    CheckFailed(__FILE__, __LINE__, broken.message().c_str());
  }
  Action action = NextAction(state);
  return {.state = std::move(state), .action = std::move(action)};
}

Status VerifyState(const ProtocolState& state) {
  if (state.phase == Phase::kNew) return {};
  AMEND_RETURN_IF_ERROR(VerifyRecord(state));
  if (state.phase == Phase::kCommit) AMEND_RETURN_IF_ERROR(VerifyCommit(state));
  return VerifyEnding(state);
}

Status EndingStatus(const ProtocolState& state) {
  AMEND_CHECK(state.phase == Phase::kDone);
  if (state.ending == Ending::kConfirmed) return {};
  Status status(state.code,
                state.why.empty() ? std::string(Name(state.ending)) : state.why);
  switch (state.ending) {
    case Ending::kConflict:
      return std::move(status).Hint("nothing was published; plan again");
    case Ending::kUnconfirmed:
    case Ending::kUnknown:
      return std::move(status).Hint(
          "the next command resolves it; nothing was deleted meanwhile");
    case Ending::kSuperseded:
      return std::move(status).Hint(
          "another process has taken this publication over; see `amend status`");
    default:
      return status;
  }
}

std::string_view Name(Phase phase) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "new",    "intent",  "heads",   "renumber", "lock",    "compare", "build", "sync",
      "commit", "resolve", "confirm", "release",  "discard", "finish",  "done"};
  return kNames.at(static_cast<std::size_t>(phase));
}

std::string_view Name(Ending ending) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "none",     "confirmed", "overruled", "unconfirmed",
      "conflict", "failed",    "unknown",   "superseded"};
  return kNames.at(static_cast<std::size_t>(ending));
}

}  // namespace amend::publish

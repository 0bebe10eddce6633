#include "testing/simulation/process.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace amend::simulation {
namespace {

using publish::FailureKind;
using publish::IntentStatus;
using publish::Kind;
using publish::Verdict;

publish::Failed Busy() {
  return {.kind = FailureKind::kBusy, .code = StatusCode::kTransient, .why = "busy"};
}

publish::Failed Fenced() {
  return {.kind = FailureKind::kFenced, .code = StatusCode::kUnknown, .why = "fenced"};
}

publish::Failed Fatal(StatusCode code, std::string why) {
  return {.kind = FailureKind::kFatal, .code = code, .why = std::move(why)};
}

bool Contains(const Version& version, const std::vector<int>& files) {
  return std::ranges::all_of(files, [&version](int file) {
    return std::ranges::any_of(version.snapshots, [file](const auto& snapshot) {
      return std::ranges::any_of(snapshot->live, [file](const std::vector<int>& live) {
        return std::ranges::count(live, file) > 0;
      });
    });
  });
}

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3ULL;
}

/// What makes two states behave alike: no names, numbers only as far as they compare.
std::uint64_t Canonical(const publish::ProtocolState& state) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (int value :
       {static_cast<int>(state.phase), static_cast<int>(state.record.intent.kind),
        static_cast<int>(std::min<std::size_t>(state.record.attempts.size(), 3)),
        static_cast<int>(std::min<std::int64_t>(state.epoch, 3)), state.losses,
        state.tries, static_cast<int>(state.ending), static_cast<int>(state.code)}) {
    hash = Mix(hash, static_cast<std::uint64_t>(value));
  }
  for (bool flag : {state.resume, state.pausing, state.locked, state.seen, state.fresh,
                    state.in_doubt, state.published, state.read_back,
                    state.tip < state.number, state.superseded.empty()}) {
    hash = Mix(hash, flag ? 1 : 0);
  }
  for (std::size_t i = 0; i < state.tables.size(); ++i) {
    const publish::TableProgress& table = state.tables[i];
    for (bool flag :
         {table.compared, table.built, table.synced, table.staged.location.empty(),
          table.head == state.record.intent.tables[i].pin}) {
      hash = Mix(hash, flag ? 3 : 2);
    }
  }
  return hash;
}

}  // namespace

Process::Process(World& world, int id, const publish::Event& beginning)
    : world_(world), id_(id) {
  publish::StepResult result = publish::Step({}, beginning);
  state_ = std::move(result.state);
  action_ = std::move(result.action);
  world_.Trace([&] {
    return "process " + std::to_string(id_) +
           " begins: " + std::string(publish::Name(beginning)) + " of " +
           state_.record.intent.id + " (" +
           std::string(publish::Name(state_.record.intent.kind)) + ", " +
           std::to_string(state_.tables.size()) + " tables)";
  });
}

void Process::Kill() {
  alive_ = false;
  world_.EndLock(id_);
  ++world_.counts["kill"];
  world_.Trace([&] {
    return "process " + std::to_string(id_) + " is killed in " +
           std::string(publish::Name(state_.phase)) +
           (answer_ ? ", after the effect" : ", before or amid the effect");
  });
}

void Process::Tick(const Faults& faults, std::unordered_set<std::uint64_t>& states) {
  if (answer_) {
    TakeIn(states);
  } else {
    Act(faults);
  }
}

void Process::Act(const Faults& faults) {
  std::visit([&](const auto& action) { Do(action, faults); }, action_);
  ++cursor_;
}

publish::Event Process::Mutate(publish::Event event) {
  if (!std::holds_alternative<publish::CommitSwap>(action_)) return event;
  if (std::holds_alternative<publish::Committed>(event)) {
    for (const std::string& file : unsynced_) world_.metadata.at(file).synced = true;
    return event;
  }
  if (!std::holds_alternative<publish::Lost>(event)) return event;
  switch (world_.mutant) {
    case Mutant::kDeleteOnUnknown:
      return Fatal(StatusCode::kInternal, "lost, taken for a failure");
    case Mutant::kSuccessOnUnknown:
      return publish::Committed{};
    case Mutant::kRetryOnUnknown:
      return Busy();
    default:
      return event;
  }
}

void Process::TakeIn(std::unordered_set<std::uint64_t>& states) {
  const publish::Event event = Mutate(*std::exchange(answer_, std::nullopt));
  const publish::Phase before = state_.phase;
  publish::StepResult result = publish::Step(std::move(state_), event);
  state_ = std::move(result.state);
  action_ = std::move(result.action);
  cursor_ = 0;
  states.insert(Canonical(state_));
  world_.Trace([&] {
    return "process " + std::to_string(id_) + ": " + std::string(publish::Name(before)) +
           " + " + std::string(publish::Name(event)) + " → " +
           std::string(publish::Name(state_.phase)) + (state_.pausing ? " (pause)" : "") +
           ", number " + std::to_string(state_.number) + ", tip " +
           std::to_string(state_.tip) + ", epoch " + std::to_string(state_.epoch) +
           (state_.why.empty() ? "" : ", why: " + state_.why);
  });
  if (state_.phase != publish::Phase::kDone) return;
  world_.JudgeEnding(id_, state_);
  ++world_.counts["ended " + std::string(publish::Name(state_.ending))];
  alive_ = false;
}

// ── Faults ───────────────────────────────────────────────────────────────────────────

Process::Throw Process::ThrowFaults(const Faults& faults, bool writes) {
  Random& random = world_.random;
  if (random.PerMille(faults.busy)) {
    ++world_.counts["busy"];
    return Throw::kBusy;
  }
  if (writes && random.PerMille(faults.fatal)) {
    ++world_.counts["disk full or failed sync"];
    return Throw::kFatal;
  }
  if (random.PerMille(faults.lost)) {
    const bool applied = random.PerMille(500);
    ++world_.counts[applied ? "lost answer, took effect" : "lost answer, no effect"];
    return applied ? Throw::kLostApplied : Throw::kLostNotApplied;
  }
  return Throw::kFine;
}

void Process::AnswerAs(Throw fate, publish::Event event) {
  switch (fate) {
    case Throw::kFine:
      return Answer(std::move(event));
    case Throw::kBusy:
      return Answer(Busy());
    case Throw::kFatal:
      return Answer(Fatal(StatusCode::kExhausted, "disk full"));
    case Throw::kLostApplied:
    case Throw::kLostNotApplied:
      return Answer(publish::Lost{.why = "no answer"});
  }
}

const Plan& Process::plan() const {
  return world_.plans[static_cast<std::size_t>(std::stoi(state_.record.intent.subject))];
}

std::vector<int> Process::Tables() const {
  std::vector<int> tables;
  for (const publish::TableTarget& target : state_.record.intent.tables) {
    tables.push_back(World::TableIndex(target.table));
  }
  return tables;
}

// ── Store ────────────────────────────────────────────────────────────────────────────

void Process::Do(const publish::WriteIntent& action, const Faults& faults) {
  const std::string& key = action.record.intent.id;
  if (plan().retired) return Answer(Fatal(StatusCode::kRefused, "its files are cleaned"));
  const bool blocked = world_.sqlite && world_.Blocked(id_, {});
  const Throw fate = blocked ? Throw::kBusy : ThrowFaults(faults, true);
  const bool applies = fate == Throw::kFine || fate == Throw::kLostApplied;
  if (applies && !world_.intents.contains(key)) {
    world_.intents[key] = {
        .record = action.record, .plan = plan().id, .number = ++world_.last_number};
  }
  AnswerAs(fate, publish::IntentWritten{applies ? world_.intents.at(key).number : 0});
}

void Process::Do(const publish::Renumber& action, const Faults& faults) {
  IntentRow& row = world_.intents.at(action.intent);
  const bool blocked = world_.sqlite && world_.Blocked(id_, {});
  const Throw fate = blocked ? Throw::kBusy : ThrowFaults(faults, true);
  if (fate == Throw::kFine || fate == Throw::kLostApplied) {
    if (row.epoch != action.epoch || row.status != IntentStatus::kOpen) {
      return AnswerAs(fate, Fenced());
    }
    row.number = ++world_.last_number;
  }
  AnswerAs(fate, publish::IntentWritten{row.number});
}

void Process::Do(const publish::ReadHeads& action, const Faults& faults) {
  publish::HeadsRead heads{.tip = world_.Tip(), .heads = {}};
  for (const std::string& table : action.tables) {
    heads.heads.push_back(world_.pointers[World::TableIndex(table)]);
  }
  AnswerAs(ThrowFaults(faults, false), std::move(heads));
}

void Process::Do(const publish::LockRows& action, const Faults& faults) {
  const IntentRow& row = world_.intents.at(action.intent);
  // One lock at a time, also with row locks: enough to block and be blocked.
  const bool blocked = world_.lock_owner != 0 && world_.lock_owner != id_;
  const Throw fate = blocked ? Throw::kBusy : ThrowFaults(faults, true);
  if (fate != Throw::kFine) return AnswerAs(fate, Busy());
  if (row.epoch != action.epoch || row.status != IntentStatus::kOpen) {
    return Answer(Fenced());
  }
  world_.lock_owner = id_;
  const std::vector<int> tables = Tables();
  world_.lock_tables = {tables.begin(), tables.end()};
  ++world_.counts["rows locked"];
  publish::RowsLocked locked{.number = action.number, .tip = world_.Tip(), .heads = {}};
  // SQLite takes the number back with the transaction; a sequence does not.
  if (locked.tip >= locked.number) {
    locked.number = world_.sqlite ? world_.last_number + 1 : ++world_.last_number;
  }
  for (int table : tables) {
    locked.heads.push_back(world_.pointers[static_cast<std::size_t>(table)]);
  }
  Answer(std::move(locked));
}

void Process::Do(const publish::ReleaseRows&, const Faults& faults) {
  world_.EndLock(id_);
  AnswerAs(ThrowFaults(faults, false), publish::Done{});
}

void Process::Do(const publish::CommitSwap& action, const Faults& faults) {
  if (cursor_ > 0) {  // kLedgerOutsideTransaction
    world_.ApplyLedgerRow(action);
    return Answer(publish::Committed{});
  }
  if (world_.Blocked(id_, Tables())) return Answer(Busy());
  const Throw fate = ThrowFaults(faults, true);
  if (fate == Throw::kLostApplied || fate == Throw::kLostNotApplied) {
    return LoseCommit(action, fate);
  }
  world_.EndLock(id_);
  if (fate != Throw::kFine) return AnswerAs(fate, Busy());
  if (auto refusal = world_.CheckCommit(action)) {
    ++world_.counts[*refusal == FailureKind::kMoved ? "commit lost a race"
                                                    : "commit fenced off"];
    return Answer(publish::Failed{
        .kind = *refusal, .code = StatusCode::kConflict, .why = "a pointer moved"});
  }
  world_.ApplyCommit(action, id_);
  if (world_.mutant != Mutant::kLedgerOutsideTransaction) Answer(publish::Committed{});
}

void Process::LoseCommit(const publish::CommitSwap& action, Throw fate) {
  const bool valid = !world_.CheckCommit(action).has_value();
  const bool may_linger = world_.random.PerMille(500);
  world_.EndLock(id_);
  if (may_linger && (valid || !action.locked)) {
    // Either all but its COMMIT is done, or it has not even reached the store.
    InFlight request{.id = ++world_.last_request,
                     .sender = id_,
                     .commit = action,
                     .finish = std::nullopt,
                     .holds_locks = valid && world_.lock_owner == 0 &&
                                    (action.locked || world_.random.PerMille(500))};
    if (request.holds_locks) {
      world_.lock_owner = -request.id;
      const std::vector<int> tables = Tables();
      world_.lock_tables = {tables.begin(), tables.end()};
    }
    ++world_.counts["commit in flight"];
    world_.in_flight.push_back(std::move(request));
  } else if (fate == Throw::kLostApplied && valid) {
    world_.ApplyCommit(action, id_);
    if (world_.mutant == Mutant::kLedgerOutsideTransaction) world_.ApplyLedgerRow(action);
  }
  Answer(publish::Lost{.why = "no answer to COMMIT"});
}

void Process::Do(const publish::Resolve& action, const Faults& faults) {
  const std::string& key = action.record.intent.id;
  if (world_.mutant != Mutant::kResolveWithoutLocks) {
    // A transaction that holds our rows ends now, this way or that.
    for (std::size_t i = world_.in_flight.size(); i-- > 0;) {
      if (world_.in_flight[i].id != -world_.lock_owner) continue;
      if (world_.random.PerMille(500)) {
        world_.Deliver(i);
      } else {
        world_.Drop(i);
      }
      break;
    }
    if (world_.Blocked(id_, Tables())) return Answer(Busy());
  }
  IntentRow& row = world_.intents.at(key);
  const Throw fate = ThrowFaults(faults, true);
  if (const LedgerRow* found = world_.FindLedger(key)) {
    return AnswerAs(
        fate, publish::Resolved{
                  .committed = true, .number = found->number, .swaps = found->swaps});
  }
  const bool again = row.epoch == action.epoch + 1 &&
                     row.record.attempts.back() == action.record.attempts.back();
  const bool open = row.status == IntentStatus::kOpen && row.epoch == action.epoch;
  if (fate == Throw::kFine || fate == Throw::kLostApplied) {
    if (!open && !again) return AnswerAs(fate, Fenced());
    row.epoch = action.epoch + 1;
    row.record = action.record;
  }
  AnswerAs(fate, publish::Resolved{});
}

void Process::Do(const publish::FinishIntent& action, const Faults& faults) {
  const bool blocked = world_.sqlite && world_.Blocked(id_, {});
  const Throw fate = blocked ? Throw::kBusy : ThrowFaults(faults, true);
  if (fate == Throw::kLostNotApplied && world_.random.PerMille(500)) {
    world_.in_flight.push_back({.id = ++world_.last_request,
                                .sender = id_,
                                .commit = std::nullopt,
                                .finish = action,
                                .holds_locks = false});
  }
  const bool applies = fate == Throw::kFine || fate == Throw::kLostApplied;
  const bool fenced = applies && !world_.ApplyFinish(action);
  AnswerAs(fate, fenced ? publish::Event(Fenced()) : publish::Event(publish::Done{}));
}

void Process::Do(const publish::Pause&, const Faults&) { Answer(publish::Done{}); }

void Process::Do(const publish::Stop&, const Faults&) { alive_ = false; }

// ── Tables and files ─────────────────────────────────────────────────────────────────

publish::Compared::Item Process::Compare(const PlanTable& target,
                                         const std::string& head) const {
  const bool held = plan().kind == Kind::kPublish && world_.Held(plan()) &&
                    world_.mutant != Mutant::kIgnoreHolds;
  if (held) return {Verdict::kDifferent, "held"};
  if (plan().kind == Kind::kRollback && world_.BuiltUpon(plan())) {
    return {Verdict::kDifferent, "a later publication was built on it"};
  }
  if (target.append_to >= 0) {
    return {plan().published ? Verdict::kDifferent : Verdict::kEqual, "landed already"};
  }
  if (target.pin.empty()) {
    return {head.empty() ? Verdict::kEqual : Verdict::kDifferent, "created meanwhile"};
  }
  const auto pin = world_.ReadVersion(target.pin);
  const auto now = world_.ReadVersion(head);
  if (!pin || (pin->current && !world_.metadata.contains(pin->current->list))) {
    return {Verdict::kUndecidable, "the pinned snapshot was expired"};
  }
  if (!now || !now->current) return {Verdict::kUndecidable, "the table is empty"};
  if (world_.mutant == Mutant::kConflictByHead && target.pin != head) {
    return {Verdict::kDifferent, "the head moved"};
  }
  if (world_.mutant == Mutant::kConflictByAncestry && pin->current &&
      world_.InHistory(target.table, pin->current->id)) {
    return {Verdict::kEqual, ""};
  }
  Verdict verdict = Verdict::kEqual;
  for (int partition : target.partitions) {
    const auto index = static_cast<std::size_t>(partition);
    if (pin->current && pin->current->live[index] == now->current->live[index]) continue;
    const Rows rows = world_.RowsOf(now->current->live, partition);
    if (world_.RowsAt(target.pin, partition) != rows ||
        world_.mutant == Mutant::kCompactionIsConflict) {
      return {Verdict::kDifferent, "partition " + std::to_string(partition) + " changed"};
    }
    verdict = Verdict::kCompacted;
    ++world_.counts["compaction seen through"];
  }
  return {verdict, ""};
}

void Process::Do(const publish::ComparePartitions& action, const Faults& faults) {
  if (cursor_ == 0) compared_ = {};
  if (Throw fate = ThrowFaults(faults, false); fate != Throw::kFine) {
    return AnswerAs(fate, publish::Done{});
  }
  if (cursor_ < action.items.size()) {
    const auto& item = action.items[cursor_];
    const auto target = std::ranges::find(plan().tables, World::TableIndex(item.table),
                                          &PlanTable::table);
    compared_.items.push_back(Compare(*target, item.head));
    if (compared_.items.back().verdict == Verdict::kDifferent ||
        compared_.items.back().verdict == Verdict::kUndecidable) {
      world_.JudgeConflict(plan(), *target, item.head);
    }
  }
  if (compared_.items.size() == action.items.size()) Answer(compared_);
}

std::optional<publish::StagedCommit> Process::Build(const PlanTable& target,
                                                    const std::string& head,
                                                    std::int64_t number,
                                                    const std::string& stem) {
  const bool forward = world_.mutant == Mutant::kFastForward;
  const auto base = world_.ReadVersion(forward ? target.pin : head);
  const std::string path = World::Folder(target.table) + stem;
  auto version = std::make_shared<Version>();
  if (base) *version = *base;
  version->table = target.table;
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->parent = base && base->current ? base->current->id : 0;
  snapshot->id = world_.NewSnapshotId(snapshot->parent);
  snapshot->number = number;
  snapshot->list = path + "-l";
  if (base && base->current) snapshot->live = base->current->live;
  for (const auto& [partition, files] : target.files) {
    std::vector<int>& live = snapshot->live[static_cast<std::size_t>(partition)];
    if (target.append_to < 0) live.clear();
    live.insert(live.end(), files.begin(), files.end());
    const bool back = plan().kind == Kind::kRollback;
    if (back && !(base && Contains(*base, files))) return std::nullopt;
    for (int file : files) {
      if (!world_.data[static_cast<std::size_t>(file)].exists) return std::nullopt;
    }
  }
  version->snapshots.push_back(snapshot);
  version->current = snapshot;
  if (snapshot->parent != 0) version->tags[number] = snapshot->parent;
  if (plan().kind == Kind::kRollback && world_.mutant == Mutant::kRollbackByPointer) {
    if (const auto old = world_.ReadVersion(target.from)) *version = *old;
  }
  if (!head.empty()) version->log.push_back(head);
  version->intent = state_.record.intent.id;
  if (world_.metadata.contains(path + "-v")) world_.Violate("a file name came twice");
  world_.metadata[path + "-l"] = {.synced = false, .lost = false, .version = nullptr};
  world_.metadata[path + "-v"] = {
      .synced = false, .lost = false, .version = std::move(version)};
  return publish::StagedCommit{.table = World::TableName(target.table),
                               .location = path + "-v",
                               .snapshot = snapshot->id,
                               .files = {path + "-l", path + "-v"}};
}

void Process::Do(const publish::BuildCommits& action, const Faults& faults) {
  if (cursor_ == 0) built_ = {};
  if (Throw fate = ThrowFaults(faults, true); fate != Throw::kFine) {
    return AnswerAs(fate, publish::Done{});
  }
  if (cursor_ < action.items.size()) {
    const auto& item = action.items[cursor_];
    const auto target = std::ranges::find(plan().tables, World::TableIndex(item.table),
                                          &PlanTable::table);
    auto staged = Build(*target, item.head, action.number, action.stem);
    if (!staged) return Answer(Fatal(StatusCode::kRefused, "previous files are gone"));
    built_.staged.push_back(std::move(*staged));
  }
  if (built_.staged.size() == action.items.size()) Answer(built_);
}

void Process::Do(const publish::SyncFiles& action, const Faults& faults) {
  if (world_.mutant == Mutant::kSyncAfterSwap) {
    unsynced_ = action.files;
    return Answer(publish::Done{});
  }
  if (Throw fate = ThrowFaults(faults, true); fate != Throw::kFine) {
    for (const std::string& path : action.files) {
      // The kernel dropped the pages; the next sync would say that all is fine.
      auto file = world_.metadata.find(path);
      if (file != world_.metadata.end() && fate != Throw::kBusy) file->second.lost = true;
    }
    return AnswerAs(fate, publish::Done{});
  }
  if (cursor_ < action.files.size()) {
    auto file = world_.metadata.find(action.files[cursor_]);
    // Whoever took the intent over may have cleaned up behind our back.
    if (file == world_.metadata.end()) {
      return Answer(Fatal(StatusCode::kInternal, "the file to sync is gone"));
    }
    file->second.synced = !file->second.lost;
  }
  if (cursor_ + 1 >= action.files.size()) Answer(publish::Done{});
}

publish::Served Process::Served(const publish::Swap& swap) const {
  const auto version = world_.ReadVersion(world_.pointers[World::TableIndex(swap.table)]);
  if (!version) return publish::Served::kWrong;
  std::map<int, int> parents;
  for (const auto& snapshot : version->snapshots)
    parents[snapshot->id] = snapshot->parent;
  int id = version->current ? version->current->id : 0;
  while (id != swap.snapshot && parents.contains(id)) id = parents.at(id);
  const bool found = id == swap.snapshot && parents.contains(id);
  return found ? publish::Served::kYes : publish::Served::kReplaced;
}

void Process::Do(const publish::ReadBack& action, const Faults& faults) {
  publish::ReadBackDone done;
  bool all_served = true;
  bool all_there = true;
  for (const publish::Swap& swap : action.swaps) {
    const bool skip = world_.mutant == Mutant::kNoReadBack;
    done.served.push_back(skip ? publish::Served::kYes : Served(swap));
    all_served = all_served && done.served.back() == publish::Served::kYes;
    all_there = all_there && world_.InHistory(World::TableIndex(swap.table),
                                              static_cast<int>(swap.snapshot));
  }
  const Throw fate = ThrowFaults(faults, false);
  if (fate == Throw::kFine && all_served && !all_there) {
    world_.Violate("INV-P9: success without what a reader sees");
  }
  AnswerAs(fate, std::move(done));
}

void Process::Do(const publish::DiscardFiles& action, const Faults& faults) {
  if (cursor_ == 0) {
    doomed_ = action.files;
    for (const std::string& folder : action.folders) {
      for (const std::string& attempt : action.attempts) {
        const std::string prefix = folder + attempt;
        auto file = world_.metadata.lower_bound(prefix);
        for (; file != world_.metadata.end() && file->first.starts_with(prefix); ++file) {
          doomed_.push_back(file->first);
        }
      }
    }
  }
  if (Throw fate = ThrowFaults(faults, true); fate != Throw::kFine) {
    return AnswerAs(fate, publish::Done{});
  }
  if (cursor_ < doomed_.size()) {
    world_.Trace([&] { return "discards " + doomed_[cursor_]; });
    const auto& attempts = world_.intents.at(state_.record.intent.id).record.attempts;
    const std::string name = doomed_[cursor_].substr(doomed_[cursor_].find('/') + 1);
    if (std::ranges::none_of(attempts, [&name](const std::string& attempt) {
          return name.starts_with(attempt);
        })) {
      world_.Violate("INV-P8: cleanup of an unregistered path: " + doomed_[cursor_]);
    }
    world_.metadata.erase(doomed_[cursor_]);
    world_.changed = true;
  }
  if (cursor_ + 1 >= doomed_.size()) Answer(publish::Done{});
}

}  // namespace amend::simulation

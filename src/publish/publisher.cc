#include "publish/publisher.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "iceberg/location.h"
#include "publish/commit_builder.h"
#include "table/contents.h"

namespace amend::publish {
namespace {

constexpr std::int64_t kFirstPauseMicros = 20'000;
constexpr std::int64_t kLongestPauseMicros = 2'000'000;

ledger::EntryKind EntryKindOf(Kind kind) {
  switch (kind) {
    case Kind::kPublish:
      return ledger::EntryKind::kPublish;
    case Kind::kRollback:
      return ledger::EntryKind::kRollback;
    case Kind::kLand:
      return ledger::EntryKind::kLand;
  }
  return ledger::EntryKind::kPublish;
}

ledger::IntentStatus StatusOf(IntentStatus status) {
  switch (status) {
    case IntentStatus::kOpen:
      return ledger::IntentStatus::kOpen;
    case IntentStatus::kCommitted:
      return ledger::IntentStatus::kCommitted;
    case IntentStatus::kConfirmed:
      return ledger::IntentStatus::kConfirmed;
    case IntentStatus::kOverruled:
      return ledger::IntentStatus::kOverruled;
    case IntentStatus::kFailed:
      return ledger::IntentStatus::kFailed;
  }
  return ledger::IntentStatus::kFailed;
}

/// What a failure that certainly had no effect means to the protocol.
Failed FailedWith(const Status& status) {
  FailureKind kind =
      status.code() == StatusCode::kTransient ? FailureKind::kBusy : FailureKind::kFatal;
  return {kind, status.code(), status.ToString()};
}

/// A failed COMMIT: certain unless the store cannot say.
Event CommitFailure(const Status& status) {
  if (status.code() == StatusCode::kUnknown) return Lost{status.ToString()};
  return FailedWith(status);
}

std::vector<Swap> SwapsOf(const ledger::Entry& entry, const std::string& name_space) {
  std::vector<Swap> swaps;
  for (const ledger::EntryTable& table : entry.tables) {
    swaps.push_back({name_space + "." + table.table, table.previous_location,
                     table.metadata_location, table.snapshot_id});
  }
  return swaps;
}

/// Everything that the commit refers to and no build of it writes.
Result<std::vector<std::string>> NeedsOf(const Publication& publication) {
  std::vector<std::string> needs;
  for (const TableChange& change : publication.changes) {
    for (const iceberg::DataFile& file : change.added) {
      AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file.path));
      needs.push_back(std::move(path));
    }
    for (const iceberg::RestoredFile& file : change.restored) {
      AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file.file.path));
      needs.push_back(std::move(path));
    }
  }
  for (const ledger::EntryTable& table : publication.entry.tables) {
    if (!table.facts_path.empty()) needs.push_back(table.facts_path);
  }
  return needs;
}

/// Files that others made are still there. Their makers put bytes and names on stable
/// storage before they told of them (table::SyncRunFiles, engine::WriteFacts, the
/// publication that a rollback restores); to sync one folder per partition again would
/// cost a flush of the device for each.
Status SeeNeeds(Env& env, const std::vector<std::string>& needs) {
  for (const std::string& path : needs) {
    if (env.Exists(path)) continue;
    return Refused("a file that is to be published is gone: " + path)
        .Hint(
            "Nothing was published. Stage again: amend stage computes what is missing.");
  }
  return {};
}

}  // namespace

std::string NewAttempt(Env& env) {
  std::string uuid = env.NewUuid();
  uuid.replace(uuid.size() - 4, 4, "0000");
  return uuid;
}

/// Carries out one action after another for one intent.
class Publisher::Driver {
 public:
  Driver(Publisher& publisher, const Publication* publication)
      : p_(publisher), publication_(publication) {}

  /// Steps from `first` to the end.
  ProtocolState Run(const Event& first) {
    StepResult step = Step(ProtocolState{}, first);
    while (step.state.phase != Phase::kDone) {
      Event event =
          std::visit([this](const auto& action) { return Do(action); }, step.action);
      step = Step(std::move(step.state), event);
    }
    return std::move(step.state);
  }

 private:
  Event Do(const WriteIntent& action);
  Event Do(const Renumber& action);
  Event Do(const ReadHeads& action);
  Event Do(const LockRows& action);
  Event Do(const ReleaseRows& action);
  Event Do(const ComparePartitions& action);
  Event Do(const BuildCommits& action);
  Event Do(const SyncFiles& action);
  Event Do(const CommitSwap& action);
  Event Do(const Resolve& action);
  Event Do(const ReadBack& action);
  Event Do(const DiscardFiles& action);
  Event Do(const FinishIntent& action);
  Event Do(const Pause& action);
  Event Do(const Stop&) { return publish::Done{}; }

  Result<std::unique_ptr<db::Connection>> Connect() { return p_.options_.connect(); }
  iceberg::TableRef RefOf(const std::string& table) const;
  const TableChange& ChangeOf(const std::string& table) const;
  /// Pointers in the order asked; "" where there is no row.
  Result<std::vector<std::string>> Pointers(db::Transaction& tx,
                                            const std::vector<std::string>& tables);
  Status CommitIn(db::Transaction& tx, const CommitSwap& action);
  Result<ledger::Entry> EntryFor(const CommitSwap& action) const;
  Result<Verdict> CompareOne(const ComparePartitions::Item& item, std::string* why);

  Publisher& p_;
  const Publication* publication_;  // null in recovery
  /// Of LockRows, until CommitSwap or ReleaseRows; the connection outlives it.
  std::unique_ptr<db::Connection> locked_connection_;
  std::optional<db::Transaction> locked_;
  std::map<std::string, iceberg::StagedCommit> built_;  // by new metadata location
};

iceberg::TableRef Publisher::Driver::RefOf(const std::string& table) const {
  std::size_t dot = table.rfind('.');
  return {table.substr(0, dot), table.substr(dot + 1)};
}

const TableChange& Publisher::Driver::ChangeOf(const std::string& table) const {
  AMEND_CHECK(publication_ != nullptr);
  for (const TableChange& change : publication_->changes) {
    if (change.ref.ToString() == table) return change;
  }
  AMEND_CHECK(false && "an intent names only tables that it changes");
  return publication_->changes.front();
}

Result<std::vector<std::string>> Publisher::Driver::Pointers(
    db::Transaction& tx, const std::vector<std::string>& tables) {
  std::vector<iceberg::TableRef> refs;
  for (const std::string& table : tables) refs.push_back(RefOf(table));
  AMEND_ASSIGN(auto locations, p_.catalog_.LoadAll(tx, refs));
  std::vector<std::string> heads;
  for (const iceberg::TableRef& ref : refs) {
    auto it = locations.find(ref);
    heads.push_back(it == locations.end() ? "" : it->second);
  }
  return heads;
}

Event Publisher::Driver::Do(const WriteIntent& action) {
  auto connection = Connect();
  if (!connection) return FailedWith(connection.error());
  auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
  if (!tx) return FailedWith(tx.error());
  ledger::IntentRow row;
  row.id = action.record.intent.id;
  row.kind = EntryKindOf(action.record.intent.kind);
  row.record = ToJson(action.record);
  auto number = p_.ledger_.WriteIntent(*tx, row);
  if (!number) return FailedWith(number.error());
  Status committed = tx->Commit();
  if (!committed.ok()) return CommitFailure(committed);
  return IntentWritten{*number};
}

Event Publisher::Driver::Do(const Renumber& action) {
  auto connection = Connect();
  if (!connection) return FailedWith(connection.error());
  auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
  if (!tx) return FailedWith(tx.error());
  auto number = p_.ledger_.Renumber(*tx, action.intent, action.epoch);
  if (!number) return FailedWith(number.error());
  if (!*number) {
    return Failed{FailureKind::kFenced, StatusCode::kConflict,
                  "the intent was taken over"};
  }
  Status committed = tx->Commit();
  if (!committed.ok()) return CommitFailure(committed);
  return IntentWritten{**number};
}

Event Publisher::Driver::Do(const ReadHeads& action) {
  auto connection = Connect();
  if (!connection) return FailedWith(connection.error());
  auto tx = (*connection)->Begin(db::TransactionMode::kRead);
  if (!tx) return FailedWith(tx.error());
  auto tip = p_.ledger_.Tip(*tx);
  if (!tip) return FailedWith(tip.error());
  auto heads = Pointers(*tx, action.tables);
  if (!heads) return FailedWith(heads.error());
  return HeadsRead{*tip, *std::move(heads)};
}

Event Publisher::Driver::Do(const LockRows& action) {
  auto connection = Connect();
  if (!connection) return FailedWith(connection.error());
  auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
  if (!tx) return FailedWith(tx.error());
  auto intent = p_.ledger_.FindIntent(*tx, action.intent);
  if (!intent) return FailedWith(intent.error());
  if (!*intent || (*intent)->status != ledger::IntentStatus::kOpen ||
      (*intent)->epoch != action.epoch) {
    return Failed{FailureKind::kFenced, StatusCode::kConflict,
                  "the intent was taken over"};
  }
  auto tip = p_.ledger_.Tip(*tx);
  if (!tip) return FailedWith(tip.error());
  std::int64_t number = action.number;
  if (*tip >= number) {
    auto fresh = p_.ledger_.Renumber(*tx, action.intent, action.epoch);
    if (!fresh) return FailedWith(fresh.error());
    if (!*fresh) return Failed{FailureKind::kFenced, StatusCode::kConflict, "taken over"};
    number = **fresh;
  }
  auto heads = Pointers(*tx, action.tables);
  if (!heads) return FailedWith(heads.error());
  locked_connection_ = *std::move(connection);
  locked_.emplace(*std::move(tx));
  return RowsLocked{number, *tip, *std::move(heads)};
}

Event Publisher::Driver::Do(const ReleaseRows&) {
  locked_.reset();
  locked_connection_.reset();
  return publish::Done{};
}

Result<Verdict> Publisher::Driver::CompareOne(const ComparePartitions::Item& item,
                                              std::string* why) {
  const TableChange& change = ChangeOf(item.table);
  if (item.head == item.pin) return Verdict::kEqual;
  if (item.head.empty() || !change.pinned) {
    *why = item.head.empty() ? "the table was dropped" : "the table was made meanwhile";
    return Verdict::kDifferent;
  }
  AMEND_ASSIGN(iceberg::LoadedTable head,
               iceberg::LoadTable(p_.env_, change.ref, item.head));
  if (head.metadata.uuid() != change.pinned->metadata.uuid()) {
    *why = "the table was dropped and made again";
    return Verdict::kDifferent;
  }
  const iceberg::Snapshot* current = head.metadata.current_snapshot();
  AMEND_ASSIGN(
      partition::PartitionSet moved,
      table::ChangedBetween(p_.env_, *change.pinned, change.pinned_snapshot, head,
                            current == nullptr ? 0 : current->id, change.space));
  partition::PartitionSet touched = moved.Intersect(change.guarded);
  if (touched.empty()) return Verdict::kEqual;
  if (publication_->same_content) {
    AMEND_ASSIGN(bool same, publication_->same_content(change, head, touched));
    if (same) return Verdict::kCompacted;
  }
  *why = fmt::format("{} of {} changed since the plan was made (snapshot {} → {})",
                     Describe(change.space, touched), change.ref.name,
                     change.pinned_snapshot, current == nullptr ? 0 : current->id);
  return Verdict::kDifferent;
}

Event Publisher::Driver::Do(const ComparePartitions& action) {
  Compared compared;
  for (const ComparePartitions::Item& item : action.items) {
    Compared::Item answer;
    auto verdict = CompareOne(item, &answer.why);
    if (!verdict) {
      if (verdict.error().code() == StatusCode::kTransient) {
        return FailedWith(verdict.error());
      }
      answer.verdict = Verdict::kUndecidable;
      answer.why = verdict.error().ToString();
    } else {
      answer.verdict = *verdict;
    }
    compared.items.push_back(std::move(answer));
  }
  return compared;
}

Event Publisher::Driver::Do(const BuildCommits& action) {
  Built built;
  for (const BuildCommits::Item& item : action.items) {
    auto staged = BuildCommit(p_.env_, *publication_, ChangeOf(item.table), item.head,
                              action.number, action.stem);
    if (!staged) return FailedWith(staged.error());
    StagedCommit commit;
    commit.table = item.table;
    commit.location = staged->new_location;
    commit.snapshot = staged->snapshot_id;
    commit.files = staged->files;
    built_.insert_or_assign(commit.location, *std::move(staged));
    built.staged.push_back(std::move(commit));
  }
  return built;
}

Event Publisher::Driver::Do(const SyncFiles& action) {
  // SnapshotUpdate syncs files and folders before it returns; asking again is cheap for
  // so few and makes the duty of this action hold by itself.
  Status synced = SyncAll(p_.env_, action.files, "/");
  if (synced.ok()) synced = SeeNeeds(p_.env_, action.needs);
  if (!synced.ok()) return Failed{FailureKind::kFatal, synced.code(), synced.ToString()};
  return publish::Done{};
}

Result<ledger::Entry> Publisher::Driver::EntryFor(const CommitSwap& action) const {
  ledger::Entry entry = publication_->entry;
  entry.number = action.number;
  entry.kind = EntryKindOf(action.kind);
  entry.intent = action.intent;
  entry.at_micros = p_.env_.NowMicros();
  for (const Swap& swap : action.swaps) {
    std::string name = RefOf(swap.table).name;
    auto table =
        std::find_if(entry.tables.begin(), entry.tables.end(),
                     [&](const ledger::EntryTable& t) { return t.table == name; });
    AMEND_CHECK(table != entry.tables.end());
    const iceberg::StagedCommit& staged = built_.at(swap.to);
    table->snapshot_id = swap.snapshot;
    table->metadata_location = swap.to;
    table->previous_location = swap.from;
    const iceberg::Snapshot* snapshot = staged.metadata.FindSnapshot(swap.snapshot);
    if (snapshot != nullptr) {
      table->version = snapshot->sequence_number;
      table->previous_snapshot_id = snapshot->parent_id.value_or(0);
    }
  }
  return entry;
}

Status Publisher::Driver::CommitIn(db::Transaction& tx, const CommitSwap& action) {
  AMEND_ASSIGN_OR_RETURN(std::int64_t tip, p_.ledger_.Tip(tx));
  if (tip != action.tip) return Conflict("the ledger moved");
  std::vector<iceberg::PointerSwap> swaps;
  for (const Swap& swap : action.swaps) {
    swaps.push_back({RefOf(swap.table),
                     swap.from.empty() ? std::nullopt : std::optional(swap.from),
                     swap.to});
  }
  AMEND_RETURN_IF_ERROR(p_.catalog_.Swap(tx, std::move(swaps)));
  AMEND_ASSIGN_OR_RETURN(ledger::Entry entry, EntryFor(action));
  return p_.ledger_.Insert(tx, std::move(entry));
}

Event Publisher::Driver::Do(const CommitSwap& action) {
  std::unique_ptr<db::Connection> connection = std::move(locked_connection_);
  std::optional<db::Transaction> tx = std::move(locked_);
  locked_.reset();
  if (!tx) {
    auto opened = Connect();
    if (!opened) return FailedWith(opened.error());
    connection = *std::move(opened);
    auto begun = connection->Begin(db::TransactionMode::kWrite);
    if (!begun) return FailedWith(begun.error());
    tx.emplace(*std::move(begun));
  }
  auto took = p_.ledger_.SetIntentStatus(*tx, action.intent, action.epoch,
                                         ledger::IntentStatus::kOpen,
                                         ledger::IntentStatus::kCommitted);
  if (!took) return FailedWith(took.error());
  if (!*took) {
    return Failed{FailureKind::kFenced, StatusCode::kConflict,
                  "the intent was taken over"};
  }
  Status written = CommitIn(*tx, action);
  if (written.code() == StatusCode::kConflict) {
    return Failed{FailureKind::kMoved, StatusCode::kConflict, written.ToString()};
  }
  if (written.ok() && publication_->also) {
    // A conflict of these rows is no pointer that moved: no new look at the heads ends
    // it.
    written = publication_->also(*tx, action.number);
  }
  if (!written.ok()) return FailedWith(written);
  Status committed = tx->Commit();
  if (!committed.ok()) return CommitFailure(committed);
  return Committed{};
}

Event Publisher::Driver::Do(const Resolve& action) {
  auto connection = Connect();
  if (!connection) return Lost{connection.error().ToString()};
  auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
  if (!tx) return FailedWith(tx.error());
  auto entry = p_.ledger_.FindEntryOfIntent(*tx, action.record.intent.id);
  if (!entry) return FailedWith(entry.error());
  if (*entry) {
    return Resolved{true, (*entry)->number, SwapsOf(**entry, p_.options_.name_space)};
  }
  auto intent = p_.ledger_.FindIntent(*tx, action.record.intent.id);
  if (!intent) return FailedWith(intent.error());
  Json record = ToJson(action.record);
  bool again = *intent && (*intent)->epoch == action.epoch + 1 &&
               CanonicalJson((*intent)->record) == CanonicalJson(record);
  if (!again) {
    auto took = p_.ledger_.TakeOver(*tx, action.record.intent.id, action.epoch, record);
    if (!took) return FailedWith(took.error());
    if (!*took) {
      return Failed{FailureKind::kFenced, StatusCode::kConflict,
                    "another process took the intent over"};
    }
  }
  // A commit of this session also overwrites whatever of the old transaction a crash
  // could bring back (db/sqlite.h), so "not there" is final from here on.
  Status committed = tx->Commit();
  if (!committed.ok()) return CommitFailure(committed);
  return Resolved{false, 0, {}};
}

Event Publisher::Driver::Do(const ReadBack& action) {
  auto connection = Connect();
  if (!connection) return FailedWith(connection.error());
  auto tx = (*connection)->Begin(db::TransactionMode::kRead);
  if (!tx) return FailedWith(tx.error());
  std::vector<std::string> tables;
  for (const Swap& swap : action.swaps) tables.push_back(swap.table);
  auto heads = Pointers(*tx, tables);
  if (!heads) return FailedWith(heads.error());
  ReadBackDone done;
  for (std::size_t i = 0; i < action.swaps.size(); ++i) {
    done.served.push_back(
        ServedAt(p_.env_, RefOf(tables[i]), (*heads)[i], action.swaps[i], action.number));
  }
  return done;
}

Event Publisher::Driver::Do(const DiscardFiles& action) {
  for (const std::string& file : action.files) {
    Status removed = p_.env_.RemoveFile(file);
    if (!removed.ok()) return FailedWith(removed);
  }
  for (const std::string& folder : action.folders) {
    auto entries = p_.env_.List(folder);
    if (!entries) return FailedWith(entries.error());
    for (const FileInfo& entry : *entries) {
      bool ours = std::any_of(action.attempts.begin(), action.attempts.end(),
                              [&](const std::string& attempt) {
                                return IsFileOfAttempt(entry.path, attempt);
                              });
      if (!ours) continue;
      Status removed = p_.env_.RemoveFile(entry.path);
      if (!removed.ok()) return FailedWith(removed);
    }
  }
  return publish::Done{};
}

Event Publisher::Driver::Do(const FinishIntent& action) {
  auto connection = Connect();
  if (!connection) return FailedWith(connection.error());
  auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
  if (!tx) return FailedWith(tx.error());
  ledger::IntentStatus to = StatusOf(action.status);
  ledger::IntentStatus from = to == ledger::IntentStatus::kFailed
                                  ? ledger::IntentStatus::kOpen
                                  : ledger::IntentStatus::kCommitted;
  auto took = p_.ledger_.SetIntentStatus(*tx, action.intent, action.epoch, from, to);
  if (!took) return FailedWith(took.error());
  if (!*took) {
    auto now = p_.ledger_.FindIntent(*tx, action.intent);
    if (!now) return FailedWith(now.error());
    if (*now && (*now)->status == to && (*now)->epoch == action.epoch) {
      return publish::Done{};  // done before, and the answer was lost
    }
    return Failed{FailureKind::kFenced, StatusCode::kConflict,
                  "the intent was taken over"};
  }
  Status committed = tx->Commit();
  if (!committed.ok()) return CommitFailure(committed);
  return publish::Done{};
}

Event Publisher::Driver::Do(const Pause& action) {
  std::int64_t pause = kFirstPauseMicros;
  for (int i = 1; i < action.tries && pause < kLongestPauseMicros; ++i) pause *= 2;
  pause = std::min(pause, kLongestPauseMicros);
  // Half fixed, half random: two losers do not meet again.
  std::int64_t jitter = static_cast<std::int64_t>(p_.env_.Random64() %
                                                  static_cast<std::uint64_t>(pause / 2));
  p_.env_.SleepMicros(pause / 2 + jitter);
  return publish::Done{};
}

Publisher::Publisher(Env& env, PublisherOptions options, iceberg::SqlCatalog catalog,
                     ledger::Ledger ledger)
    : env_(env),
      options_(std::move(options)),
      catalog_(std::move(catalog)),
      ledger_(ledger) {}

Publisher::~Publisher() = default;

Result<Published> Publisher::Publish(const Publication& publication) {
  AMEND_ASSIGN(std::vector<std::string> needs, NeedsOf(publication));
  Driver driver(*this, &publication);
  ProtocolState state =
      driver.Run(Start{publication.intent, publication.attempt, std::move(needs)});
  AMEND_FAIL_IF_ERROR(EndingStatus(state));
  return Published{state.ending, state.number, state.committed};
}

Status Publisher::Recover() {
  AMEND_ASSIGN_OR_RETURN(auto connection, options_.connect());
  std::vector<ledger::IntentRow> open;
  {
    AMEND_ASSIGN_OR_RETURN(auto tx, connection->Begin(db::TransactionMode::kRead));
    AMEND_ASSIGN_OR_RETURN(open, ledger_.UnfinishedIntents(tx));
  }
  for (const ledger::IntentRow& row : open) {
    AMEND_ASSIGN_OR_RETURN(IntentRecord record, FromJson(row.record));
    publish::Recover recover{std::move(record), row.epoch, row.number, NewAttempt(env_),
                             false};
    Driver driver(*this, nullptr);
    ProtocolState state = driver.Run(recover);
    Status ending = EndingStatus(state);
    // That the left-over intent failed is what giving it up means, and that another
    // writer has overruled it is told by the tables. What keeps the next command from
    // starting is an outcome that nobody knows, or a table that is not what was
    // committed.
    if (state.ending == Ending::kUnknown || state.ending == Ending::kUnconfirmed ||
        state.ending == Ending::kSuperseded) {
      return ending;
    }
  }
  return {};
}

}  // namespace amend::publish

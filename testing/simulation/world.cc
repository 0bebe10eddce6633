#include "testing/simulation/world.h"

#include <algorithm>
#include <utility>

namespace amend::simulation {

using publish::FailureKind;
using publish::IntentStatus;
using publish::Kind;

std::uint64_t Random::Next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

World::World(std::uint64_t seed, Mutant m, bool tracing)
    : random(seed), mutant(m), sqlite(random.PerMille(500)), tracing_(tracing) {
  const int tables = 2 + random.Below(3);
  pointers.resize(static_cast<std::size_t>(tables));
  history_.resize(pointers.size());
  // The last table may not exist yet: its first build creates it.
  const int existing = tables - (random.PerMille(300) ? 1 : 0);
  for (int table = 0; table < existing; ++table) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->id = NewSnapshotId(0);
    snapshot->list = Folder(table) + "zero-l";
    for (auto& files : snapshot->live) files.push_back(NewDataFile({NewRow()}, -1));
    auto version = std::make_shared<Version>();
    version->table = table;
    version->snapshots.push_back(snapshot);
    version->current = snapshot;
    metadata[snapshot->list] = {.synced = true, .lost = false, .version = nullptr};
    metadata[Folder(table) + "zero-v"] = {
        .synced = true, .lost = false, .version = std::move(version)};
    SetPointer(table, Folder(table) + "zero-v");
  }
}

// ── The store ────────────────────────────────────────────────────────────────────────

std::int64_t World::Tip() const {
  std::int64_t tip = 0;
  for (const LedgerRow& row : ledger) tip = std::max(tip, row.number);
  return tip;
}

const LedgerRow* World::FindLedger(const std::string& intent) const {
  for (const LedgerRow& row : ledger) {
    if (row.intent == intent) return &row;
  }
  return nullptr;
}

bool World::Blocked(int who, const std::vector<int>& tables) const {
  if (lock_owner == 0 || lock_owner == who) return false;
  return sqlite || std::ranges::any_of(
                       tables, [this](int table) { return lock_tables.contains(table); });
}

std::optional<FailureKind> World::CheckCommit(const publish::CommitSwap& commit,
                                              bool begun) const {
  const IntentRow& row = intents.at(commit.intent);
  const bool open = row.status == IntentStatus::kOpen && row.epoch == commit.epoch;
  if (!open && !begun && mutant != Mutant::kNoEpochCompare) return FailureKind::kFenced;
  if (FindLedger(commit.intent) != nullptr) return FailureKind::kFenced;  // unique key
  const bool taken = std::ranges::any_of(ledger, [&commit](const LedgerRow& other) {
    return other.number == commit.number;
  });
  if (taken || (Tip() != commit.tip && mutant != Mutant::kNoTipCompare)) {
    return FailureKind::kMoved;
  }
  if (mutant == Mutant::kNoCompareOnPointer) return std::nullopt;
  for (const publish::Swap& swap : commit.swaps) {
    if (pointers[TableIndex(swap.table)] != swap.from) return FailureKind::kMoved;
  }
  return std::nullopt;
}

void World::ApplyCommit(const publish::CommitSwap& commit, int sender) {
  Plan& plan = plans[static_cast<std::size_t>(intents.at(commit.intent).plan)];
  if (failed_.contains({sender, commit.intent})) {
    Violate("INV-P7: a commit arrived after its sender had reported failure");
  }
  if (Tip() >= commit.number) Violate("INV-P4: a lower number committed later");
  if (plan.kind == Kind::kPublish && Held(plan)) {
    Violate("a publication wrote over partitions held by a later rollback");
  }
  if (plan.kind == Kind::kRollback && BuiltUpon(plan)) {
    Violate("a rollback took away what a later publication was built on, unnamed");
  }
  for (std::size_t i = 0; i < commit.swaps.size(); ++i) {
    JudgeSwap(plan, plan.tables[i], commit.swaps[i]);
    const auto version = ReadVersion(commit.swaps[i].to);
    if (version && version->current && plan.kind != Kind::kRollback &&
        version->current->number != commit.number) {
      Violate("INV-P4: the summary carries another number than the ledger");
    }
  }
  for (const publish::Swap& swap : commit.swaps) {
    SetPointer(TableIndex(swap.table), swap.to);
  }
  plan.published = true;
  last_number = std::max(last_number, commit.number);
  ++counts["publications"];
  if (mutant != Mutant::kLedgerOutsideTransaction) ApplyLedgerRow(commit);
}

void World::ApplyLedgerRow(const publish::CommitSwap& commit) {
  IntentRow& row = intents.at(commit.intent);
  ledger.push_back({.number = commit.number,
                    .intent = commit.intent,
                    .plan = row.plan,
                    .kind = commit.kind,
                    .swaps = commit.swaps});
  row.status = IntentStatus::kCommitted;
  changed = true;
}

bool World::ApplyFinish(const publish::FinishIntent& finish) {
  IntentRow& row = intents.at(finish.intent);
  const IntentStatus from = finish.status == IntentStatus::kFailed
                                ? IntentStatus::kOpen
                                : IntentStatus::kCommitted;
  if (row.status == finish.status) return true;
  if (row.epoch != finish.epoch || row.status != from) return false;
  row.status = finish.status;
  return true;
}

void World::EndLock(int owner) {
  if (lock_owner != owner) return;
  lock_owner = 0;
  lock_tables.clear();
}

void World::Deliver(std::size_t index) {
  const InFlight request = in_flight[index];
  in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(index));
  EndLock(-request.id);
  bool took_effect = false;
  if (request.commit) {
    std::vector<int> tables;
    for (const publish::Swap& swap : request.commit->swaps) {
      tables.push_back(TableIndex(swap.table));
    }
    took_effect = !Blocked(0, tables) &&
                  !CheckCommit(*request.commit, request.holds_locks).has_value();
    if (took_effect) {
      ApplyCommit(*request.commit, request.sender);
      if (mutant == Mutant::kLedgerOutsideTransaction) ApplyLedgerRow(*request.commit);
    }
  } else {
    took_effect = ApplyFinish(*request.finish);
  }
  ++counts[took_effect ? "late delivery, took effect" : "late delivery, refused"];
  Trace([&] {
    return "late delivery of a request of process " + std::to_string(request.sender) +
           (took_effect ? ": took effect" : ": refused");
  });
}

void World::Drop(std::size_t index) {
  EndLock(-in_flight[index].id);
  in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(index));
}

void World::PowerLoss() {
  // A transaction that waited for its COMMIT is durable or gone.
  while (!in_flight.empty()) {
    if (in_flight.back().holds_locks && random.PerMille(500)) {
      Deliver(in_flight.size() - 1);
    } else {
      Drop(in_flight.size() - 1);
    }
  }
  lock_owner = 0;
  lock_tables.clear();
  std::erase_if(metadata, [](const auto& file) { return !file.second.synced; });
  changed = true;
}

// ── Tables ───────────────────────────────────────────────────────────────────────────

std::shared_ptr<const Version> World::ReadVersion(const std::string& location) const {
  auto it = metadata.find(location);
  return it == metadata.end() ? nullptr : it->second.version;
}

Rows World::RowsOf(const Live& live, int partition) const {
  Rows rows;
  for (int file : live[static_cast<std::size_t>(partition)]) {
    const Rows& more = data[static_cast<std::size_t>(file)].rows;
    rows.insert(rows.end(), more.begin(), more.end());
  }
  std::ranges::sort(rows);
  return rows;
}

Rows World::RowsAt(const std::string& location, int partition) const {
  const auto version = ReadVersion(location);
  if (!version || !version->current) return {};
  return RowsOf(version->current->live, partition);
}

bool World::InHistory(int table, int snapshot) const {
  const auto version = ReadVersion(pointers[static_cast<std::size_t>(table)]);
  if (!version || !version->current) return false;
  for (int id = version->current->id; id != 0;
       id = parents_[static_cast<std::size_t>(id)]) {
    if (id == snapshot) return true;
  }
  return false;
}

int World::NewSnapshotId(int parent) {
  parents_.push_back(parent);
  return static_cast<int>(parents_.size()) - 1;
}

int World::NewDataFile(Rows rows, int plan) {
  data.push_back({.rows = std::move(rows), .plan = plan, .exists = true});
  return static_cast<int>(data.size()) - 1;
}

void World::SetPointer(int table, const std::string& location) {
  pointers[static_cast<std::size_t>(table)] = location;
  history_[static_cast<std::size_t>(table)].insert(location);
  changed = true;
}

bool World::Held(const Plan& plan) const {
  auto overlaps = [](const PlanTable& a, const PlanTable& b) {
    return a.table == b.table && std::ranges::any_of(a.partitions, [&b](int partition) {
             return std::ranges::count(b.partitions, partition) > 0;
           });
  };
  return std::ranges::any_of(ledger, [&](const LedgerRow& row) {
    if (row.kind != Kind::kRollback || row.number <= plan.tip) return false;
    const Plan& rollback = plans[static_cast<std::size_t>(row.plan)];
    return std::ranges::any_of(plan.tables, [&](const PlanTable& mine) {
      return std::ranges::any_of(rollback.tables, [&](const PlanTable& theirs) {
        return overlaps(mine, theirs);
      });
    });
  });
}

bool World::BuiltUpon(const Plan& plan) const {
  return std::ranges::any_of(ledger, [&](const LedgerRow& row) {
    if (row.kind != Kind::kPublish || row.number <= plan.tip) return false;
    const Plan& later = plans[static_cast<std::size_t>(row.plan)];
    return later.tip >= plan.rolls_back &&
           std::ranges::any_of(plan.tables, [&later](const PlanTable& target) {
             return later.reads.contains(target.table);
           });
  });
}

// ── Judges ───────────────────────────────────────────────────────────────────────────

void World::Violate(const std::string& what) {
  if (violation_.empty()) violation_ = what;
  Trace([&] { return "VIOLATION: " + what; });
}

void World::JudgeSwap(const Plan& plan, const PlanTable& target,
                      const publish::Swap& swap) {
  const std::string& head = pointers[static_cast<std::size_t>(target.table)];
  const std::string where = " (" + swap.table + ", plan " + std::to_string(plan.id) + ")";
  for (int partition = 0; partition < kPartitions; ++partition) {
    const Rows before = RowsAt(head, partition);
    const Rows after = RowsAt(swap.to, partition);
    if (target.before.contains(partition)) {
      if (before != target.before.at(partition)) {
        Violate("INV-P5: a planned partition had changed since the pin" + where);
      }
      if (after != target.after.at(partition)) {
        Violate("what was published is not what was staged" + where);
      }
      continue;
    }
    Rows expected = before;
    if (partition == target.append_to) {
      const Rows& added = target.after.at(partition);
      expected.insert(expected.end(), added.begin(), added.end());
      std::ranges::sort(expected);
    }
    if (after != expected) {
      Violate("INV-P5: rows outside the plan were lost or came back" + where);
    }
  }
  const auto old_version = ReadVersion(head);
  const auto new_version = ReadVersion(swap.to);
  if (!new_version)
    return Violate("INV-P6: the new metadata file does not exist" + where);
  if (!old_version) return;
  for (const auto& snapshot : old_version->snapshots) {
    if (std::ranges::count(new_version->snapshots, snapshot) == 0) {
      Violate("INV-P5: a snapshot of the head is missing in what replaced it" + where);
    }
  }
}

void World::JudgeFiles(int table) {
  const std::string& location = pointers[static_cast<std::size_t>(table)];
  if (location.empty()) return;
  const auto version = ReadVersion(location);
  if (!version) return Violate("INV-P7: no metadata file at the pointer " + location);
  for (const auto& snapshot : version->snapshots) {
    if (!metadata.contains(snapshot->list)) {
      Violate("INV-P7: a retained snapshot's manifest list is gone: " + snapshot->list);
    }
    for (const auto& files : snapshot->live) {
      for (int file : files) {
        if (!data[static_cast<std::size_t>(file)].exists) {
          Violate("INV-P7: data file " + std::to_string(file) + " of " +
                  TableName(table) + " is gone");
        }
      }
    }
  }
  if (version->intent.empty()) return;
  const LedgerRow* row = FindLedger(version->intent);
  if (row == nullptr) {
    Violate("INV-P1: " + TableName(table) + " shows a publication without ledger row");
  }
}

void World::JudgeLedger() {
  for (; judged_ledger_ < ledger.size(); ++judged_ledger_) {
    const LedgerRow& row = ledger[judged_ledger_];
    for (const publish::Swap& swap : row.swaps) {
      const std::set<std::string>& seen =
          history_[static_cast<std::size_t>(TableIndex(swap.table))];
      if (!seen.contains(swap.to)) {
        Violate("INV-P1: #" + std::to_string(row.number) + " is in the ledger but " +
                swap.table + " never showed it");
      }
    }
    for (std::size_t i = 0; i < judged_ledger_; ++i) {
      if (ledger[i].intent == row.intent) Violate("INV-P3: an intent committed twice");
      if (ledger[i].number >= row.number) Violate("INV-P4: numbers out of order");
    }
  }
}

void World::Look() {
  if (!changed) return;
  changed = false;
  for (std::size_t table = 0; table < pointers.size(); ++table) {
    JudgeFiles(static_cast<int>(table));
  }
  JudgeLedger();
}

void World::JudgeEnding(int process, const publish::ProtocolState& state) {
  using publish::Ending;
  const std::string& intent = state.record.intent.id;
  const bool in_ledger = FindLedger(intent) != nullptr;
  switch (state.ending) {
    case Ending::kConfirmed:
    case Ending::kOverruled:
    case Ending::kUnconfirmed:
      if (!in_ledger) Violate("INV-P2: success was reported without a ledger row");
      return;
    case Ending::kConflict:
    case Ending::kFailed:
      if (in_ledger) Violate("INV-P2: failure was reported though it was published");
      failed_.insert({process, intent});
      return;
    case Ending::kSuperseded: {
      const IntentRow& row = intents.at(intent);
      if (row.epoch == state.epoch && row.status == IntentStatus::kOpen) {
        Violate("INV-P11: called superseded, yet its intent is still its own");
      }
      return;
    }
    case Ending::kUnknown:
    case Ending::kNone:
      return;
  }
}

void World::JudgeConflict(const Plan& plan, const PlanTable& target,
                          const std::string& head) {
  const auto pin = ReadVersion(target.pin);
  const bool readable = target.pin.empty() ||
                        (pin && (!pin->current || metadata.contains(pin->current->list)));
  if (!readable || (target.pin.empty() && !head.empty())) return;
  if (plan.kind == Kind::kPublish && Held(plan)) return;
  if (plan.kind == Kind::kRollback && BuiltUpon(plan)) return;
  if (target.append_to >= 0 && plan.published) return;  // landed already
  for (int partition : target.partitions) {
    if (RowsAt(head, partition) != target.before.at(partition)) return;
  }
  Violate("a conflict was reported where nobody had touched the planned partitions");
}

}  // namespace amend::simulation

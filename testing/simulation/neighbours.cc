#include "testing/simulation/neighbours.h"

#include <algorithm>
#include <utility>

namespace amend::simulation {

using publish::IntentStatus;

// ── Neighbour ────────────────────────────────────────────────────────────────────────

void Neighbour::Tick() {
  if (change_) {
    Commit();
  } else if (!doomed_files_.empty() || !doomed_lists_.empty()) {
    CleanUp();
  } else {
    Prepare();
  }
}

void Neighbour::Prepare() {
  Change change;
  change.table = world_.random.Below(static_cast<int>(world_.pointers.size()));
  change.base = world_.pointers[static_cast<std::size_t>(change.table)];
  const auto base = world_.ReadVersion(change.base);
  if (!base) return;  // no such table yet
  change.version = std::make_shared<Version>(*base);
  change.version->intent.clear();
  change.version->log.push_back(change.base);
  const std::string path = World::Folder(change.table) + "n" + std::to_string(++written_);
  change.location = path + "-v";
  const int kind = world_.random.Below(100);
  const bool done = kind < 50   ? Append(change)
                    : kind < 70 ? Compact(change)
                    : kind < 80 ? RollBack(change)
                                : Expire(change);
  if (!done) return;
  // A neighbour makes its files durable before it commits, too.
  if (!world_.metadata.contains(change.version->current->list)) {
    world_.metadata[change.version->current->list] = {
        .synced = true, .lost = false, .version = nullptr};
  }
  world_.metadata[change.location] = {
      .synced = true, .lost = false, .version = change.version};
  change_ = std::move(change);
}

std::shared_ptr<Snapshot> Neighbour::Successor(Change& change) {
  const auto& current = change.version->current;
  auto next =
      current ? std::make_shared<Snapshot>(*current) : std::make_shared<Snapshot>();
  next->parent = current ? current->id : 0;
  next->id = world_.NewSnapshotId(next->parent);
  next->number = 0;
  next->list = change.location + "-l";
  change.version->current = next;
  change.version->snapshots.push_back(next);
  return next;
}

bool Neighbour::Append(Change& change) {
  const int partition = world_.random.Below(kPartitions);
  const int file = world_.NewDataFile({world_.NewRow()}, -1);
  Successor(change)->live[static_cast<std::size_t>(partition)].push_back(file);
  change.what = "append to partition " + std::to_string(partition);
  return true;
}

bool Neighbour::Compact(Change& change) {
  if (!change.version->current) return false;
  const int partition = world_.random.Below(kPartitions);
  Rows rows = world_.RowsOf(change.version->current->live, partition);
  if (rows.empty()) return false;
  const int file = world_.NewDataFile(std::move(rows), -1);
  Successor(change)->live[static_cast<std::size_t>(partition)] = {file};
  change.what = "compaction of partition " + std::to_string(partition);
  return true;
}

bool Neighbour::RollBack(Change& change) {
  if (!change.version->current) return false;
  const int parent = change.version->current->parent;
  const auto found = std::ranges::find_if(
      change.version->snapshots, [parent](const auto& s) { return s->id == parent; });
  if (found == change.version->snapshots.end()) return false;
  change.version->current = *found;
  change.what = "rollback by a neighbour";
  return true;
}

bool Neighbour::Expire(Change& change) {
  Version& version = *change.version;
  if (!version.current) return false;
  // Tags age; then they protect nothing any more.
  if (world_.random.PerMille(300) && !version.tags.empty()) {
    version.tags.erase(version.tags.begin());
  }
  const int keep = world_.random.Below(3);
  const std::size_t before = version.snapshots.size();
  std::set<int> kept = {version.current->id};
  for (const auto& [number, snapshot] : version.tags) kept.insert(snapshot);
  for (std::size_t i = 0; i < before; ++i) {
    if (i + static_cast<std::size_t>(keep) >= before)
      kept.insert(version.snapshots[i]->id);
  }
  std::erase_if(version.snapshots,
                [&kept](const auto& snapshot) { return !kept.contains(snapshot->id); });
  change.what = "expiry";
  return version.snapshots.size() < before;
}

void Neighbour::Commit() {
  if (world_.Blocked(0, {change_->table})) return;
  const auto table = static_cast<std::size_t>(change_->table);
  if (world_.pointers[table] == change_->base) {
    const auto before = world_.ReadVersion(change_->base);
    world_.SetPointer(change_->table, change_->location);
    ++world_.counts["neighbour: " + change_->what.substr(0, change_->what.find(' '))];
    Condemn(*before, *change_->version);
    world_.Trace([&] {
      return "neighbour commits to " + World::TableName(change_->table) + ": " +
             change_->what;
    });
  }
  change_.reset();
}

void Neighbour::Condemn(const Version& before, const Version& after) {
  std::set<int> live;
  std::set<std::string> lists;
  for (const auto& snapshot : after.snapshots) {
    lists.insert(snapshot->list);
    for (const auto& files : snapshot->live) live.insert(files.begin(), files.end());
  }
  std::set<int> doomed;
  for (const auto& snapshot : before.snapshots) {
    if (!lists.contains(snapshot->list)) doomed_lists_.push_back(snapshot->list);
    for (const auto& files : snapshot->live) {
      for (int file : files) {
        if (!live.contains(file)) doomed.insert(file);
      }
    }
  }
  doomed_files_.assign(doomed.begin(), doomed.end());
}

void Neighbour::CleanUp() {
  for (int file : doomed_files_)
    world_.data[static_cast<std::size_t>(file)].exists = false;
  for (const std::string& list : doomed_lists_) world_.metadata.erase(list);
  ++world_.counts["files deleted by expiry"];
  world_.changed = true;
  Forget();
}

// ── Gc ───────────────────────────────────────────────────────────────────────────────

Gc::Reachable Gc::Reach() const {
  Reachable reachable;
  auto add = [this, &reachable](const std::string& location) {
    reachable.paths.insert(location);
    const auto version = world_.ReadVersion(location);
    if (!version) return;
    for (const auto& snapshot : version->snapshots) {
      reachable.paths.insert(snapshot->list);
      for (const auto& files : snapshot->live) {
        reachable.files.insert(files.begin(), files.end());
      }
    }
    reachable.paths.insert(version->log.begin(), version->log.end());
  };
  for (const std::string& pointer : world_.pointers) {
    if (!pointer.empty()) add(pointer);
  }
  // The ledger's metadata files are what a rollback reads its way back from.
  for (const LedgerRow& row : world_.ledger) {
    for (const publish::Swap& swap : row.swaps) {
      reachable.paths.insert(swap.from);
      reachable.paths.insert(swap.to);
    }
  }
  return reachable;
}

bool Gc::MayGo(const std::string& path) const {
  const std::string name = path.substr(path.find('/') + 1);
  if (world_.mutant == Mutant::kCleanUnregistered && name.front() != 'a') return true;
  for (const auto& [id, row] : world_.intents) {
    const bool closed =
        row.status != IntentStatus::kOpen && row.status != IntentStatus::kCommitted;
    if (!closed && world_.mutant != Mutant::kCleanOpenIntents) continue;
    for (const std::string& attempt : row.record.attempts) {
      if (name.starts_with(attempt)) return true;
    }
  }
  return false;
}

void Gc::Scan() {
  const Reachable reachable = Reach();
  for (const auto& [path, file] : world_.metadata) {
    if (!reachable.paths.contains(path) && MayGo(path)) doomed_paths_.push_back(path);
  }
  for (Plan& plan : world_.plans) {
    const bool busy = std::ranges::any_of(world_.intents, [&plan](const auto& intent) {
      return intent.second.plan == plan.id &&
             (intent.second.status == IntentStatus::kOpen ||
              intent.second.status == IntentStatus::kCommitted);
    });
    plan.retired = plan.retired || (!busy && plan.intents > 0);
  }
  for (std::size_t i = 0; i < world_.data.size(); ++i) {
    const DataFile& file = world_.data[i];
    if (!file.exists || file.plan < 0 || reachable.files.contains(static_cast<int>(i))) {
      continue;
    }
    if (world_.plans[static_cast<std::size_t>(file.plan)].retired) {
      doomed_files_.push_back(static_cast<int>(i));
    }
  }
}

void Gc::Tick() {
  if (idle()) {
    ++world_.counts["gc scans"];
    return Scan();
  }
  world_.changed = true;
  ++world_.counts["files deleted by gc"];
  if (!doomed_paths_.empty()) {
    world_.Trace([&] { return "gc deletes " + doomed_paths_.back(); });
    world_.metadata.erase(doomed_paths_.back());
    doomed_paths_.pop_back();
    return;
  }
  world_.data[static_cast<std::size_t>(doomed_files_.back())].exists = false;
  doomed_files_.pop_back();
}

void Gc::JudgeLeftovers() const {
  const Reachable reachable = Reach();
  for (const auto& [path, file] : world_.metadata) {
    const bool ours = path.substr(path.find('/') + 1).starts_with("a");
    if (ours && !reachable.paths.contains(path)) {
      world_.Violate("a file of ours is left that nothing uses: " + path);
    }
  }
}

}  // namespace amend::simulation

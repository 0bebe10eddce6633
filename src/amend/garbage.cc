#include "amend/garbage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "amend/staging.h"
#include "amend/twins.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "publish/commit_builder.h"
#include "state/plan.h"

namespace amend {
namespace {

/// What the catalog says at one instant.
struct Records {
  std::map<std::string, state::Pin> heads;
  std::vector<ledger::Entry> entries;
  std::vector<ledger::StoredPlan> open_plans;
  std::vector<ledger::IntentRow> closed_intents;
  std::vector<ledger::Ledger::RegisteredPath> registered;
};

/// Tables of the project and those that the ledger tells of.
std::vector<std::string> TableNames(Workspace& w,
                                    const std::vector<ledger::Entry>& entries) {
  std::set<std::string> names;
  for (const auto& source : w.lineage().sources()) names.insert(source.name);
  for (const auto& entry : w.lineage().models()) names.insert(entry.model.name);
  for (const ledger::Entry& entry : entries) {
    for (const ledger::EntryTable& table : entry.tables) names.insert(table.table);
  }
  return {names.begin(), names.end()};
}

Result<Records> ReadRecords(Workspace& w) {
  Records records;
  auto read = [&](db::Transaction& tx) {
    AMEND_ASSIGN_OR_RETURN(records.entries, w.ledger().Entries(tx));
    AMEND_ASSIGN_OR_RETURN(records.heads,
                           w.store().Heads(tx, TableNames(w, records.entries)));
    AMEND_ASSIGN_OR_RETURN(records.open_plans, w.ledger().PlansIn(tx, state::PlanState::kOpen));
    AMEND_ASSIGN_OR_RETURN(records.closed_intents, w.ledger().ClosedIntents(tx));
    AMEND_ASSIGN_OR_RETURN(records.registered, w.ledger().RegisteredPaths(tx));
    return Status();
  };
  AMEND_FAIL_IF_ERROR(w.InTransaction(db::TransactionMode::kRead, read));
  return records;
}

/// Files that something may still read, by local path.
class UsedFiles {
 public:
  explicit UsedFiles(Workspace& w) : w_(w) {}

  Status AddTable(const state::Pin& pin);
  Status AddEntry(const ledger::Entry& entry);
  bool Contains(const std::string& path) const { return paths_.contains(path); }

 private:
  Status AddUri(const std::string& uri);
  Status AddSnapshot(const iceberg::TableMetadata& metadata,
                     const iceberg::Snapshot& snapshot);
  Status AddManifest(const iceberg::TableMetadata& metadata,
                     const iceberg::ManifestFile& manifest);

  Workspace& w_;
  std::set<std::string> paths_;
  std::set<std::string> manifests_;  // URIs that were read; snapshots share them
};

Status UsedFiles::AddUri(const std::string& uri) {
  AMEND_ASSIGN_OR_RETURN(std::string path, iceberg::ToLocalPath(uri));
  paths_.insert(std::move(path));
  return {};
}

Status UsedFiles::AddManifest(const iceberg::TableMetadata& metadata,
                              const iceberg::ManifestFile& manifest) {
  if (!manifests_.insert(manifest.path).second) return {};
  AMEND_RETURN_IF_ERROR(AddUri(manifest.path));
  const iceberg::PartitionSpec* spec = metadata.FindSpec(manifest.spec_id);
  if (spec == nullptr) {
    return Damaged("manifest of a spec that its table does not have: " + manifest.path);
  }
  AMEND_ASSIGN_OR_RETURN(auto entries, iceberg::ReadManifest(w_.env(), manifest, *spec));
  for (const iceberg::ManifestEntry& entry : entries) {
    if (entry.status == iceberg::EntryStatus::kDeleted) continue;
    AMEND_RETURN_IF_ERROR(AddUri(entry.file.path));
  }
  return {};
}

Status UsedFiles::AddSnapshot(const iceberg::TableMetadata& metadata,
                              const iceberg::Snapshot& snapshot) {
  AMEND_RETURN_IF_ERROR(AddUri(snapshot.manifest_list));
  AMEND_ASSIGN_OR_RETURN(auto manifests, iceberg::ReadManifestList(w_.env(), snapshot));
  for (const iceberg::ManifestFile& manifest : manifests) {
    AMEND_RETURN_IF_ERROR(AddManifest(metadata, manifest));
  }
  return {};
}

Status UsedFiles::AddTable(const state::Pin& pin) {
  AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* table, w_.store().Load(pin));
  AMEND_RETURN_IF_ERROR(AddUri(pin.metadata_location));
  for (const iceberg::MetadataLogEntry& entry : table->metadata.metadata_log()) {
    AMEND_RETURN_IF_ERROR(AddUri(entry.file));
  }
  for (const iceberg::Snapshot& snapshot : table->metadata.snapshots()) {
    AMEND_RETURN_IF_ERROR(AddSnapshot(table->metadata, snapshot));
  }
  return {};
}

Status UsedFiles::AddEntry(const ledger::Entry& entry) {
  for (const ledger::EntryTable& table : entry.tables) {
    paths_.insert(table.facts_path);
    if (table.metadata_location.empty()) continue;
    AMEND_RETURN_IF_ERROR(AddUri(table.metadata_location));
  }
  return {};
}

Result<UsedFiles> CollectUsed(Workspace& w, const Records& records) {
  UsedFiles used(w);
  for (const auto& [name, pin] : records.heads) AMEND_FAIL_IF_ERROR(used.AddTable(pin));
  for (const ledger::Entry& entry : records.entries) {
    AMEND_FAIL_IF_ERROR(used.AddEntry(entry));
  }
  return used;
}

/// Whether the plan's tables are where it saw them.
bool IsCurrent(const state::Plan& plan, const std::map<std::string, state::Pin>& heads) {
  return std::all_of(
      plan.models.begin(), plan.models.end(), [&](const state::ModelPlan& model) {
        auto pin = plan.pins.find(model.model);
        auto head = heads.find(model.model);
        bool pinned = pin != plan.pins.end();
        bool exists = head != heads.end();
        return pinned == exists && (!pinned || pin->second == head->second);
      });
}

class Collector {
 public:
  Collector(Workspace& w, const UsedFiles& used) : w_(w), used_(used) {}

  Status AddFolder(const std::string& folder);
  Status AddAttempts(const std::vector<ledger::IntentRow>& intents);
  Garbage Take() { return std::move(garbage_); }

 private:
  void AddFile(const FileInfo& file) {
    if (garbage_.files.insert(file.path).second) garbage_.bytes += file.size;
  }

  Workspace& w_;
  const UsedFiles& used_;
  Garbage garbage_;
};

/// Everything below a registered folder is ours, also what an engine that was killed in
/// the middle of a COPY left in folders of its own.
Status Collector::AddFolder(const std::string& folder) {
  AMEND_ASSIGN_OR_RETURN(std::vector<FileInfo> entries, w_.env().List(folder));
  std::size_t kept = 0;
  for (const FileInfo& entry : entries) {
    if (entry.is_folder && !entry.is_link) {
      std::size_t folders_before = garbage_.folders.size();
      AMEND_RETURN_IF_ERROR(AddFolder(entry.path));
      bool goes = garbage_.folders.size() > folders_before &&
                  garbage_.folders.back() == entry.path;
      kept += goes ? 0 : 1;
    } else if (used_.Contains(entry.path)) {
      ++kept;
    } else {
      AddFile(entry);
    }
  }
  if (kept == 0) garbage_.folders.push_back(folder);
  return {};
}

/// A process that died between losing a round and its end leaves files in folders that
/// other writers use, too: only the names tell which are ours.
Status Collector::AddAttempts(const std::vector<ledger::IntentRow>& intents) {
  std::map<std::string, std::vector<std::string>> attempts;  // by folder
  for (const ledger::IntentRow& row : intents) {
    AMEND_ASSIGN_OR_RETURN(publish::IntentRecord record, publish::FromJson(row.record));
    for (const std::string& folder : record.intent.folders) {
      auto& names = attempts[folder];
      names.insert(names.end(), record.attempts.begin(), record.attempts.end());
    }
  }
  for (const auto& [folder, names] : attempts) {
    AMEND_ASSIGN_OR_RETURN(std::vector<FileInfo> entries, w_.env().List(folder));
    for (const FileInfo& entry : entries) {
      if (entry.is_folder || used_.Contains(entry.path)) continue;
      bool ours = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return publish::IsFileOfAttempt(entry.path, name);
      });
      if (ours) AddFile(entry);
    }
  }
  return {};
}

}  // namespace

Result<Garbage> FindGarbage(Workspace& workspace) {
  AMEND_ASSIGN(Records records, ReadRecords(workspace));
  AMEND_ASSIGN(UsedFiles used, CollectUsed(workspace, records));
  std::set<std::string> open_runs;
  std::vector<std::string> stale_plans;
  for (const ledger::StoredPlan& stored : records.open_plans) {
    AMEND_ASSIGN(state::Plan plan, state::PlanFromJson(stored.plan));
    if (IsCurrent(plan, records.heads)) {
      open_runs.insert(RunOf(plan));
    } else {
      stale_plans.push_back(plan.id);
    }
  }
  Collector collector(workspace, used);
  for (const ledger::Ledger::RegisteredPath& path : records.registered) {
    if (open_runs.contains(path.owner)) continue;
    AMEND_FAIL_IF_ERROR(collector.AddFolder(path.path));
  }
  AMEND_FAIL_IF_ERROR(collector.AddAttempts(records.closed_intents));
  Garbage garbage = collector.Take();
  garbage.stale_plans = std::move(stale_plans);
  return garbage;
}

Status RemoveGarbage(Workspace& workspace, const Garbage& garbage) {
  // Pointers first: a twin leads to nothing that is gone.
  if (!garbage.stale_plans.empty()) {
    auto drop = [&](db::Transaction& tx) {
      for (const std::string& plan : garbage.stale_plans) {
        AMEND_RETURN_IF_ERROR(DropTwins(workspace, tx, plan));
      }
      return Status();
    };
    AMEND_RETURN_IF_ERROR(workspace.InTransaction(db::TransactionMode::kWrite, drop));
  }
  for (const std::string& file : garbage.files) {
    AMEND_RETURN_IF_ERROR(workspace.env().RemoveFile(file));
  }
  for (const std::string& folder : garbage.folders) {
    AMEND_RETURN_IF_ERROR(workspace.env().RemoveEmptyFolder(folder));
  }
  auto forget = [&](db::Transaction& tx) {
    for (const std::string& folder : garbage.folders) {
      AMEND_RETURN_IF_ERROR(workspace.ledger().ForgetPath(tx, folder));
    }
    return Status();
  };
  return workspace.InTransaction(db::TransactionMode::kWrite, forget);
}

}  // namespace amend

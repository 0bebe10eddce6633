#include "amend/garbage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "amend/staging.h"
#include "amend/twins.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "iceberg/update.h"
#include "publish/commit_builder.h"
#include "run/journal.h"

namespace amend {
namespace {

/// What the catalog says at one instant.
struct Records {
  std::map<iceberg::TableRef, std::string> tables;  // but twins of ended plans
  std::vector<std::string> ended_twins;             // namespaces
  std::vector<ledger::Entry> entries;
  std::vector<std::string> open_plans;
  std::set<std::string> ended_plans;
  std::vector<ledger::IntentRow> open_intents;
  std::vector<ledger::IntentRow> closed_intents;
  std::vector<ledger::Ledger::RegisteredPath> registered;
};

Status ReadTables(Workspace& w, db::Transaction& tx, Records* records) {
  const iceberg::SqlCatalog& catalog = w.store().catalog();
  AMEND_ASSIGN_OR_RETURN(std::vector<std::string> spaces, catalog.Namespaces(tx));
  std::vector<iceberg::TableRef> refs;
  for (const std::string& space : spaces) {
    if (records->ended_plans.contains(PlanOfTwins(space))) {
      records->ended_twins.push_back(space);
      continue;
    }
    AMEND_ASSIGN_OR_RETURN(std::vector<iceberg::TableRef> tables,
                           catalog.Tables(tx, space));
    refs.insert(refs.end(), tables.begin(), tables.end());
  }
  AMEND_ASSIGN_OR_RETURN(records->tables, catalog.LoadAll(tx, refs));
  return {};
}

Result<Records> ReadRecords(Workspace& w) {
  Records records;
  ledger::Ledger& ledger = w.ledger();
  auto read = [&](db::Transaction& tx) {
    AMEND_ASSIGN_OR_RETURN(records.entries, ledger.Entries(tx));
    AMEND_ASSIGN_OR_RETURN(records.open_plans,
                           ledger.PlanIds(tx, state::PlanState::kOpen));
    for (auto state : {state::PlanState::kPublished, state::PlanState::kSuperseded}) {
      AMEND_ASSIGN_OR_RETURN(std::vector<std::string> ids, ledger.PlanIds(tx, state));
      records.ended_plans.insert(ids.begin(), ids.end());
    }
    AMEND_ASSIGN_OR_RETURN(records.open_intents, ledger.UnfinishedIntents(tx));
    AMEND_ASSIGN_OR_RETURN(records.closed_intents, ledger.ClosedIntents(tx));
    AMEND_ASSIGN_OR_RETURN(records.registered, ledger.RegisteredPaths(tx));
    return ReadTables(w, tx, &records);
  };
  AMEND_FAIL_IF_ERROR(w.InTransaction(db::TransactionMode::kRead, read));
  return records;
}

/// Files that something may still read. Paths are compared with the links of their
/// folders followed (INV-G3); the last name is the file's own, also where it is a link.
class UsedFiles {
 public:
  explicit UsedFiles(Workspace& w) : w_(w) {}

  Status AddTable(const iceberg::TableRef& ref, const std::string& location);
  Status AddEntry(const ledger::Entry& entry);
  void AddPath(const std::string& path) { paths_.insert(Canonical(path)); }
  /// Everything below the table's folder, as far as it is known.
  void KeepTable(const std::string& metadata_location);
  bool Contains(const std::string& path);

 private:
  Status AddUri(const std::string& uri);
  Status AddSnapshot(const iceberg::TableMetadata& metadata,
                     const iceberg::Snapshot& snapshot);
  Status AddManifest(const iceberg::TableMetadata& metadata,
                     const iceberg::ManifestFile& manifest);
  std::string Canonical(const std::string& path);

  Workspace& w_;
  std::set<std::string> paths_;
  std::set<std::string> kept_folders_;
  std::set<std::string> manifests_;  // URIs that were read; snapshots share them
  std::map<std::string, std::string> canonical_folders_;
};

std::string UsedFiles::Canonical(const std::string& path) {
  std::string folder = FolderOf(path);
  auto known = canonical_folders_.find(folder);
  if (known == canonical_folders_.end()) {
    known = canonical_folders_.emplace(folder, AbsolutePath(folder)).first;
  }
  return known->second + path.substr(folder.size());
}

bool UsedFiles::Contains(const std::string& path) {
  std::string canonical = Canonical(path);
  if (paths_.contains(canonical)) return true;
  return std::any_of(
      kept_folders_.begin(), kept_folders_.end(),
      [&](const std::string& folder) { return canonical.starts_with(folder + "/"); });
}

void UsedFiles::KeepTable(const std::string& metadata_location) {
  auto path = iceberg::ToLocalPath(metadata_location);
  if (!path) return;  // elsewhere, where no folder of ours is
  kept_folders_.insert(AbsolutePath(FolderOf(FolderOf(*path))));
}

Status UsedFiles::AddUri(const std::string& uri) {
  AMEND_ASSIGN_OR_RETURN(std::string path, iceberg::ToLocalPath(uri));
  AddPath(path);
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

Status UsedFiles::AddTable(const iceberg::TableRef& ref, const std::string& location) {
  AMEND_RETURN_IF_ERROR(AddUri(location));
  AMEND_ASSIGN_OR_RETURN(iceberg::LoadedTable table,
                         iceberg::LoadTable(w_.env(), ref, location));
  for (const iceberg::MetadataLogEntry& entry : table.metadata.metadata_log()) {
    AMEND_RETURN_IF_ERROR(AddUri(entry.file));
  }
  for (const iceberg::Snapshot& snapshot : table.metadata.snapshots()) {
    AMEND_RETURN_IF_ERROR(AddSnapshot(table.metadata, snapshot));
  }
  return {};
}

Status UsedFiles::AddEntry(const ledger::Entry& entry) {
  for (const ledger::EntryTable& table : entry.tables) {
    if (!table.facts_path.empty()) AddPath(table.facts_path);
    if (table.metadata_location.empty()) continue;
    AMEND_RETURN_IF_ERROR(AddUri(table.metadata_location));
  }
  return {};
}

/// Owners of registered paths that nobody has given up.
std::set<std::string> OpenRuns(const Records& records,
                               const std::vector<publish::Intent>& open) {
  std::set<std::string> runs;
  for (const std::string& plan : records.open_plans) runs.insert(RunOf(plan));
  for (const publish::Intent& intent : open) {
    bool landing = intent.kind == publish::Kind::kLand;
    runs.insert(landing ? intent.subject : RunOf(intent.subject));
  }
  return runs;
}

Status CollectUsed(Workspace& w, const Records& records, UsedFiles* used,
                   std::vector<UnreadTable>* unread) {
  for (const auto& [ref, location] : records.tables) {
    Status read = used->AddTable(ref, location);
    if (read.ok()) continue;
    used->KeepTable(location);
    unread->push_back({ref.ToString(), read.message()});
  }
  for (const ledger::Entry& entry : records.entries) {
    AMEND_RETURN_IF_ERROR(used->AddEntry(entry));
  }
  for (const std::string& plan : records.open_plans) {
    AMEND_ASSIGN_OR_RETURN(
        std::vector<std::string> paths,
        run::StagedPaths(w.env(), run::JournalPath(w.JournalFolder(), RunOf(plan))));
    for (const std::string& path : paths) used->AddPath(path);
  }
  return {};
}

class Collector {
 public:
  Collector(Workspace& w, UsedFiles& used, Garbage* garbage)
      : w_(w), used_(used), garbage_(*garbage) {}

  Status AddRegistered(const std::string& path);
  Status AddJournals(const std::set<std::string>& plans);
  Status AddAttempts(const std::vector<ledger::IntentRow>& intents);

 private:
  Status AddFolder(const std::string& folder);
  void AddFile(const FileInfo& file) {
    if (garbage_.files.insert(file.path).second) garbage_.bytes += file.size;
  }

  Workspace& w_;
  UsedFiles& used_;
  Garbage& garbage_;
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

Status Collector::AddRegistered(const std::string& path) {
  std::string folder = AbsolutePath(path);
  AMEND_RETURN_IF_ERROR(AddFolder(folder));
  bool goes = !garbage_.folders.empty() && garbage_.folders.back() == folder;
  if (goes) garbage_.registered.push_back(path);
  return {};
}

/// A journal ends with its plan; what an open plan took from it is in that plan's own.
Status Collector::AddJournals(const std::set<std::string>& plans) {
  for (const std::string& plan : plans) {
    std::string path = run::JournalPath(w_.JournalFolder(), RunOf(plan));
    if (!w_.env().Exists(path)) continue;
    AMEND_ASSIGN_OR_RETURN(FileInfo info, w_.env().Info(path));
    AddFile(info);
  }
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
    AMEND_ASSIGN_OR_RETURN(std::vector<FileInfo> entries,
                           w_.env().List(AbsolutePath(folder)));
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
  std::vector<publish::Intent> open;
  for (const ledger::IntentRow& row : records.open_intents) {
    AMEND_ASSIGN(publish::IntentRecord record, publish::FromJson(row.record));
    open.push_back(std::move(record.intent));
  }
  Garbage garbage;
  UsedFiles used(workspace);
  AMEND_FAIL_IF_ERROR(CollectUsed(workspace, records, &used, &garbage.unread));
  std::set<std::string> open_runs = OpenRuns(records, open);
  Collector collector(workspace, used, &garbage);
  for (const ledger::Ledger::RegisteredPath& path : records.registered) {
    if (open_runs.contains(path.owner)) continue;
    AMEND_FAIL_IF_ERROR(collector.AddRegistered(path.path));
  }
  AMEND_FAIL_IF_ERROR(collector.AddAttempts(records.closed_intents));
  AMEND_FAIL_IF_ERROR(collector.AddJournals(records.ended_plans));
  garbage.twins = std::move(records.ended_twins);
  return garbage;
}

Status RemoveGarbage(Workspace& workspace, const Garbage& garbage) {
  if (!garbage.twins.empty()) {
    auto drop = [&](db::Transaction& tx) {
      for (const std::string& twins : garbage.twins) {
        AMEND_RETURN_IF_ERROR(DropTwinNamespace(workspace, tx, twins));
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
    for (const std::string& path : garbage.registered) {
      AMEND_RETURN_IF_ERROR(workspace.ledger().ForgetPath(tx, path));
    }
    return Status();
  };
  return workspace.InTransaction(db::TransactionMode::kWrite, forget);
}

}  // namespace amend

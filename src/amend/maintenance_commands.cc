// release and gc: ending holds, removing what nothing uses.
#include <algorithm>
#include <set>

#include "amend/commands.h"
#include "base/text.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "plan/request.h"

namespace amend {
namespace {

using partition::PartitionSet;

/// Ends what `released` covers of a hold and keeps the rest as a hold of its own.
amend::Status EndPart(Workspace& w, db::Transaction& tx, const ledger::StoredHold& stored,
                      const PartitionSet& released, const std::string& reason,
                      PartitionSet* ended) {
  const partition::PartitionSpace& space = w.lineage().SpaceOf(stored.table);
  AMEND_ASSIGN_OR_RETURN(state::Hold hold, HoldFromJson(space, stored));
  PartitionSet part = hold.partitions.Intersect(released);
  if (part.empty()) return {};
  AMEND_ASSIGN_OR_RETURN(bool took,
                         w.ledger().EndHold(tx, stored.id, w.env().NowMicros(), reason));
  if (!took) return Conflict("another process ended the hold meanwhile");
  *ended = ended->Union(part);
  PartitionSet rest = hold.partitions.Difference(part);
  if (rest.empty()) return {};
  ledger::StoredHold remaining = stored;
  remaining.id = 0;
  remaining.hold["partitions"] = RangesToJson(space, rest);
  return w.ledger().AddHold(tx, remaining);
}

/// Files that something may still read, by local path.
class UsedFiles {
 public:
  explicit UsedFiles(Workspace& w) : w_(w) {}

  amend::Status Collect();
  bool Contains(const std::string& path) const { return paths_.contains(path); }
  bool RunIsOpen(const std::string& run) const { return runs_.contains(run); }

 private:
  amend::Status AddTable(const std::string& name, const state::Pin& pin);
  amend::Status AddEntries(const std::vector<ledger::Entry>& entries);
  amend::Status AddOpenRuns(const std::vector<ledger::StoredPlan>& plans,
                            const std::map<std::string, state::Pin>& heads);

  Workspace& w_;
  std::set<std::string> paths_;
  std::set<std::string> runs_;
};

amend::Status UsedFiles::AddTable(const std::string& name, const state::Pin& pin) {
  AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* table, w_.store().Load(pin));
  // Every snapshot that the table still has, whatever refers to it: tags are the way
  // back.
  for (const iceberg::Snapshot& snapshot : table->metadata.snapshots()) {
    AMEND_ASSIGN_OR_RETURN(
        table::Contents contents,
        table::ReadContents(w_.env(), *table, snapshot.id, w_.lineage().SpaceOf(name)));
    AMEND_ASSIGN_OR_RETURN(
        std::vector<std::string> paths,
        contents.PathsIn(PartitionSet::All(w_.lineage().SpaceOf(name))));
    paths_.insert(paths.begin(), paths.end());
  }
  return {};
}

amend::Status UsedFiles::AddEntries(const std::vector<ledger::Entry>& entries) {
  for (const ledger::Entry& entry : entries) {
    for (const ledger::EntryTable& table : entry.tables) {
      paths_.insert(table.facts_path);
      if (!table.metadata_location.empty()) {
        AMEND_ASSIGN_OR_RETURN(std::string path,
                               iceberg::ToLocalPath(table.metadata_location));
        paths_.insert(std::move(path));
      }
    }
  }
  return {};
}

/// A plan that could still be published keeps the files of its run.
amend::Status UsedFiles::AddOpenRuns(const std::vector<ledger::StoredPlan>& plans,
                                     const std::map<std::string, state::Pin>& heads) {
  for (const ledger::StoredPlan& stored : plans) {
    AMEND_ASSIGN_OR_RETURN(state::Plan plan, state::PlanFromJson(stored.plan));
    bool current = std::all_of(
        plan.models.begin(), plan.models.end(), [&](const state::ModelPlan& model) {
          auto pin = plan.pins.find(model.model);
          auto head = heads.find(model.model);
          bool pinned = pin != plan.pins.end();
          bool exists = head != heads.end();
          return pinned == exists && (!pinned || pin->second == head->second);
        });
    if (current) runs_.insert(RunOf(plan));
  }
  return {};
}

amend::Status UsedFiles::Collect() {
  std::vector<std::string> names;
  for (const auto& source : w_.lineage().sources()) names.push_back(source.name);
  for (const auto& entry : w_.lineage().models()) names.push_back(entry.model.name);
  std::map<std::string, state::Pin> heads;
  std::vector<ledger::Entry> entries;
  std::vector<ledger::StoredPlan> plans;
  AMEND_RETURN_IF_ERROR(
      w_.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(heads, w_.store().Heads(tx, names));
        AMEND_ASSIGN_OR_RETURN(entries, w_.ledger().Entries(tx));
        AMEND_ASSIGN_OR_RETURN(plans, w_.ledger().OpenPlans(tx));
        return amend::Status();
      }));
  for (const auto& [name, pin] : heads) AMEND_RETURN_IF_ERROR(AddTable(name, pin));
  AMEND_RETURN_IF_ERROR(AddEntries(entries));
  return AddOpenRuns(plans, heads);
}

struct Garbage {
  std::vector<FileInfo> files;
  std::vector<std::string> folders;  ///< empty once the files are gone, inner ones first
  std::int64_t bytes = 0;
};

/// Everything below a registered folder is ours, also what an engine that was killed in
/// the middle of a COPY left in folders of its own.
amend::Status CollectGarbage(Env& env, const UsedFiles& used, const std::string& folder,
                             Garbage* garbage) {
  AMEND_ASSIGN_OR_RETURN(std::vector<FileInfo> entries, env.List(folder));
  std::size_t kept = 0;
  for (const FileInfo& entry : entries) {
    if (entry.is_folder && !entry.is_link) {
      std::size_t folders_before = garbage->folders.size();
      AMEND_RETURN_IF_ERROR(CollectGarbage(env, used, entry.path, garbage));
      bool goes = garbage->folders.size() > folders_before &&
                  garbage->folders.back() == entry.path;
      kept += goes ? 0 : 1;
    } else if (used.Contains(entry.path)) {
      ++kept;
    } else {
      garbage->bytes += entry.size;
      garbage->files.push_back(entry);
    }
  }
  if (kept == 0) garbage->folders.push_back(folder);
  return {};
}

Result<Garbage> FindGarbage(Workspace& w, const UsedFiles& used) {
  std::vector<ledger::Ledger::RegisteredPath> registered;
  AMEND_FAIL_IF_ERROR(
      w.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(registered, w.ledger().RegisteredPaths(tx));
        return amend::Status();
      }));
  Garbage garbage;
  for (const ledger::Ledger::RegisteredPath& path : registered) {
    if (used.RunIsOpen(path.owner)) continue;
    AMEND_FAIL_IF_ERROR(CollectGarbage(w.env(), used, path.path, &garbage));
  }
  return garbage;
}

amend::Status Remove(Workspace& w, const Garbage& garbage) {
  for (const FileInfo& file : garbage.files) {
    AMEND_RETURN_IF_ERROR(w.env().RemoveFile(file.path));
  }
  for (const std::string& folder : garbage.folders) {
    AMEND_RETURN_IF_ERROR(w.env().RemoveEmptyFolder(folder));
  }
  return w.InTransaction(db::TransactionMode::kWrite, [&](db::Transaction& tx) {
    for (const std::string& folder : garbage.folders) {
      AMEND_RETURN_IF_ERROR(w.ledger().ForgetPath(tx, folder));
    }
    return amend::Status();
  });
}

}  // namespace

Result<Answer> Amend::Release(const std::string& name,
                              const std::vector<std::string>& partitions,
                              const std::string& reason) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  const lineage::BoundModelEntry* model = workspace_->lineage().FindModel(name);
  if (model == nullptr) {
    std::vector<std::string> names;
    for (const auto& entry : workspace_->lineage().models()) {
      names.push_back(entry.model.name);
    }
    return Fail(NotFound("there is no model " + name)
                    .Table(name)
                    .Hint(project::Suggest(name, names)));
  }
  const partition::PartitionSpace& space = model->model.space;
  PartitionSet wanted =
      partitions.empty() ? PartitionSet::All(space) : PartitionSet(space.shape());
  for (const std::string& text : partitions) {
    AMEND_ASSIGN(PartitionSet set, plan::PartitionRequest(space, text));
    wanted = wanted.Union(set);
  }
  PartitionSet ended(space.shape());
  auto end_holds = [&](db::Transaction& tx) {
    AMEND_ASSIGN_OR_RETURN(std::vector<ledger::StoredHold> holds,
                           workspace_->ledger().ActiveHolds(tx));
    for (const ledger::StoredHold& hold : holds) {
      if (hold.table != model->model.name) continue;
      AMEND_RETURN_IF_ERROR(EndPart(*workspace_, tx, hold, wanted, reason, &ended));
    }
    return amend::Status();
  };
  AMEND_FAIL_IF_ERROR(workspace_->InTransaction(db::TransactionMode::kWrite, end_holds));
  Answer answer;
  answer.json["model"] = model->model.name;
  answer.json["released"] = RangesToJson(space, ended);
  answer.json["no_op"] = ended.empty();
  answer.text = ended.empty()
                    ? fmt::format("Nothing of {} was held there.\n", model->model.name)
                    : fmt::format("Released {} {}\nNext   amend plan\n",
                                  model->model.name, Describe(space, ended));
  return answer;
}

Result<Answer> Amend::Gc(const GcOptions& options) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  UsedFiles used(*workspace_);
  AMEND_FAIL_IF_ERROR(used.Collect());
  AMEND_ASSIGN(Garbage garbage, FindGarbage(*workspace_, used));
  if (options.yes) AMEND_FAIL_IF_ERROR(Remove(*workspace_, garbage));
  Answer answer;
  answer.json["dry_run"] = !options.yes;
  answer.json["files"] = Json::array();
  for (const FileInfo& file : garbage.files) answer.json["files"].push_back(file.path);
  answer.json["bytes"] = garbage.bytes;
  answer.text =
      fmt::format("{} {} files, {}, that no table, ledger entry or open plan uses\n",
                  options.yes ? "Removed" : "Would remove", garbage.files.size(),
                  HumanBytes(garbage.bytes));
  if (!options.yes && !garbage.files.empty()) answer.text += "Next   amend gc --yes\n";
  return answer;
}

}  // namespace amend

#include "amend/twins.h"

#include <cstring>
#include <set>

#include "iceberg/location.h"
#include "iceberg/twin.h"
#include "table/data_files.h"
#include "table/spaces.h"

namespace amend {
namespace {

constexpr std::int64_t kMostPartitions = 1'000'000;
constexpr const char* kInfix = "_amend_";

Result<std::vector<iceberg::DataFile>> StagedFiles(const partition::PartitionSpace& space,
                                                   const run::ModelOutcome& outcome) {
  std::vector<iceberg::DataFile> files;
  for (const state::WriteSet& set : outcome.write_sets) {
    for (const state::StagedFile& staged : set.files) {
      if (!outcome.changed.Contains(staged.partition)) continue;
      AMEND_ASSIGN(iceberg::DataFile file, table::MetricsFromJson(staged.metrics));
      file.path = iceberg::ToUri(staged.path);
      file.partition = table::TupleOf(space, staged.partition);
      files.push_back(std::move(file));
    }
  }
  return files;
}

Result<std::set<iceberg::PartitionTuple>> Replaced(const partition::PartitionSpace& space,
                                                   const run::ModelOutcome& outcome) {
  AMEND_ASSIGN(std::vector<partition::Partition> points,
               outcome.changed.Points(kMostPartitions));
  std::set<iceberg::PartitionTuple> tuples;
  for (const auto& point : points) tuples.insert(table::TupleOf(space, point));
  return tuples;
}

/// Holds a plan's twins and nothing else.
std::string TwinFolder(Workspace& w, const std::string& plan) {
  return w.project().warehouse + "/" + TwinNamespace(w, plan);
}

/// The twin of one model, staged; its pointer is the caller's to set.
Result<iceberg::StagedCommit> StageOne(Workspace& w, const run::RunWorld& world,
                                       const run::ModelOutcome& outcome) {
  const partition::PartitionSpace& space = w.lineage().SpaceOf(outcome.model);
  const run::RunTable& table = world.tables.at(outcome.model);
  iceberg::TwinTarget target;
  target.ref = {TwinNamespace(w, world.plan.id), outcome.model};
  target.location = iceberg::ToUri(TwinFolder(w, world.plan.id) + "/" + outcome.model);
  iceberg::SnapshotUpdate update(w.env());
  AMEND_ASSIGN(std::vector<iceberg::DataFile> files, StagedFiles(space, outcome));
  AMEND_ASSIGN(std::set<iceberg::PartitionTuple> tuples, Replaced(space, outcome));
  auto pin = world.plan.pins.find(outcome.model);
  if (pin == world.plan.pins.end()) {
    update.Add(std::move(files));
    iceberg::NewTable create;
    create.location = target.location;
    create.schema = table.schema;
    AMEND_ASSIGN(create.spec, table::SpecOf(space, table.schema));
    // INV-T1 of iceberg/twin.h: nobody may delete files through a twin.
    create.properties = {{"gc.enabled", "false"}};
    return iceberg::StageNewTable(w.env(), target.ref, create, update);
  }
  AMEND_ASSIGN(const iceberg::LoadedTable* live, w.store().Load(pin->second));
  for (iceberg::DataFile& file : files) file.spec_id = live->metadata.spec().id;
  update.Add(std::move(files)).Replace(std::move(tuples));
  if (!(table.schema.fields == live->metadata.schema().fields)) {
    update.SetSchema(table.schema, live->metadata.last_column_id());
  }
  return iceberg::StageTwin(w.env(), *live, target, update);
}

/// Whether an earlier stage of the plan computed all of it and made its twins.
Result<bool> TwinsAreThere(Workspace& w, const run::RunWorld& world,
                           const run::RunOutcome& outcome) {
  if (outcome.reused + outcome.cut_off != outcome.total) return false;
  std::set<std::string> wanted;
  for (const run::ModelOutcome& model : outcome.models) {
    if (!model.changed.empty()) wanted.insert(model.model);
  }
  std::set<std::string> found;
  AMEND_FAIL_IF_ERROR(
      w.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(
            std::vector<iceberg::TableRef> twins,
            w.store().catalog().Tables(tx, TwinNamespace(w, world.plan.id)));
        for (const iceberg::TableRef& twin : twins) found.insert(twin.name);
        return Status();
      }));
  return wanted == found;
}

/// The whole folder: gc leaves no empty one behind.
Status RegisterTwins(Workspace& w, const run::RunWorld& world) {
  return w.InTransaction(db::TransactionMode::kWrite, [&](db::Transaction& tx) {
    return w.ledger().RegisterPath(tx, TwinFolder(w, world.plan.id), RunOf(world.plan));
  });
}

}  // namespace

std::string TwinNamespace(Workspace& workspace, const std::string& plan) {
  return workspace.project().name_space + kInfix + plan;
}

std::string PlanOfTwins(const std::string& name_space) {
  std::size_t at = name_space.rfind(kInfix);
  return at == std::string::npos ? "" : name_space.substr(at + std::strlen(kInfix));
}

Status MakeTwins(Workspace& workspace, const run::RunWorld& world,
                 const run::RunOutcome& outcome) {
  AMEND_ASSIGN_OR_RETURN(bool there, TwinsAreThere(workspace, world, outcome));
  if (there) return {};
  AMEND_RETURN_IF_ERROR(RegisterTwins(workspace, world));
  std::vector<iceberg::PointerSwap> swaps;
  for (const run::ModelOutcome& model : outcome.models) {
    if (model.changed.empty()) continue;
    AMEND_ASSIGN_OR_RETURN(iceberg::StagedCommit commit,
                           StageOne(workspace, world, model));
    swaps.push_back({commit.ref, std::nullopt, commit.new_location});
  }
  auto body = [&](db::Transaction& tx) {
    AMEND_RETURN_IF_ERROR(DropTwins(workspace, tx, world.plan.id));
    if (swaps.empty()) return Status();
    AMEND_RETURN_IF_ERROR(workspace.store().catalog().CreateNamespace(
        tx, TwinNamespace(workspace, world.plan.id)));
    return workspace.store().catalog().Swap(tx, swaps);
  };
  return workspace.InTransaction(db::TransactionMode::kWrite, body);
}

Status DropTwins(Workspace& workspace, db::Transaction& tx, const std::string& plan) {
  return DropTwinNamespace(workspace, tx, TwinNamespace(workspace, plan));
}

Status DropTwinNamespace(Workspace& workspace, db::Transaction& tx,
                         const std::string& ns) {
  const iceberg::SqlCatalog& catalog = workspace.store().catalog();
  AMEND_ASSIGN_OR_RETURN(std::vector<iceberg::TableRef> twins, catalog.Tables(tx, ns));
  for (const iceberg::TableRef& twin : twins) {
    AMEND_ASSIGN_OR_RETURN(std::string location, catalog.Load(tx, twin));
    AMEND_RETURN_IF_ERROR(catalog.Drop(tx, twin, location));
  }
  return catalog.DropNamespace(tx, ns);
}

}  // namespace amend

#include "amend/staging.h"

#include <algorithm>

#include "table/data_files.h"
#include "table/types.h"

namespace amend {
namespace {

using partition::PartitionSet;

std::vector<lineage::Column> ColumnsOf(const lineage::BoundModel& bound) {
  std::vector<lineage::Column> columns;
  for (const lineage::OutputColumn& column : bound.columns) {
    columns.push_back({column.name, column.type, true});
  }
  return columns;
}

/// Schema that a planned model's files are written with, continuing the table's own.
Status SetPlannedSchema(Workspace& workspace, const lineage::BoundModelEntry& entry,
                        const state::Pin* pin, run::RunTable* table) {
  std::vector<lineage::Column> columns = ColumnsOf(entry.bound);
  if (pin == nullptr) {
    AMEND_ASSIGN_OR_RETURN(table->schema, table::ContinueSchema({}, 0, columns));
    return {};
  }
  AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* loaded,
                         workspace.store().Load(*pin));
  const iceberg::Schema& base = loaded->metadata.schema();
  auto continued =
      table::ContinueSchema(base, loaded->metadata.last_column_id(), columns);
  if (!continued) {
    return std::move(continued).error().Annotate("model " + entry.model.name);
  }
  table->schema = *std::move(continued);
  std::vector<std::string> old_columns;
  bool grew = false;
  for (const iceberg::Field& field : table->schema.fields) {
    if (base.FindById(field.id) != nullptr) {
      old_columns.push_back(field.name);
    } else {
      grew = true;
    }
  }
  if (grew && old_columns.size() == base.fields.size()) {
    table->old_columns = std::move(old_columns);
  }
  return {};
}

const state::Pin* FindPin(const state::Plan& plan, const std::string& table) {
  auto it = plan.pins.find(table);
  return it == plan.pins.end() ? nullptr : &it->second;
}

Status AddTable(Workspace& workspace, const state::Plan& plan, const Gathered& gathered,
                const std::string& name, run::RunWorld* world) {
  if (world->tables.contains(name)) return {};
  const partition::PartitionSpace& space = workspace.lineage().SpaceOf(name);
  const state::Pin* pin = FindPin(plan, name);
  const lineage::BoundModelEntry* model = workspace.lineage().FindModel(name);
  run::RunTable table;
  table.recorded = PartitionSet(space.shape());
  table.pinned = table::Contents(space, {});
  table.location = workspace.LocationOf(name);
  if (pin != nullptr) {
    AMEND_ASSIGN_OR_RETURN(table.pinned, workspace.store().ReadPinned(*pin, space));
    AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* loaded,
                           workspace.store().Load(*pin));
    table.schema = loaded->metadata.schema();
  } else if (model == nullptr) {
    const lineage::Source* source = workspace.lineage().FindSource(name);
    AMEND_ASSIGN_OR_RETURN(table.schema, table::ContinueSchema({}, 0, source->columns));
  }
  if (model != nullptr && (pin == nullptr || plan.Find(name) != nullptr)) {
    AMEND_RETURN_IF_ERROR(SetPlannedSchema(workspace, *model, pin, &table));
  }
  if (auto facts = gathered.facts.find(name); facts != gathered.facts.end()) {
    // A digest is of the files we published. Where others are live, nothing is known of
    // what is there, and equal rows of ours must replace them.
    const PartitionSet foreign = ForeignPartitions(table.pinned, facts->second);
    std::vector<partition::Partition> recorded;
    for (const auto& [point, fact] : facts->second.by_partition) {
      recorded.push_back(point);
      if (!foreign.Contains(point)) table.published[point] = fact.digest;
    }
    table.recorded = PartitionSet::Of(space.shape(), recorded);
  }
  world->tables.emplace(name, std::move(table));
  return {};
}

Status RegisterFolders(Workspace& workspace, const run::RunWorld& world,
                       const std::string& run) {
  return workspace.InTransaction(db::TransactionMode::kWrite, [&](db::Transaction& tx) {
    for (const state::ModelPlan& model : world.plan.models) {
      std::string folder = table::RunFolder(world.tables.at(model.model).location, run);
      AMEND_RETURN_IF_ERROR(workspace.ledger().RegisterPath(tx, folder, run));
    }
    return Status();
  });
}

}  // namespace

Result<run::RunWorld> MakeRunWorld(Workspace& workspace, const state::Plan& plan,
                                   const Gathered& gathered) {
  run::RunWorld world{workspace.lineage(), plan, {}};
  for (const state::ModelPlan& model : plan.models) {
    const lineage::BoundModelEntry* entry = workspace.lineage().FindModel(model.model);
    if (entry == nullptr || entry->definition != model.definition) {
      return Fail(Conflict("model " + model.model + " is not as it was planned")
                      .Table(model.model)
                      .Hint("Plan again: amend plan."));
    }
    AMEND_FAIL_IF_ERROR(AddTable(workspace, plan, gathered, model.model, &world));
    for (const lineage::Edge* edge : workspace.lineage().InputsOf(model.model)) {
      AMEND_FAIL_IF_ERROR(AddTable(workspace, plan, gathered, edge->from, &world));
    }
  }
  return world;
}

std::string RunOf(const std::string& plan) { return "r" + plan.substr(1); }

Result<run::RunOutcome> RunStaging(Workspace& workspace, const run::RunWorld& world,
                                   const StagingOptions& options) {
  run::RunOptions run;
  run.run = RunOf(world.plan);
  run.journal_folder = workspace.JournalFolder();
  run.temp_directory = workspace.TempFolder() + "/" + run.run;
  run.threads = workspace.project().limits.threads;
  run.engine_memory_bytes = workspace.EngineMemory();
  run.only_finished = options.only_finished;
  if (!options.only_finished) {
    // The workers take all of it.
    workspace.CloseEngine();
    AMEND_FAIL_IF_ERROR(RegisterFolders(workspace, world, run.run));
  }
  return run::RunPlan(workspace.env(), world, run, options.observe, {});
}

}  // namespace amend

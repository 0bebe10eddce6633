// review: what would change, per partition and column, from the files themselves.
#include "amend/commands.h"
#include "base/text.h"
#include "check/diff.h"
#include "engine/diff.h"
#include "fmt/format.h"
#include "table/types.h"

namespace amend {
namespace {

/// Columns of the table as it is published; none where it is not yet.
Result<std::vector<lineage::Column>> ColumnsBefore(Workspace& w,
                                                   const run::RunWorld& world,
                                                   const std::string& model) {
  auto pin = world.plan.pins.find(model);
  if (pin == world.plan.pins.end()) return std::vector<lineage::Column>();
  AMEND_ASSIGN(const iceberg::LoadedTable* table, w.store().Load(pin->second));
  return table::ColumnsOf(table->metadata.schema());
}

Result<check::ModelDiff> DiffModel(Workspace& w, const run::RunWorld& world,
                                   const run::ModelOutcome& outcome) {
  const lineage::Model& model = w.lineage().FindModel(outcome.model)->model;
  const run::RunTable& table = world.tables.at(outcome.model);
  engine::DiffFiles files;
  files.space = model.space;
  files.schema = table.schema;
  AMEND_ASSIGN(files.before, table.pinned.PathsIn(outcome.changed));
  for (const state::WriteSet& set : outcome.write_sets) {
    for (const state::StagedFile& file : set.files) {
      if (outcome.changed.Contains(file.partition)) files.after.push_back(file.path);
    }
  }
  AMEND_ASSIGN(engine::Engine * engine, w.engine());
  AMEND_ASSIGN(bool unique, engine::KeyIsUnique(engine->connection(), files, model.key));
  AMEND_ASSIGN(std::vector<lineage::Column> before,
               ColumnsBefore(w, world, outcome.model));
  check::ModelDiff diff;
  diff.model = outcome.model;
  diff.spec = check::DiffSpecFor(model, before, table::ColumnsOf(table.schema), unique);
  AMEND_ASSIGN(diff.partitions, engine::Diff(engine->connection(), files, diff.spec));
  AMEND_FAIL_IF_ERROR(check::Verify(diff));
  return diff;
}

std::string LineOf(const std::string& name, const check::PartitionDiff& diff) {
  std::vector<std::string> columns;
  for (const auto& [column, rows] : diff.columns) {
    columns.push_back(fmt::format("{} {}", column, GroupDigits(rows)));
  }
  return fmt::format("  {:<12} rows {} → {}  +{} -{} ~{}  {}\n", name,
                     GroupDigits(diff.rows_before), GroupDigits(diff.rows_after),
                     GroupDigits(diff.added), GroupDigits(diff.removed),
                     GroupDigits(diff.changed), Join(columns, ", "));
}

std::string TextOf(const partition::PartitionSpace& space, const check::ModelDiff& diff,
                   const std::vector<std::string>& remarks) {
  constexpr std::size_t kMostLines = 12;
  std::vector<const check::PartitionDiff*> different;
  for (const check::PartitionDiff& part : diff.partitions) {
    if (!part.same()) different.push_back(&part);
  }
  std::string text =
      fmt::format("{}  {} partitions change\n", diff.model, different.size());
  for (std::size_t i = 0; i < std::min(different.size(), kMostLines); ++i) {
    text += LineOf(space.Format(different[i]->partition), *different[i]);
  }
  if (different.size() > kMostLines) {
    text += fmt::format("  and {} more: --json has them all\n",
                        different.size() - kMostLines);
    text += LineOf("together", check::TotalOf(diff));
  }
  for (const std::string& remark : remarks) text += "  note: " + remark + "\n";
  return text;
}

}  // namespace

Result<Answer> Amend::Review(const std::string& id) {
  AMEND_ASSIGN(LoadedPlan loaded, LoadPlan(*workspace_, id));
  AMEND_ASSIGN(Gathered gathered, GatherWorld(*workspace_, loaded.plan.request,
                                              workspace_->env().NowMicros()));
  AMEND_ASSIGN(run::RunWorld world, MakeRunWorld(*workspace_, loaded.plan, gathered));
  StagingOptions options;
  options.only_finished = true;
  AMEND_ASSIGN(run::RunOutcome outcome, RunStaging(*workspace_, world, options));
  Answer answer;
  answer.json["plan"] = loaded.plan.id;
  answer.json["models"] = Json::array();
  for (const run::ModelOutcome& model : outcome.models) {
    const partition::PartitionSpace& space = workspace_->lineage().SpaceOf(model.model);
    AMEND_ASSIGN(check::ModelDiff diff, DiffModel(*workspace_, world, model));
    const std::vector<std::string> remarks = check::Remarks(
        diff, space, table::ColumnsOf(world.tables.at(model.model).schema));
    answer.json["models"].push_back(check::DiffToJson(diff, space, remarks));
    answer.text += TextOf(space, diff, remarks);
  }
  answer.text += "Next   amend publish " + loaded.plan.id + "\n";
  return answer;
}

}  // namespace amend

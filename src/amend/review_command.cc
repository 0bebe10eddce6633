// review: what would change, per partition and column, from the files themselves.
#include "amend/commands.h"
#include "base/text.h"
#include "engine/diff.h"
#include "fmt/format.h"

namespace amend {
namespace {

using partition::PartitionSet;

Json DiffToJson(const partition::PartitionSpace& space,
                const engine::PartitionDiff& diff) {
  Json json = Json::object();
  json["partition"] = space.Format(diff.partition);
  json["rows_before"] = diff.rows_before;
  json["rows_after"] = diff.rows_after;
  json["added"] = diff.added;
  json["removed"] = diff.removed;
  json["changed"] = diff.changed;
  json["columns"] = Json::object();
  for (const auto& [column, rows] : diff.columns) json["columns"][column] = rows;
  return json;
}

Result<std::vector<engine::PartitionDiff>> DiffModel(Workspace& w,
                                                     const run::RunWorld& world,
                                                     const run::ModelOutcome& outcome) {
  const lineage::BoundModelEntry* model = w.lineage().FindModel(outcome.model);
  const run::RunTable& table = world.tables.at(outcome.model);
  engine::DiffSpec spec;
  spec.space = model->model.space;
  spec.schema = table.schema;
  spec.key = model->model.key;
  AMEND_ASSIGN(spec.before, table.pinned.PathsIn(outcome.changed));
  for (const state::WriteSet& set : outcome.write_sets) {
    for (const state::StagedFile& file : set.files) {
      if (outcome.changed.Contains(file.partition)) spec.after.push_back(file.path);
    }
  }
  AMEND_ASSIGN(engine::Engine * engine, w.engine());
  return engine::DiffFiles(engine->connection(), spec);
}

std::string DiffText(const partition::PartitionSpace& space, const std::string& model,
                     const std::vector<engine::PartitionDiff>& diffs) {
  constexpr std::size_t kMostLines = 12;
  std::string text = fmt::format("{}  {} partitions change\n", model, diffs.size());
  for (std::size_t i = 0; i < std::min(diffs.size(), kMostLines); ++i) {
    const engine::PartitionDiff& diff = diffs[i];
    std::vector<std::string> columns;
    for (const auto& [column, rows] : diff.columns) {
      columns.push_back(fmt::format("{} {}", column, GroupDigits(rows)));
    }
    text += fmt::format("  {:<12} rows {} → {}  +{} -{} ~{}  {}\n",
                        space.Format(diff.partition), GroupDigits(diff.rows_before),
                        GroupDigits(diff.rows_after), GroupDigits(diff.added),
                        GroupDigits(diff.removed), GroupDigits(diff.changed),
                        Join(columns, ", "));
  }
  if (diffs.size() > kMostLines) {
    text +=
        fmt::format("  and {} more: --json has them all\n", diffs.size() - kMostLines);
  }
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
    AMEND_ASSIGN(std::vector<engine::PartitionDiff> diffs,
                 DiffModel(*workspace_, world, model));
    Json json = Json::object();
    json["model"] = model.model;
    json["partitions"] = Json::array();
    for (const engine::PartitionDiff& diff : diffs) {
      json["partitions"].push_back(DiffToJson(space, diff));
    }
    answer.json["models"].push_back(std::move(json));
    answer.text += DiffText(space, model.model, diffs);
  }
  answer.text += "Next   amend publish " + loaded.plan.id + "\n";
  return answer;
}

}  // namespace amend

#include "run/task_specs.h"

#include <algorithm>

#include "base/hash.h"
#include "check/checks.h"
#include "engine/sql_text.h"
#include "iceberg/location.h"
#include "lineage/extent.h"

namespace amend::run {
namespace {

using partition::Partition;
using partition::PartitionSet;

constexpr std::int64_t kMostKnown = 10'000'000;

/// Whether a SELECT names one of landing's columns.
bool NamesLandingColumns(const std::string& sql) {
  return sql.find(lineage::kFileColumn) != std::string::npos ||
         sql.find(lineage::kRowColumn) != std::string::npos;
}

/// What the model's checks need to be answered.
engine::MeasureSpec MeasuresOf(const lineage::Model& model) {
  check::Needed needed = check::MeasuresFor(check::QuestionsOf(model));
  engine::MeasureSpec spec;
  spec.nulls = std::move(needed.null_counts);
  spec.distinct = std::move(needed.distinct);
  for (const auto& [name, accepted] : needed.accepted) {
    spec.accepted[name] = {accepted.column, accepted.values};
  }
  return spec;
}

/// The name covers everything that decides the rows. Files are immutable, so a path names
/// its bytes.
std::string NameOf(const engine::TaskSpec& spec, const std::string& definition) {
  Fingerprinter print;
  print.Add("write-set/1").Add(definition).Add(spec.model);
  print.Add(engine::DigestFormula(spec.schema, engine::ContentColumns(spec.schema)));
  print.Add(SchemaToJson(spec.schema).dump());
  print.Add(spec.asked.Bytes());
  if (!spec.asked.Count()) {
    print.Add(spec.watched.Bytes());
    print.Add(PartitionSet::Of(spec.asked.shape(), spec.known).Bytes());
  }
  for (const engine::TaskInput& input : spec.inputs) {
    print.Add(input.table).Add(SchemaToJson(input.schema).dump());
    print.Add(static_cast<std::int64_t>(input.files.size()));
    for (const std::string& file : input.files) print.Add(file);
  }
  return print.Hex();
}

}  // namespace

const state::ModelPlan& TaskSpecs::PlanOf(const std::string& model) const {
  const state::ModelPlan* plan = world_.plan.Find(model);
  AMEND_CHECK(plan != nullptr);
  return *plan;
}

PartitionSet TaskSpecs::Needed(const Task& task) const {
  PartitionSet needed = state::OwnCause(PlanOf(task.model)).Intersect(task.batch);
  for (const lineage::Edge* edge : world_.lineage.InputsOf(task.model)) {
    for (std::size_t id : task.reads) {
      if (grid_.task(id).model != edge->from || !outputs_[id]) continue;
      needed = needed.Union(edge->Affected(outputs_[id]->changed).Intersect(task.batch));
    }
  }
  return needed;
}

Result<std::vector<std::string>> TaskSpecs::FilesFor(const std::string& name,
                                                     const PartitionSet& set) const {
  struct Entry {
    Partition point;
    std::string path;
  };
  std::vector<Entry> entries;
  PartitionSet replaced(set.shape());
  for (const Task& task : grid_.tasks()) {
    const std::optional<TaskOutput>& output = outputs_[task.id];
    if (task.model != name || !output || !output->write_set) continue;
    PartitionSet taken = output->changed.Intersect(set);
    replaced = replaced.Union(taken);
    for (const state::StagedFile& file : output->write_set->files) {
      if (taken.Contains(file.partition)) entries.push_back({file.partition, file.path});
    }
  }
  const RunTable& table = world_.tables.at(name);
  for (const table::TableFile* file : table.pinned.FilesIn(set.Difference(replaced))) {
    AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file->file.path));
    entries.push_back({file->point, std::move(path)});
  }
  // Both halves are in canonical order already, and no partition is in both.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.point < b.point; });
  std::vector<std::string> paths;
  paths.reserve(entries.size());
  for (Entry& entry : entries) paths.push_back(std::move(entry.path));
  return paths;
}

/// Partitions that are not finished are not built. But those without rows are known to
/// have none, where what is read for the others is all that they would read: else the
/// model would be planned again for each period that ends.
Status TaskSpecs::AskWithoutEnd(const state::ModelPlan& plan,
                                engine::TaskSpec* spec) const {
  const RunTable& table = world_.tables.at(plan.model);
  PartitionSet had_rows = table.pinned.live().Union(table.recorded);
  AMEND_ASSIGN_OR_RETURN(spec->known, had_rows.Intersect(spec->asked).Points(kMostKnown));
  PartitionSet watched = partition::UnfinishedAt(spec->space, world_.plan.created_micros);
  for (const state::HeldPartitions& held : world_.plan.held) {
    if (held.model == plan.model) watched = watched.Difference(held.partitions);
  }
  watched = watched.Difference(had_rows);
  for (const lineage::Edge* edge : world_.lineage.InputsOf(plan.model)) {
    if (!edge->Required(watched).SubsetOf(edge->Required(spec->asked))) return {};
  }
  spec->watched = std::move(watched);
  return {};
}

Result<engine::TaskSpec> TaskSpecs::Make(const Task& task,
                                         const PartitionSet& needed) const {
  const lineage::BoundModelEntry* model = world_.lineage.FindModel(task.model);
  AMEND_CHECK(model != nullptr);
  const RunTable& table = world_.tables.at(task.model);
  engine::TaskSpec spec;
  spec.model = task.model;
  spec.sql = model->model.sql;
  spec.space = model->model.space;
  spec.asked = needed;
  spec.watched = PartitionSet(needed.shape());
  if (!needed.Count()) {
    AMEND_FAIL_IF_ERROR(AskWithoutEnd(PlanOf(task.model), &spec));
  }
  spec.schema = table.schema;
  spec.old_columns = table.old_columns;
  spec.measures = MeasuresOf(model->model);
  std::map<std::string, PartitionSet> read;
  for (const lineage::Edge* edge : world_.lineage.InputsOf(task.model)) {
    PartitionSet required = edge->Required(needed);
    engine::TaskInput input;
    input.table = edge->from;
    input.schema = world_.tables.at(edge->from).schema;
    input.show_landing_columns = NamesLandingColumns(spec.sql);
    AMEND_ASSIGN(input.files, FilesFor(edge->from, required));
    spec.inputs.push_back(std::move(input));
    read.emplace(edge->from, std::move(required));
  }
  spec.tolerated = lineage::PossiblePartitions(
      model->bound, spec.space.shape(),
      [&read](const std::string& input) { return read.at(input); });
  spec.name = NameOf(spec, model->definition);
  return spec;
}

TaskOutput OutputOf(const RunTable& table, state::WriteSet write_set) {
  TaskOutput output;
  std::vector<Partition> changed;
  std::vector<Partition> unchanged;
  for (const state::StagedPartition& staged : write_set.staged) {
    auto published = table.published.find(staged.partition);
    bool equal = published != table.published.end() && published->second == staged.digest;
    (equal ? unchanged : changed).push_back(staged.partition);
  }
  partition::Shape shape = write_set.partitions.shape();
  output.changed = PartitionSet::Of(shape, changed);
  output.unchanged = PartitionSet::Of(shape, unchanged);
  output.rest = write_set.rest.value_or(PartitionSet(shape));
  output.write_set = std::move(write_set);
  return output;
}

}  // namespace amend::run

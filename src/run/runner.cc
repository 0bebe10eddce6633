#include "run/runner.h"

#include <algorithm>

#include "check/judge.h"
#include "fmt/format.h"
#include "run/workers.h"
#include "table/data_files.h"
#include "table/types.h"

namespace amend::run {
namespace {

using partition::PartitionSet;

/// What the engine measured, as the checks want it.
check::Measures MeasuresOf(const RunTable& table, const engine::TaskResult& result) {
  check::Measures measures;
  for (const engine::PartitionMeasure& taken : result.measures) {
    check::PartitionMeasures partition;
    partition.partition = taken.partition;
    partition.rows = taken.rows;
    partition.nulls = taken.nulls;
    for (const auto& [tuple, offenders] : taken.duplicates) {
      partition.duplicates[tuple] = {offenders.count, offenders.samples};
    }
    for (const auto& [name, offenders] : taken.not_accepted) {
      partition.not_accepted[name] = {offenders.count, offenders.samples};
    }
    measures.partitions.push_back(std::move(partition));
  }
  for (const engine::Stray& stray : result.strays) {
    measures.out_of_plan.push_back({stray.partition, stray.rows, stray.samples});
  }
  measures.columns = table::ColumnsOf(table.schema);
  return measures;
}

check::PublishedRows RowsPublished(const RunTable& table) {
  check::PublishedRows rows;
  for (const auto& [point, digest] : table.published) rows[point] = digest.rows;
  return rows;
}

/// The scheduler of one run. It owns the grid and is its only thread; workers are told
/// specs and tell results.
class Scheduler {
 public:
  Scheduler(Env& env, const RunWorld& world, const RunOptions& options, TaskGrid grid,
            std::optional<Journal> journal, const FinishedWork& finished)
      : env_(env),
        world_(world),
        options_(options),
        grid_(std::move(grid)),
        journal_(std::move(journal)),
        finished_(finished),
        outputs_(grid_.tasks().size()),
        verdicts_(grid_.tasks().size()),
        attempts_(grid_.tasks().size(), 0),
        names_(grid_.tasks().size()),
        specs_(world, grid_, outputs_) {}

  Status Run(const std::function<void(const RunProgress&)>& observe,
             const std::function<bool()>& stop);
  RunOutcome Outcome() const;

 private:
  Status StartWorkers();
  Status Dispatch();
  Status Prepare(std::size_t id, std::optional<Assignment>* assignment);
  bool StillJudged(const Task& task, const StagedRecord& record) const;
  Status Finish(Completion completion);
  Status FinishStaged(std::size_t id, engine::TaskResult result);
  Status Placed(const Status& failure, const Task& task) const;
  Status FinishFailed(std::size_t id, const Status& failure);
  void Observe(const std::function<void(const RunProgress&)>& observe,
               const std::string& model) const;
  std::string FolderOf(const std::string& model) const;
  ModelOutcome OutcomeOf(const state::ModelPlan& plan) const;

  Env& env_;
  const RunWorld& world_;
  const RunOptions& options_;
  TaskGrid grid_;
  std::optional<Journal> journal_;  // none where nothing is computed
  const FinishedWork& finished_;
  std::vector<std::optional<TaskOutput>> outputs_;
  std::vector<std::vector<state::Verdict>> verdicts_;
  std::vector<int> attempts_;
  std::vector<std::string> names_;  // write set of the running or ended task
  TaskSpecs specs_;
  std::unique_ptr<Workers> workers_;  // made when the first task needs one
  Status failure_;
};

std::string Scheduler::FolderOf(const std::string& model) const {
  return table::RunFolder(world_.tables.at(model).location, options_.run);
}

Status Scheduler::StartWorkers() {
  if (workers_ != nullptr) return {};
  engine::EngineOptions each;
  each.memory_bytes = options_.engine_memory_bytes / options_.threads;
  each.temp_directory = options_.temp_directory;
  AMEND_ASSIGN_OR_RETURN(workers_, Workers::Start(env_, options_.threads, each));
  return {};
}

/// Whether the verdicts that were kept are answers to today's questions. A publication
/// compares states itself, so there the published rows need not be those of the staging:
/// if they moved, it ends as the conflict that it is.
bool Scheduler::StillJudged(const Task& task, const StagedRecord& record) const {
  check::Grounds now =
      check::GroundsOf(world_.lineage.FindModel(task.model)->model, record.write_set,
                       RowsPublished(world_.tables.at(task.model)));
  if (now.questions != record.grounds.questions) return false;
  return options_.only_finished || now.published == record.grounds.published;
}

/// Cuts off, reuses, or makes the assignment of one ready task.
Status Scheduler::Prepare(std::size_t id, std::optional<Assignment>* assignment) {
  const Task& task = grid_.task(id);
  PartitionSet needed = specs_.Needed(task);
  if (needed.empty()) {
    PartitionSet none(needed.shape());
    outputs_[id] = TaskOutput{none, none, none, std::nullopt};
    grid_.Advance(id, TaskState::kCutOff);
    return {};
  }
  AMEND_ASSIGN_OR_RETURN(engine::TaskSpec spec, specs_.Make(task, needed));
  names_[id] = spec.name;
  const StagedRecord* earlier = finished_.Find(env_, spec.name, options_.run);
  if (earlier != nullptr && StillJudged(task, *earlier)) {
    // This run's journal names all that its plan needs (journal.h).
    if (journal_ && earlier->run != options_.run) {
      AMEND_RETURN_IF_ERROR(journal_->Staged(*earlier));
    }
    verdicts_[id] = earlier->verdicts;
    outputs_[id] = OutputOf(world_.tables.at(task.model), earlier->write_set);
    grid_.Advance(id, TaskState::kReused);
    return {};
  }
  if (options_.only_finished) {
    return Invalid("partitions of " + task.model +
                   " are not staged yet, or their checks have changed since")
        .Table(task.model)
        .Hint("Run amend stage first.");
  }
  ++attempts_[id];
  spec.folder = FolderOf(task.model);
  spec.file_prefix =
      fmt::format("{:05}-{}-{}", id, attempts_[id], env_.NewUuid().substr(0, 8));
  AMEND_RETURN_IF_ERROR(journal_->Attempt(id, attempts_[id], spec.name));
  grid_.Advance(id, TaskState::kRunning);
  assignment->emplace(Assignment{id, std::move(spec)});
  return {};
}

Status Scheduler::Dispatch() {
  while (workers_ == nullptr || workers_->idle() > 0) {
    std::optional<std::size_t> id = grid_.NextReady();
    if (!id) return {};
    std::optional<Assignment> assignment;
    AMEND_RETURN_IF_ERROR(Prepare(*id, &assignment));
    if (!assignment) continue;
    AMEND_RETURN_IF_ERROR(StartWorkers());
    workers_->Submit(*std::move(assignment));
  }
  return {};
}

Status Scheduler::FinishStaged(std::size_t id, engine::TaskResult result) {
  const Task& task = grid_.task(id);
  const lineage::BoundModelEntry* model = world_.lineage.FindModel(task.model);
  const RunTable& table = world_.tables.at(task.model);
  check::PublishedRows published = RowsPublished(table);
  verdicts_[id] =
      check::Judge(model->model, result.write_set, MeasuresOf(table, result), published);
  check::Grounds grounds = check::GroundsOf(model->model, result.write_set, published);
  StagedRecord record{std::move(result.write_set), verdicts_[id], std::move(grounds),
                      options_.run};
  AMEND_RETURN_IF_ERROR(journal_->Staged(record));
  outputs_[id] = OutputOf(table, std::move(record.write_set));
  grid_.Advance(id, TaskState::kStaged);
  return {};
}

Status Scheduler::FinishFailed(std::size_t id, const Status& failure) {
  bool again =
      failure.code() == StatusCode::kTransient && attempts_[id] < options_.max_attempts;
  grid_.Advance(id, again ? TaskState::kReady : TaskState::kFailed);
  if (again) return {};
  Json record = Json::object();
  record["type"] = "failed";
  record["task"] = id;
  record["error"] = failure.ToString();
  AMEND_RETURN_IF_ERROR(journal_->Append(record));
  if (failure_.ok()) failure_ = Placed(failure, grid_.task(id));
  return {};
}

/// The failure with the task's model and partitions, where it does not name its own.
Status Scheduler::Placed(const Status& failure, const Task& task) const {
  const Place& place = failure.place();
  std::string partition = place.partition.empty()
                              ? Describe(world_.lineage.SpaceOf(task.model), task.batch)
                              : place.partition;
  return failure.Annotate("model " + task.model)
      .Table(place.table.empty() ? task.model : place.table)
      .Partition(std::move(partition));
}

Status Scheduler::Finish(Completion completion) {
  if (completion.result) {
    return FinishStaged(completion.task, *std::move(completion.result));
  }
  return FinishFailed(completion.task, completion.result.error());
}

void Scheduler::Observe(const std::function<void(const RunProgress&)>& observe,
                        const std::string& model) const {
  if (!observe) return;
  RunProgress progress;
  progress.tasks = grid_.tasks().size();
  for (const Task& task : grid_.tasks()) progress.ended += IsEnd(task.state) ? 1 : 0;
  progress.model = model;
  observe(progress);
}

Status Scheduler::Run(const std::function<void(const RunProgress&)>& observe,
                      const std::function<bool()>& stop) {
  for (;;) {
    AMEND_RETURN_IF_ERROR(Dispatch());
    if (workers_ == nullptr || workers_->running() == 0) break;
    std::vector<Completion> completions = workers_->Wait();
    std::string model = grid_.task(completions.back().task).model;
    for (Completion& completion : completions) {
      AMEND_RETURN_IF_ERROR(Finish(std::move(completion)));
    }
    AMEND_RETURN_IF_ERROR(journal_->Sync());
    Observe(observe, model);
    if (stop && stop()) {
      return Exhausted("stopped on request").Hint("The same command resumes the run.");
    }
  }
  AMEND_CHECK(grid_.Done());
  return journal_ ? journal_->Sync() : Status();
}

ModelOutcome Scheduler::OutcomeOf(const state::ModelPlan& plan) const {
  ModelOutcome outcome;
  outcome.model = plan.model;
  partition::Shape shape = plan.partitions.shape();
  outcome.changed = PartitionSet(shape);
  outcome.unchanged = PartitionSet(shape);
  outcome.rest = PartitionSet(shape);
  outcome.cut_off = PartitionSet(shape);
  for (const Task& task : grid_.tasks()) {
    if (task.model != plan.model || !outputs_[task.id]) continue;
    const TaskOutput& output = *outputs_[task.id];
    outcome.changed = outcome.changed.Union(output.changed);
    outcome.unchanged = outcome.unchanged.Union(output.unchanged);
    outcome.rest = outcome.rest.Union(output.rest);
    outcome.cut_off = outcome.cut_off.Union(task.batch.Difference(output.changed)
                                                .Difference(output.unchanged)
                                                .Difference(output.rest));
    if (output.write_set) outcome.write_sets.push_back(*output.write_set);
    outcome.verdicts.insert(outcome.verdicts.end(), verdicts_[task.id].begin(),
                            verdicts_[task.id].end());
  }
  return outcome;
}

RunOutcome Scheduler::Outcome() const {
  RunOutcome outcome;
  outcome.run = options_.run;
  outcome.total = grid_.tasks().size();
  outcome.reused = grid_.CountIn(TaskState::kReused);
  outcome.cut_off = grid_.CountIn(TaskState::kCutOff);
  outcome.failed = grid_.CountIn(TaskState::kFailed) + grid_.CountIn(TaskState::kSkipped);
  outcome.done = grid_.CountIn(TaskState::kStaged) + outcome.reused + outcome.cut_off;
  outcome.failure = failure_;
  for (const state::ModelPlan& plan : world_.plan.models) {
    outcome.models.push_back(OutcomeOf(plan));
  }
  bool blocked = false;
  for (const ModelOutcome& model : outcome.models) {
    for (const state::Verdict& verdict : model.verdicts) {
      blocked = blocked || (verdict.blocks && verdict.outcome != state::Outcome::kPass &&
                            verdict.outcome != state::Outcome::kNotRun);
    }
  }
  outcome.state = outcome.failed > 0 || outcome.done < outcome.total ? RunState::kFailed
                  : blocked ? RunState::kQuarantined
                            : RunState::kStaged;
  return outcome;
}

}  // namespace

Result<RunOutcome> RunPlan(Env& env, const RunWorld& world, const RunOptions& options,
                           const std::function<void(const RunProgress&)>& observe,
                           const std::function<bool()>& stop) {
  std::int64_t start = env.SteadyMicros();
  std::int64_t cpu_start = env.CpuMicros();
  std::vector<std::vector<PartitionSet>> batches;
  for (const state::ModelPlan& model : world.plan.models) {
    AMEND_ASSIGN(auto cut,
                 CutBatches(model.partitions, world.tables.at(model.model).pinned.Sizes(),
                            options.batches));
    batches.push_back(std::move(cut));
  }
  AMEND_ASSIGN(FinishedWork finished, FinishedWork::Read(env, options.journal_folder));
  std::optional<Journal> journal;
  if (!options.only_finished) {
    AMEND_ASSIGN(journal, Journal::Open(env, options.journal_folder, options.run));
  }
  Scheduler scheduler(env, world, options, TaskGrid(world.lineage, world.plan, batches),
                      std::move(journal), finished);
  Status ran = scheduler.Run(observe, stop);
  if (!ran.ok() && ran.code() != StatusCode::kExhausted) return Fail(ran);
  RunOutcome outcome = scheduler.Outcome();
  outcome.notes = finished.left_out();
  if (!ran.ok()) outcome.failure = ran;
  outcome.wall_micros = env.SteadyMicros() - start;
  outcome.cpu_micros = env.CpuMicros() - cpu_start;
  return outcome;
}

}  // namespace amend::run

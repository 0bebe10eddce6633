#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "run/batches.h"
#include "run/journal.h"
#include "run/task_grid.h"
#include "run/task_specs.h"
#include "state/lifecycle.h"
#include "state/verdict.h"

namespace amend::run {

struct RunOptions {
  std::string run;             ///< id; names folders and the journal
  std::string journal_folder;  ///< of this and of earlier runs
  std::string temp_directory;
  int threads = 2;
  std::int64_t engine_memory_bytes = 1'000'000'000;  ///< of all workers together
  BatchLimits batches;
  /// Compute nothing: a task that no run has finished is Invalid.
  bool only_finished = false;
  int max_attempts = 3;  ///< of a task that failed for a transient reason
};

/// How far a run is; given to the observer after each change, on the caller's thread.
struct RunProgress {
  std::size_t tasks = 0;
  std::size_t ended = 0;
  std::string model;  ///< that ended last
};

/// What became of one model.
struct ModelOutcome {
  std::string model;
  partition::PartitionSet changed;    ///< to be published
  partition::PartitionSet unchanged;  ///< computed, equal to what is published
  partition::PartitionSet rest;       ///< computed without end, and without rows
  partition::PartitionSet cut_off;    ///< not computed: no input changed
  std::vector<state::WriteSet> write_sets;
  std::vector<state::Verdict> verdicts;
};

using state::RunState;
using state::RunStateName;

struct RunOutcome {
  std::string run;
  RunState state = RunState::kNone;  ///< never that in the end
  std::vector<ModelOutcome> models;  ///< as in the plan
  std::size_t total = 0, done = 0, reused = 0, cut_off = 0, failed = 0;
  std::int64_t wall_micros = 0;
  std::int64_t cpu_micros = 0;  ///< of the process meanwhile
  Status failure;               ///< of the first task that failed
  /// What a person should know besides: journal lines that could not be believed.
  std::vector<std::string> notes;
};

/// Runs a plan: hands ready tasks to workers, judges and keeps their results, reuses
/// what any earlier run finished under the same name, cuts off what turned out unneeded.
/// Killed at any instruction, the same call continues.
///
/// `stop` is asked between completions; when it turns true, running tasks are interrupted
/// and the run ends as kFailed with Exhausted, resumable.
Result<RunOutcome> RunPlan(Env& env, const RunWorld& world, const RunOptions& options,
                           const std::function<void(const RunProgress&)>& observe,
                           const std::function<bool()>& stop);

}  // namespace amend::run

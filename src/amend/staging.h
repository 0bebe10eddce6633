#pragma once

#include <functional>
#include <string>

#include "amend/workspace.h"
#include "amend/world.h"
#include "run/runner.h"
#include "run/task_specs.h"
#include "state/plan.h"

namespace amend {

/// What a run of `plan` reads and writes: pinned contents, schemas, published digests.
/// The facts are those that the ledger holds now; a plan whose pins moved is found out by
/// the publication, which compares states.
Result<run::RunWorld> MakeRunWorld(Workspace& workspace, const state::Plan& plan,
                                   const Gathered& gathered);

struct StagingOptions {
  /// Nothing is computed: what is not staged yet is Invalid. How a publication gets at
  /// its write sets.
  bool only_finished = false;
  std::function<void(const run::RunProgress&)> observe;
};

/// The run of a plan always has the same name, so every call goes on where the last
/// ended.
std::string RunOf(const std::string& plan);
inline std::string RunOf(const state::Plan& plan) { return RunOf(plan.id); }

Result<run::RunOutcome> RunStaging(Workspace& workspace, const run::RunWorld& world,
                                   const StagingOptions& options);

}  // namespace amend

#pragma once

#include <string>

#include "amend/amend.h"
#include "amend/publishing.h"

namespace amend {

// What several commands share; each command is in a file of its own.

/// Ends what a killed process left and takes the catalog's lock. Transient, naming the
/// catalog, where another command that writes is running.
Result<std::unique_ptr<FileLock>> BeginWriting(Workspace& workspace);

/// A stored plan and its value.
struct LoadedPlan {
  ledger::StoredPlan stored;
  state::Plan plan;
};
Result<LoadedPlan> LoadPlan(Workspace& workspace, const std::string& id);

/// Makes the plan and, where there is work, stores it.
struct MadePlan {
  state::Plan plan;
  Gathered gathered;
};
Result<MadePlan> MakeStoredPlan(Workspace& workspace, const PlanOptions& options);

/// The object of `plan --json` and its text.
Answer PlanAnswer(Workspace& workspace, const MadePlan& made);
/// The object of `publish` and `rollback`.
Answer PublishedAnswer(Workspace& workspace, const ledger::Entry& entry, bool again);
/// The object of `stage`.
Answer StageAnswer(const state::Plan& plan, const run::RunOutcome& outcome);

/// Publishes, and answers with what the ledger says afterwards.
Result<Answer> RunPublication(Workspace& workspace,
                              const publish::Publication& publication);

}  // namespace amend

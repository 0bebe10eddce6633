#pragma once

#include <optional>
#include <string_view>

namespace amend::state {

/// What became of a stored plan.
///
///   open       → published    in the transaction of its publication
///   open       → superseded   staging or publishing it ended in a conflict, or a later
///                             publication changed what it plans to write
///   superseded → open         somebody plans or stages the same again
///   superseded → published    somebody publishes it by its id after all
///
/// `status` recommends open plans alone, and gc keeps the staged files of open plans
/// alone. A superseded plan is not forbidden: publishing compares states itself, so it
/// ends in the same conflict, or it was right.
enum class PlanState { kOpen, kPublished, kSuperseded };

/// Whether one may follow the other; no state follows itself.
bool CanFollow(PlanState from, PlanState to);

/// "open", "published", "superseded": in the ledger and in `show`.
std::string_view PlanStateName(PlanState state);
std::optional<PlanState> ParsePlanState(std::string_view name);

/// How the last run of a plan ended.
enum class RunState {
  kNone,         ///< there was none
  kStaged,       ///< may be published
  kQuarantined,  ///< a blocking check failed
  kFailed,       ///< some task failed; the same command resumes
};

/// "", "staged", "quarantined", "failed": in the ledger and in `stage`.
std::string_view RunStateName(RunState state);
std::optional<RunState> ParseRunState(std::string_view name);

}  // namespace amend::state

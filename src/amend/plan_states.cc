#include "amend/plan_states.h"

#include <algorithm>

#include "state/lifecycle.h"

namespace amend {
namespace {

using partition::PartitionSet;
using state::PlanState;

/// Sets of two shapes (the model's partitioning changed) have nothing in common.
bool Meet(const PartitionSet& a, const PartitionSet& b) {
  return a.shape() == b.shape() && !a.Intersect(b).empty();
}

bool Covers(const PartitionSet& all, const PartitionSet& part) {
  return all.shape() == part.shape() && part.Difference(all).empty();
}

}  // namespace

bool MakesPointless(const state::Plan& published,
                    const std::map<std::string, PartitionSet>& changed,
                    const state::Plan& older) {
  bool covered = true;
  for (const state::ModelPlan& model : older.models) {
    auto moved = changed.find(model.model);
    if (moved != changed.end() && Meet(moved->second, model.partitions)) return true;
    const state::ModelPlan* planned = published.Find(model.model);
    covered =
        covered && planned != nullptr && Covers(planned->partitions, model.partitions);
  }
  return covered;
}

Status EndPlans(Workspace& workspace, db::Transaction& tx, const state::Plan& plan,
                const std::map<std::string, PartitionSet>& changed) {
  ledger::Ledger& ledger = workspace.ledger();
  AMEND_RETURN_IF_ERROR(ledger.SetPlanState(tx, plan.id, PlanState::kPublished));
  AMEND_ASSIGN_OR_RETURN(std::vector<ledger::StoredPlan> open,
                         ledger.PlansIn(tx, PlanState::kOpen));
  for (const ledger::StoredPlan& stored : open) {
    auto older = state::PlanFromJson(stored.plan);
    // One of another version's format is that version's to judge.
    if (!older || !MakesPointless(plan, changed, *older)) continue;
    AMEND_RETURN_IF_ERROR(ledger.SetPlanState(tx, stored.id, PlanState::kSuperseded));
  }
  return {};
}

Result<Answer> UnlessConflict(Workspace& workspace, const std::string& plan,
                              Result<Answer> answer) {
  if (answer || answer.error().code() != StatusCode::kConflict) return answer;
  auto supersede = [&](db::Transaction& tx) -> Status {
    AMEND_ASSIGN_OR_RETURN(ledger::StoredPlan stored,
                           workspace.ledger().FindPlan(tx, plan));
    if (stored.state != PlanState::kOpen) return {};
    return workspace.ledger().SetPlanState(tx, plan, PlanState::kSuperseded);
  };
  // The conflict is what is to be told, whether or not this works.
  Status noted = workspace.InTransaction(db::TransactionMode::kWrite, supersede);
  if (!noted.ok()) return Fail(answer.error().Annotate(noted.message()));
  return answer;
}

}  // namespace amend

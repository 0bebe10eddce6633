#include "amend/commands.h"
#include "base/text.h"
#include "fmt/format.h"
#include "plan/planner.h"
#include "plan/request.h"
#include "report/plan_text.h"

namespace amend {
namespace {

using partition::PartitionSet;

/// The partitions that one selected model is asked for.
Result<std::optional<PartitionSet>> RequestedOf(const PlanOptions& options,
                                                const partition::PartitionSpace& space) {
  std::optional<PartitionSet> wanted;
  if (!options.from.empty() || !options.to.empty()) {
    AMEND_ASSIGN(plan::RequestedPartitions range,
                 plan::RangeRequest(space, options.from, options.to));
    wanted = std::move(range.partitions);
  }
  if (options.partitions.empty()) return wanted;
  PartitionSet named(space.shape());
  for (const std::string& text : options.partitions) {
    AMEND_ASSIGN(PartitionSet set, plan::PartitionRequest(space, text));
    named = named.Union(set);
  }
  return wanted ? wanted->Intersect(named) : named;
}

Result<state::PlanRequest> RequestOf(const PlanOptions& options,
                                     const lineage::Lineage& lineage) {
  state::PlanRequest request;
  request.select = options.select;
  request.full = options.full;
  bool narrowed =
      !options.from.empty() || !options.to.empty() || !options.partitions.empty();
  if (narrowed && options.select.empty()) {
    return Fail(Invalid("--from, --to and --partition are partitions of one model")
                    .Hint("Name it: --select MODEL."));
  }
  for (const std::string& name : options.select) {
    const lineage::BoundModelEntry* model = lineage.FindModel(name);
    if (model == nullptr) {
      std::vector<std::string> names;
      for (const auto& entry : lineage.models()) names.push_back(entry.model.name);
      return Fail(NotFound("there is no model " + name)
                      .Table(name)
                      .Hint(project::Suggest(name, names)));
    }
    AMEND_ASSIGN(auto wanted, RequestedOf(options, model->model.space));
    if (wanted) request.partitions[model->model.name] = *std::move(wanted);
  }
  return request;
}

}  // namespace

Result<MadePlan> MakeStoredPlan(Workspace& workspace, const PlanOptions& options) {
  AMEND_ASSIGN(state::PlanRequest request, RequestOf(options, workspace.lineage()));
  std::int64_t now = workspace.env().NowMicros();
  AMEND_FAIL_IF_ERROR(workspace.RefuseRepartitioned(ModelNames(workspace.lineage())));
  AMEND_ASSIGN(Gathered gathered, GatherWorld(workspace, request, now));
  AMEND_ASSIGN(state::Plan plan, plan::MakePlan(gathered.world));
  plan.reason = options.reason;
  if (plan.reason.empty() && !plan.nothing_to_do() && options.ask_reason) {
    AMEND_ASSIGN(plan.reason, options.ask_reason());
  }
  plan.ticket = options.ticket;
  plan.author = workspace.env().UserName();
  plan.created_micros = now;
  if (!plan.nothing_to_do()) {
    ledger::StoredPlan stored;
    stored.id = plan.id;
    stored.created_micros = now;
    stored.plan = state::PlanToJson(plan);
    AMEND_FAIL_IF_ERROR(workspace.InTransaction(
        db::TransactionMode::kWrite,
        [&](db::Transaction& tx) { return workspace.ledger().SavePlan(tx, stored); }));
  }
  return MadePlan{std::move(plan), std::move(gathered)};
}

Answer PlanAnswer(Workspace& workspace, const MadePlan& made) {
  Answer answer;
  answer.json = report::PlanToAnswer(workspace.lineage(), made.plan);
  answer.text = report::PlanToText(workspace.lineage(), made.plan);
  return answer;
}

Result<Answer> Amend::Plan(const PlanOptions& options) {
  AMEND_ASSIGN(MadePlan made, MakeStoredPlan(*workspace_, options));
  return PlanAnswer(*workspace_, made);
}

}  // namespace amend

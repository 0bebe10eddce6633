#include "plan/explain.h"

#include <algorithm>

#include "fmt/format.h"

namespace amend::plan {
namespace {

using partition::PartitionSet;
using state::Reason;
using state::ReasonKind;

/// A reason for some of these partitions: a cause before a step that leads further up.
const Reason* ReasonFor(const state::ModelPlan& plan, const PartitionSet& partitions) {
  const Reason* step = nullptr;
  for (const Reason& reason : plan.because) {
    if (!reason.partitions.Intersects(partitions)) continue;
    if (reason.standing) return &reason;
    bool leads = reason.kind == ReasonKind::kUpstream;
    if (step == nullptr || (leads && step->kind != ReasonKind::kUpstream)) step = &reason;
  }
  return step;
}

/// Partitions of `from` that the reason's references of `model` need.
PartitionSet Needed(const lineage::Lineage& lineage, const std::string& model,
                    const Reason& reason) {
  PartitionSet needed(lineage.SpaceOf(reason.from).shape());
  for (const lineage::Edge* edge : lineage.InputsOf(model)) {
    if (edge->from != reason.from) continue;
    for (const lineage::InputRef& ref : edge->refs) {
      if (WhyText(ref) != reason.text) continue;
      needed = needed.Union(ref.mapping.Required(reason.partitions));
    }
  }
  return needed;
}

}  // namespace

std::vector<Step> Explain(const lineage::Lineage& lineage, const state::Plan& plan,
                          const std::string& model, const partition::Partition& at) {
  std::vector<Step> steps;
  const state::ModelPlan* planned = plan.Find(model);
  if (planned == nullptr) return steps;
  PartitionSet partitions = PartitionSet::Of(planned->partitions.shape(), at);
  while (planned != nullptr) {
    const Reason* found = ReasonFor(*planned, partitions);
    if (found == nullptr) break;
    Reason reason = *found;
    reason.partitions = reason.partitions.Intersect(partitions);
    steps.push_back(
        {planned->model, reason.partitions, reason.kind, reason.from, reason.text});
    if (reason.standing || reason.kind != ReasonKind::kUpstream) break;
    partitions = Needed(lineage, planned->model, reason);
    planned = plan.Find(reason.from);
    if (planned != nullptr) partitions = partitions.Intersect(planned->partitions);
  }
  return steps;
}

std::string WhyNot(const World& world, const state::Plan& plan, const std::string& model,
                   const partition::Partition& at) {
  const partition::PartitionSpace& space = world.lineage->SpaceOf(model);
  std::string name = model + " " + space.Format(at);
  const state::ModelPlan* planned = plan.Find(model);
  if (planned != nullptr && planned->partitions.Contains(at)) {
    return name + " is in the plan";
  }
  const Standing standing = SurveyModels(world).at(model);
  for (const ActiveHold& active : standing.holds) {
    if (!active.partitions.Contains(at)) continue;
    return fmt::format("{} is held by {} until {}", name, active.hold->by,
                       UntilText(*active.hold));
  }
  if (!standing.known.Contains(at)) return name + " has no rows to be built from";
  if (standing.unfinished.Contains(at))
    return name + " is not finished at the plan's now";
  if (standing.older.Contains(at)) {
    return name + " was built by an earlier definition, which the replay policy keeps";
  }
  if (standing.current.Contains(at)) {
    return name +
           " is current: built by the definition in force, and no input partition "
           "that it reads changed since";
  }
  return name + " is not current, but was not selected";
}

}  // namespace amend::plan

#pragma once

#include <string>
#include <vector>

#include "plan/survey.h"
#include "state/plan.h"

namespace amend::plan {

/// One step from a planned partition towards its cause.
struct Step {
  std::string model;
  partition::PartitionSet partitions;  ///< of `model`, that this step is about
  state::ReasonKind kind = state::ReasonKind::kSource;
  std::string from;
  std::string text;
};

/// Why a partition is in the plan: the chain of reasons from it up to the cause, nearest
/// first. Each step that is upstream of this plan is followed by one about the partitions
/// of `from` that it needs. Empty if the partition is not planned.
std::vector<Step> Explain(const lineage::Lineage& lineage, const state::Plan& plan,
                          const std::string& model, const partition::Partition& at);

/// Why a partition is not in the plan: its class, in a sentence.
/// REQUIRES: `model` is a model of the world.
std::string WhyNot(const World& world, const state::Plan& plan, const std::string& model,
                   const partition::Partition& at);

}  // namespace amend::plan

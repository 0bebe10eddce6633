#include "state/lifecycle.h"

#include <array>

namespace amend::state {
namespace {

constexpr std::array kPlanStates = {PlanState::kOpen, PlanState::kPublished,
                                    PlanState::kSuperseded};
constexpr std::array kRunStates = {RunState::kNone, RunState::kStaged,
                                   RunState::kQuarantined, RunState::kFailed};

}  // namespace

bool CanFollow(PlanState from, PlanState to) {
  switch (from) {
    case PlanState::kOpen:
      return to == PlanState::kPublished || to == PlanState::kSuperseded;
    case PlanState::kSuperseded:
      return to == PlanState::kOpen || to == PlanState::kPublished;
    case PlanState::kPublished:
      return false;
  }
  return false;
}

std::string_view PlanStateName(PlanState state) {
  switch (state) {
    case PlanState::kOpen:
      return "open";
    case PlanState::kPublished:
      return "published";
    case PlanState::kSuperseded:
      return "superseded";
  }
  return "open";
}

std::optional<PlanState> ParsePlanState(std::string_view name) {
  for (PlanState state : kPlanStates) {
    if (PlanStateName(state) == name) return state;
  }
  return std::nullopt;
}

std::string_view RunStateName(RunState state) {
  switch (state) {
    case RunState::kNone:
      return "";
    case RunState::kStaged:
      return "staged";
    case RunState::kQuarantined:
      return "quarantined";
    case RunState::kFailed:
      return "failed";
  }
  return "";
}

std::optional<RunState> ParseRunState(std::string_view name) {
  for (RunState state : kRunStates) {
    if (RunStateName(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace amend::state

#pragma once

#include "base/status.h"
#include "plan/survey.h"
#include "plan/world.h"
#include "state/plan.h"

namespace amend::plan {

/// What is to be done, why, and what it will cost: seeds (not current, or requested), and
/// in order of dependency everything that reads a changed column of a planned partition
/// (docs/architecture.md, "Versions and staleness"). Held partitions are never planned;
/// open ones only where partitions were requested. What is missing is planned where an
/// input has rows or is planned itself. A hold that names versions of its inputs gives
/// way where planned partitions of one of them reach it: publishing them would end it,
/// and the next plan would have to go one level further down each time.
///
/// One walk gives decision and explanation: the step that adds partitions writes the
/// reason, so neither can say what the other does not. Reasons hold all the partitions
/// that their step reaches, also those that another step put there before. Partitions
/// that are not current have their own reasons in the plan whichever step put them there:
/// neither is a stale partition cut off where only its input was selected, nor are
/// changes that its rebuild takes up besides kept from its readers.
///
/// An upper bound: every partition whose content can differ from its definition, or that
/// can differ because of a planned one, is in it. Not filled in: reason, ticket, author,
/// created_micros.
///
/// NotFound for a model that does not exist (hint: the nearest), Invalid for partitions
/// of another space, Internal where the world contradicts itself.
Result<state::Plan> MakePlan(const World& world);

}  // namespace amend::plan

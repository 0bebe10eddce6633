#pragma once

#include <string>

#include "base/json.h"
#include "lineage/lineage.h"
#include "state/plan.h"

namespace amend::report {

/// The object of `plan --json` (docs/cli.md).
Json PlanToAnswer(const lineage::Lineage& lineage, const state::Plan& plan);

/// What a reviewer reads: decision first, exceptions marked `!`, one line a model,
/// numbers that add up, the next command last. At most 120 columns; no colour.
std::string PlanToText(const lineage::Lineage& lineage, const state::Plan& plan);

}  // namespace amend::report

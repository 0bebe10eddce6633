#pragma once

#include <map>
#include <string>

#include "amend/amend.h"
#include "amend/workspace.h"
#include "partition/partition_set.h"
#include "state/plan.h"

namespace amend {

// Where stored plans change their state (state/lifecycle.h); planning and staging a plan
// that was superseded open it again.

/// In the transaction of a publication: `plan` is published, and open plans that it makes
/// pointless are superseded. `changed`: partitions that it changes, by model.
Status EndPlans(Workspace& workspace, db::Transaction& tx, const state::Plan& plan,
                const std::map<std::string, partition::PartitionSet>& changed);

/// Whether a publication of `published` that changed `changed` leaves nothing for an
/// older plan: it planned all that the older one plans, or it changed a partition that
/// the older one was to replace, so that publishing the older one can only end in a
/// conflict.
bool MakesPointless(const state::Plan& published,
                    const std::map<std::string, partition::PartitionSet>& changed,
                    const state::Plan& older);

/// `answer`, after noting that the plan is superseded where it is a conflict.
Result<Answer> UnlessConflict(Workspace& workspace, const std::string& plan,
                              Result<Answer> answer);

}  // namespace amend

#pragma once

#include <string>

#include "amend/staging.h"
#include "amend/workspace.h"

namespace amend {

/// The namespace of a plan's twins: `<ns>_amend_<plan>`.
std::string TwinNamespace(Workspace& workspace, const std::string& plan);

/// Commits what a run staged to twins: for each model whose content changes, a
/// metadata-only copy of the live table with the staged files in place, in the twin
/// namespace of the same catalog. Any Iceberg client reads them; the live tables are not
/// touched. Twins of an earlier stage of the plan are replaced; where that stage left
/// nothing to do and its twins are there, they stay as they are.
Status MakeTwins(Workspace& workspace, const run::RunWorld& world,
                 const run::RunOutcome& outcome);

/// The plan of a namespace of twins, whatever the project's own namespace is by now; ""
/// for every other namespace.
std::string PlanOfTwins(const std::string& name_space);

/// Forgets a plan's twins inside a publication's transaction; their metadata files are
/// registered and go with gc.
Status DropTwins(Workspace& workspace, db::Transaction& tx, const std::string& plan);
/// The same of a namespace of twins.
Status DropTwinNamespace(Workspace& workspace, db::Transaction& tx,
                         const std::string& name_space);

}  // namespace amend

#pragma once

#include <string>
#include <vector>

#include "amend/staging.h"
#include "amend/workspace.h"
#include "amend/world.h"
#include "publish/publisher.h"

namespace amend {

/// Who asks and why, for the ledger.
struct Author {
  std::string name;
  std::string reason;
  std::string ticket;
};

/// The publication of a staged run, as values. Writes the facts files of its tables
/// (named by the attempt, so that giving up removes them); changes nothing else.
///
/// Every table of the plan gets facts: what was built, and what was found equal or cut
/// off, whose `verified_at` moves on. Only tables whose content changed get a snapshot; a
/// run without any is a publication without tables (no_op).
Result<publish::Publication> PreparePublication(Workspace& workspace,
                                                const run::RunWorld& world,
                                                const run::RunOutcome& outcome,
                                                const Gathered& gathered,
                                                const Author& author);

/// The publication that takes entry `entry` back: per table head − its partitions + their
/// previous files and records; its partitions are held. Unsupported for a rollback.
Result<publish::Publication> PrepareRollback(Workspace& workspace,
                                             const ledger::Entry& entry,
                                             const std::vector<ledger::Entry>& entries,
                                             const Author& author);

}  // namespace amend

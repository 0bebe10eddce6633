#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "amend/workspace.h"
#include "plan/world.h"
#include "state/facts.h"
#include "table/contents.h"

namespace amend {

/// What planning and staging look at, read from catalog, ledger and metadata files at one
/// instant.
struct Gathered {
  plan::World world;  ///< its lineage is the workspace's
  std::vector<ledger::Entry> entries;
  std::map<std::string, state::FactsInForce> facts;  ///< of models
  std::map<std::string, table::Contents> contents;   ///< of every table that exists
  /// Models whose table is of another partition space (PartitioningProblems). They are
  /// seen as never built: status goes on, and no plan is made.
  std::set<std::string> repartitioned;
};

/// Reads all pointers, the ledger's entries and the holds in one transaction, then the
/// immutable files they name.
Result<Gathered> GatherWorld(Workspace& workspace, const state::PlanRequest& request,
                             std::int64_t now_micros);

/// Partitions whose live files are not exactly those that the facts name.
partition::PartitionSet ForeignPartitions(const table::Contents& contents,
                                          const state::FactsInForce& facts);

}  // namespace amend

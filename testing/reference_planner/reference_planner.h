#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/columns.h"
#include "plan/world.h"

namespace amend::reference {

/// What the slow planner says of one model, partition by partition.
struct ReferenceModel {
  std::set<partition::Partition> planned;
  std::map<partition::Partition, plan::ChangedColumns> changed;  ///< of each planned one
  plan::ChangedColumns changed_columns = std::set<std::string>();
  std::map<state::ReasonKind, std::set<partition::Partition>> because;
  std::set<partition::Partition> own_cause;  ///< planned, and must be computed
  /// Whether planned or not: what was built and is not what its definition gives now, and
  /// what an earlier definition gave.
  std::set<partition::Partition> stale;
  std::set<partition::Partition> older;
  state::ClassCounts classes;
};

/// The points of each table that are looked at, those of one value tuple together and in
/// ascending order. They must hold everything that any set of the world holds or reaches,
/// or the answer is too small.
using Universe = std::map<std::string, std::vector<partition::Partition>>;

/// Plans by asking each partition of each model the questions of docs/architecture.md one
/// after the other: no sets, no runs, no versions sorted out beforehand. Slow, and
/// plainly right: the twin that plan::MakePlan has to agree with. It shares with it the
/// mappings (which have their own laws) and nothing else of plan/.
std::map<std::string, ReferenceModel> PlanByEnumeration(const plan::World& world,
                                                        const Universe& universe);

}  // namespace amend::reference

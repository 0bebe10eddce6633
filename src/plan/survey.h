#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/columns.h"
#include "plan/world.h"

namespace amend::plan {

/// One cause that makes built partitions of a model stale, with what it may change in
/// them. What a plan says and what it does are both taken from it.
struct Finding {
  state::Reason reason;  ///< its partitions have a build record
  ChangedColumns columns;
  std::string widening;  ///< why it reaches more than is known to be needed, or empty
};

/// Why a reference widens what changes in its input to more of a model's partitions than
/// can be proved; empty where it does not.
std::string WideningText(const partition::PartitionSpace& output,
                         const lineage::InputRef& ref);

/// A hold, as far as it is in force: its definition (if it names one) is the one in
/// force, and of the inputs whose versions it names, no required partition changed since.
/// A hold that names no inputs, such as closed books, ends by release alone.
struct ActiveHold {
  const state::Hold* hold = nullptr;  ///< borrowed from the world
  partition::PartitionSet partitions;
};

/// What ends a hold, in words.
std::string UntilText(const state::Hold& hold);

/// Where the partitions of one model stand: the classes of docs/architecture.md, each
/// partition in exactly one.
struct Standing {
  partition::PartitionSet known;  ///< union of the classes
  partition::PartitionSet missing;
  partition::PartitionSet drifted;
  partition::PartitionSet held;
  partition::PartitionSet open;
  partition::PartitionSet stale;
  partition::PartitionSet older;
  partition::PartitionSet current;

  // What the classes were made from, before "the first that applies" was taken.
  std::vector<Finding> findings;  ///< why partitions are stale, in order of detection
  /// What a rebuild changes besides, where an earlier definition is kept by policy.
  std::vector<Finding> kept;
  partition::PartitionSet outdated;    ///< stale, whether held or open or not
  partition::PartitionSet on_hold;     ///< under a hold in force
  partition::PartitionSet unfinished;  ///< periods that end after now, built or not
  std::vector<ActiveHold> holds;
  bool asks_replay = false;  ///< `replay: ask` keeps older partitions until selected

  /// Partitions of a class that has no end count where the table has rows.
  state::ClassCounts counts;
};

/// The standing of every model of the lineage. Partitions are known where the model's
/// extents give rows from known partitions of its inputs, where a build record exists,
/// and where live files are not ours. Costs runs, not points. REQUIRES: Validate(world)
/// is ok.
std::map<std::string, Standing> SurveyModels(const World& world);

}  // namespace amend::plan

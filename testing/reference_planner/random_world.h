#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "plan/world.h"
#include "testing/reference_planner/reference_planner.h"

namespace amend::reference {

/// A random project with a history: sources and models of mixed grains, windows, joins
/// and unions, column lineage, build records of several versions and definitions,
/// changes, drift, holds, an unfinished present, and a request. The same seed gives the
/// same world.
struct RandomWorld {
  std::uint64_t seed = 0;
  std::shared_ptr<const lineage::Lineage> lineage;  ///< world.lineage points to it
  plan::World world;
  Universe universe;
};

RandomWorld MakeRandomWorld(std::uint64_t seed);

/// A publication, and what its run computed of each planned model.
struct Aftermath {
  plan::World world;
  std::map<std::string, partition::PartitionSet> computed;
};

/// The world as it is after this plan was published: new versions and build records, and
/// changes for exactly what `changed` (of the reference planner) says may differ. Of what
/// is computed, `equal_percent` turn out as they were, and what nothing changed reaches
/// is cut off. The same seed gives the same aftermath.
Aftermath AfterPublishing(const plan::World& world, const state::Plan& plan,
                          const std::map<std::string, ReferenceModel>& changed,
                          std::uint64_t seed, int equal_percent);

}  // namespace amend::reference

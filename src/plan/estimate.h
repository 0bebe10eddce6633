#pragma once

#include <map>
#include <string>

#include "plan/world.h"

namespace amend::plan {

/// Rows and bytes of some partitions of one table.
struct Amount {
  state::Origin origin = state::Origin::kFileMetadata;
  double rows = 0;
  double bytes = 0;
};

/// What a set of partitions holds at the head, by its files. Partitions without a size
/// are taken as average where others have one (extrapolated); unknown where none has, or
/// where they have no end. `new_partitions` are those that may get rows though they have
/// none.
Amount AmountOf(const state::TableState& table, const partition::PartitionSet& set,
                const partition::PartitionSet& new_partitions);

/// What building `planned` of a model reads and writes. `planned_of` has the sets planned
/// so far, inputs first.
state::Estimate EstimateModel(
    const World& world, const lineage::BoundModelEntry& entry,
    const partition::PartitionSet& planned,
    const std::map<std::string, partition::PartitionSet>& planned_of);

}  // namespace amend::plan

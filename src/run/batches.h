#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "partition/partition_set.h"
#include "state/table_state.h"

namespace amend::run {

/// How much one task takes on.
struct BatchLimits {
  /// A COPY keeps one open writer for each partition it meets; up to this many, an
  /// unsorted stream gives one file for each.
  std::int64_t partitions = 64;
  std::int64_t bytes = 256'000'000;  ///< of the model's own files, where known
};

/// Cuts a set of partitions into batches of neighbours, in ascending order. Depends on
/// nothing but its arguments: a resumed run cuts the same batches and finds its write
/// sets by name. A set without end is one batch: which of it have rows is known only once
/// all is evaluated. Exhausted for more than a million partitions.
Result<std::vector<partition::PartitionSet>> CutBatches(
    const partition::PartitionSet& set,
    const partition::PartitionMap<state::PartitionSize>& sizes,
    const BatchLimits& limits);

}  // namespace amend::run

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "duck/tally.h"
#include "engine/measure.h"
#include "engine/task.h"

namespace amend::engine {

/// Measures taken while COPY writes, which saves the scan over what was written: a tally
/// (duck/tally.h) adds up the row hashes of each partition on their way to the files.

/// The SQL function of the engine's tally.
inline constexpr std::string_view kTallyFunction = "_amend_tally";

/// Whether a task's partitions are told apart by a number, their time's ordinal.
bool CanTally(const TaskSpec& spec);

/// What is taken of each row of such a task.
duck::Tally::Shape TallyShape(const TaskSpec& spec);

/// `select`'s rows with the partition's number as `key_column`, each counted once.
std::string TallySql(const TaskSpec& spec, std::string_view select,
                     std::string_view key_column);

/// What the tally says of files, in their order. Of several files of one partition the
/// first has the digest of all. REQUIRES: tally.lists_complete(). Internal where it
/// counted other rows than COPY says it wrote.
Result<std::vector<MeasuredFile>> ReadTally(const TaskSpec& spec,
                                            const duck::Tally& tally,
                                            const std::vector<WrittenFile>& files);

}  // namespace amend::engine

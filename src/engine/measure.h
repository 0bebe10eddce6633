#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "duck/database.h"
#include "engine/task.h"
#include "iceberg/data_file.h"
#include "state/write_set.h"

namespace amend::engine {

/// What one scan over a written file found.
struct MeasuredFile {
  PartitionMeasure measure;
  state::Digest digest;
  std::optional<state::Digest> old_columns;
  std::vector<Json> samples;  ///< rows, of files outside of the asked partitions only
  /// Column tuples of whose keys two may be equal: their hashes are.
  std::vector<std::vector<std::string>> suspects;
};

/// Measures files as they were written, in their order. The partition of a file is taken
/// from its rows; Internal if one file holds two partitions or not the rows that COPY
/// reported.
Result<std::vector<MeasuredFile>> MeasureFiles(
    duck::Connection& connection, const TaskSpec& spec,
    const std::vector<iceberg::DataFile>& files);

/// The value kept in write sets and back. Partition and spec id are not in `metrics`:
/// the publisher sets them for the table's spec.
state::StagedFile ToStagedFile(const iceberg::DataFile& file,
                               const partition::Partition& point, int ordinal);

}  // namespace amend::engine

#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "duck/database.h"
#include "engine/task.h"
#include "iceberg/data_file.h"
#include "state/write_set.h"

namespace amend::engine {

/// A file as COPY left it.
struct WrittenFile {
  iceberg::DataFile file;
  std::string key;  ///< its PartitionKeySql as text; "" where COPY did not part
};

/// What is in a written file.
struct MeasuredFile {
  PartitionMeasure measure;
  state::Digest digest;
  std::optional<state::Digest> old_columns;
  std::vector<Json> samples;  ///< rows, of files outside of the asked partitions only
  /// Column tuples of whose keys two may be equal: their hashes are.
  std::vector<std::vector<std::string>> suspects;
};

/// Measures files by one scan over them, in their order. The partition of a file is taken
/// from its rows; Internal if one file holds two partitions or not the rows that COPY
/// reported.
Result<std::vector<MeasuredFile>> ScanFiles(duck::Connection& connection,
                                            const TaskSpec& spec,
                                            const std::vector<WrittenFile>& files);

/// Asks the files for what only some of them need: keys that suspects have twice, values
/// that are not accepted, samples of strays.
Status AddDetails(duck::Connection& connection, const TaskSpec& spec,
                  const std::vector<WrittenFile>& files,
                  std::vector<MeasuredFile>* measured);

/// The value kept in write sets and back. Partition and spec id are not in `metrics`:
/// the publisher sets them for the table's spec.
state::StagedFile ToStagedFile(const iceberg::DataFile& file,
                               const partition::Partition& point, int ordinal);

}  // namespace amend::engine

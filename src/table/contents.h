#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/scan.h"
#include "iceberg/update.h"
#include "partition/partition_map.h"
#include "partition/partition_set.h"
#include "partition/space.h"
#include "state/table_state.h"

namespace amend::table {

/// A live data file and the partition of our space that it belongs to.
struct TableFile {
  iceberg::DataFile file;
  std::int64_t sequence_number = 0;  ///< data sequence number
  partition::Partition point;
};

/// The live files of one snapshot, seen through one partition space.
///
/// Canonical order: by partition, then data sequence number, then name. The names we give
/// end in the file's ordinal within its write set, so for files of ours the last step is
/// that ordinal; floats that depend on the order of rows come out the same from any copy
/// of the table. Immutable.
class Contents {
 public:
  Contents() = default;
  Contents(partition::PartitionSpace space, std::vector<TableFile> files);

  const partition::PartitionSpace& space() const { return space_; }
  const std::vector<TableFile>& files() const { return files_; }
  /// Partitions that have files.
  const partition::PartitionSet& live() const { return live_; }
  /// Local paths of the files of these partitions, in canonical order. Costs a search for
  /// each run of the set and what is found, not the files of the table: every task of a
  /// run asks this.
  Result<std::vector<std::string>> PathsIn(const partition::PartitionSet& set) const;
  /// The same files; they live as long as this value.
  std::vector<const TableFile*> FilesIn(const partition::PartitionSet& set) const;
  /// Rows and bytes of each partition that has files.
  partition::PartitionMap<state::PartitionSize> Sizes() const;
  std::int64_t rows() const { return rows_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  /// Files of one partition: [first, end) of files_.
  struct Slot {
    std::optional<std::int64_t> time;
    std::size_t first = 0;
    std::size_t end = 0;
  };

  partition::PartitionSpace space_;
  std::vector<TableFile> files_;
  /// By value tuple, ascending by time, NULL first.
  std::map<partition::ValueTuple, std::vector<Slot>> slots_;
  partition::PartitionSet live_;
  std::int64_t rows_ = 0;
  std::int64_t bytes_ = 0;
};

/// Reads a snapshot's live files; snapshot 0 is the empty table. NotFound where the
/// snapshot has expired; Unsupported for delete files or files of a spec that `space`
/// cannot tell apart.
Result<Contents> ReadContents(Env& env, const iceberg::LoadedTable& table,
                              std::int64_t snapshot_id,
                              const partition::PartitionSpace& space);

/// Partitions whose live files differ between two versions of a table. A snapshot that
/// has expired, or a spec that the space does not fit, gives every partition.
Result<partition::PartitionSet> ChangedBetween(Env& env,
                                               const iceberg::LoadedTable& before,
                                               std::int64_t before_snapshot,
                                               const iceberg::LoadedTable& after,
                                               std::int64_t after_snapshot,
                                               const partition::PartitionSpace& space);

/// The head of a loaded table as a pin.
state::Pin PinOf(const iceberg::LoadedTable& table);

}  // namespace amend::table

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "partition/partition_set.h"
#include "partition/space.h"

namespace amend::state {

/// Order-independent checksum of the rows of one partition: count and two modular sums of
/// 64-bit row hashes (never XOR: equal rows must not cancel). Bitwise; tolerance belongs
/// to checks and diffs. Comparable only within one formula.
struct Digest {
  std::string formula;  ///< engine and version of the row hash, and the columns it covers
  std::int64_t rows = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// One staged data file, with the metrics that a manifest needs (as JSON of data_file.h's
/// members, so that this value does not know Iceberg).
struct StagedFile {
  std::string path;  ///< local absolute path
  partition::Partition partition;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
  int ordinal = 0;  ///< place in the canonical file order of its write set
  Json metrics;
  friend bool operator==(const StagedFile&, const StagedFile&) = default;
};

struct StagedPartition {
  partition::Partition partition;
  Digest digest;                      ///< over all columns
  std::optional<Digest> old_columns;  ///< over the published schema's columns, if it grew
  friend bool operator==(const StagedPartition&, const StagedPartition&) = default;
};

/// The immutable result of one task: files with counts, bounds and digests, named by its
/// inputs. A task that produced no rows for a planned partition has the partition with
/// digest.rows = 0 and no file.
struct WriteSet {
  std::string name;  ///< hash of definition, settings, engine, input versions, partitions
  std::string model;
  partition::PartitionSet partitions;   ///< what the task was asked to produce
  std::vector<StagedPartition> staged;  ///< one per asked partition, in canonical order
  /// Where a task was asked for partitions without end: those of them, and of the
  /// unfinished ones beyond, that turned out to have no rows. `partitions` then holds
  /// those with rows, and those that had some before.
  std::optional<partition::PartitionSet> rest;
  std::vector<StagedFile> files;
  std::int64_t cpu_micros = 0;
  std::int64_t bytes_read = 0;
  friend bool operator==(const WriteSet&, const WriteSet&) = default;
};

/// The stored form (state/encode.h), sealed like a plan's: an equal write set comes back,
/// or Unsupported for another format, Damaged for the rest.
Json WriteSetToJson(const WriteSet& set);
Result<WriteSet> WriteSetFromJson(const Json& json);

}  // namespace amend::state

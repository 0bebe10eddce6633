#pragma once

#include <optional>
#include <string>
#include <vector>

#include "partition/space.h"
#include "state/table_state.h"
#include "state/write_set.h"

namespace amend::state {

/// How a partition came to be as a publication left it.
enum class FactKind {
  kBuilt,     ///< new files, content differs from before
  kVerified,  ///< computed or cut off: files as before, `verified_at` moved forward
  kRestored,  ///< a rollback brought back earlier files and record
  kRemoved,   ///< a rollback of a first build: the partition has no record any more
};
std::string_view FactKindName(FactKind kind);
std::optional<FactKind> ParseFactKind(std::string_view name);

/// What a publication says of one partition of one table. All facts of a publication and
/// table are one immutable Parquet file: the ledger's size is O(tables), not
/// O(partitions).
struct PartitionFact {
  partition::Partition partition;
  FactKind kind = FactKind::kBuilt;
  Digest digest;          ///< of the rows as they are now; empty for kRemoved
  BuildRecord record;     ///< empty for kRemoved
  std::string write_set;  ///< that the files came from; empty where none was made
  /// Local paths of the partition's files, in canonical order: live files that are not
  /// these are another writer's.
  std::vector<std::string> files;
  friend bool operator==(const PartitionFact&, const PartitionFact&) = default;
};

/// What a publication says of partitions without end. A model that may have rows in any
/// partition is evaluated as a whole; which have rows is known only then. Of the others
/// this says that they were computed as well, from what, and that they have no rows.
struct RestFact {
  partition::PartitionSet partitions;
  FactKind kind = FactKind::kBuilt;
  BuildRecord record;  ///< empty for kRemoved
  friend bool operator==(const RestFact&, const RestFact&) = default;
};

/// All that a publication says of one table. Where both speak of a partition, `points`
/// does.
struct TableFacts {
  std::vector<PartitionFact> points;
  std::vector<RestFact> rest;
  friend bool operator==(const TableFacts&, const TableFacts&) = default;
};

/// The facts of every publication laid over each other, oldest first: the build records
/// that planning reads and the digests that cutoff compares with.
struct FactsInForce {
  FactsInForce() = default;
  explicit FactsInForce(partition::Shape shape);

  /// Lays the facts of the next publication over what is known.
  void Apply(const TableFacts& facts);

  /// Forgets records that no partition has any more: planning asks of each what changed
  /// since, and history must not make that dearer every day. Call it after the last
  /// Apply.
  void DropUnusedRecords();

  /// What is in force of one partition; of one that a RestFact covers, that it was built
  /// without rows. Nothing where it was never built, or that was taken back.
  std::optional<PartitionFact> Of(const partition::Partition& point) const;
  /// Partitions of which a RestFact is the last word.
  partition::PartitionSet Rest() const;

  std::vector<BuildRecord> records;  ///< interned
  partition::PartitionMap<std::size_t> built;
  std::map<partition::Partition, PartitionFact> by_partition;

 private:
  std::size_t IndexOf(const BuildRecord& record);
};

}  // namespace amend::state

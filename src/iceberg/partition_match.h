#pragma once

#include <optional>
#include <set>
#include <vector>

#include "iceberg/data_file.h"
#include "iceberg/partition_spec.h"
#include "iceberg/table_metadata.h"

namespace amend::iceberg {

/// The result types of a spec's fields, in spec order; none for an unknown transform or a
/// source column that is in no schema.
std::vector<std::optional<Type>> PartitionTypes(const TableMetadata& metadata,
                                                const PartitionSpec& spec);

/// Tells from a manifest's summary whether it may hold files of given partitions, so that
/// a commit reads only the manifests it can touch. Over-approximates: fields whose order
/// we cannot decide, and bounds that are absent or damaged, never exclude.
///
/// Immutable; safe to share between threads.
class PartitionMatcher {
 public:
  /// `partitions` are tuples of `spec`, whose source columns `metadata` knows.
  PartitionMatcher(const TableMetadata& metadata, const PartitionSpec& spec,
                   std::set<PartitionTuple> partitions);

  const std::set<PartitionTuple>& partitions() const { return partitions_; }
  bool Contains(const PartitionTuple& tuple) const { return partitions_.contains(tuple); }
  /// REQUIRES: the manifest is of the spec this matcher was made for.
  bool MayHold(const ManifestFile& manifest) const;

 private:
  struct Range {
    bool contains_null = true;
    std::optional<Value> lower;
    std::optional<Value> upper;
    bool Admits(const Value& value) const;
  };
  std::optional<std::vector<Range>> RangesOf(const ManifestFile& manifest) const;

  std::set<PartitionTuple> partitions_;
  std::vector<std::optional<Type>> ordered_types_;  ///< none: order not decided
};

}  // namespace amend::iceberg

#pragma once

#include <map>
#include <vector>

#include "base/status.h"
#include "iceberg/data_file.h"
#include "iceberg/partition_spec.h"
#include "iceberg/scan.h"
#include "iceberg/table_metadata.h"

namespace amend::iceberg {

/// A condition on a column as a condition on one partition field: whatever row satisfies
/// the first lies in a partition that satisfies the second.
struct ProjectedCondition {
  std::size_t position = 0;  ///< of the field in its spec
  Type type;                 ///< of the partition value
  CompareOp op = CompareOp::kEqual;
  std::vector<Value> literals;
};

/// Tells which manifests and files cannot hold a row of a filter (Iceberg specification,
/// "Scan Planning"). Inclusive: where anything is unknown, missing or not understood, the
/// answer is that it may.
///
/// Two quirks of other writers are allowed for: old Java rounded time partitions before
/// 1970 up, so such a partition may be one too high; NaN is outside all bounds.
class Pruner {
 public:
  /// Invalid for a filter on a column that is not there or literals of another type.
  static Result<Pruner> Create(const TableMetadata& metadata, const Filter& filter);

  bool MayMatch(const ManifestFile& manifest, const PartitionSpec& spec);
  bool MayMatch(const DataFile& file, const PartitionSpec& spec);

 private:
  struct ColumnCondition {
    Type type;
    Condition condition;
  };

  const std::vector<ProjectedCondition>& Projected(const PartitionSpec& spec);

  std::vector<ColumnCondition> conditions_;
  std::map<int, std::vector<ProjectedCondition>> projected_;  ///< by spec id
};

}  // namespace amend::iceberg

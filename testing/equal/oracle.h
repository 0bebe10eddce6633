#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "duck/database.h"
#include "partition/partition_set.h"

namespace amend::equal {

/// The plain way to what a model should hold: every table as the rows of its live files
/// in canonical order, in one connection with one thread; a model is its SELECT over
/// whole tables. Shares with Amend how metadata files are read and nothing else: no
/// mapping, no batch, no digest, no scan by field id.
///
/// Doubles are equal where SQL says so, which is bit by bit but for 0.0 and -0.0 (as for
/// digests) and the payload of NaN.
class Oracle {
 public:
  static Result<Oracle> Open();

  /// Makes `name` the table whose metadata is at `location`.
  Status Load(Env& env, const std::string& name, const std::string& location);
  /// Makes `name` an empty table of the columns of a SELECT.
  Status LoadEmpty(const std::string& name, const std::string& sql);

  /// What a model and its definition differ in.
  struct Comparison {
    /// Partitions with rows that one has and the other lacks, with such a row.
    std::map<partition::Partition, std::string> differing;
    /// Partitions in which either has rows.
    std::vector<partition::Partition> points;
    std::int64_t rows = 0;  ///< by definition
  };
  Result<Comparison> Compare(const std::string& name, const std::string& sql,
                             const partition::PartitionSpace& space);
  /// Rows of `before` that `after` lacks or the reverse, over the columns of `before`.
  Result<std::int64_t> CountDifferences(const std::string& before,
                                        const std::string& after);

 private:
  Oracle(duck::Database database, duck::Connection connection)
      : database_(std::move(database)), connection_(std::move(connection)) {}

  /// SQL, and where the model and every table it may read are.
  std::string KeyOf(const std::string& name, const std::string& sql) const;
  Result<Comparison> CompareAnew(const std::string& name, const std::string& sql,
                                 const partition::PartitionSpace& space);
  Result<std::vector<partition::Partition>> PointsIn(
      const std::string& sql, const partition::PartitionSpace& space);

  duck::Database database_;
  duck::Connection connection_;
  std::map<std::string, std::string> loaded_;  ///< location by name
  /// The last comparison of each model, while nothing that it read has moved.
  struct Remembered {
    std::string of;  ///< SQL and locations
    Comparison comparison;
  };
  std::map<std::string, Remembered> remembered_;
};

}  // namespace amend::equal

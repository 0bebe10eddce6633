#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "duck/database.h"
#include "iceberg/schema.h"
#include "partition/space.h"

namespace amend::engine {

/// Two versions of some partitions of one table, as files.
struct DiffSpec {
  partition::PartitionSpace space;
  iceberg::Schema schema;        ///< both sides are read with it, by field id
  std::vector<std::string> key;  ///< empty: rows are compared as a multiset
  std::vector<std::string> before;
  std::vector<std::string> after;
};

struct PartitionDiff {
  partition::Partition partition;
  std::int64_t rows_before = 0;
  std::int64_t rows_after = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
  std::int64_t changed = 0;  ///< same key, some column differs; 0 without a key
  std::map<std::string, std::int64_t> columns;  ///< rows of `changed` by column
};

/// Old against new, exactly: null-safe keys, bitwise values. Partitions without any
/// difference are left out; ascending. Where a key is not unique on a side, rows are
/// compared as multisets, so that a join cannot multiply them.
Result<std::vector<PartitionDiff>> DiffFiles(duck::Connection& connection,
                                             const DiffSpec& spec);

}  // namespace amend::engine

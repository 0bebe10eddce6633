#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "check/diff.h"
#include "duck/database.h"
#include "iceberg/schema.h"
#include "partition/space.h"

namespace amend::engine {

/// Two versions of some partitions of one table, as local files.
struct DiffFiles {
  partition::PartitionSpace space;
  iceberg::Schema schema;  ///< both sides are read with it, by field id
  std::vector<std::string> before;
  std::vector<std::string> after;
};

/// Whether the key is unique, null-safe, within each partition of either side: what
/// check::DiffSpecFor asks. True for an empty key.
Result<bool> KeyIsUnique(duck::Connection& connection, const DiffFiles& files,
                         const std::vector<std::string>& key);

/// Old against new after `spec`, in SQL: null-safe keys, values bitwise or within their
/// tolerance. A row whose key moved to another partition is removed in the one and added
/// in the other. Partitions where nothing differs are left out; ascending.
/// check::DiffRows is its slow twin.
Result<std::vector<check::PartitionDiff>> Diff(duck::Connection& connection,
                                               const DiffFiles& files,
                                               const check::DiffSpec& spec);

}  // namespace amend::engine

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "duck/value.h"
#include "partition/space.h"

namespace amend::engine {

/// The partition of a row as columns of a query: `amend_t` (the time ordinal), then
/// `amend_v0`, … (the values); one constant column where the table is unpartitioned, so
/// that there is always something to group by.
std::string PointColumnsSql(const partition::PartitionSpace& space);
std::vector<std::string> PointColumnNames(const partition::PartitionSpace& space);
/// "1, 2, 3": GROUP BY the first `count` columns.
std::string GroupList(std::size_t count);

/// The partition in a result row whose point columns start at `first`.
partition::Partition PointOfRow(const partition::PartitionSpace& space,
                                const duck::Row& row, std::size_t first);

/// A partition value out of one of the engine's; NULL stays NULL.
partition::Value PointValue(const duck::Value& value);

/// An integer result, 0 for NULL.
std::int64_t CountOf(const duck::Value& value);

}  // namespace amend::engine

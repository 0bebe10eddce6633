#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "duck/database.h"
#include "state/facts.h"

namespace amend::engine {

using state::kThisPublication;
/// The same for a record's publication number, which is allocated after the file is made.
inline constexpr std::int64_t kThisNumber = 0;

/// Writes the facts of one publication and table as one Parquet file and makes it durable
/// below `root`. Returns its SHA-256. Columns: time BIGINT, "values" (JSON), kind, rows,
/// low, high, formula, definition, publication, verified_at (JSON: per input its version,
/// or [version, uuid of the table]), write_set, files (JSON), partitions (JSON: the set
/// of a RestFact; NULL for one partition); sorted by partition, so that neighbours
/// compress.
Result<std::string> WriteFacts(Env& env, duck::Connection& connection,
                               const partition::PartitionSpace& space,
                               const state::TableFacts& facts, const std::string& path,
                               const std::string& root);

/// Reads them back. Damaged where the digest is another one or a column does not read.
Result<state::TableFacts> ReadFacts(Env& env, duck::Connection& connection,
                                    const partition::PartitionSpace& space,
                                    const std::string& path, const std::string& digest);

}  // namespace amend::engine

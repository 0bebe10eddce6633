#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "duck/tally.h"

// The engine's own tag, so that its header stays out of ours.
struct _duckdb_connection;  // NOLINT(bugprone-reserved-identifier)

namespace amend::duck {

/// Makes `name(BIGINT, UBIGINT…) → BIGINT` known to the connection's database, which
/// keeps the tally for as long as it lives.
Status RegisterTally(_duckdb_connection* connection, const std::string& name,
                     std::shared_ptr<Tally> tally);

}  // namespace amend::duck

#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "duck/value.h"

// The engine's own tags, so that its header stays out of ours.
// NOLINTBEGIN(bugprone-reserved-identifier)
struct _duckdb_vector;
struct _duckdb_logical_type;
// NOLINTEND(bugprone-reserved-identifier)

namespace amend::duck {

/// The type in DuckDB's words: "DECIMAL(18,3)", "STRUCT(a INTEGER, b VARCHAR)[]".
std::string TypeName(_duckdb_logical_type* type);

/// One value of a vector of that type. Unsupported for types that have no Value.
Result<Value> ReadValue(_duckdb_vector* vector, _duckdb_logical_type* type,
                        std::uint64_t row);

}  // namespace amend::duck

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lineage/definition.h"
#include "sql/bound_plan.h"

namespace amend::sql {

/// "VOLATILE" or "CONSISTENT_WITHIN_QUERY" by name of the function, as the engine's
/// catalog says; the others are not in it.
using Stability = std::map<std::string, std::string>;

struct Determinism {
  std::vector<lineage::DeterminismFinding>
      findings;  ///< in the order of the plan, once each
  bool order_sensitive = false;
};

/// What makes the result depend on more than the rows of the inputs: randomness, the
/// clock, aggregates and windows whose value depends on the order of rows, limits and
/// picks among ties. `line_of` turns a byte of the statement into a line for the texts.
Determinism DeterminismOf(const Operator& root, const Stability& stability,
                          const std::function<int(std::int64_t)>& line_of);

}  // namespace amend::sql

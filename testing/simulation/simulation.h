#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "testing/simulation/mutants.h"

namespace amend::simulation {

/// What many seeds did together.
struct Totals {
  std::int64_t seeds = 0;
  std::int64_t steps = 0;
  std::unordered_set<std::uint64_t> states;    ///< canonical protocol states, hashed
  std::map<std::string, std::int64_t> counts;  ///< faults, races, endings by name
};

/// Runs one history: plans, publishers, rollbacks, landings, neighbours, gc, faults, in
/// an order that `seed` decides; then, without faults, everything that was left open.
/// Returns the first broken invariant, or "".
std::string RunSeed(std::uint64_t seed, Mutant mutant, Totals& totals,
                    std::vector<std::string>* trace = nullptr);

}  // namespace amend::simulation

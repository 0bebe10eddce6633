#include "testing/simulation/simulation.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/simulation/mutants.h"

namespace amend::simulation {
namespace {

constexpr std::uint64_t kSeeds = 20'000;
constexpr std::uint64_t kMutantSeeds = 20'000;

/// Replays a seed and returns its history, with how to see it again.
std::string Story(std::uint64_t seed, Mutant mutant) {
  Totals totals;
  std::vector<std::string> trace;
  const std::string violation = RunSeed(seed, mutant, totals, &trace);
  std::string story = violation + "\nAMEND_SIM_SEED=" + std::to_string(seed) +
                      " replays this history alone:\n";
  for (const std::string& line : trace) story += "  " + line + "\n";
  return story;
}

void Print(const Totals& totals) {
  std::cout << totals.seeds << " seeds, " << totals.steps << " steps, "
            << totals.states.size() << " distinct protocol states\n";
  for (const auto& [name, count] : totals.counts) {
    std::cout << "  " << name << ": " << count << "\n";
  }
}

TEST(Simulation, HoldsUnderTwentyThousandSeeds) {
  Totals totals;
  if (const char* only = std::getenv("AMEND_SIM_SEED")) {
    const std::uint64_t seed = std::strtoull(only, nullptr, 10);
    std::cout << Story(seed, Mutant::kNone);
    EXPECT_EQ(RunSeed(seed, Mutant::kNone, totals), "");
    return;
  }
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string violation = RunSeed(seed, Mutant::kNone, totals);
    ASSERT_EQ(violation, "") << Story(seed, Mutant::kNone);
  }
  Print(totals);
  // A simulation that meets no trouble proves nothing.
  for (const char* met : {"kill",
                          "power loss",
                          "busy",
                          "disk full or failed sync",
                          "lost answer, no effect",
                          "lost answer, took effect",
                          "late delivery, refused",
                          "late delivery, took effect",
                          "commit lost a race",
                          "commit fenced off",
                          "rows locked",
                          "compaction seen through",
                          "takeover of a living owner",
                          "files deleted by expiry",
                          "files deleted by gc",
                          "ended confirmed",
                          "ended overruled",
                          "ended unconfirmed",
                          "ended conflict",
                          "ended failed",
                          "ended unknown",
                          "ended superseded"}) {
    EXPECT_GT(totals.counts[met], 0) << met;
  }
  EXPECT_GT(totals.states.size(), 1000u);
}

class MutantTest : public testing::TestWithParam<NamedMutant> {};

TEST_P(MutantTest, IsCaught) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= kMutantSeeds; ++seed) {
    const std::string violation = RunSeed(seed, GetParam().mutant, totals);
    if (violation.empty()) continue;
    std::cout << "seed " << seed << ": " << violation << "\n";
    return;
  }
  FAIL() << "no seed noticed " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(Mutants, MutantTest, testing::ValuesIn(kMutants),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace amend::simulation

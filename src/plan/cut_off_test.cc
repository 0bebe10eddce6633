#include "plan/cut_off.h"

#include "gtest/gtest.h"

namespace amend::plan {
namespace {

using partition::Grain;
using partition::Partition;
using partition::PartitionSet;
using partition::TimeRuns;
using state::kThisPublication;

constexpr partition::Shape kDay{Grain::kDay, 0};
const Partition kFirst{0, {}};
const Partition kSecond{1, {}};

/// Of two days the first is stale through `rates`.
Standing StaleThroughRates() {
  Standing standing;
  Finding finding;
  finding.reason.from = "rates";
  finding.reason.partitions = PartitionSet::OfTimes(kDay, TimeRuns::Point(0));
  standing.findings.push_back(finding);
  return standing;
}

TEST(CutOffRecord, KeepsItsDefinitionAndMovesOnWhereNothingMadeItStale) {
  const state::BuildRecord before{
      "old", 3, {{"orders", 5}, {"rates", 5}, {"gone", 5}}, {{"orders", "u1"}}};
  const state::BuildRecord reached{
      "new",
      9,
      {{"orders", kThisPublication}, {"rates", 7}, {"added", 2}},
      {{"orders", "u1"}, {"rates", "u2"}}};
  const state::BuildRecord second =
      CutOffRecord(before, kSecond, StaleThroughRates(), reached);
  EXPECT_EQ(second,
            (state::BuildRecord{"old",
                                3,
                                {{"orders", kThisPublication}, {"rates", 7}, {"gone", 5}},
                                {{"orders", "u1"}, {"rates", "u2"}}}));
  const state::BuildRecord first =
      CutOffRecord(before, kFirst, StaleThroughRates(), reached);
  EXPECT_EQ(first.verified_at.at("rates"), 5);
  EXPECT_EQ(first.verified_at.at("orders"), kThisPublication);
}

/// A publication that was planned before another one verified more.
TEST(CutOffRecord, NeverMovesBack) {
  const state::BuildRecord before{"now", 3, {{"orders", 9}}, {}};
  const state::BuildRecord reached{"now", 4, {{"orders", 7}}, {}};
  EXPECT_EQ(CutOffRecord(before, kFirst, Standing(), reached), before);
}

}  // namespace
}  // namespace amend::plan

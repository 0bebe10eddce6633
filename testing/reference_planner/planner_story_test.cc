// Cases of the field, each told in words: the world, the exact plan, and that the plan
// after its publication has nothing to do.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/explain.h"
#include "plan/planner.h"
#include "testing/reference_planner/story.h"

namespace amend::reference {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFlights = R"(
  source flights day
  source airports whole
  model stg day
    from flights same
    lookup airports all
    column delay = flights.delay
    column state = airports.state
    rows flights.origin airports.iata
  model daily_route day
    from stg same
    column flights = stg.delay
    column avg_delay = stg.delay
    rows stg.delay
  model route_7d day
    from daily_route same
    lookup daily_route 6 days back
    column flights_7d = daily_route.flights
    rows daily_route.flights
  model monthly_state month
    from stg same
    column delay = stg.delay
    rows stg.state
  model airport_rank whole
    from stg same
    column rank = stg.delay
    rows stg.delay
  live flights 2001-01-01 … 2001-06-30
  live airports all
)";

constexpr std::string_view kBuilt = R"(
  built stg
  built daily_route
  built route_7d
  built monthly_state
  built airport_rank
)";

Story Flights(std::string_view facts = "") {
  return Story(std::string(kFlights) + std::string(kBuilt) + std::string(facts));
}

TEST(PlannerStory, TheFirstBuildBuildsAllThatTheSourceReaches) {
  Story story(kFlights);
  EXPECT_EQ(story.Plan(),
            "stg 2001-01-01 … 2001-06-30 (181)\n"
            "  missing: never built\n"
            "airport_rank all\n"
            "  missing: never built\n"
            "  upstream stg: all\n"
            "daily_route 2001-01-01 … 2001-06-30 (181)\n"
            "  missing: never built\n"
            "  upstream stg: same day\n"
            "monthly_state 2001-01 … 2001-06 (6)\n"
            "  missing: never built\n"
            "  upstream stg: day → month\n"
            "route_7d 2001-01-01 … 2001-06-30 (181)\n"
            "  missing: never built\n"
            "  upstream daily_route: same day\n"
            "  upstream daily_route: 6 days back\n");
  story.Publish();
  EXPECT_EQ(story.Plan(), "nothing\n");
}

/// The demo's correction B, and cases B01, B02: exactly 64 partitions.
TEST(PlannerStory, ACorrectionReachesExactlyWhatReadsIt) {
  Story story = Flights("change flights 2001-03-05 … 2001-03-18 by landing #7");
  EXPECT_EQ(
      story.Plan(),
      "stg 2001-03-05 … 2001-03-18 (14)\n"
      "  source flights: landing #7 changed 2001-03-05 … 2001-03-18 (14); same day\n"
      "airport_rank all\n"
      "  upstream stg: all\n"
      "daily_route 2001-03-05 … 2001-03-18 (14)\n"
      "  upstream stg: same day\n"
      "monthly_state 2001-03\n"
      "  upstream stg: day → month\n"
      "route_7d 2001-03-05 … 2001-03-24 (20)\n"
      "  upstream daily_route: same day\n"
      "  upstream daily_route: 6 days back\n");
  story.Publish();
  EXPECT_EQ(story.Plan(), "nothing\n");
}

/// The demo's change A: a column that nobody reads is planned for its model alone.
TEST(PlannerStory, ANewColumnIsPlannedForItsModelAndItsReadersOnly) {
  Story story = Flights(R"(
    record daily_route 2001-01-01 … 2001-06-30 of yesterday
    compare daily_route yesterday added avg_delay
  )");
  EXPECT_EQ(story.Plan(),
            "daily_route 2001-01-01 … 2001-06-30 (181) in avg_delay\n"
            "  code: new column avg_delay\n"
            "skipped route_7d: reads no changed column of daily_route\n");
  story.Publish();
  EXPECT_EQ(story.Plan(), "nothing\n");
}

/// A new column over all history and a correction of some days, in one plan: readers of
/// other columns are planned for the correction alone.
TEST(PlannerStory, TwoChangesKeepTheirOwnReach) {
  Story story = Flights(R"(
    record daily_route 2001-01-01 … 2001-06-30 of yesterday
    compare daily_route yesterday added avg_delay
    change flights 2001-03-05 by landing #7
  )");
  EXPECT_THAT(story.Plan(), HasSubstr("daily_route 2001-01-01 … 2001-06-30 (181)\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("route_7d 2001-03-05 … 2001-03-11 (7)\n"));
}

TEST(PlannerStory, ColumnsNobodyReadsStopTheWave) {
  Story story = Flights("change flights 2001-03-05 in tail_number by landing #7");
  EXPECT_EQ(story.Plan(),
            "nothing\n"
            "skipped stg: reads no changed column of flights\n"
            "skipped airport_rank: reads stg, which does not change\n"
            "skipped daily_route: reads stg, which does not change\n"
            "skipped monthly_state: reads stg, which does not change\n"
            "skipped route_7d: reads daily_route, which does not change\n");
  Story read = Flights("change flights 2001-03-05 in delay by landing #7");
  EXPECT_THAT(read.Plan(), HasSubstr("stg 2001-03-05 in delay\n"));
}

/// Case B12: what cannot be narrowed is shown before anything runs.
TEST(PlannerStory, AWideningIsSaid) {
  Story story = Flights("change airports all by landing #8");
  EXPECT_THAT(story.Plan(), HasSubstr("stg 2001-01-01 … 2001-06-30 (181)\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("warning widened: stg: 2001-01-01 …"));
  Story dimension(R"(
    source a day
    model dim whole
      from a same
    model c day
      from a same
      lookup dim all
    live a 2024-01-01 … 2024-12-31
    built dim
    built c
    change a 2024-01-05 by landing #2
  )");
  EXPECT_THAT(
      dimension.Plan(),
      HasSubstr("warning widened: c: 2024-01-01 … 2024-12-31 (366) planned, because "
                "which partitions dim reaches is not known (all)\n"));
}

/// Case B05.
TEST(PlannerStory, OffsetsComposeAlongEveryPath) {
  Story story(R"(
    source a day
    model b day
      from a same
      lookup a 1 day earlier
    model c day
      from b same
      lookup b 1 day earlier
    live a 2024-01-01 … 2024-03-31
    built b
    built c
    change a 2024-01-10 by landing #2
  )");
  EXPECT_THAT(story.Plan(), HasSubstr("b 2024-01-10 … 2024-01-11 (2)\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("c 2024-01-10 … 2024-01-12 (3)\n"));
}

/// Case B07: both the day that loses a row and the one that gains it.
TEST(PlannerStory, BothEndsOfAMoveArePlanned) {
  Story story = Flights(R"(
    change flights 2001-03-03 by landing #7
    change flights 2001-07-05 by landing #7
  )");
  EXPECT_THAT(story.Plan(), HasSubstr("stg 2001-03-03, 2001-07-05\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("monthly_state 2001-03, 2001-07\n"));
}

/// Case B08: state carried forward reaches all later days that exist, and no others.
TEST(PlannerStory, StateCarriedForwardEndsWithTheData) {
  Story story(R"(
    source delta day
    model balance day
      from delta same
      lookup delta everything earlier
    live delta 2024-01-01 … 2024-01-31
    built balance
    change delta 2024-01-02 by landing #2
  )");
  EXPECT_THAT(story.Plan(), HasSubstr("balance 2024-01-02 … 2024-01-31 (30)\n"));
}

TEST(PlannerStory, NullIsPlannedLikeAnyOther) {
  Story story = Flights(R"(
    live flights null
    change flights null by landing #7
  )");
  EXPECT_THAT(story.Plan(), HasSubstr("stg null\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("monthly_state null\n"));
}

/// Case B22 and the class "open": what is not finished waits, unless it is asked for.
TEST(PlannerStory, AnOpenPeriodWaitsUnlessAskedFor) {
  Story story(std::string(kFlights) + "now 2001-06-15");
  EXPECT_THAT(story.Plan(), HasSubstr("stg 2001-01-01 … 2001-06-14 (165)\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("monthly_state 2001-01 … 2001-05 (5)\n"));
  EXPECT_THAT(story.Plan(), HasSubstr("warning open: monthly_state 2001-06 not planned"));
  story.Then("partitions stg 2001-06-15");
  EXPECT_THAT(story.Plan(), HasSubstr("stg 2001-06-15\n  requested: requested\n"));
}

/// The days that came after it were published by another plan: its reason is upstream,
/// but of no task that this plan has, so it must not be cut off for want of a changed
/// input.
TEST(PlannerStory, AMonthThatWasBuiltWhileOpenIsComputedWhenItHasEnded) {
  Story story(std::string(kFlights) + "now 2001-06-15");
  story.Publish();
  story.Then("partitions monthly_state 2001-06");
  story.Publish();
  story.Then("now 2001-07-01");
  story.Publish();  // days 15 to 30, and with them the month
  story.Then(R"(
    now 2001-06-20
    change flights 2001-06-18 by landing #7
  )");
  story.Publish();  // stg and its readers by day; the month is open
  story.Then("now 2001-07-01");
  EXPECT_THAT(
      story.Plan(),
      HasSubstr("monthly_state 2001-06\n"
                "  upstream stg: publication #4 changed 2001-06-18; day → month\n"));
  auto plan = plan::MakePlan(story.world());
  ASSERT_TRUE(plan.has_value());
  for (const state::ModelPlan& model : plan->models) {
    EXPECT_EQ(state::OwnCause(model), model.partitions) << model.model;
  }
}

/// Selecting an input plans its readers; what another input made stale of them is in the
/// plan too, and goes on to theirs.
TEST(PlannerStory, WhatIsReachedIsRebuiltForAllThatMadeItStale) {
  Story story(R"(
    source orders day
    source rates day
    model m1 day
      from orders same
      column x = orders.x
    model m2 day
      from m1 same
      lookup rates same
      column x = m1.x
      column rate = rates.rate
    model m3 day
      from m2 same
      column r = m2.rate
    live orders 2024-01-01 … 2024-01-02
    live rates 2024-01-01 … 2024-01-02
    built m1
    built m2
    built m3
    change orders 2024-01-01 … 2024-01-02 in x by landing #6
    change rates 2024-01-01 in rate by landing #7
    select m1
  )");
  EXPECT_EQ(
      story.Plan(),
      "m1 2024-01-01 … 2024-01-02 (2) in x\n"
      "  source orders: landing #6 changed 2024-01-01 … 2024-01-02 (2) in column x; "
      "same day\n"
      "m2 2024-01-01 … 2024-01-02 (2) in rate, x\n"
      "  upstream m1: same day\n"
      "  source rates: landing #7 changed 2024-01-01 in column rate; same day\n"
      "m3 2024-01-01 in r\n"
      "  upstream m2: same day\n");
  auto plan = plan::MakePlan(story.world());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(state::OwnCause(plan->models[1]), story.Range("m2", "2024-01-01"));
  EXPECT_TRUE(state::OwnCause(plan->models[2]).empty());
}

/// The demo after its rollback: nothing to do, all 64 partitions held; a new landing ends
/// the hold of what it reaches, down to the last model and in one plan.
TEST(PlannerStory, WhatWasTakenBackStaysBackUntilItsInputsMove) {
  Story story = Flights(R"(
    change flights 2001-03-05 … 2001-03-18 by landing #7
    hold stg 2001-03-05 … 2001-03-18 by rollback #9
    hold daily_route 2001-03-05 … 2001-03-18 by rollback #9
    hold route_7d 2001-03-05 … 2001-03-24 by rollback #9
    hold monthly_state 2001-03 by rollback #9
    hold airport_rank all by rollback #9
  )");
  EXPECT_EQ(story.Plan(),
            "nothing\n"
            "held stg 2001-03-05 … 2001-03-18 (14) by rollback #9\n"
            "held airport_rank all by rollback #9\n"
            "held daily_route 2001-03-05 … 2001-03-18 (14) by rollback #9\n"
            "held monthly_state 2001-03 by rollback #9\n"
            "held route_7d 2001-03-05 … 2001-03-24 (20) by rollback #9\n");
  story.Then("change flights 2001-03-05 by landing #10");
  std::string plan = story.Plan();
  EXPECT_THAT(plan, HasSubstr("stg 2001-03-05\n"));
  EXPECT_THAT(plan, HasSubstr("held stg 2001-03-06 … 2001-03-18 (13) by rollback #9\n"));
  EXPECT_THAT(plan, HasSubstr("route_7d 2001-03-05 … 2001-03-11 (7)\n"));
  EXPECT_THAT(plan,
              HasSubstr("held route_7d 2001-03-12 … 2001-03-24 (13) by rollback #9\n"));
  story.Publish();
  EXPECT_THAT(story.Plan(), testing::StartsWith("nothing\n"));
}

TEST(PlannerStory, ClosedBooksKeepPublishedValuesAndItIsSaid) {
  Story story = Flights(R"(
    hold stg 2001-03-01 … 2001-03-31 by close-2001-03
    change flights 2001-03-05 … 2001-04-02 by landing #7
  )");
  std::string plan = story.Plan();
  EXPECT_THAT(plan, HasSubstr("stg 2001-04-01 … 2001-04-02 (2)\n"));
  EXPECT_THAT(plan,
              HasSubstr("held stg 2001-03-01 … 2001-03-31 (31) by close-2001-03\n"));
  EXPECT_THAT(plan,
              HasSubstr("warning stale_upstream: airport_rank reads stg 2001-03-05 … "
                        "2001-03-31 (27) as published: not current and held\n"));
}

TEST(PlannerStory, ReplayPolicySaysWhatACodeChangeDoesToHistory) {
  constexpr std::string_view kModel = R"(
    source a day
    model m day
      REPLAY
      from a same
    live a 2024-01-01 … 2024-01-31
    record m 2024-01-01 … 2024-01-31 of yesterday
  )";
  auto with = [&](const std::string& replay) {
    std::string text(kModel);
    text.replace(text.find("REPLAY"), 6, replay);
    return Story(text);
  };
  EXPECT_THAT(with("").Plan(), HasSubstr("m 2024-01-01 … 2024-01-31 (31)\n"
                                         "  code: definition changed\n"));
  EXPECT_THAT(with("replay since 2024-01-20").Plan(),
              HasSubstr("m 2024-01-20 … 2024-01-31 (12)\n"));
  EXPECT_EQ(with("replay none").Plan(), "nothing\n");
  Story ask = with("replay ask");
  EXPECT_THAT(ask.Plan(), HasSubstr("nothing\nwarning replay_ask: m 2024-01-01"));
  ask.Then("select m");
  EXPECT_THAT(ask.Plan(), HasSubstr("m 2024-01-01 … 2024-01-31 (31)\n"));
}

TEST(PlannerStory, DriftIsRebuiltAndCarriesOn) {
  Story story = Flights("drift daily_route 2001-02-01");
  EXPECT_EQ(story.Plan(),
            "daily_route 2001-02-01\n"
            "  drifted: live files are not those that were published\n"
            "route_7d 2001-02-01 … 2001-02-07 (7)\n"
            "  upstream daily_route: same day\n"
            "  upstream daily_route: 6 days back\n");
  story.Publish();
  EXPECT_EQ(story.Plan(), "nothing\n");
}

/// Cases B13, B131: a request touches nothing else, and says what it leaves stale.
TEST(PlannerStory, ARequestPlansWhatWasAskedAndAllBelowIt) {
  Story story = Flights(R"(
    change flights 2001-03-05 by landing #7
    partitions daily_route 2001-03-05 … 2001-03-06
  )");
  EXPECT_EQ(story.Plan(),
            "daily_route 2001-03-05 … 2001-03-06 (2)\n"
            "  requested: requested\n"
            "route_7d 2001-03-05 … 2001-03-12 (8)\n"
            "  upstream daily_route: same day\n"
            "  upstream daily_route: 6 days back\n"
            "warning stale_upstream: daily_route reads stg 2001-03-05 as published: not "
            "current and not in this plan\n");
  Story nowhere = Flights("partitions daily_route 1999-01-01");
  EXPECT_EQ(nowhere.Plan(),
            "nothing\n"
            "warning nothing_there: daily_route 1999-01-01 has no rows to build from\n");
  Story full = Flights("select daily_route\n full");
  EXPECT_THAT(full.Plan(), HasSubstr("daily_route 2001-01-01 … 2001-06-30 (181)\n"
                                     "  requested: full rebuild requested\n"));
}

TEST(PlannerStory, UnknownModelsAreRefusedWithTheNearestName) {
  Story story = Flights("select daily_rout");
  EXPECT_THAT(story.Plan(), HasSubstr("did you mean daily_route?"));
  Story source = Flights("select flights");
  EXPECT_THAT(source.Plan(), HasSubstr("it is a source"));
}

TEST(PlannerStory, EstimatesSayWhereTheyComeFrom) {
  Story story = Flights(R"(
    size flights 2001-01-01 … 2001-06-30 is 1810 181000
    size airports all is 100 5000
    size stg 2001-01-01 … 2001-06-29 is 1800 90000
    change flights 2001-06-29 … 2001-06-30 by landing #7
  )");
  auto plan = plan::MakePlan(story.world());
  ASSERT_TRUE(plan.has_value());
  const state::Estimate& stg = plan->models[0].estimate;
  EXPECT_EQ(stg.origin, state::Origin::kExtrapolated) << "30 June has no size";
  EXPECT_EQ(stg.rows, 20);
  EXPECT_EQ(stg.bytes_written, 1000);
  EXPECT_EQ(stg.bytes_read, 2 * 1000 + 5000);
  EXPECT_EQ(plan->models[1].estimate.origin, state::Origin::kUnknown);
  EXPECT_EQ(plan->models[1].estimate.bytes_read, 0) << "unknown plus anything is unknown";
  EXPECT_EQ(plan->pins.at("flights").version, 2);
}

TEST(PlannerStory, ReasonsLeadFromAPartitionToItsCause) {
  Story story = Flights("change flights 2001-03-05 by landing #7");
  auto plan = plan::MakePlan(story.world());
  ASSERT_TRUE(plan.has_value());
  auto at = [&](std::string_view day) {
    return partition::Partition{partition::ParsePeriod(day)->ordinal(), {}};
  };
  auto steps = plan::Explain(*story.world().lineage, *plan, "route_7d", at("2001-03-11"));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].from, "daily_route");
  EXPECT_EQ(steps[0].text, "6 days back");
  EXPECT_EQ(steps[1].model, "daily_route");
  EXPECT_EQ(steps[2].model, "stg");
  EXPECT_EQ(steps[2].from, "flights");
  EXPECT_THAT(steps[2].text, HasSubstr("landing #7"));
  EXPECT_TRUE(
      plan::Explain(*story.world().lineage, *plan, "route_7d", at("2001-03-12")).empty());
  auto why_not = [&](std::string_view day) {
    return plan::WhyNot(story.world(), *plan, "route_7d", at(day));
  };
  EXPECT_THAT(why_not("2001-03-12"), HasSubstr("is current"));
  EXPECT_THAT(why_not("1999-03-12"), HasSubstr("no rows"));
  EXPECT_THAT(why_not("2001-03-11"), HasSubstr("is in the plan"));
}

TEST(PlannerStory, ClassesAreDisjointAndAddUp) {
  Story story = Flights(R"(
    change flights 2001-03-05 … 2001-03-18 by landing #7
    hold stg 2001-03-05 by rollback #9
    drift stg 2001-03-06
    live flights 2001-07-01
    now 2001-06-30
  )");
  auto plan = plan::MakePlan(story.world());
  ASSERT_TRUE(plan.has_value());
  const state::ClassCounts& stg = plan->classes.at("stg");
  EXPECT_EQ(stg.missing, 1);
  EXPECT_EQ(stg.drifted, 1);
  EXPECT_EQ(stg.held, 1);
  EXPECT_EQ(stg.open, 1);
  EXPECT_EQ(stg.stale, 12);
  EXPECT_EQ(stg.total(), 182);
}

TEST(PlannerStory, AWorldThatContradictsItselfIsRefused) {
  Story story = Flights();
  story.world().tables.at("stg").records = {};
  EXPECT_THAT(story.Plan(), HasSubstr("without their build record"));
  Story other = Flights();
  other.world().tables.at("stg").live = partition::PartitionSet();
  EXPECT_THAT(other.Plan(), HasSubstr("another partition space"));
}

}  // namespace
}  // namespace amend::reference

#include "partition/partition_set.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace amend::partition {
namespace {

using testing::HasSubstr;

const Shape kDays{Grain::kDay, 0};
const Shape kDaysByRegion{Grain::kDay, 1};

// --- TimeRuns over every subset of a small universe ---------------------------------

constexpr int kSmall = 4;  // ordinals 0 … 3 and NULL

TimeRuns SmallTimes(int mask) {
  std::vector<Run> runs;
  for (int i = 0; i < kSmall; ++i) {
    if (mask & (1 << i)) runs.push_back({i, i + 1});
  }
  return TimeRuns::FromRuns(runs, (mask & (1 << kSmall)) != 0);
}

/// The set as a mask again, by asking for each point.
int MaskOf(const TimeRuns& times) {
  int mask = times.has_null() ? 1 << kSmall : 0;
  for (int i = 0; i < kSmall; ++i) {
    if (times.Contains(i)) mask |= 1 << i;
  }
  return mask;
}

TEST(TimeRuns, LawsHoldForEveryPairOfSmallSets) {
  constexpr int kAll = (1 << (kSmall + 1)) - 1;
  for (int x = 0; x <= kAll; ++x) {
    TimeRuns a = SmallTimes(x);
    ASSERT_TRUE(a.Verify().ok());
    ASSERT_EQ(MaskOf(a), x);
    ASSERT_EQ(a.Count(), std::popcount(static_cast<unsigned>(x)));
    TimeRuns complement = a.Complement();
    ASSERT_TRUE(complement.Verify().ok());
    ASSERT_EQ(MaskOf(complement), kAll & ~x);
    ASSERT_EQ(complement.Complement(), a);
    ASSERT_EQ(a.Union(complement), TimeRuns::Everything());
    for (int y = 0; y <= kAll; ++y) {
      TimeRuns b = SmallTimes(y);
      for (const auto& [set, mask] :
           {std::pair{a.Union(b), x | y}, std::pair{a.Intersect(b), x & y},
            std::pair{a.Difference(b), x & ~y}}) {
        ASSERT_TRUE(set.Verify().ok()) << set.Verify().ToString();
        ASSERT_EQ(set, SmallTimes(mask)) << x << " " << y;
      }
      ASSERT_EQ(a.SubsetOf(b), (x & ~y) == 0);
      ASSERT_EQ(a.Intersects(b), (x & y) != 0);
      ASSERT_EQ(a == b, x == y);
    }
  }
}

TEST(TimeRuns, AHundredThousandDaysAreOneRun) {
  std::vector<partition::Run> days;
  for (int i = 99'999; i >= 0; --i) days.push_back({i, i + 1});
  TimeRuns times = TimeRuns::FromRuns(days);
  EXPECT_THAT(times.runs(), testing::ElementsAre(partition::Run{0, 100'000}));
}

TEST(TimeRuns, TheWholeLineIsAValue) {
  TimeRuns line = TimeRuns::Line();
  EXPECT_FALSE(line.has_null());
  EXPECT_TRUE(line.Contains(kMinusInfinity));
  EXPECT_TRUE(line.Contains(kPlusInfinity - 1));
  EXPECT_EQ(line.Count(), std::nullopt);
  EXPECT_EQ(line.Complement(), TimeRuns::Null());
  EXPECT_EQ(TimeRuns::Everything().Complement(), TimeRuns());
  EXPECT_EQ(TimeRuns::Of(kMinusInfinity, 5).Complement().Difference(TimeRuns::Null()),
            TimeRuns::Of(5, kPlusInfinity));
  EXPECT_EQ(TimeRuns::Of(-9'000'000'000'000'000'000, 9'000'000'000'000'000'000).Count(),
            kPlusInfinity)
      << "saturates";
}

TEST(TimeRunsDeathTest, AnInvertedRunCannotBeBuilt) {
  EXPECT_DEATH(TimeRuns::Of(2, 1), "first <= end");
  EXPECT_DEATH(TimeRuns::FromRuns({{2, 1}}), "first <= run.end");
}

// --- PartitionSet: every set over one value dimension, times {NULL, 0, 1} ------------

const ValueTuple kEu{std::string("EU")};
const ValueTuple kUs{std::string("US")};
const ValueTuple kNobody{Value()};

PartitionSet SmallSet(int rest, int eu) {
  // Ordinals 0 and 1 and NULL are bits 0, 1 and 4 of SmallTimes.
  auto times = [](int mask) { return SmallTimes((mask & 3) | (mask & 4) << 2); };
  return PartitionSet::Of(kDaysByRegion, times(rest), {{kEu, times(eu)}});
}

TEST(PartitionSet, LawsHoldForEveryPairOfSmallSets) {
  const std::vector<std::optional<std::int64_t>> times = {std::nullopt, 0, 1};
  const std::vector<ValueTuple> tuples = {kEu, kUs, kNobody};
  for (int x = 0; x < 64; ++x) {
    for (int y = 0; y < 64; ++y) {
      PartitionSet a = SmallSet(x / 8, x % 8);
      PartitionSet b = SmallSet(y / 8, y % 8);
      PartitionSet u = a.Union(b);
      PartitionSet i = a.Intersect(b);
      PartitionSet d = a.Difference(b);
      PartitionSet c = a.Complement();
      for (const PartitionSet* set : {&u, &i, &d, &c}) {
        ASSERT_TRUE(set->Verify().ok()) << set->Verify().ToString();
      }
      bool subset = true;
      for (const auto& values : tuples) {
        for (const auto& time : times) {
          Partition p{time, values};
          bool in_a = a.Contains(p);
          bool in_b = b.Contains(p);
          ASSERT_EQ(u.Contains(p), in_a || in_b);
          ASSERT_EQ(i.Contains(p), in_a && in_b);
          ASSERT_EQ(d.Contains(p), in_a && !in_b);
          ASSERT_EQ(c.Contains(p), !in_a);
          subset = subset && (!in_a || in_b);
        }
      }
      ASSERT_EQ(a.SubsetOf(b), subset);
      ASSERT_EQ(a.Intersects(b), !i.empty());
      ASSERT_EQ(a == b, x == y);
      ASSERT_EQ(a.Bytes() == b.Bytes(), x == y);
      ASSERT_EQ(c.Complement(), a);
      ASSERT_EQ(u.Complement(), a.Complement().Intersect(b.Complement()));
    }
  }
}

// --- Against std::set, on sets made by random operations ------------------------------

constexpr int kFrom = -12;
constexpr int kTo = 12;

/// Points of a bounded universe; the third tuple stands for all that are never named.
struct Twin {
  std::set<Partition> points;
  static std::vector<Partition> Universe() {
    std::vector<Partition> all;
    for (const ValueTuple& values : {kEu, kNobody, kUs}) {
      all.push_back({std::nullopt, values});
      for (int at = kFrom; at < kTo; ++at) all.push_back({at, values});
    }
    return all;
  }
  bool operator==(const Twin&) const = default;
};

Twin Combine(const Twin& a, const Twin& b, const std::function<bool(bool, bool)>& op) {
  Twin result;
  for (const Partition& p : Twin::Universe()) {
    if (op(a.points.contains(p), b.points.contains(p))) result.points.insert(p);
  }
  return result;
}

TimeRuns RandomTimes() {
  auto runs = *rc::gen::container<std::vector<Run>>(rc::gen::apply(
      [](int first, int size) { return Run{first, std::min(first + size, kTo)}; },
      rc::gen::inRange(kFrom, kTo), rc::gen::inRange(0, 6)));
  return TimeRuns::FromRuns(std::move(runs), *rc::gen::arbitrary<bool>());
}

std::pair<PartitionSet, Twin> RandomLeaf() {
  TimeRuns times = RandomTimes();
  int which = *rc::gen::inRange(0, 3);
  Twin twin;
  for (const Partition& p : Twin::Universe()) {
    bool named = which == 2 || p.values == (which == 0 ? kEu : kNobody);
    if (named && times.Contains(p.time)) twin.points.insert(p);
  }
  if (which == 2) return {PartitionSet::OfTimes(kDaysByRegion, times), twin};
  return {
      PartitionSet::Of(kDaysByRegion, TimeRuns(), {{which == 0 ? kEu : kNobody, times}}),
      twin};
}

RC_GTEST_PROP(PartitionSetProperty, AgreesWithTheTwinAfterEveryOperation, ()) {
  auto [set, twin] = RandomLeaf();
  int steps = *rc::gen::inRange(1, 8);
  for (int i = 0; i < steps; ++i) {
    auto [other, other_twin] = RandomLeaf();
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        set = set.Union(other);
        twin = Combine(twin, other_twin, [](bool a, bool b) { return a || b; });
        break;
      case 1:
        set = set.Intersect(other);
        twin = Combine(twin, other_twin, [](bool a, bool b) { return a && b; });
        break;
      case 2:
        set = set.Difference(other);
        twin = Combine(twin, other_twin, [](bool a, bool b) { return a && !b; });
        break;
      default:
        set = set.Complement();
        twin = Combine(twin, other_twin, [](bool a, bool) { return !a; });
    }
    RC_ASSERT(set.Verify().ok());
    for (const Partition& p : Twin::Universe()) {
      RC_ASSERT(set.Contains(p) == twin.points.contains(p));
    }
  }
}

RC_GTEST_PROP(PartitionSetProperty, PointsRebuildTheSet, ()) {
  PartitionSet set = PartitionSet::Of(kDaysByRegion, TimeRuns(),
                                      {{kEu, RandomTimes()}, {kUs, RandomTimes()}});
  auto points = set.Points(1'000);
  RC_ASSERT(points.has_value());
  RC_ASSERT(static_cast<std::int64_t>(points->size()) == set.Count());
  RC_ASSERT(std::is_sorted(points->begin(), points->end()));
  std::reverse(points->begin(), points->end());
  PartitionSet rebuilt = PartitionSet::Of(kDaysByRegion, *points);
  RC_ASSERT(rebuilt == set);
  RC_ASSERT(rebuilt.Bytes() == set.Bytes());
}

RC_GTEST_PROP(PartitionSetProperty, RangesSurviveJson, ()) {
  auto space = PartitionSpace::Make({Dimension::Time("ts", Grain::kDay),
                                     Dimension::OfValue("count", ValueType::kString)});
  auto [set, twin] = RandomLeaf();
  auto [other, other_twin] = RandomLeaf();
  set = set.Union(other);
  if (*rc::gen::arbitrary<bool>()) set = set.Complement();
  auto read = RangesFromJson(*space, RangesToJson(*space, set));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == set);
}

// --- What it costs and says ------------------------------------------------------------

TEST(PartitionSet, UnpartitionedHasOnePointPrintedAll) {
  PartitionSpace space;
  PartitionSet all = PartitionSet::All(space);
  EXPECT_EQ(all.Count(), 1);
  EXPECT_TRUE(all.is_all());
  EXPECT_TRUE(all.Complement().empty());
  EXPECT_EQ(all, PartitionSet::Of(space.shape(), Partition{}));
  EXPECT_EQ(RangesToJson(space, all).dump(),
            R"([{"first":"all","last":"all","count":1}])");
  EXPECT_EQ(Describe(space, all), "all");
  EXPECT_EQ(RangesFromJson(space, RangesToJson(space, all)), all);
}

TEST(PartitionSet, UnlimitedSetsAreNotListed) {
  PartitionSet set = PartitionSet::OfTimes(kDays, TimeRuns::Line());
  EXPECT_EQ(set.Points(10).error().code(), StatusCode::kExhausted);
  PartitionSet every = PartitionSet::OfTimes(kDaysByRegion, TimeRuns::Point(3));
  EXPECT_EQ(every.Count(), std::nullopt) << "regions have no end";
  PartitionSet eleven = PartitionSet::OfTimes(kDays, TimeRuns::Of(0, 11));
  EXPECT_THAT(eleven.Points(10).error().message(), HasSubstr("11 partitions"));
  EXPECT_EQ(eleven.Points(11)->size(), 11u);
}

TEST(PartitionSet, RangesAreInclusiveInTheTablesOwnGrain) {
  PartitionSpace days = PartitionSpace::OfTime("ts", Grain::kDay);
  std::int64_t first = ParsePeriod("2001-03-05")->ordinal();
  PartitionSet set = PartitionSet::OfTimes(
      days.shape(), TimeRuns::Of(first, first + 14).Union(TimeRuns::Null()));
  EXPECT_EQ(RangesToJson(days, set).dump(),
            R"([{"first":null,"last":null,"count":1},)"
            R"({"first":"2001-03-05","last":"2001-03-18","count":14}])");
  EXPECT_EQ(Describe(days, set), "null, 2001-03-05 … 2001-03-18 (14)");
  EXPECT_EQ(Describe(days, set.Complement()), "up to 2001-03-04, 2001-03-19 and later");
  PartitionSet scattered(days.shape());
  for (int i = 0; i < 5; ++i) {
    scattered = scattered.Union(
        PartitionSet::OfTimes(days.shape(), TimeRuns::Point(first + 2 * i)));
  }
  EXPECT_EQ(Describe(days, scattered, 2), "2001-03-05, 2001-03-07 and 3 more");
  EXPECT_EQ(Describe(days, PartitionSet::Empty(days)), "nothing");
  EXPECT_EQ(Describe(days, PartitionSet::OfTimes(days.shape(), TimeRuns::Line())),
            "every day");
}

TEST(PartitionSet, ValuesAreMembersOfTheirRanges) {
  auto space = PartitionSpace::Make({Dimension::OfValue("region", ValueType::kString),
                                     Dimension::Time("m", Grain::kMonth)});
  ASSERT_TRUE(space.has_value());
  Partition point{ParsePeriod("2001-03")->ordinal(), kEu};
  PartitionSet set = PartitionSet::Of(space->shape(), point);
  EXPECT_EQ(RangesToJson(*space, set).dump(),
            R"([{"region":"EU","first":"2001-03","last":"2001-03","count":1}])");
  EXPECT_EQ(Describe(*space, set), "2001-03 region=EU");
  EXPECT_EQ(
      Describe(*space, set.Complement(), 9),
      "null of every other value, every month of every other value, null region=EU, "
      "up to 2001-02 region=EU, 2001-04 and later region=EU");
}

TEST(PartitionSet, DamagedRangesAreRefused) {
  auto space = PartitionSpace::Make({Dimension::OfValue("region", ValueType::kString),
                                     Dimension::Time("ts", Grain::kDay)});
  for (const char* text :
       {R"({})", R"([1])", R"([{"first":"2001-03-05"}])",
        R"([{"region":1,"first":"2001-03-05"}])",
        R"([{"region":"EU","first":"2001-03"}])", R"([{"region":"EU","first":5}])",
        R"([{"region":"EU","first":"2001-03-05","last":"2001-03-03"}])"}) {
    auto json = ParseJson(text, "test");
    ASSERT_TRUE(json.has_value()) << text;
    auto set = RangesFromJson(*space, *json);
    ASSERT_FALSE(set.has_value()) << text;
    EXPECT_EQ(set.error().code(), StatusCode::kDamaged) << text;
  }
  EXPECT_FALSE(
      RangesFromJson(PartitionSpace(), *ParseJson(R"([{}])", "test")).has_value());
}

TEST(PartitionSetDeathTest, DaysAndMonthsDoNotMix) {
  PartitionSet days(kDays);
  PartitionSet months(Shape{Grain::kMonth, 0});
  EXPECT_DEATH((void)days.Union(months), "shape_ == other.shape_");
}

TEST(PartitionSet, BytesTellTextFromNumbersAndNull) {
  auto bytes = [](Value value) {
    return PartitionSet::Of(kDaysByRegion, Partition{0, {std::move(value)}}).Bytes();
  };
  std::set<std::string> distinct = {bytes(Value()),
                                    bytes(std::string()),
                                    bytes(std::string("null")),
                                    bytes(std::int64_t{1}),
                                    bytes(std::string("1")),
                                    bytes(true),
                                    bytes(std::string("1:x")),
                                    bytes(std::string("i1,"))};
  EXPECT_EQ(distinct.size(), 8u);
}

}  // namespace
}  // namespace amend::partition

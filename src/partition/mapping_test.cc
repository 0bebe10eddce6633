#include "partition/mapping.h"

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "base/civil.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace amend::partition {
namespace {

using testing::ElementsAre;

Shape Of(Grain grain) { return {grain, 0}; }

TimeMapping WindowOf(Reach back, Reach ahead) {
  TimeMapping time;
  time.all = false;
  time.back = back;
  time.ahead = ahead;
  return time;
}

PartitionMapping Mapping(Grain input, Grain output, Reach back, Reach ahead) {
  auto mapping = PartitionMapping::Make(Of(input), Of(output), WindowOf(back, ahead));
  EXPECT_TRUE(mapping.has_value());
  return mapping.value_or(PartitionMapping());
}

Reach Days(std::int64_t count) { return Reach::Of(count, Grain::kDay); }
Reach Months(std::int64_t count) { return Reach::Of(count, Grain::kMonth); }

PartitionSet Times(Grain grain, std::string_view first, std::string_view last) {
  return PartitionSet::OfTimes(Of(grain), TimeRuns::Of(ParsePeriod(first)->ordinal(),
                                                       ParsePeriod(last)->ordinal() + 1));
}

std::string Shown(Grain grain, const PartitionSet& set) {
  return Describe(PartitionSpace::OfTime("t", grain), set);
}

// --- Stories ---------------------------------------------------------------------------

/// Case B02: six days touch one month, and that month reads all of its days.
TEST(PartitionMapping, AMonthIsTouchedOnceAndReadsAllItsDays) {
  auto mapping = Mapping(Grain::kDay, Grain::kMonth, Days(0), Days(0));
  PartitionSet months = mapping.Affected(Times(Grain::kDay, "2024-02-15", "2024-02-20"));
  EXPECT_EQ(Shown(Grain::kMonth, months), "2024-02");
  EXPECT_EQ(Shown(Grain::kDay, mapping.Required(months)), "2024-02-01 … 2024-02-29 (29)");
  EXPECT_EQ(mapping.ToString(), "day → month");
}

TEST(PartitionMapping, ATrailingWeekReachesSixDaysOn) {
  auto mapping = Mapping(Grain::kDay, Grain::kDay, Days(6), Days(0));
  PartitionSet days = mapping.Affected(Times(Grain::kDay, "2001-03-05", "2001-03-18"));
  EXPECT_EQ(Shown(Grain::kDay, days), "2001-03-05 … 2001-03-24 (20)");
  EXPECT_EQ(Shown(Grain::kDay,
                  mapping.Required(Times(Grain::kDay, "2001-03-05", "2001-03-05"))),
            "2001-02-27 … 2001-03-05 (7)");
  EXPECT_EQ(mapping.ToString(), "6 days back");
}

/// Case B05: offsets compose along a path.
TEST(PartitionMapping, ShiftsComposeAlongAPath) {
  auto yesterday = Mapping(Grain::kDay, Grain::kDay, Days(1), Days(-1));
  PartitionSet b = yesterday.Affected(Times(Grain::kDay, "2024-01-10", "2024-01-10"));
  PartitionSet c = yesterday.Affected(b);
  EXPECT_EQ(Shown(Grain::kDay, b), "2024-01-11");
  EXPECT_EQ(Shown(Grain::kDay, c), "2024-01-12");
  EXPECT_EQ(yesterday.ToString(), "1 day earlier");
}

/// Case B18: months that reach back seven days.
TEST(PartitionMapping, MonthsMayReachBackByDays) {
  auto mapping = Mapping(Grain::kDay, Grain::kMonth, Days(7), Days(0));
  EXPECT_EQ(
      Shown(Grain::kDay, mapping.Required(Times(Grain::kMonth, "2024-03", "2024-03"))),
      "2024-02-23 … 2024-03-31 (38)");
  EXPECT_EQ(Shown(Grain::kMonth,
                  mapping.Affected(Times(Grain::kDay, "2024-02-24", "2024-02-24"))),
            "2024-02 … 2024-03 (2)");
  EXPECT_EQ(mapping.ToString(), "day → month, 7 days back");
}

TEST(PartitionMapping, StateCarriedForwardReachesForEver) {
  auto mapping = Mapping(Grain::kDay, Grain::kDay, Reach::Unbounded(), Days(0));
  EXPECT_EQ(Shown(Grain::kDay,
                  mapping.Affected(Times(Grain::kDay, "2024-01-02", "2024-01-02"))),
            "2024-01-02 and later");
  EXPECT_EQ(Shown(Grain::kDay,
                  mapping.Required(Times(Grain::kDay, "2024-01-02", "2024-01-02"))),
            "up to 2024-01-02");
  EXPECT_EQ(mapping.ToString(), "everything earlier");
}

TEST(PartitionMapping, MonthsClampToTheEndsOfMonths) {
  auto before = Mapping(Grain::kDay, Grain::kDay, Months(1), Months(-1));
  auto needs = [&](std::string_view day) {
    return Shown(Grain::kDay, before.Required(Times(Grain::kDay, day, day)));
  };
  EXPECT_EQ(needs("2023-03-15"), "2023-02-15");
  EXPECT_EQ(needs("2023-03-30"), "2023-02-28");
  EXPECT_EQ(needs("2023-03-31"), "2023-02-28");
  // t + 1 month is 28 February for each of these.
  EXPECT_EQ(needs("2023-02-28"), "2023-01-28 … 2023-01-31 (4)");
  EXPECT_EQ(needs("2024-02-28"), "2024-01-28");
  EXPECT_EQ(needs("2024-02-29"), "2024-01-29 … 2024-01-31 (3)");
}

TEST(PartitionMapping, NullIsAPointLikeAnyOther) {
  TimeMapping time = WindowOf(Days(0), Days(0));
  PartitionSet null = PartitionSet::OfTimes(Of(Grain::kDay), TimeRuns::Null());
  PartitionSet day = Times(Grain::kDay, "2001-03-05", "2001-03-05");
  auto make = [&] {
    return PartitionMapping::Make(Of(Grain::kDay), Of(Grain::kDay), time).value();
  };
  EXPECT_EQ(make().Affected(null), null);
  time.null_to_null = false;
  EXPECT_TRUE(make().Affected(null).empty());
  // A LEFT JOIN whose key comes from the right side moves rows out of NULL.
  time.all_to_null = true;
  EXPECT_EQ(make().Affected(day), day.Union(null));
  EXPECT_TRUE(make().Required(null).is_all());
  EXPECT_EQ(make().Required(day), day);
  time.all_to_null = false;
  time.null_to_all = true;
  EXPECT_TRUE(make().Affected(null).is_all());
  EXPECT_EQ(make().Required(day), day.Union(null));
}

TEST(PartitionMapping, UnpartitionedTablesNeedEverything) {
  auto to_all = PartitionMapping::All(Of(Grain::kDay), Shape{});
  EXPECT_EQ(to_all.Affected(Times(Grain::kDay, "2001-03-05", "2001-03-05")),
            PartitionSet::All(Shape{}));
  EXPECT_TRUE(to_all.Affected(PartitionSet(Of(Grain::kDay))).empty());
  EXPECT_TRUE(to_all.Required(PartitionSet::All(Shape{})).is_all());
  EXPECT_TRUE(to_all.is_all());
  EXPECT_EQ(PartitionMapping(), PartitionMapping::All(Shape{}, Shape{}));
  EXPECT_TRUE(PartitionMapping().is_all());
  EXPECT_EQ(PartitionMapping::Make(Shape{}, Shape{}, TimeMapping()).value(),
            PartitionMapping());
}

TEST(PartitionMapping, ValuesAreCarriedAllOrNotAtAll) {
  Shape input{Grain::kDay, 2};
  ValueTuple eu_shoes{std::string("EU"), std::string("shoes")};
  ValueTuple shoes_eu{std::string("shoes"), std::string("EU")};
  TimeMapping same = WindowOf(Days(0), Days(0));
  auto swapped = PartitionMapping::Make(input, input, same, {1, 0}).value();
  PartitionSet set = PartitionSet::Of(input, Partition{3, eu_shoes});
  EXPECT_EQ(swapped.Affected(set), PartitionSet::Of(input, Partition{3, shoes_eu}));
  EXPECT_EQ(swapped.Required(swapped.Affected(set)), set);
  EXPECT_FALSE(swapped.widened_values());

  auto partly = PartitionMapping::Make(input, Shape{Grain::kDay, 1}, same, {0}).value();
  EXPECT_TRUE(partly.widened_values());
  EXPECT_EQ(partly.Affected(set),
            PartitionSet::OfTimes(Shape{Grain::kDay, 1}, TimeRuns::Point(3)));
  auto dropped = PartitionMapping::Make(input, Of(Grain::kDay), same).value();
  EXPECT_FALSE(dropped.widened_values());
  EXPECT_EQ(PartitionMapping::Identity(input).Affected(set), set);
}

TEST(PartitionMapping, WindowsThatCannotBeAreRefused) {
  auto make = [](Reach back, Reach ahead) {
    return PartitionMapping::Make(Of(Grain::kDay), Of(Grain::kDay),
                                  WindowOf(back, ahead));
  };
  EXPECT_EQ(make(Days(2), Days(-3)).error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(make(Months(-1), Days(0)).error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(make(Months(-1), Days(40)).error().code(), StatusCode::kUnsupported);
  EXPECT_TRUE(make(Months(1), Days(3)).has_value());
  EXPECT_TRUE(make(Days(2), Days(-2)).has_value());
  EXPECT_TRUE(make(Days(0), Months(1)).has_value());
  auto timeless =
      PartitionMapping::Make(Of(Grain::kDay), Shape{}, WindowOf(Days(0), Days(0)));
  EXPECT_EQ(timeless.error().code(), StatusCode::kUnsupported);
  EXPECT_FALSE(
      PartitionMapping::Make(Shape{}, Shape{Grain::kDay, 1}, {}, {0}).has_value());
}

// --- Laws ------------------------------------------------------------------------------

struct Rule {
  Reach back;
  Reach ahead;
};

const std::vector<Rule>& Rules() {
  static const std::vector<Rule> rules = {
      {Days(0), Days(0)},
      {Days(6), Days(0)},
      {Days(0), Days(3)},
      {Days(2), Days(-2)},
      {Days(-2), Days(2)},
      {Days(1), Days(1)},
      {Reach::Of(5, Grain::kHour), Reach::Of(30, Grain::kHour)},
      {Reach::Of(2, Grain::kWeek), Days(0)},
      {Months(1), Days(0)},
      {Months(1), Months(-1)},
      {Months(-1), Months(1)},
      {Days(0), Reach::Of(1, Grain::kQuarter)},
      {Reach::Of(1, Grain::kYear), Days(2)},
      {Reach::Unbounded(), Days(0)},
      {Days(3), Reach::Unbounded()},
      {Reach::Unbounded(), Reach::Unbounded()},
  };
  return rules;
}

/// Leap day, month, quarter and ISO-year ends, before and after the epoch.
std::vector<std::int64_t> InterestingDays() {
  std::vector<std::int64_t> days;
  for (std::string_view center : {"2024-02-29", "2023-03-01", "2004-12-31", "1969-12-31",
                                  "1968-02-29", "1900-02-28"}) {
    std::int64_t day = *ParseDay(center);
    for (std::int64_t d : {-31, -29, -7, -2, -1, 0, 1, 2, 3, 28, 31})
      days.push_back(day + d);
  }
  return days;
}

std::set<std::int64_t> OrdinalsOf(Grain grain) {
  std::set<std::int64_t> ordinals;
  for (std::int64_t day : InterestingDays()) {
    ordinals.insert(PeriodContainingDay(grain, day).ordinal());
    if (grain == Grain::kHour) ordinals.insert(day * 24 + 23);
  }
  return ordinals;
}

TEST(PartitionMappingLaws, AffectedAndRequiredAgreeForEveryGrainPair) {
  for (Grain in : kAllGrains) {
    std::set<std::int64_t> inputs = OrdinalsOf(in);
    for (Grain out : kAllGrains) {
      std::set<std::int64_t> outputs = OrdinalsOf(out);
      for (const Rule& rule : Rules()) {
        auto mapping = Mapping(in, out, rule.back, rule.ahead);
        std::vector<std::pair<std::int64_t, PartitionSet>> required;
        for (std::int64_t k : outputs) {
          required.emplace_back(
              k, mapping.Required(PartitionSet::OfTimes(Of(out), TimeRuns::Point(k))));
          ASSERT_FALSE(required.back().second.empty());
        }
        for (std::int64_t i : inputs) {
          PartitionSet affected =
              mapping.Affected(PartitionSet::OfTimes(Of(in), TimeRuns::Point(i)));
          for (const auto& [k, needs] : required) {
            ASSERT_EQ(affected.Contains({k, {}}), needs.Contains({i, {}}))
                << mapping.ToString() << ": " << FormatPeriod({in, i}) << " → "
                << FormatPeriod({out, k});
          }
        }
      }
    }
  }
}

/// SQL's t + INTERVAL, by the standard library's calendar. Days since the epoch.
std::int64_t Plus(std::int64_t day, const Reach& reach, int sign) {
  std::int64_t count = sign * reach.count;
  switch (reach.unit) {
    case Grain::kHour:
      return day;  // not used below
    case Grain::kDay:
      return day + count;
    case Grain::kWeek:
      return day + 7 * count;
    default:
      break;
  }
  int months = static_cast<int>(count) * (reach.unit == Grain::kMonth     ? 1
                                          : reach.unit == Grain::kQuarter ? 3
                                                                          : 12);
  std::chrono::year_month_day ymd{std::chrono::sys_days{std::chrono::days(day)}};
  std::chrono::year_month_day moved = ymd + std::chrono::months(months);
  if (!moved.ok()) moved = moved.year() / moved.month() / std::chrono::last;
  return std::chrono::sys_days{moved}.time_since_epoch().count();
}

/// Whether a row of day `u` may be read for day `t`, in either way of writing it.
bool Flows(const Rule& rule, std::int64_t u, std::int64_t t) {
  bool back_direct = rule.back.unbounded || u >= Plus(t, rule.back, -1);
  bool ahead_direct = rule.ahead.unbounded || u <= Plus(t, rule.ahead, 1);
  bool back_inverse = rule.back.unbounded || Plus(u, rule.back, 1) >= t;
  bool ahead_inverse = rule.ahead.unbounded || Plus(u, rule.ahead, -1) <= t;
  return (back_direct && ahead_direct) || (back_inverse && ahead_inverse);
}

/// Every pair of days of a stretch with a leap day and a year's end: no flow is missed,
/// and where both grains are days, nothing else is claimed.
TEST(PartitionMappingLaws, NoRowFlowsOutsideTheMappingAndDaysAreExact) {
  for (std::string_view from : {"2023-11-25", "1967-11-25"}) {
    std::int64_t first = *ParseDay(from);
    for (const Rule& rule : Rules()) {
      if (rule.back.unit == Grain::kHour) continue;
      std::vector<PartitionMapping> mappings;
      for (Grain out : {Grain::kDay, Grain::kWeek, Grain::kMonth}) {
        mappings.push_back(Mapping(Grain::kDay, out, rule.back, rule.ahead));
      }
      for (std::int64_t t = first; t < first + 140; ++t) {
        std::vector<TimeRuns> needs;
        for (const auto& mapping : mappings) {
          Grain out = *mapping.output().grain;
          needs.push_back(
              mapping
                  .Required(PartitionSet::OfTimes(
                      Of(out), TimeRuns::Point(PeriodContainingDay(out, t).ordinal())))
                  .rest());
        }
        for (std::int64_t u = first - 40; u < first + 180; ++u) {
          bool flows = Flows(rule, u, t);
          ASSERT_EQ(needs[0].Contains(u), flows)
              << mappings[0].ToString() << ": " << FormatDay(u) << " → " << FormatDay(t);
          if (!flows) continue;
          ASSERT_TRUE(needs[1].Contains(u));
          ASSERT_TRUE(needs[2].Contains(u));
        }
      }
    }
  }
}

/// Exact windows: the input periods that meet the window, counted hour by hour.
TEST(PartitionMappingLaws, ExactWindowsNeedThePeriodsThatMeetThem) {
  for (Grain in : kAllGrains) {
    for (Grain out : {Grain::kHour, Grain::kDay, Grain::kWeek, Grain::kMonth}) {
      for (const Rule& rule : Rules()) {
        if (rule.back.unbounded || rule.ahead.unbounded) continue;
        if (rule.back.unit >= Grain::kMonth || rule.ahead.unit >= Grain::kMonth) continue;
        auto hours = [](const Reach& r) {
          return r.count * (r.unit == Grain::kHour  ? 1
                            : r.unit == Grain::kDay ? 24
                                                    : 168);
        };
        auto mapping = Mapping(in, out, rule.back, rule.ahead);
        for (std::string_view day : {"2024-02-29", "1969-12-31"}) {
          Period k = PeriodContainingDay(out, *ParseDay(day));
          std::set<std::int64_t> expected;
          std::int64_t from = StartMicros(k) / kMicrosPerHour - hours(rule.back);
          std::int64_t to = EndMicros(k) / kMicrosPerHour + hours(rule.ahead);
          for (std::int64_t hour = from; hour < to; ++hour) {
            expected.insert(PeriodContainingMicros(in, hour * kMicrosPerHour).ordinal());
          }
          PartitionSet needs = mapping.Required(
              PartitionSet::OfTimes(Of(out), TimeRuns::Point(k.ordinal())));
          ASSERT_EQ(needs.Count(), static_cast<std::int64_t>(expected.size()))
              << mapping.ToString() << " " << FormatPeriod(k);
          for (std::int64_t i : expected) ASSERT_TRUE(needs.Contains({i, {}}));
        }
      }
    }
  }
}

// --- Laws on random sets ---------------------------------------------------------------

Grain AnyGrain() {
  return *rc::gen::elementOf(std::vector<Grain>(kAllGrains, kAllGrains + 6));
}

/// Ordinals of the same stretch of time in every grain, and sometimes the ends of the
/// line.
std::int64_t AnyOrdinal(Grain grain) {
  int kind = *rc::gen::inRange(0, 40);
  if (kind == 0) return kMinusInfinity;
  if (kind == 1) return kPlusInfinity - 1;
  if (kind == 2)
    return PeriodContainingMicros(grain, CalendarStartMicros()).ordinal() - 1;
  if (kind == 3) return PeriodContainingMicros(grain, CalendarEndMicros()).ordinal();
  return PeriodContainingDay(grain, *rc::gen::inRange(-800, 800)).ordinal();
}

TimeRuns AnyTimes(Grain grain) {
  std::vector<Run> runs;
  int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    std::int64_t first = AnyOrdinal(grain);
    std::int64_t end = *rc::gen::inRange(0, 9) == 0
                           ? kPlusInfinity
                           : std::max(first, AnyOrdinal(grain)) + 1;
    runs.push_back({first, end});
  }
  return TimeRuns::FromRuns(std::move(runs), *rc::gen::inRange(0, 3) == 0);
}

const std::vector<ValueTuple> kTuples = {{std::string("EU"), Value()},
                                         {Value(), std::string("EU")},
                                         {std::string("US"), std::string("x")}};

PartitionSet AnySet(Shape shape) {
  if (!shape.grain) {
    return *rc::gen::arbitrary<bool>() ? PartitionSet::All(shape) : PartitionSet(shape);
  }
  if (shape.values == 0) return PartitionSet::OfTimes(shape, AnyTimes(*shape.grain));
  TimeRuns rest = *rc::gen::arbitrary<bool>() ? AnyTimes(*shape.grain) : TimeRuns();
  PartitionSet::Named named;
  for (int i = 0; i < 2; ++i) {
    if (*rc::gen::arbitrary<bool>())
      named.emplace_back(kTuples[i], AnyTimes(*shape.grain));
  }
  return PartitionSet::Of(shape, rest, named);
}

Partition AnyPoint(Shape shape) {
  Partition point;
  if (shape.grain) {
    point.time = AnyOrdinal(*shape.grain);
    if (*rc::gen::inRange(0, 4) == 0) point.time = std::nullopt;
  }
  if (shape.values == 2) point.values = *rc::gen::elementOf(kTuples);
  return point;
}

PartitionMapping AnyMapping() {
  Shape input{AnyGrain(), 0};
  Shape output{AnyGrain(), 0};
  std::vector<std::optional<int>> values;
  int kind = *rc::gen::inRange(0, 6);
  if (kind == 0) output.grain = std::nullopt;
  if (kind == 1) input.grain = std::nullopt;
  if (kind >= 3) {
    input.values = output.values = 2;
    if (kind == 3) values = {1, 0};
    if (kind == 4) values = {0, std::nullopt};
  }
  TimeMapping time;
  if (kind > 1 && *rc::gen::inRange(0, 8) != 0) {
    const Rule& rule = Rules()[*rc::gen::inRange<std::size_t>(0, Rules().size())];
    time = WindowOf(rule.back, rule.ahead);
    time.null_to_null = *rc::gen::arbitrary<bool>();
    time.null_to_all = *rc::gen::inRange(0, 4) == 0;
    time.all_to_null = *rc::gen::inRange(0, 4) == 0;
  }
  return PartitionMapping::Make(input, output, time, values).value();
}

RC_GTEST_PROP(PartitionMappingProperty, AffectedAndRequiredAreDual, ()) {
  PartitionMapping m = AnyMapping();
  PartitionSet inputs = AnySet(m.input());
  PartitionSet outputs = AnySet(m.output());
  PartitionSet affected = m.Affected(inputs);
  PartitionSet required = m.Required(outputs);
  RC_ASSERT(affected.Verify().ok());
  RC_ASSERT(required.Verify().ok());
  RC_ASSERT(affected.shape() == m.output());
  RC_ASSERT(required.shape() == m.input());
  RC_ASSERT(affected.Intersects(outputs) == required.Intersects(inputs));
  for (int i = 0; i < 20; ++i) {
    Partition k = AnyPoint(m.output());
    RC_ASSERT(affected.Contains(k) ==
              m.Required(PartitionSet::Of(m.output(), k)).Intersects(inputs));
    Partition p = AnyPoint(m.input());
    RC_ASSERT(required.Contains(p) ==
              m.Affected(PartitionSet::Of(m.input(), p)).Intersects(outputs));
  }
}

RC_GTEST_PROP(PartitionMappingProperty, RequiredRunsAreThoseOfEachRunAlone, ()) {
  PartitionMapping m = AnyMapping();
  if (m.time().all) return;
  std::vector<Run> outputs = AnyTimes(*m.output().grain).runs();
  std::vector<Run> required = m.RequiredRuns(outputs);
  RC_ASSERT(required.size() == outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto alone =
        PartitionSet::OfTimes(m.output(), TimeRuns::Of(outputs[i].first, outputs[i].end));
    RC_ASSERT(m.Required(alone).rest().runs() == std::vector<Run>{required[i]});
    if (i == 0) continue;
    RC_ASSERT(required[i - 1].first <= required[i].first);
    RC_ASSERT(required[i - 1].end <= required[i].end);
  }
}

RC_GTEST_PROP(PartitionMappingProperty, BothDistributeOverUnion, ()) {
  PartitionMapping m = AnyMapping();
  PartitionSet a = AnySet(m.input());
  PartitionSet b = AnySet(m.input());
  RC_ASSERT(m.Affected(a.Union(b)) == m.Affected(a).Union(m.Affected(b)));
  RC_ASSERT(m.Affected(PartitionSet(m.input())).empty());
  PartitionSet s = AnySet(m.output());
  PartitionSet t = AnySet(m.output());
  RC_ASSERT(m.Required(s.Union(t)) == m.Required(s).Union(m.Required(t)));
  RC_ASSERT(m.Required(PartitionSet(m.output())).empty());
}

RC_GTEST_PROP(PartitionMappingProperty, SurvivesJson, ()) {
  PartitionMapping m = AnyMapping();
  auto read = PartitionMapping::FromJson(m.input(), m.output(), m.ToJson());
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == m);
}

TEST(PartitionMapping, DamagedJsonIsRefused) {
  Json good = Mapping(Grain::kDay, Grain::kDay, Days(6), Days(0)).ToJson();
  EXPECT_TRUE(
      PartitionMapping::FromJson(Of(Grain::kDay), Of(Grain::kDay), good).has_value());
  for (std::string_view member : {"back", "ahead", "null_to_null"}) {
    Json bad = good;
    bad["time"].erase(std::string(member));
    EXPECT_FALSE(
        PartitionMapping::FromJson(Of(Grain::kDay), Of(Grain::kDay), bad).has_value());
  }
  for (std::string_view text :
       {"{}", "[]", R"({"time":"all"})", R"({"time":1,"values":[]})"}) {
    auto json = ParseJson(text, "test");
    EXPECT_FALSE(
        PartitionMapping::FromJson(Of(Grain::kDay), Of(Grain::kDay), *json).has_value())
        << text;
  }
}

}  // namespace
}  // namespace amend::partition

#include "partition/grain.h"

#include <chrono>
#include <string>

#include "base/civil.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partition/time_runs.h"
#include "rapidcheck/gtest.h"

namespace amend::partition {
namespace {

Period P(std::string_view text) {
  auto period = ParsePeriod(text);
  EXPECT_TRUE(period.has_value()) << text;
  return period.value_or(Period(Grain::kDay, 0));
}

TEST(Grain, NamesRoundTrip) {
  for (Grain grain : kAllGrains) EXPECT_EQ(ParseGrain(GrainName(grain)), grain);
  EXPECT_EQ(ParseGrain("fortnight"), std::nullopt);
}

TEST(Grain, OrdinalsCountFromTheEpoch) {
  EXPECT_EQ(P("1970-01-01T00").ordinal(), 0);
  EXPECT_EQ(P("1970-01-01").ordinal(), 0);
  EXPECT_EQ(P("1970-W01").ordinal(), 0);
  EXPECT_EQ(P("1970-01").ordinal(), 0);
  EXPECT_EQ(P("1970-Q1").ordinal(), 0);
  EXPECT_EQ(P("1970").ordinal(), 0);
  EXPECT_EQ(P("1969-12-31T23").ordinal(), -1);
  EXPECT_EQ(P("1969-12").ordinal(), -1);
  EXPECT_EQ(P("1969-Q4").ordinal(), -1);
  EXPECT_EQ(P("1969").ordinal(), -1);
  EXPECT_EQ(P("2001-03-05").ordinal(), 11'386);
}

TEST(Grain, PeriodsAreWrittenAsPeopleWriteThem) {
  for (const char* text :
       {"2001-03-05T14", "2001-03-05", "2001-03", "2001-Q1", "2001", "2001-W10",
        "2000-02-29", "1969-12-31T23", "1600-02-29", "0001-01-01", "-0044-03-15", "-0001",
        "12001-Q4", "200000-12", "2004-W53", "2020-W53", "2009-W53", "0000-02-29"}) {
    EXPECT_EQ(FormatPeriod(P(text)), text);
  }
}

TEST(Grain, WeeksBelongToTheYearOfTheirThursday) {
  // Facts of ISO 8601's week calendar.
  EXPECT_EQ(StartDay(P("2009-W01")), *ParseDay("2008-12-29"));
  EXPECT_EQ(StartDay(P("2009-W53")), *ParseDay("2009-12-28"));
  EXPECT_EQ(StartDay(P("2001-W10")), *ParseDay("2001-03-05"));
  EXPECT_EQ(FormatPeriod(RoundDownTo(Grain::kWeek, P("2005-01-01"))), "2004-W53");
  EXPECT_EQ(FormatPeriod(RoundDownTo(Grain::kWeek, P("1970-01-01"))), "1970-W01");
  EXPECT_EQ(FormatPeriod(RoundDownTo(Grain::kWeek, P("1969-12-28"))), "1969-W52");
}

TEST(Grain, WhatIsNoPeriodIsRefused) {
  for (const char* text : {"",
                           "-",
                           "01",
                           "0020010",
                           "2001-",
                           "2001-13",
                           "2001-00",
                           "2001-3",
                           "2001-02-29",
                           "2001-02-30",
                           "2001-03-5",
                           "2001-03-05T",
                           "2001-03-05T24",
                           "2001-03-05T1",
                           "2001-03-05T14:00",
                           "2001-W00",
                           "2001-W54",
                           "2001-W53",
                           "2005-W53",
                           "2001-W1",
                           "2001-Q0",
                           "2001-Q5",
                           "2001-Q",
                           "2001-Q11",
                           "-0000",
                           "02001",
                           "999999",
                           "2001-03-05 ",
                           " 2001",
                           "2001/03",
                           "2001-w10",
                           "2001-1-1",
                           "200001"}) {
    EXPECT_EQ(ParsePeriod(text), std::nullopt) << text;
  }
}

/// The calendar of the standard library, as a twin of ours.
std::int64_t TwinOrdinal(Grain grain, std::int64_t day) {
  using std::chrono::days;
  std::chrono::sys_days at{days(day)};
  std::chrono::year_month_day ymd{at};
  std::int64_t year = int{ymd.year()} - 1970;
  std::int64_t month = static_cast<int>(unsigned{ymd.month()}) - 1;
  switch (grain) {
    case Grain::kHour:
      return day * 24;
    case Grain::kDay:
      return day;
    case Grain::kWeek: {
      std::int64_t back = std::chrono::weekday(at).iso_encoding() - 1;
      return (day - back + 3) / 7;  // Mondays are 7 n - 3: exact
    }
    case Grain::kMonth:
      return year * 12 + month;
    case Grain::kQuarter:
      return year * 4 + month / 3;
    case Grain::kYear:
      return year;
  }
  return 0;
}

TEST(Grain, EveryDayOfFourCenturiesLiesInThePeriodOfTheTwinCalendar) {
  for (std::int64_t day = *ParseDay("1799-12-25"); day < *ParseDay("2200-01-05"); ++day) {
    for (Grain grain : kAllGrains) {
      Period period = PeriodContainingDay(grain, day);
      ASSERT_EQ(period.ordinal(), TwinOrdinal(grain, day))
          << GrainName(grain) << " " << day;
      ASSERT_LE(StartMicros(period), day * kMicrosPerDay);
      ASSERT_GT(EndMicros(period), day * kMicrosPerDay);
      ASSERT_EQ(ParsePeriod(FormatPeriod(period)), period) << FormatPeriod(period);
    }
  }
}

RC_GTEST_PROP(GrainProperty, PeriodsTileTheLine, ()) {
  Grain grain = *rc::gen::elementOf(std::vector<Grain>(kAllGrains, kAllGrains + 6));
  Period period(grain, *rc::gen::inRange<std::int64_t>(-150'000, 150'000));
  Period next(grain, period.ordinal() + 1);
  RC_ASSERT(EndMicros(period) == StartMicros(next));
  RC_ASSERT(StartMicros(period) < EndMicros(period));
  RC_ASSERT(PeriodContainingMicros(grain, StartMicros(period)) == period);
  RC_ASSERT(PeriodContainingMicros(grain, EndMicros(period) - 1) == period);
  RC_ASSERT(ParsePeriod(FormatPeriod(period)) == period);
}

TEST(Grain, OutsideTheCalendarPeriodsAreOneStretch) {
  for (Grain grain : kAllGrains) {
    Period early(grain, kMinusInfinity + 5);
    Period late(grain, kPlusInfinity - 5);
    EXPECT_EQ(StartMicros(early), kMinusInfinity);
    EXPECT_EQ(EndMicros(early), CalendarStartMicros());
    EXPECT_EQ(StartMicros(late), CalendarEndMicros());
    EXPECT_EQ(EndMicros(late), kPlusInfinity);
    EXPECT_THAT(FormatPeriod(late), testing::HasSubstr("#"));
  }
}

TEST(Grain, RoundingIsAlwaysSaid) {
  EXPECT_EQ(RoundDownTo(Grain::kMonth, P("2024-02-29")), P("2024-02"));
  EXPECT_EQ(RoundDownTo(Grain::kYear, P("1969-12-31T23")), P("1969"));
  EXPECT_EQ(ExactlyAs(Grain::kMonth, P("2024-02-29")), std::nullopt);
  EXPECT_EQ(ExactlyAs(Grain::kDay, P("2024-02")), std::nullopt);
  EXPECT_EQ(ExactlyAs(Grain::kDay, P("2024-02-29")), P("2024-02-29"));
}

TEST(Grain, WideningKeepsAllThatMeets) {
  auto widened = [](Grain grain, std::string_view text) {
    PeriodRange range = WidenTo(grain, P(text));
    return FormatPeriod({grain, range.first}) + " " +
           FormatPeriod({grain, range.end - 1});
  };
  EXPECT_EQ(widened(Grain::kDay, "2024-02"), "2024-02-01 2024-02-29");
  EXPECT_EQ(widened(Grain::kDay, "2023-02"), "2023-02-01 2023-02-28");
  EXPECT_EQ(widened(Grain::kMonth, "2001-W05"), "2001-01 2001-02");
  EXPECT_EQ(widened(Grain::kMonth, "2024-02-29"), "2024-02 2024-02");
  EXPECT_EQ(widened(Grain::kHour, "1969-12-31"), "1969-12-31T00 1969-12-31T23");
  EXPECT_EQ(widened(Grain::kWeek, "2004"), "2004-W01 2004-W53");
  EXPECT_EQ(widened(Grain::kQuarter, "2001"), "2001-Q1 2001-Q4");
  PeriodRange all = WidenTo(Grain::kDay, {Grain::kMonth, kMinusInfinity, kPlusInfinity});
  EXPECT_EQ(all, (PeriodRange{Grain::kDay, kMinusInfinity, kPlusInfinity}));
}

}  // namespace
}  // namespace amend::partition

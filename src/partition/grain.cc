#include "partition/grain.h"

#include <algorithm>
#include <array>

#include "base/civil.h"
#include "base/status.h"
#include "fmt/format.h"

namespace amend::partition {
namespace {

// Beyond these years microseconds come near the end of int64; such instants are infinite.
constexpr std::int64_t kFirstYear = -200'000;
constexpr std::int64_t kLastYear = 200'000;

constexpr std::array<std::string_view, 6> kNames = {"hour",  "day",     "week",
                                                    "month", "quarter", "year"};

/// Months of one period; 0 for grains that are not made of months.
int MonthsIn(Grain grain) {
  switch (grain) {
    case Grain::kMonth:
      return 1;
    case Grain::kQuarter:
      return 3;
    case Grain::kYear:
      return 12;
    case Grain::kHour:
    case Grain::kDay:
    case Grain::kWeek:
      return 0;
  }
  return 0;
}

std::int64_t DayOfMonthOrdinal(std::int64_t months) {
  return DaysFromCivil({static_cast<int>(1970 + FloorDiv(months, 12)),
                        static_cast<int>(FloorMod(months, 12)) + 1, 1});
}

std::int64_t FirstDay() {
  static const std::int64_t day = DaysFromCivil({static_cast<int>(kFirstYear), 1, 1});
  return day;
}
std::int64_t EndDay() {
  static const std::int64_t day = DaysFromCivil({static_cast<int>(kLastYear) + 1, 1, 1});
  return day;
}

/// First and last ordinal inside the calendar, by grain.
const PeriodRange& Calendar(Grain grain) {
  static const std::array<PeriodRange, 6> ranges = [] {
    std::array<PeriodRange, 6> all{};
    for (Grain g : kAllGrains) {
      all[static_cast<std::size_t>(g)] = {g, PeriodContainingDay(g, FirstDay()).ordinal(),
                                          PeriodContainingDay(g, EndDay()).ordinal()};
    }
    return all;
  }();
  return ranges[static_cast<std::size_t>(grain)];
}

/// Which side of the calendar a period lies on: -1, 0 or 1.
int SideOf(Period period) {
  const PeriodRange& calendar = Calendar(period.grain());
  if (period.ordinal() < calendar.first) return -1;
  return period.ordinal() >= calendar.end ? 1 : 0;
}

/// REQUIRES: inside the calendar, or the first period after it.
std::int64_t ExactStartMicros(Period period) {
  if (period.grain() == Grain::kHour) return period.ordinal() * kMicrosPerHour;
  return StartDay(period) * kMicrosPerDay;
}

std::string FormatYear(std::int64_t year) {
  return fmt::format("{}{:04}", year < 0 ? "-" : "", year < 0 ? -year : year);
}

/// Takes `digits` decimal digits from the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool Take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

/// A year of four digits, or of five or six without a leading zero.
std::optional<int> TakeYear(std::string_view& text) {
  bool negative = Take(text, '-');
  std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits < 4 || digits > 6 || (digits > 4 && text.front() == '0'))
    return std::nullopt;
  auto year = TakeDigits(text, digits);
  if (!year || (negative && *year == 0) || *year > kLastYear) return std::nullopt;
  return negative ? -*year : *year;
}

std::optional<Period> ParseWeek(int year, std::string_view text) {
  auto week = TakeDigits(text, 2);
  if (!week || !text.empty() || *week < 1 || *week > 53) return std::nullopt;
  // Week 1 is the one that holds 4 January (ISO 8601).
  std::int64_t first =
      PeriodContainingDay(Grain::kWeek, DaysFromCivil({year, 1, 4})).ordinal();
  Period period(Grain::kWeek, first + *week - 1);
  // Week 53 exists only where its Thursday lies in the year.
  if (CivilFromDays(StartDay(period) + 3).year != year) return std::nullopt;
  return period;
}

std::optional<Period> ParseQuarter(int year, std::string_view text) {
  auto quarter = TakeDigits(text, 1);
  if (!quarter || !text.empty() || *quarter < 1 || *quarter > 4) return std::nullopt;
  return Period(Grain::kQuarter, (std::int64_t{year} - 1970) * 4 + *quarter - 1);
}

}  // namespace

std::string_view GrainName(Grain grain) {
  return kNames[static_cast<std::size_t>(grain)];
}

std::optional<Grain> ParseGrain(std::string_view name) {
  for (Grain grain : kAllGrains) {
    if (GrainName(grain) == name) return grain;
  }
  return std::nullopt;
}

std::int64_t StartDay(Period period) {
  AMEND_CHECK(period.grain() != Grain::kHour);
  if (period.grain() == Grain::kDay) return period.ordinal();
  if (period.grain() == Grain::kWeek) return period.ordinal() * 7 - 3;
  return DayOfMonthOrdinal(period.ordinal() * MonthsIn(period.grain()));
}

std::int64_t CalendarStartMicros() { return FirstDay() * kMicrosPerDay; }
std::int64_t CalendarEndMicros() { return EndDay() * kMicrosPerDay; }

std::int64_t StartMicros(Period period) {
  int side = SideOf(period);
  if (side < 0) return kMinusInfinity;
  return side > 0 ? CalendarEndMicros() : ExactStartMicros(period);
}

std::int64_t EndMicros(Period period) {
  int side = SideOf(period);
  if (side > 0) return kPlusInfinity;
  if (side < 0) return CalendarStartMicros();
  return ExactStartMicros({period.grain(), period.ordinal() + 1});
}

Period PeriodContainingDay(Grain grain, std::int64_t day) {
  switch (grain) {
    case Grain::kHour:
      return {grain, day * 24};
    case Grain::kDay:
      return {grain, day};
    case Grain::kWeek:
      return {grain, FloorDiv(day + 3, 7)};
    case Grain::kMonth:
    case Grain::kQuarter:
    case Grain::kYear:
      break;
  }
  CivilDay civil = CivilFromDays(day);
  std::int64_t months = (std::int64_t{civil.year} - 1970) * 12 + civil.month - 1;
  return {grain, FloorDiv(months, MonthsIn(grain))};
}

Period PeriodContainingMicros(Grain grain, std::int64_t micros) {
  if (micros == kMinusInfinity || micros == kPlusInfinity) return {grain, micros};
  if (grain == Grain::kHour) return {grain, FloorDiv(micros, kMicrosPerHour)};
  return PeriodContainingDay(grain, FloorDiv(micros, kMicrosPerDay));
}

Period RoundDownTo(Grain grain, Period period) {
  return PeriodContainingMicros(grain, StartMicros(period));
}

std::optional<Period> ExactlyAs(Grain grain, Period period) {
  Period rounded = RoundDownTo(grain, period);
  if (StartMicros(rounded) != StartMicros(period)) return std::nullopt;
  if (EndMicros(rounded) != EndMicros(period)) return std::nullopt;
  return rounded;
}

PeriodRange WidenTo(Grain grain, Period period) {
  return WidenTo(grain,
                 PeriodRange{period.grain(), period.ordinal(), period.ordinal() + 1});
}

PeriodRange WidenTo(Grain grain, const PeriodRange& range) {
  AMEND_CHECK(range.first < range.end);
  std::int64_t start = StartMicros({range.grain, range.first});
  std::int64_t end = EndMicros({range.grain, range.end - 1});
  bool bounded = end != kPlusInfinity;
  return {grain, PeriodContainingMicros(grain, start).ordinal(),
          bounded ? PeriodContainingMicros(grain, end - 1).ordinal() + 1 : kPlusInfinity};
}

std::string FormatPeriod(Period period) {
  if (SideOf(period) != 0) {
    return fmt::format("{}#{}", GrainName(period.grain()), period.ordinal());
  }
  std::int64_t day = FloorDiv(StartMicros(period), kMicrosPerDay);
  CivilDay civil = CivilFromDays(day);
  std::string year = FormatYear(civil.year);
  switch (period.grain()) {
    case Grain::kHour:
      return fmt::format("{}-{:02}-{:02}T{:02}", year, civil.month, civil.day,
                         FloorMod(period.ordinal(), 24));
    case Grain::kDay:
      return fmt::format("{}-{:02}-{:02}", year, civil.month, civil.day);
    case Grain::kWeek: {
      // The year of an ISO week is that of its Thursday.
      std::int64_t iso_year = CivilFromDays(day + 3).year;
      std::int64_t new_year = DaysFromCivil({static_cast<int>(iso_year), 1, 1});
      return fmt::format("{}-W{:02}", FormatYear(iso_year), (day + 3 - new_year) / 7 + 1);
    }
    case Grain::kMonth:
      return fmt::format("{}-{:02}", year, civil.month);
    case Grain::kQuarter:
      return fmt::format("{}-Q{}", year, (civil.month - 1) / 3 + 1);
    case Grain::kYear:
      return year;
  }
  return year;
}

std::optional<Period> ParsePeriod(std::string_view text) {
  auto year = TakeYear(text);
  if (!year) return std::nullopt;
  if (text.empty()) return Period(Grain::kYear, std::int64_t{*year} - 1970);
  if (!Take(text, '-')) return std::nullopt;
  if (Take(text, 'W')) return ParseWeek(*year, text);
  if (Take(text, 'Q')) return ParseQuarter(*year, text);
  auto month = TakeDigits(text, 2);
  if (!month || *month < 1 || *month > 12) return std::nullopt;
  if (text.empty()) {
    return Period(Grain::kMonth, (std::int64_t{*year} - 1970) * 12 + *month - 1);
  }
  if (!Take(text, '-')) return std::nullopt;
  auto day = TakeDigits(text, 2);
  if (!day || *day < 1) return std::nullopt;
  std::int64_t ordinal = DaysFromCivil({*year, *month, *day});
  // A day past the end of its month would silently become one of the next.
  if (CivilFromDays(ordinal) != CivilDay{*year, *month, *day}) return std::nullopt;
  if (text.empty()) return Period(Grain::kDay, ordinal);
  if (!Take(text, 'T')) return std::nullopt;
  auto hour = TakeDigits(text, 2);
  if (!hour || !text.empty() || *hour > 23) return std::nullopt;
  return Period(Grain::kHour, ordinal * 24 + *hour);
}

}  // namespace amend::partition

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace amend::partition {

/// How a time dimension is cut. Ordered from fine to coarse. An ordinal counts periods
/// since the one that holds 1970-01-01T00:00; periods before it are negative. Hour, day,
/// month and year ordinals are those of the Iceberg transforms (specification, "Partition
/// Transforms"); week 0 is the ISO week of 1970-01-01 (it starts Monday 1969-12-29),
/// quarter 0 is 1970-Q1.
enum class Grain : std::uint8_t { kHour, kDay, kWeek, kMonth, kQuarter, kYear };

inline constexpr Grain kAllGrains[] = {Grain::kHour,  Grain::kDay,     Grain::kWeek,
                                       Grain::kMonth, Grain::kQuarter, Grain::kYear};

/// "hour", "day", …: the words of `partition_by` and of messages.
std::string_view GrainName(Grain grain);
std::optional<Grain> ParseGrain(std::string_view name);

/// The ends of every time line. As the first ordinal of a run, kMinusInfinity means "from
/// ever"; as its end, kPlusInfinity means "for ever". The same two bound instants.
inline constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();

/// One period of one grain: a day, a month. A type of its own, because a bare ordinal of
/// days silently taken for one of months is the fault that this room exists to prevent:
/// there is no conversion from or to numbers, no ordering between grains, and every
/// change of grain is a function whose name says whether it rounds.
class Period {
 public:
  constexpr Period(Grain grain, std::int64_t ordinal)
      : grain_(grain), ordinal_(ordinal) {}

  constexpr Grain grain() const { return grain_; }
  constexpr std::int64_t ordinal() const { return ordinal_; }

  friend constexpr bool operator==(const Period&, const Period&) = default;

 private:
  Grain grain_;
  std::int64_t ordinal_;
};

/// A stretch of periods of one grain, half-open: [first, end).
struct PeriodRange {
  Grain grain;
  std::int64_t first;
  std::int64_t end;
  friend constexpr bool operator==(const PeriodRange&, const PeriodRange&) = default;
};

/// Microseconds since 1970-01-01T00:00 at which `period` starts and ends; the end is the
/// start of the next one, never start + 24 h. The calendar covers the years -200000 …
/// 200000, where microseconds fit; every period before it is taken as [kMinusInfinity,
/// its start), every later one as [its end, kPlusInfinity).
std::int64_t StartMicros(Period period);
std::int64_t EndMicros(Period period);
/// Where the calendar starts and ends, in microseconds.
std::int64_t CalendarStartMicros();
std::int64_t CalendarEndMicros();
/// Days since the epoch on which `period` starts.
/// REQUIRES: grain is day or coarser.
std::int64_t StartDay(Period period);

/// Rounds down: the period that holds the instant (day).
Period PeriodContainingMicros(Grain grain, std::int64_t micros);
Period PeriodContainingDay(Grain grain, std::int64_t day);

/// Rounds: the period of `grain` in which `period` starts.
Period RoundDownTo(Grain grain, Period period);
/// Exact, or nothing: the same stretch of time as one period of `grain`.
std::optional<Period> ExactlyAs(Grain grain, Period period);
/// Widens: the periods of `grain` that meet `period`. A week meets two months at their
/// border; a month meets 28 to 31 days.
PeriodRange WidenTo(Grain grain, Period period);
PeriodRange WidenTo(Grain grain, const PeriodRange& range);

/// "2001-03-05T14", "2001-03-05", "2001-W10", "2001-03", "2001-Q1", "2001". Years have at
/// least four digits and a '-' where negative.
std::string FormatPeriod(Period period);
/// The inverse of FormatPeriod; the form tells the grain. Nothing for 2001-02-30,
/// 2001-W53 or any other text.
std::optional<Period> ParsePeriod(std::string_view text);

}  // namespace amend::partition

#include "base/civil.h"

#include <array>
#include <cstdlib>

#include "base/text.h"
#include "fmt/format.h"

namespace amend {
namespace {

bool IsLeap(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int DaysInMonth(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

/// Fixed-width decimal digits, or nothing.
std::optional<int> Digits(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<std::int64_t> ParseFraction(std::string_view text) {
  if (text.empty() || text.size() > 6) return std::nullopt;
  std::string padded(text);
  padded.resize(6, '0');
  auto micros = Digits(padded);
  if (!micros) return std::nullopt;
  return *micros;
}

/// "HH:MM[:SS[.ffffff]]" as microseconds of a day.
std::optional<std::int64_t> ParseClock(std::string_view text) {
  if (text.size() < 5 || text[2] != ':') return std::nullopt;
  auto hour = Digits(text.substr(0, 2));
  auto minute = Digits(text.substr(3, 2));
  std::optional<int> second = 0;
  std::int64_t fraction = 0;
  if (text.size() > 5) {
    if (text.size() < 8 || text[5] != ':') return std::nullopt;
    second = Digits(text.substr(6, 2));
    if (text.size() > 8) {
      if (text[8] != '.') return std::nullopt;
      auto parsed = ParseFraction(text.substr(9));
      if (!parsed) return std::nullopt;
      fraction = *parsed;
    }
  }
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) {
    return std::nullopt;
  }
  return (std::int64_t{*hour} * 3600 + *minute * 60 + *second) * kMicrosPerSecond +
         fraction;
}

}  // namespace

std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return a % b < 0 ? q - 1 : q;
}

std::int64_t FloorMod(std::int64_t a, std::int64_t b) {
  std::int64_t r = a % b;
  return r < 0 ? r + b : r;
}

// Both conversions shift the year to start in March, so that the leap day ends it (after
// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
std::int64_t DaysFromCivil(const CivilDay& civil) {
  std::int64_t year = civil.year - (civil.month <= 2 ? 1 : 0);
  std::int64_t era = FloorDiv(year, 400);
  std::int64_t year_of_era = FloorMod(year, 400);
  std::int64_t shifted_month = (civil.month + 9) % 12;
  std::int64_t day_of_year = (153 * shifted_month + 2) / 5 + civil.day - 1;
  std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

CivilDay CivilFromDays(std::int64_t days) {
  days += 719'468;
  std::int64_t era = FloorDiv(days, 146'097);
  std::int64_t day_of_era = FloorMod(days, 146'097);
  std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) /
      365;
  std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  int day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  int month =
      static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  int year = static_cast<int>(year_of_era + era * 400 + (month <= 2 ? 1 : 0));
  return {year, month, day};
}

std::string FormatDay(std::int64_t days) {
  CivilDay civil = CivilFromDays(days);
  // The sign stands before four digits: {:04} would make -44 "-044".
  return fmt::format("{}{:04}-{:02}-{:02}", civil.year < 0 ? "-" : "",
                     std::abs(civil.year), civil.month, civil.day);
}

std::string FormatMicros(std::int64_t micros) {
  std::int64_t of_day = FloorMod(micros, kMicrosPerDay);
  std::int64_t seconds = of_day / kMicrosPerSecond;
  std::int64_t fraction = of_day % kMicrosPerSecond;
  std::string text =
      fmt::format("{}T{:02}:{:02}:{:02}", FormatDay(FloorDiv(micros, kMicrosPerDay)),
                  seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (fraction != 0) text += fmt::format(".{:06}", fraction);
  return text + "Z";
}

std::optional<std::int64_t> ParseDay(std::string_view text) {
  bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  auto year = Digits(text.substr(0, 4));
  auto month = Digits(text.substr(5, 2));
  auto day = Digits(text.substr(8, 2));
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1) {
    return std::nullopt;
  }
  int signed_year = negative ? -*year : *year;
  if (*day > DaysInMonth(signed_year, *month)) return std::nullopt;
  return DaysFromCivil({signed_year, *month, *day});
}

std::optional<std::int64_t> ParseMicros(std::string_view text) {
  if (!text.empty() && text.back() == 'Z') text.remove_suffix(1);
  std::size_t separator = text.find_first_of("T ");
  if (separator == std::string_view::npos) return std::nullopt;
  auto day = ParseDay(text.substr(0, separator));
  auto clock = ParseClock(text.substr(separator + 1));
  if (!day || !clock) return std::nullopt;
  return *day * kMicrosPerDay + *clock;
}

}  // namespace amend

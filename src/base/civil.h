#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace amend {

/// Proleptic Gregorian calendar in UTC, as Iceberg and DuckDB use it. Days count from
/// 1970-01-01; microseconds from its midnight. Everything floors: -1 µs is day -1.
struct CivilDay {
  int year = 1970;
  int month = 1;  ///< 1…12
  int day = 1;    ///< 1…31
  friend bool operator==(const CivilDay&, const CivilDay&) = default;
};

inline constexpr std::int64_t kMicrosPerSecond = 1'000'000;
inline constexpr std::int64_t kMicrosPerHour = 3'600 * kMicrosPerSecond;
inline constexpr std::int64_t kMicrosPerDay = 24 * kMicrosPerHour;

std::int64_t FloorDiv(std::int64_t a, std::int64_t b);  ///< REQUIRES: b > 0
std::int64_t FloorMod(std::int64_t a, std::int64_t b);  ///< REQUIRES: b > 0

/// Days since the epoch. `day` may lie outside its month; `month` must be 1…12.
std::int64_t DaysFromCivil(const CivilDay& civil);
CivilDay CivilFromDays(std::int64_t days);

/// "2001-03-05".
std::string FormatDay(std::int64_t days);
/// "2001-03-05T14:00:00Z", with ".123456" where micros are not whole seconds.
std::string FormatMicros(std::int64_t micros);
/// Strict "YYYY-MM-DD", also with a leading '-' year; nothing for 2001-02-30.
std::optional<std::int64_t> ParseDay(std::string_view text);
/// "YYYY-MM-DD[T| ]HH:MM[:SS[.ffffff]][Z]" in UTC.
std::optional<std::int64_t> ParseMicros(std::string_view text);

}  // namespace amend

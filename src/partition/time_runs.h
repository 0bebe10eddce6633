#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "partition/grain.h"

namespace amend::partition {

/// Consecutive ordinals, half-open: [first, end). Never empty inside a TimeRuns.
struct Run {
  std::int64_t first = 0;
  std::int64_t end = 0;
  friend auto operator<=>(const Run&, const Run&) = default;
};

/// A set of points of one time line: ordinals and NULL. 100,000 days in a row are one
/// run, so every operation costs runs, never points; a bitmap costs points and cannot
/// hold "for ever". The grain is the owner's business.
///
/// Invariants (Verify):
///  1. every run has first < end;
///  2. runs ascend, neither overlapping nor adjacent: equal sets have equal runs.
/// The line is [kMinusInfinity, kPlusInfinity): kPlusInfinity is an end, never a point.
class TimeRuns {
 public:
  TimeRuns() = default;

  /// REQUIRES: not an infinity.
  static TimeRuns Point(std::int64_t ordinal);
  /// [first, end). REQUIRES: first <= end.
  static TimeRuns Of(std::int64_t first, std::int64_t end);
  static TimeRuns Null();
  /// Every ordinal, without NULL.
  static TimeRuns Line() { return Of(kMinusInfinity, kPlusInfinity); }
  /// Every ordinal and NULL.
  static TimeRuns Everything();
  /// From runs in any order, overlapping or empty ones included; those with first > end
  /// are not allowed (CHECK).
  static TimeRuns FromRuns(std::vector<Run> runs, bool has_null = false);

  /// The same ordinals, with or without NULL.
  TimeRuns WithNull(bool has_null) const;

  bool empty() const { return runs_.empty() && !has_null_; }
  bool has_null() const { return has_null_; }
  const std::vector<Run>& runs() const { return runs_; }
  bool Contains(std::optional<std::int64_t> ordinal) const;
  /// Points, NULL included; nothing where a run is unbounded.
  std::optional<std::int64_t> Count() const;

  TimeRuns Union(const TimeRuns& other) const;
  TimeRuns Intersect(const TimeRuns& other) const;
  TimeRuns Difference(const TimeRuns& other) const;
  /// Within Everything().
  TimeRuns Complement() const;
  bool SubsetOf(const TimeRuns& other) const;
  bool Intersects(const TimeRuns& other) const;

  /// Internal where an invariant is broken; names it.
  Status Verify() const;

  friend auto operator<=>(const TimeRuns&, const TimeRuns&) = default;

 private:
  std::vector<Run> runs_;
  bool has_null_ = false;
};

}  // namespace amend::partition

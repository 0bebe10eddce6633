#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "partition/grain.h"
#include "partition/mapping.h"

namespace amend::sql {

/// A signed length of time as SQL intervals have it; days are 24 hours, because sessions
/// run in UTC.
struct Length {
  std::int64_t months = 0;
  std::int64_t micros = 0;

  Length Negated() const { return {-months, -micros}; }
  friend bool operator==(const Length&, const Length&) = default;
};

/// What a truncation cuts to. One of the two lengths is zero.
struct Unit {
  std::int64_t months = 0;  ///< 1, 3, 12
  std::int64_t micros = 0;
  /// Periods start where those of a Grain do (weeks on Monday); else nobody knows where.
  bool on_grid = true;
  friend bool operator==(const Unit&, const Unit&) = default;
};
Unit UnitOf(partition::Grain grain);

/// One end of a Span, measured from an end of the output partition: "start of k minus
/// 6 days". Arithmetic that is not exact moves it outwards (`outwards` tells the side),
/// so that the Span only grows.
class Endpoint {
 public:
  enum class Side { kLow, kHigh };

  /// The start (kLow) or end (kHigh) of the output partition.
  static Endpoint At(Side side) { return Endpoint(side); }
  static Endpoint Unbounded(Side side);

  bool unbounded() const { return unbounded_; }
  const Length& offset() const { return offset_; }
  Endpoint Plus(const Length& length) const;
  /// Outwards to where a period of `unit` may start, in a space of grain `output`.
  Endpoint RoundOutwards(const Unit& unit, partition::Grain output) const;
  bool IsAligned(const Unit& unit, partition::Grain output) const;
  /// The nearer of two, where they compare; else this one. Both are right, so any is.
  Endpoint Inner(const Endpoint& other) const;
  Endpoint Outer(const Endpoint& other) const;
  /// How far outwards, for a TimeMapping. In whole hours, days or months.
  partition::Reach ToReach() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;

 private:
  explicit Endpoint(Side side) : side_(side) {}
  /// Exact time that is outwards of `length` wherever in the calendar it is applied.
  std::int64_t MicrosOutwardsOf(const Length& length) const;

  Side side_;
  bool unbounded_ = false;
  Length offset_;
};

/// The values in [low, high), in terms of the output partition k = [start, end).
struct Span {
  Endpoint low = Endpoint::At(Endpoint::Side::kLow);
  Endpoint high = Endpoint::At(Endpoint::Side::kHigh);

  static Span Everything();
  bool everything() const { return low.unbounded() && high.unbounded(); }
  friend bool operator==(const Span&, const Span&) = default;
};

/// Which rows of a relation matter, as far as one of its columns tells: those with a
/// value in `times` or, with `null`, with NULL; and, with `dimension`, only those whose
/// value is that of this value dimension of the output partition.
struct Need {
  std::optional<Span> times;  ///< nothing: no value that is not NULL matters
  bool null = false;
  std::optional<int> dimension;

  static Need Everything() { return {Span::Everything(), true, std::nullopt}; }
  static Need Dimension(int index) { return {Span::Everything(), true, index}; }
  bool everything() const { return !dimension && null && times && times->everything(); }
  bool nothing() const { return !null && !times; }
  Need Intersect(const Need& other) const;
  Need WithoutNull() const { return {times, false, dimension}; }
  Need OnlyNull() const { return {std::nullopt, null, dimension}; }

  friend bool operator==(const Need&, const Need&) = default;
};

/// The conjunction of needs over columns of one relation: only rows inside all of them
/// matter. A column that is not named is not restricted.
class Demand {
 public:
  void Add(std::size_t column, const Need& need);
  const Need* Find(std::size_t column) const;
  const std::map<std::size_t, Need>& needs() const { return needs_; }
  /// No row matters.
  bool nothing() const;
  bool everything() const { return needs_.empty(); }

  friend bool operator==(const Demand&, const Demand&) = default;

 private:
  std::map<std::size_t, Need> needs_;
};

/// Rows that satisfy one of `a` and one of `b`: every pair that some row can satisfy.
std::vector<Demand> Both(const std::vector<Demand>& a, const std::vector<Demand>& b);

}  // namespace amend::sql

#include "sql/times.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/civil.h"

namespace amend::sql {
namespace {

using partition::Grain;

constexpr Unit kDay{0, kMicrosPerDay, true};

/// Do periods of `unit` start wherever those of the grain do?
bool StartsWith(const Unit& unit, Grain grain) {
  if (!unit.on_grid) return false;
  if (unit.months > 0) {
    std::int64_t months = UnitOf(grain).months;
    return months > 0 && months % unit.months == 0;
  }
  if (unit == UnitOf(Grain::kWeek)) return grain == Grain::kWeek;
  // Days and parts of them: every grain but hour starts at midnight.
  std::int64_t period = grain == Grain::kHour ? kMicrosPerHour : kMicrosPerDay;
  return period % unit.micros == 0;
}

}  // namespace

Unit UnitOf(Grain grain) {
  switch (grain) {
    case Grain::kHour:
      return {0, kMicrosPerHour, true};
    case Grain::kDay:
      return kDay;
    case Grain::kWeek:
      return {0, 7 * kMicrosPerDay, true};
    case Grain::kMonth:
      return {1, 0, true};
    case Grain::kQuarter:
      return {3, 0, true};
    case Grain::kYear:
      return {12, 0, true};
  }
  return kDay;
}

Endpoint Endpoint::Unbounded(Side side) {
  Endpoint end(side);
  end.unbounded_ = true;
  return end;
}

std::int64_t Endpoint::MicrosOutwardsOf(const Length& length) const {
  // n months are 28n to 31n days wherever they start, clamping included.
  bool later = length.months >= 0;
  std::int64_t days = later == (side_ == Side::kHigh) ? 31 : 28;
  return length.micros + length.months * days * kMicrosPerDay;
}

Endpoint Endpoint::Plus(const Length& length) const {
  Endpoint sum = *this;
  if (unbounded_ || length == Length{}) return sum;
  // Months clamp to the ends of months, so they add to nothing but an untouched end.
  bool exact = offset_ == Length{} && (length.months == 0 || length.micros == 0);
  bool both_exact_time = offset_.months == 0 && length.months == 0;
  if (exact || both_exact_time) {
    sum.offset_.months += length.months;
    sum.offset_.micros += length.micros;
  } else {
    sum.offset_ = {0, MicrosOutwardsOf(offset_) + MicrosOutwardsOf(length)};
  }
  return sum;
}

bool Endpoint::IsAligned(const Unit& unit, Grain output) const {
  if (unbounded_) return true;
  if (!StartsWith(unit, output)) return false;
  if (unit.months > 0) return offset_.micros == 0 && offset_.months % unit.months == 0;
  if (unit.micros > kMicrosPerDay && offset_.months != 0) return false;
  return offset_.micros % unit.micros == 0;
}

Endpoint Endpoint::RoundOutwards(const Unit& unit, Grain output) const {
  if (IsAligned(unit, output)) return *this;
  Length length{unit.months, unit.micros};
  return Plus(side_ == Side::kLow ? length.Negated() : length);
}

Endpoint Endpoint::Inner(const Endpoint& other) const {
  if (unbounded_) return other;
  if (other.unbounded_) return *this;
  bool comparable = (offset_.months == 0 && other.offset_.months == 0) ||
                    (offset_.micros == 0 && other.offset_.micros == 0);
  if (!comparable) return *this;
  bool earlier = std::pair(offset_.months, offset_.micros) <
                 std::pair(other.offset_.months, other.offset_.micros);
  return earlier == (side_ == Side::kHigh) ? *this : other;
}

Endpoint Endpoint::Outer(const Endpoint& other) const {
  if (unbounded_ || other.unbounded_) return Unbounded(side_);
  if (offset_ == other.offset_) return *this;
  bool comparable = (offset_.months == 0 && other.offset_.months == 0) ||
                    (offset_.micros == 0 && other.offset_.micros == 0);
  if (comparable) return Inner(other) == *this ? other : *this;
  Endpoint mine(side_);
  mine.offset_.micros = MicrosOutwardsOf(offset_);
  Endpoint theirs(side_);
  theirs.offset_.micros = MicrosOutwardsOf(other.offset_);
  return mine.Outer(theirs);
}

partition::Reach Endpoint::ToReach() const {
  if (unbounded_) return partition::Reach::Unbounded();
  Length out = side_ == Side::kLow ? offset_.Negated() : offset_;
  if (out.months != 0) return partition::Reach::Of(out.months, Grain::kMonth);
  if (out.micros % kMicrosPerDay == 0) {
    return partition::Reach::Of(out.micros / kMicrosPerDay, Grain::kDay);
  }
  return partition::Reach::Of(-FloorDiv(-out.micros, kMicrosPerHour), Grain::kHour);
}

Span Span::Everything() {
  return {Endpoint::Unbounded(Endpoint::Side::kLow),
          Endpoint::Unbounded(Endpoint::Side::kHigh)};
}

Need Need::Intersect(const Need& other) const {
  Need both;
  both.null = null && other.null;
  both.dimension = dimension ? dimension : other.dimension;
  if (times && other.times) {
    both.times =
        Span{times->low.Inner(other.times->low), times->high.Inner(other.times->high)};
  }
  return both;
}

void Demand::Add(std::size_t column, const Need& need) {
  auto it = needs_.find(column);
  Need both = it == needs_.end() ? need : it->second.Intersect(need);
  if (both.everything()) {
    needs_.erase(column);
  } else {
    needs_[column] = both;
  }
}

const Need* Demand::Find(std::size_t column) const {
  auto it = needs_.find(column);
  return it == needs_.end() ? nullptr : &it->second;
}

bool Demand::nothing() const {
  return std::any_of(needs_.begin(), needs_.end(),
                     [](const auto& entry) { return entry.second.nothing(); });
}

std::vector<Demand> Both(const std::vector<Demand>& a, const std::vector<Demand>& b) {
  std::vector<Demand> both;
  for (const Demand& x : a) {
    for (const Demand& y : b) {
      Demand sum = x;
      for (const auto& [column, need] : y.needs()) sum.Add(column, need);
      if (!sum.nothing()) both.push_back(std::move(sum));
    }
  }
  return both;
}

}  // namespace amend::sql

#include "partition/time_runs.h"

#include <algorithm>

#include "fmt/format.h"

namespace amend::partition {
namespace {

/// Adds a run that starts at or after the last one's start, keeping the vector canonical.
void AppendRun(Run run, std::vector<Run>* runs) {
  if (run.first == run.end) return;
  if (!runs->empty() && runs->back().end >= run.first) {
    runs->back().end = std::max(runs->back().end, run.end);
  } else {
    runs->push_back(run);
  }
}

}  // namespace

TimeRuns TimeRuns::Of(std::int64_t first, std::int64_t end) {
  AMEND_CHECK(first <= end);
  TimeRuns set;
  if (first < end) set.runs_.push_back({first, end});
  return set;
}

TimeRuns TimeRuns::Point(std::int64_t ordinal) {
  AMEND_CHECK(ordinal != kMinusInfinity && ordinal != kPlusInfinity);
  return Of(ordinal, ordinal + 1);
}

TimeRuns TimeRuns::Null() {
  TimeRuns set;
  set.has_null_ = true;
  return set;
}

TimeRuns TimeRuns::Everything() {
  TimeRuns set = Line();
  set.has_null_ = true;
  return set;
}

TimeRuns TimeRuns::FromRuns(std::vector<Run> runs, bool has_null) {
  if (!std::is_sorted(runs.begin(), runs.end())) std::sort(runs.begin(), runs.end());
  TimeRuns set;
  set.has_null_ = has_null;
  set.runs_.reserve(runs.size());
  for (const Run& run : runs) {
    AMEND_CHECK(run.first <= run.end);
    AppendRun(run, &set.runs_);
  }
  return set;
}

TimeRuns TimeRuns::WithNull(bool has_null) const {
  TimeRuns set = *this;
  set.has_null_ = has_null;
  return set;
}

bool TimeRuns::Contains(std::optional<std::int64_t> ordinal) const {
  if (!ordinal) return has_null_;
  auto after =
      std::upper_bound(runs_.begin(), runs_.end(), *ordinal,
                       [](std::int64_t at, const Run& run) { return at < run.end; });
  return after != runs_.end() && after->first <= *ordinal;
}

std::optional<std::int64_t> TimeRuns::Count() const {
  std::uint64_t count = has_null_ ? 1 : 0;
  for (const Run& run : runs_) {
    if (run.first == kMinusInfinity || run.end == kPlusInfinity) return std::nullopt;
    count += static_cast<std::uint64_t>(run.end) - static_cast<std::uint64_t>(run.first);
    if (count > static_cast<std::uint64_t>(kPlusInfinity)) return kPlusInfinity;
  }
  return static_cast<std::int64_t>(count);
}

TimeRuns TimeRuns::Union(const TimeRuns& other) const {
  TimeRuns result;
  result.has_null_ = has_null_ || other.has_null_;
  result.runs_.reserve(runs_.size() + other.runs_.size());
  auto a = runs_.begin();
  auto b = other.runs_.begin();
  while (a != runs_.end() || b != other.runs_.end()) {
    bool take_a = b == other.runs_.end() || (a != runs_.end() && *a < *b);
    AppendRun(take_a ? *a++ : *b++, &result.runs_);
  }
  return result;
}

TimeRuns TimeRuns::Intersect(const TimeRuns& other) const {
  TimeRuns result;
  result.has_null_ = has_null_ && other.has_null_;
  auto a = runs_.begin();
  auto b = other.runs_.begin();
  while (a != runs_.end() && b != other.runs_.end()) {
    Run both{std::max(a->first, b->first), std::min(a->end, b->end)};
    if (both.first < both.end) result.runs_.push_back(both);
    (a->end < b->end ? a : b)++;
  }
  return result;
}

TimeRuns TimeRuns::Complement() const {
  TimeRuns result;
  result.has_null_ = !has_null_;
  std::int64_t at = kMinusInfinity;
  for (const Run& run : runs_) {
    if (at < run.first) result.runs_.push_back({at, run.first});
    at = run.end;
  }
  if (at < kPlusInfinity) result.runs_.push_back({at, kPlusInfinity});
  return result;
}

TimeRuns TimeRuns::Difference(const TimeRuns& other) const {
  return Intersect(other.Complement());
}

bool TimeRuns::SubsetOf(const TimeRuns& other) const {
  if (has_null_ && !other.has_null_) return false;
  auto b = other.runs_.begin();
  for (const Run& run : runs_) {
    while (b != other.runs_.end() && b->end < run.end) ++b;
    if (b == other.runs_.end() || b->first > run.first) return false;
  }
  return true;
}

bool TimeRuns::Intersects(const TimeRuns& other) const {
  if (has_null_ && other.has_null_) return true;
  auto a = runs_.begin();
  auto b = other.runs_.begin();
  while (a != runs_.end() && b != other.runs_.end()) {
    if (std::max(a->first, b->first) < std::min(a->end, b->end)) return true;
    (a->end < b->end ? a : b)++;
  }
  return false;
}

Status TimeRuns::Verify() const {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    if (run.first >= run.end) {
      return Internal(fmt::format("empty run [{}, {})", run.first, run.end));
    }
    if (i > 0 && runs_[i - 1].end >= run.first) {
      return Internal(fmt::format("runs ending {} and starting {} are not apart",
                                  runs_[i - 1].end, run.first));
    }
  }
  return {};
}

}  // namespace amend::partition

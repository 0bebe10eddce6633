#include "plan/staleness.h"

#include <algorithm>
#include <utility>

namespace amend::plan {
namespace {

using partition::PartitionSet;
using partition::Run;
using partition::TimeMap;
using partition::TimeRuns;
using state::Version;

/// Nothing changed: below every version, also those that mean "not seen".
constexpr Version kNothing = state::BuildRecords::kNever;

/// The highest value of a time line inside windows that are asked for one after the
/// other, neither end ever going back: every entry is taken in and thrown out once.
class WindowMaximum {
 public:
  explicit WindowMaximum(const TimeMap<Version>& line) : entries_(line.entries()) {}

  Version In(const Run& window) {
    for (; next_ < entries_.size() && entries_[next_].first < window.end; ++next_) {
      // What is neither later nor higher can not be the highest any more.
      while (falling_.size() > first_ &&
             At(falling_.size() - 1) <= entries_[next_].value) {
        falling_.pop_back();
      }
      falling_.push_back(next_);
    }
    while (first_ < falling_.size() && entries_[falling_[first_]].end <= window.first) {
      ++first_;
    }
    return first_ < falling_.size() ? At(first_) : kNothing;
  }

 private:
  Version At(std::size_t place) const { return entries_[falling_[place]].value; }

  const std::vector<TimeMap<Version>::Entry>& entries_;
  std::size_t next_ = 0;
  std::vector<std::size_t> falling_;  ///< from first_ on: indexes of falling values
  std::size_t first_ = 0;
};

Version HighestOf(const TimeMap<Version>& line) {
  Version highest = line.null().value_or(kNothing);
  for (const auto& entry : line.entries()) highest = std::max(highest, entry.value);
  return highest;
}

/// One time line of a reader against its input's.
class Line {
 public:
  Line(const TimeMap<std::size_t>& built, const std::vector<Version>& verified,
       const TimeMap<Version>& latest, Version highest)
      : built_(built), verified_(verified), latest_(latest), highest_(highest) {}

  void Add(const partition::PartitionMapping& mapping) {
    const partition::TimeMapping& time = mapping.time();
    if (time.all) {
      AddOlderThanHighest();
      return;
    }
    std::vector<Run> runs;
    runs.reserve(built_.entries().size());
    for (const auto& entry : built_.entries()) runs.push_back({entry.first, entry.end});
    std::vector<Run> required = mapping.RequiredRuns(runs);
    Version always = time.null_to_all ? latest_.null().value_or(kNothing) : kNothing;
    WindowMaximum maximum(latest_);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      Version changed = std::max(always, maximum.In(required[i]));
      if (IsOlder(built_.entries()[i].value, changed)) found_.push_back(runs[i]);
    }
    if (!built_.null()) return;
    Version changed = time.all_to_null    ? highest_
                      : time.null_to_null ? latest_.null().value_or(kNothing)
                                          : kNothing;
    if (time.null_to_all) changed = std::max(changed, always);
    null_ = null_ || IsOlder(*built_.null(), changed);
  }

  TimeRuns Take() { return TimeRuns::FromRuns(std::move(found_), null_); }

 private:
  bool IsOlder(std::size_t record, Version changed) const {
    Version seen = verified_[record];
    return seen != state::BuildRecords::kNever && seen < changed;
  }

  void AddOlderThanHighest() {
    for (const auto& entry : built_.entries()) {
      if (IsOlder(entry.value, highest_)) found_.push_back({entry.first, entry.end});
    }
    null_ = null_ || (built_.null() && IsOlder(*built_.null(), highest_));
  }

  const TimeMap<std::size_t>& built_;
  const std::vector<Version>& verified_;
  const TimeMap<Version>& latest_;
  Version highest_;
  std::vector<Run> found_;
  bool null_ = false;
};

}  // namespace

PartitionSet MayBeStale(const partition::PartitionMap<std::size_t>& built,
                        const std::vector<Version>& verified,
                        const TimeMap<Version>& latest,
                        const std::vector<lineage::InputRef>& refs) {
  if (latest.empty()) return PartitionSet(built.shape());
  Version highest = HighestOf(latest);
  auto of_line = [&](const TimeMap<std::size_t>& line) {
    Line stale(line, verified, latest, highest);
    for (const lineage::InputRef& ref : refs) stale.Add(ref.mapping);
    return stale.Take();
  };
  PartitionSet::Named named;
  for (const auto& [values, line] : built.named()) {
    named.emplace_back(values, of_line(line));
  }
  return PartitionSet::Of(built.shape(), of_line(built.rest()), std::move(named));
}

}  // namespace amend::plan

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "partition/partition_set.h"

namespace amend::partition {

/// A partial function from one time line to V, in runs: neighbours with equal values are
/// one run. Invariants: runs ascend, are not empty, do not overlap, and adjacent ones
/// differ in value. Appending at the end is O(1), a change in the middle O(runs).
template <typename V>
class TimeMap {
 public:
  struct Entry {
    std::int64_t first;
    std::int64_t end;
    V value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  bool empty() const { return entries_.empty() && !null_; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::optional<V>& null() const { return null_; }
  void reserve(std::size_t runs) { entries_.reserve(runs); }

  const V* Find(std::optional<std::int64_t> ordinal) const {
    if (!ordinal) return null_ ? &*null_ : nullptr;
    auto it = FirstEndingAfter(*ordinal);
    return it != entries_.end() && it->first <= *ordinal ? &it->value : nullptr;
  }

  /// `value` where given, absent where not, over all of `times`.
  void Assign(const TimeRuns& times, const std::optional<V>& value) {
    for (const Run& run : times.runs()) AssignRun(run, value);
    if (times.has_null()) null_ = value;
  }

  /// The same for one run. REQUIRES: run.first <= run.end.
  void Assign(const Run& run, const V& value) { AssignRun(run, value); }
  void AssignNull(const V& value) { null_ = value; }

  /// Calls fn(first, end, value) for the parts of entries inside `times` and
  /// fn_null(value) for NULL, ascending.
  template <typename Fn, typename NullFn>
  void ForEachIn(const TimeRuns& times, Fn fn, NullFn fn_null) const {
    if (times.has_null() && null_) fn_null(*null_);
    for (const Run& run : times.runs()) {
      for (auto it = FirstEndingAfter(run.first);
           it != entries_.end() && it->first < run.end; ++it) {
        fn(std::max(it->first, run.first), std::min(it->end, run.end), it->value);
      }
    }
  }

  TimeRuns Domain() const {
    std::vector<Run> runs;
    runs.reserve(entries_.size());
    for (const Entry& e : entries_) runs.push_back({e.first, e.end});
    return TimeRuns::FromRuns(std::move(runs), null_.has_value());
  }

  friend bool operator==(const TimeMap&, const TimeMap&) = default;

 private:
  typename std::vector<Entry>::const_iterator FirstEndingAfter(
      std::int64_t ordinal) const {
    return std::upper_bound(entries_.begin(), entries_.end(), ordinal,
                            [](std::int64_t at, const Entry& e) { return at < e.end; });
  }

  void AssignRun(const Run& run, const std::optional<V>& value) {
    if (value && (entries_.empty() || entries_.back().end <= run.first)) {
      Append({run.first, run.end, *value}, &entries_);
      return;
    }
    // The slice from the entry that ends at or after the run's start to the one that
    // starts at or before its end: neighbours included, so that they can be merged.
    auto low =
        std::lower_bound(entries_.begin(), entries_.end(), run.first,
                         [](const Entry& e, std::int64_t at) { return e.end < at; });
    auto high =
        std::upper_bound(low, entries_.end(), run.end,
                         [](std::int64_t at, const Entry& e) { return at < e.first; });
    std::vector<Entry> slice;
    for (auto it = low; it != high && it->first < run.first; ++it) {
      Append({it->first, std::min(it->end, run.first), it->value}, &slice);
    }
    if (value) Append({run.first, run.end, *value}, &slice);
    for (auto it = low; it != high; ++it) {
      if (it->end > run.end) {
        Append({std::max(it->first, run.end), it->end, it->value}, &slice);
      }
    }
    auto at = entries_.erase(low, high);
    entries_.insert(at, slice.begin(), slice.end());
  }

  static void Append(Entry entry, std::vector<Entry>* to) {
    if (!to->empty() && to->back().end == entry.first &&
        to->back().value == entry.value) {
      to->back().end = entry.end;
    } else {
      to->push_back(std::move(entry));
    }
  }

  std::vector<Entry> entries_;
  std::optional<V> null_;
};

/// A partial function from the partitions of one space to V, run-length: what build
/// records and `changed_at` are kept in. Like a PartitionSet it has `rest` for every
/// value tuple not named. Costs runs, never points. V needs == and copies; keep it small
/// (an id or a version), because every run holds one.
template <typename V>
class PartitionMap {
 public:
  PartitionMap() = default;
  explicit PartitionMap(Shape shape) : shape_(shape) {}

  Shape shape() const { return shape_; }
  bool empty() const { return rest_.empty() && named_.empty(); }
  const TimeMap<V>& rest() const { return rest_; }
  const std::map<ValueTuple, TimeMap<V>>& named() const { return named_; }

  void Set(const PartitionSet& set, const V& value) { Assign(set, value); }
  void Erase(const PartitionSet& set) { Assign(set, std::nullopt); }
  /// Everything of `other`, which wins where both have a value.
  void Overlay(const PartitionMap& other) {
    other.ForEachRun([this](const PartitionSet& at, const V& value) { Set(at, value); });
  }

  const V* Find(const Partition& point) const {
    return Times(point.values).Find(point.time);
  }

  /// Where it has a value.
  PartitionSet Domain() const {
    return Where([](const V&) { return true; });
  }
  /// Where it has a value of which `predicate` holds.
  template <typename Predicate>
  PartitionSet Where(const Predicate& predicate) const {
    return WhereIn(PartitionSet::All(shape_), predicate);
  }
  /// The same inside a set. Cost: runs of the map that meet the set; none of them is
  /// copied.
  template <typename Predicate>
  PartitionSet WhereIn(const PartitionSet& within, const Predicate& predicate) const {
    AMEND_CHECK(within.shape() == shape_);
    PartitionSet::Named named;
    for (const auto& [values, map] : named_) {
      named.emplace_back(values, TimesWhere(map, within.At(values), predicate));
    }
    for (const auto& [values, times] : within.named()) {
      if (named_.contains(values)) continue;
      named.emplace_back(values, TimesWhere(rest_, times, predicate));
    }
    return PartitionSet::Of(shape_, TimesWhere(rest_, within.rest(), predicate),
                            std::move(named));
  }

  /// Calls fn(first, end, value) for the part of each run inside a set, fn_null(value)
  /// for NULL, in the order rest, then named: what sums need, and no set is made.
  template <typename Fn, typename NullFn>
  void ForEachTimeIn(const PartitionSet& within, Fn fn, NullFn fn_null) const {
    AMEND_CHECK(within.shape() == shape_);
    rest_.ForEachIn(within.rest(), fn, fn_null);
    for (const auto& [values, times] : within.named()) {
      if (!named_.contains(values)) rest_.ForEachIn(times, fn, fn_null);
    }
    for (const auto& [values, map] : named_) {
      map.ForEachIn(within.At(values), fn, fn_null);
    }
  }

  /// Calls fn(set, value) once for each run, in the order rest, then named; `set` holds
  /// exactly the points of that run (for `rest`: of every tuple not named).
  template <typename Fn>
  void ForEachRun(Fn fn) const {
    ForEachRunIn(PartitionSet::All(shape_), fn);
  }

  /// The same, restricted to a set. Cost: runs of the map that meet the set.
  template <typename Fn>
  void ForEachRunIn(const PartitionSet& within, Fn fn) const {
    AMEND_CHECK(within.shape() == shape_);
    PartitionSet::Named holes;
    for (const auto& [values, times] : named_) holes.emplace_back(values, TimeRuns());
    for (const auto& [values, times] : within.named()) {
      if (!named_.contains(values)) holes.emplace_back(values, TimeRuns());
    }
    Emit(rest_, within.rest(), [&](TimeRuns times, const V& value) {
      fn(PartitionSet::Of(shape_, std::move(times), holes), value);
    });
    for (const auto& [values, times] : holes) {
      Emit(Times(values), within.At(values),
           [&, &key = values](TimeRuns at, const V& value) {
             fn(PartitionSet::Of(shape_, TimeRuns(), {{key, std::move(at)}}), value);
           });
    }
  }

  std::size_t RunCount() const {
    std::size_t count = rest_.entries().size() + (rest_.null() ? 1 : 0);
    for (const auto& [values, times] : named_) {
      count += times.entries().size() + (times.null() ? 1 : 0);
    }
    return count;
  }

  friend bool operator==(const PartitionMap&, const PartitionMap&) = default;

 private:
  const TimeMap<V>& Times(const ValueTuple& values) const {
    auto it = named_.find(values);
    return it == named_.end() ? rest_ : it->second;
  }

  void Assign(const PartitionSet& set, const std::optional<V>& value) {
    AMEND_CHECK(set.shape() == shape_);
    if (set.rest().empty()) {  // other tuples are not looked at: there may be thousands
      for (const auto& [values, times] : set.named()) {
        auto at = named_.try_emplace(values, rest_).first;
        at->second.Assign(times, value);
        if (at->second == rest_) named_.erase(at);
      }
      return;
    }
    for (const auto& [values, times] : set.named()) named_.try_emplace(values, rest_);
    for (auto& [values, map] : named_) map.Assign(set.At(values), value);
    rest_.Assign(set.rest(), value);
    std::erase_if(named_, [this](const auto& entry) { return entry.second == rest_; });
  }

  template <typename Fn>
  static void Emit(const TimeMap<V>& map, const TimeRuns& within, Fn fn) {
    map.ForEachIn(
        within,
        [&](std::int64_t first, std::int64_t end, const V& value) {
          fn(TimeRuns::Of(first, end), value);
        },
        [&](const V& value) { fn(TimeRuns::Null(), value); });
  }

  template <typename Predicate>
  static TimeRuns TimesWhere(const TimeMap<V>& map, const TimeRuns& within,
                             const Predicate& predicate) {
    std::vector<Run> runs;
    bool null = false;
    map.ForEachIn(
        within,
        [&](std::int64_t first, std::int64_t end, const V& value) {
          if (predicate(value)) runs.push_back({first, end});
        },
        [&](const V& value) { null = predicate(value); });
    return TimeRuns::FromRuns(std::move(runs), null);
  }

  Shape shape_;
  TimeMap<V> rest_;
  std::map<ValueTuple, TimeMap<V>> named_;
};

}  // namespace amend::partition

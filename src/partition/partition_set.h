#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "partition/space.h"
#include "partition/time_runs.h"

namespace amend::partition {

/// A set of partitions of one space: a function from value tuples to TimeRuns, written as
/// `rest`, which holds for every tuple not named, and the named exceptions. That makes
/// "every region" and "every region but EU" values like any other, so the algebra is
/// total and a complement is always representable. Rejected: a list of points (cost, and
/// no "every"), predicates (equality undecidable).
///
/// Invariants (Verify):
///  1. named tuples ascend without repetition, each with the shape's number of values;
///  2. no named entry equals `rest`: equal sets have equal bytes;
///  3. TimeRuns are canonical; without a time dimension they are {} or the one point 0.
/// The values of a dimension are taken as unlimited, also those of a bucket.
///
/// A value type. Operations on sets of different shapes abort (CHECK): that is a bug.
class PartitionSet {
 public:
  using Named = std::vector<std::pair<ValueTuple, TimeRuns>>;

  /// The empty set of the unpartitioned space.
  PartitionSet() = default;
  /// The empty set.
  explicit PartitionSet(Shape shape) : shape_(shape) {}

  static PartitionSet Empty(const PartitionSpace& space) {
    return PartitionSet(space.shape());
  }
  static PartitionSet All(const PartitionSpace& space) { return All(space.shape()); }
  static PartitionSet All(Shape shape);
  static PartitionSet Of(Shape shape, const Partition& point);
  static PartitionSet Of(Shape shape, const std::vector<Partition>& points);
  /// These times for every value tuple.
  /// REQUIRES: without a time dimension, `times` within {0}.
  static PartitionSet OfTimes(Shape shape, TimeRuns times);
  /// `named` in any order; entries equal to `rest` are dropped. A tuple may not repeat.
  static PartitionSet Of(Shape shape, TimeRuns rest, Named named);
  /// The times that a space of this shape has: all of them with NULL, or the one point.
  static TimeRuns Universe(Shape shape);

  Shape shape() const { return shape_; }
  bool empty() const { return rest_.empty() && named_.empty(); }
  bool is_all() const { return named_.empty() && rest_ == Universe(shape_); }
  const TimeRuns& rest() const { return rest_; }
  const Named& named() const { return named_; }
  /// The times of one value tuple.
  const TimeRuns& At(const ValueTuple& values) const;
  bool Contains(const Partition& point) const;

  /// How many points; nothing where there is no end of them.
  std::optional<std::int64_t> Count() const;
  /// Runs of all named tuples and of `rest`: what operations cost.
  std::size_t RunCount() const;
  /// Every point in ascending order. Exhausted if there are more than `limit`.
  Result<std::vector<Partition>> Points(std::int64_t limit) const;
  PartitionSet Union(const PartitionSet& other) const;
  PartitionSet Intersect(const PartitionSet& other) const;
  PartitionSet Difference(const PartitionSet& other) const;
  PartitionSet Complement() const;
  bool SubsetOf(const PartitionSet& other) const;
  bool Intersects(const PartitionSet& other) const;

  /// Canonical bytes: equal sets of equal shapes have equal bytes. For fingerprints.
  std::string Bytes() const;

  /// Internal where an invariant is broken; names it.
  Status Verify() const;

  friend bool operator==(const PartitionSet&, const PartitionSet&) = default;

 private:
  template <typename Op>
  PartitionSet Combine(const PartitionSet& other, Op op) const;

  Shape shape_;
  TimeRuns rest_;
  Named named_;
};

/// Periods that end after `now_micros`, of every value; empty without a time dimension. A
/// zone's local periods are taken as those of UTC.
PartitionSet UnfinishedAt(const PartitionSpace& space, std::int64_t now_micros);

/// Inclusive ranges for `--json`: [{"first": "2001-03-05", "last": "2001-03-18",
/// "count": 14}]; first and last are "all" where there is no time dimension and null for
/// NULL. Values are members ahead of them, named by column (after a '=' where a column
/// has the name of one of the other members). Ranges of every value not named say
/// "others": true; a tuple excepted from those has "count": 0 and no ends. An end without
/// bound is absent, and so is a count without end. RangesFromJson reads exactly that.
Json RangesToJson(const PartitionSpace& space, const PartitionSet& set);
Result<PartitionSet> RangesFromJson(const PartitionSpace& space, const Json& json);

/// "2001-03-05 … 2001-03-18 (14)", "2001-03-05", "all", "nothing"; at most `max_runs`
/// runs, then "and 12 more".
std::string Describe(const PartitionSpace& space, const PartitionSet& set,
                     std::size_t max_runs = 3);

}  // namespace amend::partition

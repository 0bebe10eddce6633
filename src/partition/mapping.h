#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "partition/partition_set.h"

namespace amend::partition {

/// How far a window reaches: `count` units of a calendar, or without bound. Months,
/// quarters and years are calendar months, never days; hours, days and weeks are exact.
struct Reach {
  bool unbounded = false;
  std::int64_t count =
      0;  ///< may be negative: a window that starts later or ends earlier
  Grain unit = Grain::kDay;

  static Reach Of(std::int64_t count, Grain unit) { return {false, count, unit}; }
  static Reach Unbounded() { return {true, 0, Grain::kDay}; }
  friend bool operator==(const Reach&, const Reach&) = default;
};

/// The time part: output period k needs the input periods that meet
/// [start(k) − back, end(k) + ahead). One rule covers them all:
///   identity    same grain, 0, 0              truncate  coarser output, 0, 0
///   expand      finer output, 0, 0            shift by n   back n, ahead −n
///   trailing n  back n, ahead 0               leading n    back 0, ahead n
///   preceding   back unbounded, ahead 0 (state carried forward)
/// A shift by months clamps to the ends of months as SQL does (31 March − 1 month = 28
/// February), in either direction of writing it (t_in = t_out − n, t_in + n = t_out), so
/// the last day of a month reaches to the last day of the other. Month reaches of hours
/// are counted from whole days. Both sides count in one zone; across zones callers use
/// All.
struct TimeMapping {
  bool all = true;  ///< every output needs every input; the rest is ignored
  Reach back;
  Reach ahead;
  bool null_to_null = true;  ///< NULL of the input is needed by NULL of the output
  bool null_to_all = false;  ///< NULL of the input is needed by every output
  bool all_to_null = false;  ///< every input is needed by NULL of the output

  friend bool operator==(const TimeMapping&, const TimeMapping&) = default;
};

/// How one reference of a model to an input carries partitions: a superset of the real
/// flow of rows. Several references on one edge are unions, which callers take.
///
/// Laws (tested against enumeration): k ∈ Affected(S) ⇔ Required({k}) meets S; both
/// distribute over union; NULL is a point like any other.
///
/// Values are carried either all the same (each output dimension is one input dimension
/// and the other way round) or not at all: a set cannot hold "EU with every product", so
/// a partial correspondence is widened to all, which Make does and `widened_values`
/// tells.
///
/// A value type; immutable after Make.
class PartitionMapping {
 public:
  /// Everything needs everything, between unpartitioned spaces.
  PartitionMapping() = default;

  /// Always possible: what is not proved is `all`.
  static PartitionMapping All(Shape input, Shape output);

  /// Same grain, same values in the same order. REQUIRES: input == output.
  static PartitionMapping Identity(Shape shape);

  /// `values[j]` is the input's value dimension that equals output dimension j, or
  /// nothing. Unsupported where back + ahead is negative (some output would need nothing)
  /// or where a negative reach is mixed with one of the other kind (months and days), and
  /// where `time` is not `all` although a side has no time dimension. Callers then use
  /// All.
  static Result<PartitionMapping> Make(Shape input, Shape output, TimeMapping time,
                                       std::vector<std::optional<int>> values = {});

  Shape input() const { return input_; }
  Shape output() const { return output_; }
  const TimeMapping& time() const { return time_; }
  /// Every output partition needs every input partition.
  bool is_all() const { return time_.all && input_of_output_.empty(); }
  bool widened_values() const { return widened_values_; }

  /// Output partitions that may change when these inputs do.
  PartitionSet Affected(const PartitionSet& inputs) const;
  /// Input partitions that these outputs may read.
  PartitionSet Required(const PartitionSet& outputs) const;

  /// What each of these output runs needs of the input's ordinals, one for one and not
  /// merged: for callers that carry a value with each run. They ascend where the runs do.
  /// NULL is not told: see time(). REQUIRES: !time().all.
  std::vector<Run> RequiredRuns(const std::vector<Run>& outputs) const;

  /// "same day", "day → month", "6 days back", "all": for reasons.
  std::string ToString() const;

  Json ToJson() const;
  static Result<PartitionMapping> FromJson(Shape input, Shape output, const Json& json);

  friend bool operator==(const PartitionMapping&, const PartitionMapping&) = default;

 private:
  enum class Direction : std::uint8_t { kAffected, kRequired };
  bool SamePeriods() const;
  TimeRuns MapTimes(const TimeRuns& times, Direction direction) const;
  PartitionSet Map(const PartitionSet& set, Direction direction) const;

  Shape input_;
  Shape output_;
  TimeMapping time_;
  bool all_values_ = false;
  bool widened_values_ = false;
  std::vector<int> input_of_output_;  ///< a permutation; empty if all_values_
};

}  // namespace amend::partition

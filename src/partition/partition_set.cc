#include "partition/partition_set.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "fmt/format.h"

namespace amend::partition {
namespace {

PartitionSet::Named::const_iterator Find(const PartitionSet::Named& named,
                                         const ValueTuple& values) {
  auto it = std::lower_bound(
      named.begin(), named.end(), values,
      [](const auto& entry, const ValueTuple& key) { return entry.first < key; });
  return it != named.end() && it->first == values ? it : named.end();
}

/// A time line holds every TimeRuns; without one only the point 0 is there.
bool InUniverse(Shape shape, const TimeRuns& times) {
  return shape.grain || times.SubsetOf(TimeRuns::Point(0));
}

/// nullopt where there is no end.
std::optional<std::int64_t> AddCounts(std::optional<std::int64_t> a,
                                      std::optional<std::int64_t> b) {
  if (!a || !b) return std::nullopt;
  std::int64_t sum = 0;
  return __builtin_add_overflow(*a, *b, &sum) ? kPlusInfinity : sum;
}

void AppendBytes(const TimeRuns& times, std::string* bytes) {
  if (times.has_null()) *bytes += 'N';
  for (const Run& run : times.runs()) {
    *bytes += fmt::format("{}:{},", run.first, run.end);
  }
  *bytes += ';';
}

void AppendBytes(const Value& value, std::string* bytes) {
  if (IsNull(value)) {
    *bytes += 'n';
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    *bytes += *truth ? "b1" : "b0";
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    *bytes += fmt::format("s{}:", text->size()) + *text;
  } else {
    *bytes += fmt::format("i{},", std::get<std::int64_t>(value));
  }
}

}  // namespace

TimeRuns PartitionSet::Universe(Shape shape) {
  return shape.grain ? TimeRuns::Everything() : TimeRuns::Point(0);
}

PartitionSet PartitionSet::All(Shape shape) { return OfTimes(shape, Universe(shape)); }

PartitionSet PartitionSet::Of(Shape shape, const Partition& point) {
  return Of(shape, std::vector<Partition>{point});
}

PartitionSet PartitionSet::Of(Shape shape, const std::vector<Partition>& points) {
  std::map<ValueTuple, std::pair<std::vector<Run>, bool>> by_values;
  for (const Partition& point : points) {
    auto& [runs, has_null] = by_values[point.values];
    if (!point.time) {
      has_null = true;
    } else {
      AMEND_CHECK(*point.time != kPlusInfinity);
      runs.push_back({*point.time, *point.time + 1});
    }
  }
  Named named;
  for (auto& [values, times] : by_values) {
    named.emplace_back(values, TimeRuns::FromRuns(std::move(times.first), times.second));
  }
  return Of(shape, TimeRuns(), std::move(named));
}

PartitionSet PartitionSet::OfTimes(Shape shape, TimeRuns times) {
  AMEND_CHECK(InUniverse(shape, times));
  PartitionSet set(shape);
  set.rest_ = std::move(times);
  return set;
}

PartitionSet PartitionSet::Of(Shape shape, TimeRuns rest, Named named) {
  PartitionSet set = OfTimes(shape, std::move(rest));
  std::sort(named.begin(), named.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  // Without value dimensions there is one tuple, the empty one, and it is `rest`.
  if (shape.values == 0 && !named.empty()) {
    AMEND_CHECK(named.size() == 1 && named[0].first.empty());
    return OfTimes(shape, std::move(named[0].second));
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    AMEND_CHECK(named[i].first.size() == shape.values);
    AMEND_CHECK(InUniverse(shape, named[i].second));
    AMEND_CHECK(i == 0 || named[i - 1].first != named[i].first);
  }
  std::erase_if(named, [&](const auto& entry) { return entry.second == set.rest_; });
  set.named_ = std::move(named);
  return set;
}

const TimeRuns& PartitionSet::At(const ValueTuple& values) const {
  AMEND_CHECK(values.size() == shape_.values);
  auto it = Find(named_, values);
  return it == named_.end() ? rest_ : it->second;
}

bool PartitionSet::Contains(const Partition& point) const {
  return At(point.values).Contains(point.time);
}

std::optional<std::int64_t> PartitionSet::Count() const {
  if (shape_.values > 0 && !rest_.empty()) return std::nullopt;
  std::optional<std::int64_t> count = rest_.Count();
  for (const auto& [values, times] : named_) count = AddCounts(count, times.Count());
  return count;
}

std::size_t PartitionSet::RunCount() const {
  std::size_t count = rest_.runs().size() + (rest_.has_null() ? 1 : 0);
  for (const auto& [values, times] : named_) {
    count += times.runs().size() + (times.has_null() ? 1 : 0);
  }
  return count;
}

Result<std::vector<Partition>> PartitionSet::Points(std::int64_t limit) const {
  auto count = Count();
  if (!count || *count > limit) {
    return Fail(Exhausted(fmt::format("{} partitions where at most {} can be listed",
                                      count ? GroupDigits(*count) : "unlimited", limit)));
  }
  std::vector<Partition> points;
  points.reserve(static_cast<std::size_t>(*count));
  auto add = [&](const ValueTuple& values, const TimeRuns& times) {
    if (times.has_null()) points.push_back({std::nullopt, values});
    for (const Run& run : times.runs()) {
      for (std::int64_t at = run.first; at < run.end; ++at)
        points.push_back({at, values});
    }
  };
  add({}, rest_);
  for (const auto& [values, times] : named_) add(values, times);
  if (!named_.empty()) std::sort(points.begin(), points.end());
  return points;
}

template <typename Op>
PartitionSet PartitionSet::Combine(const PartitionSet& other, Op op) const {
  AMEND_CHECK(shape_ == other.shape_);
  PartitionSet result(shape_);
  result.rest_ = op(rest_, other.rest_);
  auto add = [&](const ValueTuple& values, TimeRuns times) {
    if (times != result.rest_) result.named_.emplace_back(values, std::move(times));
  };
  auto a = named_.begin();
  auto b = other.named_.begin();
  while (a != named_.end() || b != other.named_.end()) {
    if (b == other.named_.end() || (a != named_.end() && a->first < b->first)) {
      add(a->first, op(a->second, other.rest_));
      ++a;
    } else if (a == named_.end() || b->first < a->first) {
      add(b->first, op(rest_, b->second));
      ++b;
    } else {
      add(a->first, op(a->second, b->second));
      ++a;
      ++b;
    }
  }
  return result;
}

PartitionSet PartitionSet::Union(const PartitionSet& other) const {
  return Combine(other, [](const TimeRuns& a, const TimeRuns& b) { return a.Union(b); });
}

PartitionSet PartitionSet::Intersect(const PartitionSet& other) const {
  return Combine(other,
                 [](const TimeRuns& a, const TimeRuns& b) { return a.Intersect(b); });
}

PartitionSet PartitionSet::Difference(const PartitionSet& other) const {
  return Combine(other,
                 [](const TimeRuns& a, const TimeRuns& b) { return a.Difference(b); });
}

PartitionSet PartitionSet::Complement() const { return All(shape_).Difference(*this); }

bool PartitionSet::SubsetOf(const PartitionSet& other) const {
  return Difference(other).empty();
}

bool PartitionSet::Intersects(const PartitionSet& other) const {
  AMEND_CHECK(shape_ == other.shape_);
  if (named_.empty() && other.named_.empty()) return rest_.Intersects(other.rest_);
  return !Intersect(other).empty();
}

std::string PartitionSet::Bytes() const {
  std::string bytes =
      fmt::format("{}/{};", shape_.grain ? GrainName(*shape_.grain) : "-", shape_.values);
  AppendBytes(rest_, &bytes);
  for (const auto& [values, times] : named_) {
    for (const Value& value : values) AppendBytes(value, &bytes);
    bytes += '=';
    AppendBytes(times, &bytes);
  }
  return bytes;
}

Status PartitionSet::Verify() const {
  AMEND_RETURN_IF_ERROR(rest_.Verify());
  if (!InUniverse(shape_, rest_)) return Internal("rest lies outside its line");
  if (shape_.values == 0 && !named_.empty()) return Internal("named without values");
  for (std::size_t i = 0; i < named_.size(); ++i) {
    const auto& [values, times] = named_[i];
    AMEND_RETURN_IF_ERROR(times.Verify());
    if (values.size() != shape_.values) return Internal("a tuple of another space");
    if (i > 0 && !(named_[i - 1].first < values)) return Internal("tuples do not ascend");
    if (times == rest_) return Internal("a named entry equals rest");
    if (!InUniverse(shape_, times)) return Internal("times outside their line");
  }
  return {};
}

PartitionSet UnfinishedAt(const PartitionSpace& space, std::int64_t now_micros) {
  if (!space.has_time()) return PartitionSet::Empty(space);
  std::int64_t first = PeriodContainingMicros(space.time()->grain, now_micros).ordinal();
  return PartitionSet::OfTimes(space.shape(), TimeRuns::Of(first, kPlusInfinity));
}

}  // namespace amend::partition

#include "partition/mapping.h"

#include <algorithm>
#include <cstdlib>

#include "base/civil.h"
#include "fmt/format.h"

namespace amend::partition {
namespace {

/// A shift of an instant: exact microseconds, or calendar months.
struct Shift {
  std::int64_t micros = 0;
  std::int64_t months = 0;
};

std::int64_t Saturated(__int128 value) {
  if (value <= kMinusInfinity) return kMinusInfinity;
  if (value >= kPlusInfinity) return kPlusInfinity;
  return static_cast<std::int64_t>(value);
}

bool IsMonths(Grain unit) { return unit >= Grain::kMonth; }

Shift ShiftOf(const Reach& reach) {
  auto times = [&](std::int64_t unit) { return Saturated(__int128{reach.count} * unit); };
  switch (reach.unit) {
    case Grain::kHour:
      return {times(kMicrosPerHour), 0};
    case Grain::kDay:
      return {times(kMicrosPerDay), 0};
    case Grain::kWeek:
      return {times(7 * kMicrosPerDay), 0};
    case Grain::kMonth:
      return {0, reach.count};
    case Grain::kQuarter:
      return {0, times(3)};
    case Grain::kYear:
      return {0, times(12)};
  }
  return {};
}

/// `day` moved by whole months. A day that the other month lacks becomes its last; with
/// `last_to_last` the last day of a month always reaches the last of the other.
std::int64_t ShiftDay(std::int64_t day, std::int64_t months, bool last_to_last) {
  CivilDay civil = CivilFromDays(day);
  std::int64_t month = PeriodContainingDay(Grain::kMonth, day).ordinal() + months;
  std::int64_t last = StartDay({Grain::kMonth, month + 1}) - 1;
  bool is_last = CivilFromDays(day + 1).day == 1;
  if (last_to_last && is_last) return last;
  return std::min(StartDay({Grain::kMonth, month}) + civil.day - 1, last);
}

/// More months than the calendar has end beyond it anyway.
constexpr std::int64_t kManyMonths = 12 * 500'000;

/// Start of the day that holds the instant, moved by months.
std::int64_t ShiftStart(std::int64_t micros, std::int64_t months) {
  if (std::abs(months) > kManyMonths) return months < 0 ? kMinusInfinity : kPlusInfinity;
  std::int64_t day = FloorDiv(micros, kMicrosPerDay);
  return Saturated(__int128{ShiftDay(day, months, false)} * kMicrosPerDay);
}

/// End of the day that holds the last instant before `micros`, moved by months.
std::int64_t ShiftEnd(std::int64_t micros, std::int64_t months) {
  if (std::abs(months) > kManyMonths) return months < 0 ? kMinusInfinity : kPlusInfinity;
  std::int64_t day = FloorDiv(micros - 1, kMicrosPerDay);
  return Saturated((__int128{ShiftDay(day, months, true)} + 1) * kMicrosPerDay);
}

/// The window [Start(k), End(k)) of input time that output period k needs; both ascend
/// with k, which makes the inverse a search. Instants outside the calendar are moved to
/// its borders, where all periods outside are taken as one (grain.h): the laws hold there
/// too.
class Window {
 public:
  Window(Grain output, const TimeMapping& time)
      : output_(output),
        back_(ShiftOf(time.back)),
        ahead_(ShiftOf(time.ahead)),
        from_ever_(time.back.unbounded),
        for_ever_(time.ahead.unbounded) {}

  std::int64_t Start(std::int64_t ordinal) const {
    std::int64_t at = StartMicros({output_, ordinal});
    if (from_ever_ || at == kMinusInfinity) return kMinusInfinity;
    at = back_.months == 0 ? Saturated(__int128{at} - back_.micros)
                           : ShiftStart(at, -back_.months);
    if (at < CalendarStartMicros()) return kMinusInfinity;
    return std::min(at, CalendarEndMicros());
  }

  std::int64_t End(std::int64_t ordinal) const {
    std::int64_t at = EndMicros({output_, ordinal});
    if (for_ever_ || at == kPlusInfinity) return kPlusInfinity;
    at = ahead_.months == 0 ? Saturated(__int128{at} + ahead_.micros)
                            : ShiftEnd(at, ahead_.months);
    if (at > CalendarEndMicros()) return kPlusInfinity;
    return std::max(at, CalendarStartMicros());
  }

  /// The first output period whose window ends after `start`.
  std::int64_t FirstEndingAfter(std::int64_t start) const {
    auto after = [&](std::int64_t k) { return End(k) > start; };
    return FirstTrue(after, Near(start, -1));
  }

  /// The first output period whose window does not start before `end`.
  std::int64_t FirstStartingFrom(std::int64_t end) const {
    auto from = [&](std::int64_t k) { return Start(k) >= end; };
    return FirstTrue(from, Near(end, 1));
  }

 private:
  std::int64_t FirstOrdinal() const {
    return PeriodContainingMicros(output_, CalendarStartMicros()).ordinal() - 1;
  }
  std::int64_t LastOrdinal() const {
    return PeriodContainingMicros(output_, CalendarEndMicros()).ordinal() + 1;
  }

  /// An ordinal near to where the search ends: a month is taken as 30 days.
  std::int64_t Near(std::int64_t micros, int direction) const {
    const Shift& shift = direction < 0 ? ahead_ : back_;
    __int128 distance = shift.micros + __int128{shift.months} * 30 * kMicrosPerDay;
    std::int64_t at = Saturated(micros + direction * distance);
    at = std::clamp(at, CalendarStartMicros(), CalendarEndMicros());
    return PeriodContainingMicros(output_, at).ordinal();
  }

  /// The first ordinal for which `holds`, which stays true once it is; an infinity where
  /// it holds for all or for none. Doubles its step from `near`, then halves it.
  template <typename Predicate>
  std::int64_t FirstTrue(Predicate holds, std::int64_t near) const {
    // All periods beyond each end of the calendar answer alike.
    const std::int64_t lowest = FirstOrdinal();
    const std::int64_t highest = LastOrdinal();
    std::int64_t low = near;   // will not hold
    std::int64_t high = near;  // will hold
    for (std::int64_t step = 1; holds(low); step *= 2) {
      if (low == lowest) return kMinusInfinity;
      high = low;
      low = std::max(lowest, low - step);
    }
    for (std::int64_t step = 1; !holds(high); step *= 2) {
      if (high == highest) return kPlusInfinity;
      low = high;
      high = std::min(highest, high + step);
    }
    while (high - low > 1) {
      std::int64_t middle = low + (high - low) / 2;
      (holds(middle) ? high : low) = middle;
    }
    return high;
  }

  Grain output_;
  Shift back_;
  Shift ahead_;
  bool from_ever_;
  bool for_ever_;
};

Run RequiredRun(const Window& window, Grain input, const Run& outputs) {
  std::int64_t start = window.Start(outputs.first);
  std::int64_t end = window.End(outputs.end - 1);
  std::int64_t first = PeriodContainingMicros(input, start).ordinal();
  if (end == kPlusInfinity) return {first, end};
  return {first, PeriodContainingMicros(input, end - 1).ordinal() + 1};
}

Run AffectedRun(const Window& window, Grain input, const Run& inputs) {
  std::int64_t start = StartMicros({input, inputs.first});
  std::int64_t end = EndMicros({input, inputs.end - 1});
  std::int64_t first =
      start == kMinusInfinity ? kMinusInfinity : window.FirstEndingAfter(start);
  std::int64_t stop =
      end == kPlusInfinity ? kPlusInfinity : window.FirstStartingFrom(end);
  return {first, std::max(first, stop)};
}

Status VerifyTime(Shape input, Shape output, const TimeMapping& time) {
  if (time.all) return {};
  if (!input.grain || !output.grain) {
    return Unsupported("a window between tables of which one has no time dimension");
  }
  if (time.back.unbounded || time.ahead.unbounded) return {};
  Shift back = ShiftOf(time.back);
  Shift ahead = ShiftOf(time.ahead);
  bool negative = time.back.count < 0 || time.ahead.count < 0;
  bool mixed = time.back.count != 0 && time.ahead.count != 0 &&
               IsMonths(time.back.unit) != IsMonths(time.ahead.unit);
  if (negative && mixed) {
    return Unsupported("a window between months on one side and days on the other");
  }
  if (__int128{back.micros} + ahead.micros < 0 ||
      __int128{back.months} + ahead.months < 0) {
    return Unsupported("a window that ends before it starts");
  }
  return {};
}

std::string DescribeReach(const Reach& reach, std::string_view direction) {
  std::int64_t count = std::abs(reach.count);
  return fmt::format("{} {}{} {}", count, GrainName(reach.unit), count == 1 ? "" : "s",
                     direction);
}

Json ReachToJson(const Reach& reach) {
  if (reach.unbounded) return "unbounded";
  return {{"count", reach.count}, {"unit", GrainName(reach.unit)}};
}

Result<Reach> ReachFromJson(const Json& json) {
  if (json == "unbounded") return Reach::Unbounded();
  AMEND_ASSIGN(std::int64_t count, JsonInt(json, "count", "reach of a mapping"));
  AMEND_ASSIGN(std::string name, JsonString(json, "unit", "reach of a mapping"));
  auto unit = ParseGrain(name);
  if (!unit) return Fail(Damaged("no grain '" + name + "'"));
  return Reach::Of(count, *unit);
}

Result<bool> FlagFromJson(const Json& json, std::string_view member) {
  auto flag = json.find(member);
  if (flag == json.end() || !flag->is_boolean()) {
    return Fail(Damaged(fmt::format("a mapping lacks {}", member)));
  }
  return flag->get<bool>();
}

}  // namespace

PartitionMapping PartitionMapping::All(Shape input, Shape output) {
  PartitionMapping mapping;
  mapping.input_ = input;
  mapping.output_ = output;
  // Without value dimensions on either side there is nothing to widen.
  mapping.all_values_ = input.values > 0 || output.values > 0;
  return mapping;
}

PartitionMapping PartitionMapping::Identity(Shape shape) {
  PartitionMapping mapping = All(shape, shape);
  mapping.time_.all = !shape.grain;
  mapping.all_values_ = false;
  for (int i = 0; i < shape.values; ++i) mapping.input_of_output_.push_back(i);
  return mapping;
}

Result<PartitionMapping> PartitionMapping::Make(Shape input, Shape output,
                                                TimeMapping time,
                                                std::vector<std::optional<int>> values) {
  AMEND_FAIL_IF_ERROR(VerifyTime(input, output, time));
  if (!values.empty() && values.size() != output.values) {
    return Fail(Invalid("a mapping says nothing of some output dimension"));
  }
  PartitionMapping mapping = All(input, output);
  mapping.time_ = time.all ? TimeMapping() : time;
  std::vector<int> carried;
  for (const std::optional<int>& from : values) {
    if (!from) continue;
    if (*from < 0 || *from >= input.values) {
      return Fail(Invalid("a mapping names an input dimension that is not there"));
    }
    carried.push_back(*from);
  }
  std::vector<int> distinct = carried;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() == output.values && distinct.size() == input.values) {
    mapping.all_values_ = false;
    mapping.input_of_output_ = std::move(carried);
  } else {
    mapping.widened_values_ = !carried.empty();
  }
  return mapping;
}

/// The commonest edge, and one that needs no calendar.
bool PartitionMapping::SamePeriods() const {
  return input_.grain == output_.grain && !time_.back.unbounded &&
         !time_.ahead.unbounded && time_.back.count == 0 && time_.ahead.count == 0;
}

std::vector<Run> PartitionMapping::RequiredRuns(const std::vector<Run>& outputs) const {
  AMEND_CHECK(!time_.all);
  if (SamePeriods()) return outputs;
  Window window(*output_.grain, time_);
  std::vector<Run> inputs;
  inputs.reserve(outputs.size());
  for (const Run& run : outputs) {
    inputs.push_back(RequiredRun(window, *input_.grain, run));
  }
  return inputs;
}

TimeRuns PartitionMapping::MapTimes(const TimeRuns& times, Direction direction) const {
  if (times.empty()) return times;
  bool affected = direction == Direction::kAffected;
  TimeRuns everything = PartitionSet::Universe(affected ? output_ : input_);
  if (time_.all) return everything;
  // NULL of the side asked about reaches the whole other side, and the other way round.
  bool null_reaches_all = affected ? time_.null_to_all : time_.all_to_null;
  bool any_reaches_null = affected ? time_.all_to_null : time_.null_to_all;
  if (times.has_null() && null_reaches_all) return everything;
  bool null = any_reaches_null || (times.has_null() && time_.null_to_null);
  if (SamePeriods()) return times.WithNull(null);
  Window window(*output_.grain, time_);
  std::vector<Run> runs;
  runs.reserve(times.runs().size());
  for (const Run& run : times.runs()) {
    runs.push_back(affected ? AffectedRun(window, *input_.grain, run)
                            : RequiredRun(window, *input_.grain, run));
  }
  return TimeRuns::FromRuns(std::move(runs), null);
}

PartitionSet PartitionMapping::Map(const PartitionSet& set, Direction direction) const {
  bool affected = direction == Direction::kAffected;
  Shape target = affected ? output_ : input_;
  if (all_values_) {
    TimeRuns times = set.rest();
    for (const auto& [values, at] : set.named()) times = times.Union(at);
    return PartitionSet::OfTimes(target, MapTimes(times, direction));
  }
  PartitionSet::Named named;
  for (const auto& [values, at] : set.named()) {
    ValueTuple mapped(values.size());
    for (std::size_t j = 0; j < values.size(); ++j) {
      auto i = static_cast<std::size_t>(input_of_output_[j]);
      affected ? mapped[j] = values[i] : mapped[i] = values[j];
    }
    named.emplace_back(std::move(mapped), MapTimes(at, direction));
  }
  return PartitionSet::Of(target, MapTimes(set.rest(), direction), std::move(named));
}

PartitionSet PartitionMapping::Affected(const PartitionSet& inputs) const {
  AMEND_CHECK(inputs.shape() == input_);
  return Map(inputs, Direction::kAffected);
}

PartitionSet PartitionMapping::Required(const PartitionSet& outputs) const {
  AMEND_CHECK(outputs.shape() == output_);
  return Map(outputs, Direction::kRequired);
}

std::string PartitionMapping::ToString() const {
  if (time_.all) return input_of_output_.empty() ? "all" : "same values";
  std::string_view from = GrainName(*input_.grain);
  std::string_view to = GrainName(*output_.grain);
  std::string text = from == to ? "" : fmt::format("{} → {}", from, to);
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const Reach& back = time_.back;
  const Reach& ahead = time_.ahead;
  if (!back.unbounded && !ahead.unbounded && back.unit == ahead.unit &&
      back.count == -ahead.count && back.count != 0) {
    add(DescribeReach(back, back.count > 0 ? "earlier" : "later"));
    return text;
  }
  if (back.unbounded) add("everything earlier");
  if (!back.unbounded && back.count != 0) {
    add(DescribeReach(back, back.count > 0 ? "back" : "later at its start"));
  }
  if (ahead.unbounded) add("everything later");
  if (!ahead.unbounded && ahead.count != 0) {
    add(DescribeReach(ahead, ahead.count > 0 ? "ahead" : "earlier at its end"));
  }
  return text.empty() ? fmt::format("same {}", to) : text;
}

Json PartitionMapping::ToJson() const {
  Json json = Json::object();
  if (time_.all) {
    json["time"] = "all";
  } else {
    json["time"] = {{"back", ReachToJson(time_.back)},
                    {"ahead", ReachToJson(time_.ahead)},
                    {"null_to_null", time_.null_to_null},
                    {"null_to_all", time_.null_to_all},
                    {"all_to_null", time_.all_to_null}};
  }
  json["values"] = all_values_ ? Json("all") : Json(input_of_output_);
  if (widened_values_) json["widened_values"] = true;
  return json;
}

Result<PartitionMapping> PartitionMapping::FromJson(Shape input, Shape output,
                                                    const Json& json) {
  if (!json.is_object() || !json.contains("time") || !json.contains("values")) {
    return Fail(Damaged("a partition mapping lacks its time or values"));
  }
  TimeMapping time;
  const Json& t = json.at("time");
  if (t != "all") {
    time.all = false;
    if (!t.is_object() || !t.contains("back") || !t.contains("ahead")) {
      return Fail(Damaged("a mapping lacks its window"));
    }
    AMEND_ASSIGN(time.back, ReachFromJson(t.at("back")));
    AMEND_ASSIGN(time.ahead, ReachFromJson(t.at("ahead")));
    AMEND_ASSIGN(time.null_to_null, FlagFromJson(t, "null_to_null"));
    AMEND_ASSIGN(time.null_to_all, FlagFromJson(t, "null_to_all"));
    AMEND_ASSIGN(time.all_to_null, FlagFromJson(t, "all_to_null"));
  }
  std::vector<std::optional<int>> values;
  if (json.at("values") != "all") {
    if (!json.at("values").is_array()) return Fail(Damaged("a mapping's values"));
    for (const Json& from : json.at("values")) {
      if (!from.is_number_integer()) return Fail(Damaged("a mapping's values"));
      values.emplace_back(from.get<int>());
    }
  }
  auto mapping = Make(input, output, time, std::move(values));
  if (!mapping) return Fail(mapping.error().Annotate("stored mapping"));
  mapping->widened_values_ = json.contains("widened_values");
  return mapping;
}

}  // namespace amend::partition

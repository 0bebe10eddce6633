// How partition sets are written for people and for --json.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "fmt/format.h"
#include "partition/partition_set.h"

namespace amend::partition {
namespace {

constexpr std::string_view kFirst = "first";
constexpr std::string_view kLast = "last";
constexpr std::string_view kCount = "count";
constexpr std::string_view kOthers = "others";

/// The JSON member that holds a column's value.
std::string MemberOf(const std::string& column) {
  for (std::string_view taken : {kFirst, kLast, kCount, kOthers}) {
    if (column == taken) return "=" + column;
  }
  return column;
}

ValueType TypeOf(const Dimension& d) {
  return d.kind == Dimension::Kind::kBucket ? ValueType::kInteger : d.type;
}

Json ValueMembers(const PartitionSpace& space, const ValueTuple* values) {
  Json members = Json::object();
  const auto& dimensions = space.value_dimensions();
  if (values == nullptr && !dimensions.empty()) members[std::string(kOthers)] = true;
  for (std::size_t i = 0; values != nullptr && i < dimensions.size(); ++i) {
    members[MemberOf(dimensions[i].column)] =
        ValueToJson(TypeOf(dimensions[i]), (*values)[i]);
  }
  return members;
}

std::string FormatOrdinal(const PartitionSpace& space, std::int64_t ordinal) {
  return space.has_time() ? FormatPeriod(Period(space.time()->grain, ordinal)) : "all";
}

/// Ranges of one tuple, or of every tuple not named (`values` null).
void AddRanges(const PartitionSpace& space, const ValueTuple* values,
               const TimeRuns& times, Json* ranges) {
  bool countable = values != nullptr || space.value_dimensions().empty();
  if (times.has_null()) {
    Json range = ValueMembers(space, values);
    range[std::string(kFirst)] = nullptr;
    range[std::string(kLast)] = nullptr;
    if (countable) range[std::string(kCount)] = 1;
    ranges->push_back(std::move(range));
  }
  for (const Run& run : times.runs()) {
    Json range = ValueMembers(space, values);
    bool bounded = run.first != kMinusInfinity && run.end != kPlusInfinity;
    if (run.first != kMinusInfinity) {
      range[std::string(kFirst)] = FormatOrdinal(space, run.first);
    }
    if (run.end != kPlusInfinity) {
      range[std::string(kLast)] = FormatOrdinal(space, run.end - 1);
    }
    if (countable && bounded) range[std::string(kCount)] = run.end - run.first;
    ranges->push_back(std::move(range));
  }
  if (times.empty() && values != nullptr) {
    Json range = ValueMembers(space, values);
    range[std::string(kCount)] = 0;
    ranges->push_back(std::move(range));
  }
}

/// One end of a range: its ordinal, or `infinity` where absent.
Result<std::int64_t> EndFromJson(const PartitionSpace& space, const Json& range,
                                 std::string_view member, std::int64_t infinity) {
  if (!range.contains(member)) return infinity;
  AMEND_ASSIGN(std::string text, JsonString(range, member, "partition range"));
  if (!space.has_time()) {
    if (text == "all") return std::int64_t{0};
    return Fail(Damaged(fmt::format("{} '{}' of a table without time", member, text)));
  }
  auto period = ParsePeriod(text);
  if (!period || period->grain() != space.time()->grain) {
    return Fail(Damaged(fmt::format("{} '{}' is not a {}", member, text,
                                    GrainName(space.time()->grain))));
  }
  return period->ordinal();
}

Result<TimeRuns> TimesFromJson(const PartitionSpace& space, const Json& range) {
  if (range.contains(kCount) && range.at(kCount) == 0) return TimeRuns();
  if (range.contains(kFirst) && range.at(kFirst).is_null()) {
    if (!space.has_time()) return Fail(Damaged("NULL of a table without time"));
    return TimeRuns::Null();
  }
  AMEND_ASSIGN(std::int64_t first, EndFromJson(space, range, kFirst, kMinusInfinity));
  AMEND_ASSIGN(std::int64_t last, EndFromJson(space, range, kLast, kPlusInfinity));
  std::int64_t end = last == kPlusInfinity ? last : last + 1;
  if (first >= end) return Fail(Damaged("a partition range ends before it starts"));
  TimeRuns times = TimeRuns::Of(first, end);
  if (!times.SubsetOf(PartitionSet::Universe(space.shape()))) {
    return Fail(Damaged("a range without ends of a table without time"));
  }
  return times;
}

/// The tuple that a range names, or nothing for "others".
Result<std::optional<ValueTuple>> ValuesFromJson(const PartitionSpace& space,
                                                 const Json& range) {
  if (space.value_dimensions().empty() || range.contains(kOthers)) {
    return std::optional<ValueTuple>();
  }
  ValueTuple values;
  for (const Dimension& d : space.value_dimensions()) {
    auto member = range.find(MemberOf(d.column));
    if (member == range.end()) {
      return Fail(Damaged("a partition range lacks " + d.column).Column(d.column));
    }
    AMEND_ASSIGN(Value value, ValueFromJson(TypeOf(d), *member));
    values.push_back(std::move(value));
  }
  return std::optional<ValueTuple>(std::move(values));
}

std::string DescribeRun(const PartitionSpace& space, const Run& run) {
  if (!space.has_time()) return "all";
  if (run == Run{kMinusInfinity, kPlusInfinity})
    return "every " + std::string(GrainName(space.time()->grain));
  if (run.first == kMinusInfinity) return "up to " + FormatOrdinal(space, run.end - 1);
  if (run.end == kPlusInfinity) return FormatOrdinal(space, run.first) + " and later";
  if (run.end - run.first == 1) return FormatOrdinal(space, run.first);
  return fmt::format("{} … {} ({})", FormatOrdinal(space, run.first),
                     FormatOrdinal(space, run.end - 1), GroupDigits(run.end - run.first));
}

}  // namespace

Json RangesToJson(const PartitionSpace& space, const PartitionSet& set) {
  AMEND_CHECK(space.shape() == set.shape());
  Json ranges = Json::array();
  AddRanges(space, nullptr, set.rest(), &ranges);
  for (const auto& [values, times] : set.named()) {
    AddRanges(space, &values, times, &ranges);
  }
  return ranges;
}

Result<PartitionSet> RangesFromJson(const PartitionSpace& space, const Json& json) {
  if (!json.is_array()) return Fail(Damaged("partition ranges are not a list"));
  TimeRuns rest;
  std::map<ValueTuple, TimeRuns> by_values;
  for (const Json& range : json) {
    if (!range.is_object()) return Fail(Damaged("a partition range is not an object"));
    AMEND_ASSIGN(std::optional<ValueTuple> values, ValuesFromJson(space, range));
    AMEND_ASSIGN(TimeRuns times, TimesFromJson(space, range));
    TimeRuns& target = values ? by_values[*values] : rest;
    target = target.Union(times);
  }
  return PartitionSet::Of(space.shape(), std::move(rest),
                          PartitionSet::Named(by_values.begin(), by_values.end()));
}

std::string Describe(const PartitionSpace& space, const PartitionSet& set,
                     std::size_t max_runs) {
  std::vector<std::string> parts;
  auto add = [&](const TimeRuns& times, const std::string& suffix) {
    if (times.has_null()) parts.push_back("null" + suffix);
    for (const Run& run : times.runs()) {
      parts.push_back(DescribeRun(space, run) + suffix);
    }
  };
  const auto& dimensions = space.value_dimensions();
  std::string others = set.named().empty() ? " of every value" : " of every other value";
  add(set.rest(), dimensions.empty() ? "" : others);
  for (const auto& [values, times] : set.named()) {
    std::string suffix;
    for (std::size_t i = 0; i < values.size(); ++i) {
      suffix += fmt::format(" {}={}", dimensions[i].column,
                            FormatValue(TypeOf(dimensions[i]), values[i]));
    }
    if (times.empty()) parts.push_back("none of" + suffix);
    add(times, suffix);
  }
  if (parts.empty()) return "nothing";
  std::size_t left = parts.size() > max_runs ? parts.size() - max_runs : 0;
  parts.resize(parts.size() - left);
  std::string text = Join(parts, ", ");
  return left == 0 ? text : fmt::format("{} and {} more", text, left);
}

}  // namespace amend::partition

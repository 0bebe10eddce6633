#include "project/partition_text.h"

#include <algorithm>

#include "base/text.h"

namespace amend::project {
namespace {

using partition::Dimension;
using partition::Grain;
using partition::PartitionMapping;
using partition::PartitionSpace;
using partition::Reach;
using partition::ValueType;

constexpr std::int64_t kMaxSpan = 1'000'000;

/// "day(ts)" → day, ts. Without brackets only `inside` is set.
struct Call {
  std::string function;
  std::vector<std::string> arguments;
};

std::optional<Call> ParseCall(std::string_view text) {
  text = Trim(text);
  Call call;
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) {
    call.arguments = {std::string(text)};
    return call;
  }
  if (text.back() != ')' || text.find('(', open + 1) != std::string_view::npos ||
      text.find(')') != text.size() - 1) {
    return std::nullopt;
  }
  call.function = ToLower(Trim(text.substr(0, open)));
  for (const std::string& part :
       Split(text.substr(open + 1, text.size() - open - 2), ',')) {
    call.arguments.emplace_back(Trim(part));
  }
  return call;
}

std::optional<ValueType> ValueTypeOf(std::string_view type) {
  if (type == "BOOLEAN") return ValueType::kBoolean;
  if (type == "INTEGER" || type == "BIGINT") return ValueType::kInteger;
  if (type == "DATE") return ValueType::kDate;
  if (type == "TIMESTAMP" || type == "TIMESTAMP WITH TIME ZONE") {
    return ValueType::kTimestamp;
  }
  if (type == "VARCHAR" || type == "UUID") return ValueType::kString;
  return std::nullopt;
}

std::string GrainsText() { return "hour, day, month, year"; }

/// Reads the dimensions of one table; every problem is at `line_`.
class DimensionReader {
 public:
  DimensionReader(std::string path, const DeclaredColumns& columns, int line,
                  Report& report)
      : path_(std::move(path)), columns_(columns), line_(line), report_(report) {}

  std::optional<Dimension> Read(std::string_view text) {
    auto call = ParseCall(text);
    if (!call) {
      return Bad("'" + std::string(text) + "' is not a column or grain(column)",
                 "such as day(ts), month(d) or region");
    }
    if (call->function.empty()) return ReadValue(call->arguments[0]);
    if (call->function == "bucket" || call->function == "truncate") {
      return Unsupported(call->function,
                         "compute it as a column of the SELECT and partition by that");
    }
    auto grain = partition::ParseGrain(call->function);
    if (!grain) {
      return Bad("unknown grain '" + call->function + "'",
                 Suggest(call->function, {"hour", "day", "month", "year"}));
    }
    if (*grain == Grain::kWeek || *grain == Grain::kQuarter) {
      const bool week = *grain == Grain::kWeek;
      return Unsupported(
          call->function,
          std::string("Iceberg has no such transform: hold the first day of "
                      "the ") +
              (week ? "week in a column and use day(column)"
                    : "quarter in a column and use month(column)"));
    }
    if (call->arguments.size() == 2) {
      return Unsupported("a zone", "hold the local time in a column and use " +
                                       call->function + "(column)");
    }
    if (call->arguments.size() != 1 || !IsName(call->arguments[0])) {
      return Bad("'" + std::string(text) + "' needs one column",
                 call->function + "(column)");
    }
    return ReadTime(*grain, call->arguments[0]);
  }

 private:
  std::optional<Dimension> Bad(std::string text, std::string hint) {
    report_.Error(line_, "bad_partition", path_ + ": " + std::move(text),
                  std::move(hint));
    return std::nullopt;
  }
  std::optional<Dimension> Unsupported(const std::string& what, std::string hint) {
    report_.Error(line_, "unsupported", path_ + ": " + what + " is not supported here",
                  std::move(hint));
    return std::nullopt;
  }

  /// Null with a report only where the table says all of its columns.
  const lineage::Column* Find(const std::string& column, bool* failed) {
    const lineage::Column* found = columns_.Find(column);
    if (found == nullptr && columns_.complete) {
      Bad("no column '" + column + "'", Suggest(column, columns_.Names()));
      *failed = true;
    }
    return found;
  }

  std::optional<Dimension> ReadTime(Grain grain, const std::string& column) {
    bool failed = false;
    const lineage::Column* found = Find(column, &failed);
    if (failed) return std::nullopt;
    if (found != nullptr && !found->type.empty()) {
      const bool date = found->type == "DATE";
      if (!date && !found->type.starts_with("TIMESTAMP")) {
        return Bad("column '" + found->name + "' is " + found->type +
                       ", a grain needs DATE or TIMESTAMP",
                   "write '" + found->name + "' to partition by its value");
      }
      if (date && grain == Grain::kHour) {
        return Bad("column '" + found->name + "' is DATE, which has no hours",
                   "day(" + found->name + ")");
      }
    }
    return Dimension::Time(found != nullptr ? found->name : column, grain);
  }

  std::optional<Dimension> ReadValue(const std::string& column) {
    if (!IsName(column)) {
      return Bad("'" + column + "' is not a column or grain(column)",
                 "such as day(ts), month(d) or region; grains are " + GrainsText());
    }
    bool failed = false;
    const lineage::Column* found = Find(column, &failed);
    if (failed) return std::nullopt;
    if (found == nullptr || found->type.empty()) {
      return Bad("partitioning by the value of '" + column + "' needs its declared type",
                 "add it under columns, e.g. " + column + ": VARCHAR");
    }
    auto type = ValueTypeOf(found->type);
    if (!type) {
      return Bad("column '" + found->name + "' is " + found->type +
                     ", whose values cannot name partitions",
                 "BOOLEAN, INTEGER, BIGINT, DATE, TIMESTAMP and VARCHAR can");
    }
    if (*type == ValueType::kDate || *type == ValueType::kTimestamp) {
      report_.Warn(line_, "time_as_value",
                   path_ + ": '" + found->name + "' is a time, cut by its single values",
                   "day(" + found->name + ") lets plans ask for ranges of days");
    }
    return Dimension::OfValue(found->name, *type);
  }

  std::string path_;
  const DeclaredColumns& columns_;
  int line_;
  Report& report_;
};

std::optional<Reach> ReadReach(Section& in, std::string_view name) {
  const YamlNode* node = in.Take(name);
  if (node == nullptr) return Reach();
  auto text = AsText(*node, in.PathOf(name), in.report());
  if (!text) return std::nullopt;
  if (*text == "none") return Reach();
  if (*text == "all" && name == "lookback") return Reach::Unbounded();
  auto span = ParseSpan(*text);
  if (span && (name == "offset" || span->count >= 0)) {
    return Reach::Of(span->count, span->unit);
  }
  in.report().Error(node->line, "bad_value",
                    in.PathOf(name) + ": expected a span such as " +
                        (name == "offset" ? "-1 day" : "6 days") + ", found '" + *text +
                        "'",
                    "a whole number of hours, days, weeks, months, quarters or years");
  return std::nullopt;
}

/// back and ahead moved by the offset; nothing where their units differ.
std::optional<Reach> Moved(const Reach& reach, const Reach& offset, std::int64_t sign) {
  if (reach.unbounded || offset.count == 0) return reach;
  if (reach.count != 0 && reach.unit != offset.unit) return std::nullopt;
  return Reach::Of(reach.count + sign * offset.count, offset.unit);
}

}  // namespace

const lineage::Column* DeclaredColumns::Find(std::string_view name) const {
  auto it = std::find_if(
      columns.begin(), columns.end(),
      [name](const lineage::Column& c) { return ToLower(c.name) == ToLower(name); });
  return it == columns.end() ? nullptr : &*it;
}

std::vector<std::string> DeclaredColumns::Names() const {
  std::vector<std::string> names;
  for (const lineage::Column& column : columns) names.push_back(column.name);
  return names;
}

std::optional<PartitionSpace> ReadPartitionBy(const YamlNode& node,
                                              const std::string& path,
                                              const DeclaredColumns& columns,
                                              Report& report) {
  std::vector<Dimension> dimensions;
  bool failed = false;
  for (const std::string& text : AsTexts(node, path, report)) {
    auto dimension = DimensionReader(path, columns, node.line, report).Read(text);
    failed = failed || !dimension;
    if (dimension) dimensions.push_back(*std::move(dimension));
  }
  if (failed) return std::nullopt;
  auto space = PartitionSpace::Make(std::move(dimensions));
  if (space) return *std::move(space);
  report.Error(node.line, "bad_partition", path + ": " + space.error().message(),
               space.error().hint());
  return std::nullopt;
}

std::optional<Span> ParseSpan(std::string_view text) {
  text = Trim(text);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  auto count = ParseInt(text.substr(0, blank));
  std::string unit = ToLower(Trim(text.substr(blank)));
  if (unit.size() > 1 && unit.ends_with('s')) unit.pop_back();
  auto grain = partition::ParseGrain(unit);
  if (!count || !grain || *count > kMaxSpan || *count < -kMaxSpan) return std::nullopt;
  return Span{*count, *grain};
}

std::optional<InputText> ReadInput(const YamlMember& member, Report& report) {
  const std::string path = "inputs." + member.name;
  InputText input;
  input.table = member.name;
  input.line = member.line;
  if (member.value.kind == YamlNode::Kind::kScalar) {
    input.all = member.value.text == "all";
    if (input.all || member.value.text == "same") return input;
  }
  if (member.value.kind != YamlNode::Kind::kMap) {
    report.Error(member.value.line, "wrong_type",
                 path + ": expected all, same or a map, found " + Found(member.value),
                 "such as {lookback: 6 days}");
    return std::nullopt;
  }
  Section in(member.value, path, report);
  auto back = ReadReach(in, "lookback");
  auto ahead = ReadReach(in, "lookahead");
  auto offset = ReadReach(in, "offset");
  in.Finish();
  if (!back || !ahead || !offset) return std::nullopt;
  auto moved_back = Moved(*back, *offset, -1);
  auto moved_ahead = Moved(*ahead, *offset, 1);
  if (!moved_back || !moved_ahead) {
    report.Error(member.line, "bad_value", path + ": offset and reach must have one unit",
                 "write all of them in days, for instance");
    return std::nullopt;
  }
  input.back = *moved_back;
  input.ahead = *moved_ahead;
  return input;
}

std::optional<PartitionMapping> MappingOf(const InputText& input,
                                          const PartitionSpace& from,
                                          const PartitionSpace& to, Report& report) {
  if (input.all) return PartitionMapping::All(from.shape(), to.shape());
  const bool reaches = input.back != Reach() || input.ahead != Reach();
  partition::TimeMapping time;
  time.all = !from.has_time() || !to.has_time();
  if (time.all && reaches) {
    report.Error(input.line, "bad_value",
                 "inputs." + input.table +
                     ": a reach in time needs time on both sides; '" + input.table +
                     "' is cut by " + from.ToString() + ", the model by " + to.ToString(),
                 "write " + input.table + ": all");
    return std::nullopt;
  }
  time.back = input.back;
  time.ahead = input.ahead;
  std::vector<std::optional<int>> values;
  for (const Dimension& wanted : to.value_dimensions()) {
    const auto& given = from.value_dimensions();
    auto it = std::find(given.begin(), given.end(), wanted);
    values.push_back(it == given.end()
                         ? std::nullopt
                         : std::optional<int>(static_cast<int>(it - given.begin())));
  }
  auto mapping =
      PartitionMapping::Make(from.shape(), to.shape(), time, std::move(values));
  if (mapping) return *std::move(mapping);
  report.Error(input.line, "bad_value",
               "inputs." + input.table + ": " + mapping.error().message(),
               mapping.error().hint());
  return std::nullopt;
}

}  // namespace amend::project

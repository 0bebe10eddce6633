#include "plan/request.h"

#include <optional>

#include "base/text.h"
#include "fmt/format.h"

namespace amend::plan {
namespace {

using partition::Dimension;
using partition::FormatPeriod;
using partition::Grain;
using partition::GrainName;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Period;
using partition::PeriodRange;
using partition::TimeRuns;
using partition::Value;
using partition::ValueTuple;

/// The periods of `grain` that a key of it or of a finer grain meets.
Result<PeriodRange> WidenKey(const Dimension& time, std::string_view key) {
  auto period = partition::ParsePeriod(key);
  if (!period) {
    return Fail(
        Invalid(fmt::format("'{}' is not a {}", key, GrainName(time.grain)))
            .Column(time.column)
            .Hint("write it like " +
                  FormatPeriod(RoundDownTo(time.grain, Period(Grain::kDay, 11'386)))));
  }
  // A week is no part of a month: which months it means would be a guess.
  bool finer = period->grain() == time.grain ||
               (period->grain() < time.grain && period->grain() != Grain::kWeek);
  if (!finer) {
    return Fail(Invalid(fmt::format("'{}' is a {}, the table is partitioned by {}", key,
                                    GrainName(period->grain()), GrainName(time.grain)))
                    .Column(time.column)
                    .Hint(fmt::format("give a {}", GrainName(time.grain))));
  }
  return WidenTo(time.grain, *period);
}

/// One `column=value` of a request, or a period alone.
struct Piece {
  std::optional<std::string> column;
  std::string value;
};

std::vector<Piece> SplitPieces(std::string_view text) {
  std::vector<Piece> pieces(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    Piece& piece = pieces.back();
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\' && i + 1 < text.size()) {
      piece.value += c;
      piece.value += text[++i];
    } else if (c == '/' && !quoted) {
      pieces.emplace_back();
    } else if (c == '=' && !quoted && !piece.column) {
      piece.column = std::move(piece.value);
      piece.value.clear();
    } else {
      piece.value += c;
    }
  }
  return pieces;
}

Result<TimeRuns> ParseTimes(const Dimension& time, const std::string& text) {
  if (text == "null") return TimeRuns::Null();
  AMEND_ASSIGN(PeriodRange range, WidenKey(time, text));
  return TimeRuns::Of(range.first, range.end);
}

}  // namespace

Result<RequestedPartitions> RangeRequest(const PartitionSpace& space,
                                         std::string_view from, std::string_view to) {
  const Dimension* time = space.time();
  if (time == nullptr) {
    return Fail(Invalid("--from and --to need a table partitioned by time; this one is " +
                        space.ToString())
                    .Hint("use --partition or --full"));
  }
  RequestedPartitions request;
  std::int64_t first = partition::kMinusInfinity;
  std::int64_t end = partition::kPlusInfinity;
  auto widened = [&](std::string_view key) {
    return partition::ParsePeriod(key)->grain() != time->grain;
  };
  if (!from.empty()) {
    AMEND_ASSIGN(PeriodRange range, WidenKey(*time, from));
    first = range.first;
    request.widened |= widened(from);
  }
  if (!to.empty()) {
    AMEND_ASSIGN(PeriodRange range, WidenKey(*time, to));
    end = range.end;
    request.widened |= widened(to);
  }
  if (first >= end) {
    return Fail(Invalid(fmt::format("--to {} lies before --from {}", to, from))
                    .Hint("both ends are included; swap them"));
  }
  request.partitions = PartitionSet::OfTimes(space.shape(), TimeRuns::Of(first, end));
  return request;
}

Result<PartitionSet> PartitionRequest(const PartitionSpace& space,
                                      std::string_view text) {
  if (text == "all") return PartitionSet::All(space);
  if (space.unpartitioned()) {
    return Fail(
        Invalid(fmt::format("'{}' is not a partition: the table is unpartitioned", text))
            .Hint("use --partition all"));
  }
  std::optional<TimeRuns> times;
  const auto& dimensions = space.value_dimensions();
  std::vector<std::optional<Value>> values(dimensions.size());
  std::size_t named = 0;
  for (const Piece& piece : SplitPieces(text)) {
    const Dimension* time = space.time();
    if (time != nullptr && (!piece.column || *piece.column == time->column)) {
      if (times) return Fail(Invalid("two times in one partition").Column(time->column));
      AMEND_ASSIGN(times, ParseTimes(*time, piece.value));
      continue;
    }
    if (!piece.column) {
      return Fail(Invalid(fmt::format("'{}' is not column=value", piece.value))
                      .Hint("the table is partitioned by " + space.ToString()));
    }
    AMEND_ASSIGN(Value value, space.ParseValue(*piece.column, piece.value));
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i].column != *piece.column) continue;
      if (values[i]) return Fail(Invalid("named twice").Column(*piece.column));
      values[i] = value;
      ++named;
    }
  }
  TimeRuns wanted = times.value_or(PartitionSet::Universe(space.shape()));
  if (named == 0) return PartitionSet::OfTimes(space.shape(), wanted);
  ValueTuple tuple;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) {
      return Fail(
          Unsupported(fmt::format("'{}' leaves out {}", text, dimensions[i].column))
              .Hint("name every value dimension, or none"));
    }
    tuple.push_back(*values[i]);
  }
  return PartitionSet::Of(space.shape(), TimeRuns(), {{tuple, wanted}});
}

}  // namespace amend::plan

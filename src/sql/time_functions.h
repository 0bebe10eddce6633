#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "partition/grain.h"
#include "sql/bound_plan.h"
#include "sql/times.h"

namespace amend::sql {

/// What turns the text of an interval ("1 month") into a length: the engine.
using IntervalReader = std::function<std::optional<Length>(const std::string&)>;

/// How time flows through expressions: which inputs give an output in a span, and which
/// outputs come from inputs in a span. Both give supersets. Known are casts between DATE
/// and timestamps, date_trunc, time_bucket, ± constant, COALESCE, CASE, greatest and
/// least; everything else restricts nothing.
class TimeFunctions {
 public:
  TimeFunctions(partition::Grain output, IntervalReader read_interval)
      : output_(output), read_interval_(std::move(read_interval)) {}

  /// A row whose expression has a value that is needed satisfies one of these demands. No
  /// demand at all: there is no such row. `shift` is added to column positions.
  std::vector<Demand> Preimage(const Expression& expression, const Need& need,
                               std::size_t shift = 0) const;

  /// What values the expression can have in rows that satisfy the demand.
  Need Image(const Expression& expression, const Demand& demand,
             std::size_t shift = 0) const;

  /// Are all values midnights? Then "later than" means "a day later or more".
  bool IsWholeDays(const Expression& expression) const;

  partition::Grain output() const { return output_; }

 private:
  /// One function of one argument, the rest constant.
  struct Step {
    enum class Kind { kSame, kTruncate, kShift };
    Kind kind = Kind::kSame;
    Unit unit;
    Length length;
    const Expression* argument = nullptr;
  };
  std::optional<Step> StepOf(const Expression& expression) const;
  std::optional<Step> CastStep(const Expression& cast) const;
  std::optional<Step> TruncateStep(const Expression& function) const;
  std::optional<Step> ShiftStep(const Expression& function) const;
  std::optional<Length> ConstantLength(const Expression& expression) const;
  Need PullBack(const Step& step, const Need& need) const;
  Need PushForward(const Step& step, const Need& need) const;

  partition::Grain output_;
  IntervalReader read_interval_;
};

/// The branches of a CASE: every expression that can be its value.
std::vector<const Expression*> CaseResults(const Expression& expression);

/// A constant whole number, through casts, trunc and signs.
std::optional<std::int64_t> ConstantInteger(const Expression& expression);

}  // namespace amend::sql

#include "sql/time_functions.h"

#include <map>
#include <string_view>
#include <utility>

#include "base/civil.h"
#include "base/text.h"

namespace amend::sql {
namespace {

using partition::Grain;

constexpr std::string_view kDate = "DATE";
constexpr std::string_view kTimestamp = "TIMESTAMP";
constexpr std::string_view kZoned = "TIMESTAMP WITH TIME ZONE";

bool IsTimestamp(const Expression& e) {
  return e.value_type == kTimestamp || e.value_type == kZoned;
}

bool IsTemporal(const Expression& e) { return e.value_type == kDate || IsTimestamp(e); }

bool IsInteger(std::string_view type) {
  return type == "TINYINT" || type == "SMALLINT" || type == "INTEGER" ||
         type == "BIGINT" || type == "HUGEINT";
}

bool IsConstant(const Expression& e) { return e.kind == "BOUND_CONSTANT"; }

const Json* ConstantValue(const Expression& e) {
  if (!IsConstant(e)) return nullptr;
  auto outer = e.shape.find("value");
  if (outer == e.shape.end() || !outer->is_object()) return nullptr;
  auto inner = outer->find("value");
  return inner == outer->end() ? nullptr : &*inner;
}

bool IsNullConstant(const Expression& e) {
  if (e.kind == "BOUND_CAST" && e.children.size() == 1) {
    return IsNullConstant(e.children[0]);
  }
  return IsConstant(e) && e.shape.contains("value") &&
         e.shape["value"].value("is_null", false);
}

std::optional<std::string> ConstantText(const Expression& e) {
  if (e.kind == "BOUND_CAST" && e.value_type == "VARCHAR" && e.children.size() == 1) {
    return ConstantText(e.children[0]);
  }
  const Json* value = ConstantValue(e);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

/// The specifiers of date_trunc whose periods are those of a Grain, or parts of a day.
std::optional<Unit> UnitOfSpecifier(std::string_view text) {
  static const std::map<std::string, Unit> kUnits = {
      {"second", {0, kMicrosPerSecond, true}},
      {"minute", {0, 60 * kMicrosPerSecond, true}},
      {"hour", UnitOf(Grain::kHour)},
      {"day", UnitOf(Grain::kDay)},
      {"week", UnitOf(Grain::kWeek)},
      {"month", UnitOf(Grain::kMonth)},
      {"quarter", UnitOf(Grain::kQuarter)},
      {"year", UnitOf(Grain::kYear)}};
  auto it = kUnits.find(ToLower(text));
  return it == kUnits.end() ? std::nullopt : std::optional(it->second);
}

/// to_days(7) and its kin, as the parser makes them of INTERVAL 7 DAY.
std::optional<Length> LengthOfFunction(std::string_view name, std::int64_t count) {
  static const std::map<std::string, Length, std::less<>> kLengths = {
      {"to_microseconds", {0, 1}},
      {"to_milliseconds", {0, 1'000}},
      {"to_seconds", {0, kMicrosPerSecond}},
      {"to_minutes", {0, 60 * kMicrosPerSecond}},
      {"to_hours", {0, kMicrosPerHour}},
      {"to_days", {0, kMicrosPerDay}},
      {"to_weeks", {0, 7 * kMicrosPerDay}},
      {"to_months", {1, 0}},
      {"to_quarters", {3, 0}},
      {"to_years", {12, 0}}};
  auto it = kLengths.find(name);
  if (it == kLengths.end()) return std::nullopt;
  Length length;
  if (__builtin_mul_overflow(it->second.months, count, &length.months) ||
      __builtin_mul_overflow(it->second.micros, count, &length.micros)) {
    return std::nullopt;
  }
  return length;
}

bool IsChoice(const Expression& e) {
  return e.type == "OPERATOR_COALESCE" || e.is_function("greatest") ||
         e.is_function("least");
}

/// Longer lengths than this restrict nothing worth having, and would overflow sums.
bool IsReasonable(const Length& length) {
  constexpr std::int64_t kMonths = 12 * 10'000;
  return std::abs(length.months) <= kMonths &&
         std::abs(length.micros) <= kMonths * 31 * kMicrosPerDay;
}

}  // namespace

std::optional<std::int64_t> ConstantInteger(const Expression& e) {
  if (e.kind == "BOUND_CAST" && e.children.size() == 1 &&
      (IsInteger(e.value_type) || e.value_type == "DOUBLE")) {
    return ConstantInteger(e.children[0]);
  }
  if (e.is_function("trunc") && e.children.size() == 1) {
    return ConstantInteger(e.children[0]);
  }
  if (e.is_function("-") && e.children.size() == 1) {
    auto number = ConstantInteger(e.children[0]);
    return number ? std::optional(-*number) : std::nullopt;
  }
  const Json* value = ConstantValue(e);
  if (value == nullptr || !IsInteger(e.value_type) || !value->is_number_integer()) {
    return std::nullopt;
  }
  auto number = value->get<std::int64_t>();
  if (std::abs(number) > 1'000'000'000'000) return std::nullopt;
  return number;
}

std::vector<const Expression*> CaseResults(const Expression& e) {
  std::vector<const Expression*> results;
  for (const Json& check : e.shape.value("case_checks", Json::array())) {
    auto it = check.find("then_expr");
    if (it == check.end() || !it->is_object() || !it->contains("$")) return {};
    results.push_back(&e.children[(*it)["$"].get<std::size_t>()]);
  }
  if (const Expression* otherwise = e.Member("else_expr")) results.push_back(otherwise);
  return results;
}

std::optional<Length> TimeFunctions::ConstantLength(const Expression& e) const {
  std::optional<Length> length;
  if (e.kind == "BOUND_CAST" && e.value_type == "INTERVAL" && e.children.size() == 1) {
    auto text = ConstantText(e.children[0]);
    if (text) length = read_interval_(*text);
  } else if (e.is_function("-") && e.children.size() == 1) {
    length = ConstantLength(e.children[0]);
    if (length) length = length->Negated();
  } else if (e.kind == "BOUND_FUNCTION" && e.children.size() == 1) {
    auto count = ConstantInteger(e.children[0]);
    if (count) length = LengthOfFunction(e.name, *count);
  }
  return length && IsReasonable(*length) ? length : std::nullopt;
}

std::optional<TimeFunctions::Step> TimeFunctions::CastStep(const Expression& cast) const {
  if (cast.children.size() != 1 || cast.shape.value("try_cast", false)) {
    return std::nullopt;
  }
  const Expression& from = cast.children[0];
  if (!IsTemporal(from) || !IsTemporal(cast)) return std::nullopt;
  Step step;
  step.argument = &from;
  if (IsTimestamp(from) && cast.value_type == kDate) {
    step.kind = Step::Kind::kTruncate;
    step.unit = UnitOf(Grain::kDay);
  }
  return step;
}

std::optional<TimeFunctions::Step> TimeFunctions::TruncateStep(
    const Expression& function) const {
  if (function.children.size() != 2 || !IsTemporal(function) ||
      !IsTemporal(function.children[1])) {
    return std::nullopt;
  }
  Step step;
  step.kind = Step::Kind::kTruncate;
  step.argument = &function.children[1];
  if (function.is_function("time_bucket")) {
    auto width = ConstantLength(function.children[0]);
    // A bucket has one kind of length; its origin is not ours.
    if (!width || (width->months != 0) == (width->micros != 0)) return std::nullopt;
    step.unit = {width->months, width->micros, false};
    return step;
  }
  auto specifier = ConstantText(function.children[0]);
  auto unit = specifier ? UnitOfSpecifier(*specifier) : std::nullopt;
  if (!unit) return std::nullopt;
  step.unit = *unit;
  return step;
}

std::optional<TimeFunctions::Step> TimeFunctions::ShiftStep(
    const Expression& function) const {
  if (function.children.size() != 2 || !IsTemporal(function)) return std::nullopt;
  bool minus = function.name == "-";
  std::size_t at = IsTemporal(function.children[0]) ? 0 : 1;
  const Expression& time = function.children[at];
  const Expression& amount = function.children[1 - at];
  if (!IsTemporal(time) || (minus && at == 1)) return std::nullopt;
  std::optional<Length> length;
  if (auto days = ConstantInteger(amount); days && time.value_type == kDate) {
    length = Length{0, *days * kMicrosPerDay};
  } else {
    length = ConstantLength(amount);
  }
  if (!length || !IsReasonable(*length)) return std::nullopt;
  Step step;
  step.kind = Step::Kind::kShift;
  step.length = minus ? length->Negated() : *length;
  step.argument = &time;
  return step;
}

std::optional<TimeFunctions::Step> TimeFunctions::StepOf(const Expression& e) const {
  if (e.kind == "BOUND_CAST") return CastStep(e);
  if (e.is_function("date_trunc") || e.is_function("datetrunc") ||
      e.is_function("time_bucket")) {
    return TruncateStep(e);
  }
  if (e.is_function("+") || e.is_function("-")) return ShiftStep(e);
  return std::nullopt;
}

Need TimeFunctions::PullBack(const Step& step, const Need& need) const {
  Need back{need.times, need.null, std::nullopt};
  if (!back.times) return back;
  if (step.kind == Step::Kind::kShift) {
    Length length = step.length.Negated();
    back.times = Span{back.times->low.Plus(length), back.times->high.Plus(length)};
  } else if (step.kind == Step::Kind::kTruncate) {
    back.times->high = back.times->high.RoundOutwards(step.unit, output_);
  }
  return back;
}

Need TimeFunctions::PushForward(const Step& step, const Need& need) const {
  Need forward{need.times, need.null, std::nullopt};
  if (!forward.times) return forward;
  if (step.kind == Step::Kind::kShift) {
    forward.times =
        Span{forward.times->low.Plus(step.length), forward.times->high.Plus(step.length)};
  } else if (step.kind == Step::Kind::kTruncate) {
    forward.times->low = forward.times->low.RoundOutwards(step.unit, output_);
  }
  return forward;
}

std::vector<Demand> TimeFunctions::Preimage(const Expression& e, const Need& need,
                                            std::size_t shift) const {
  if (need.nothing()) return {};
  if (e.is_column()) {
    Demand demand;
    demand.Add(e.column + shift, need);
    return {demand};
  }
  if (auto step = StepOf(e))
    return Preimage(*step->argument, PullBack(*step, need), shift);
  if (IsNullConstant(e))
    return need.null ? std::vector<Demand>{{}} : std::vector<Demand>{};
  std::vector<Demand> demands;
  auto add = [&](const Expression& branch, const Need& wanted) {
    for (Demand& demand : Preimage(branch, wanted, shift)) {
      demands.push_back(std::move(demand));
    }
  };
  if (IsChoice(e) && !e.children.empty()) {
    // One of the arguments; NULL only where all of them are.
    std::vector<Demand> all_null = {{}};
    for (const Expression& argument : e.children) {
      add(argument, need.WithoutNull());
      all_null = Both(all_null, Preimage(argument, need.OnlyNull(), shift));
    }
    demands.insert(demands.end(), all_null.begin(), all_null.end());
    return demands;
  }
  if (auto results = CaseResults(e); e.kind == "BOUND_CASE" && !results.empty()) {
    for (const Expression* result : results) add(*result, need);
    return demands;
  }
  return {Demand()};
}

Need TimeFunctions::Image(const Expression& e, const Demand& demand,
                          std::size_t shift) const {
  if (e.is_column()) {
    const Need* need = demand.Find(e.column + shift);
    return need != nullptr ? *need : Need::Everything();
  }
  if (auto step = StepOf(e)) {
    return PushForward(*step, Image(*step->argument, demand, shift));
  }
  return Need::Everything();
}

bool TimeFunctions::IsWholeDays(const Expression& e) const {
  if (e.value_type == kDate) return true;
  auto step = StepOf(e);
  if (!step) return false;
  switch (step->kind) {
    case Step::Kind::kSame:
      return IsWholeDays(*step->argument);
    case Step::Kind::kTruncate:
      return step->unit.on_grid &&
             (step->unit.months > 0 || step->unit.micros % kMicrosPerDay == 0);
    case Step::Kind::kShift:
      return step->length.micros % kMicrosPerDay == 0 && IsWholeDays(*step->argument);
  }
  return false;
}

}  // namespace amend::sql

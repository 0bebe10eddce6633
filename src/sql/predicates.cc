#include "sql/predicates.h"

#include <optional>
#include <string>
#include <string_view>

namespace amend::sql {
namespace {

using Relation = Comparison::Relation;

/// Each round carries a bound over one more comparison; chains are short, and stopping
/// early is only less tight.
constexpr int kRounds = 6;

std::optional<Relation> RelationOf(std::string_view comparison) {
  if (comparison == "COMPARE_EQUAL") return Relation::kEqual;
  if (comparison == "COMPARE_NOT_DISTINCT_FROM") return Relation::kNotDistinct;
  if (comparison == "COMPARE_LESSTHAN") return Relation::kLess;
  if (comparison == "COMPARE_LESSTHANOREQUALTO") return Relation::kLessOrEqual;
  if (comparison == "COMPARE_GREATERTHAN") return Relation::kGreater;
  if (comparison == "COMPARE_GREATERTHANOREQUALTO") return Relation::kGreaterOrEqual;
  if (comparison == "COMPARE_NOTEQUAL") return Relation::kNotNull;
  return std::nullopt;
}

Relation Reversed(Relation relation) {
  switch (relation) {
    case Relation::kLess:
      return Relation::kGreater;
    case Relation::kLessOrEqual:
      return Relation::kGreaterOrEqual;
    case Relation::kGreater:
      return Relation::kLess;
    case Relation::kGreaterOrEqual:
      return Relation::kLessOrEqual;
    default:
      return relation;
  }
}

void AddBetween(const Expression& between, std::vector<Comparison>* all) {
  const Expression* input = between.Member("input");
  const Expression* lower = between.Member("lower");
  const Expression* upper = between.Member("upper");
  if (input == nullptr || lower == nullptr || upper == nullptr) return;
  bool with_lower = between.shape.value("lower_inclusive", true);
  bool with_upper = between.shape.value("upper_inclusive", true);
  all->push_back(
      {input, 0, lower, 0, with_lower ? Relation::kGreaterOrEqual : Relation::kGreater});
  all->push_back(
      {input, 0, upper, 0, with_upper ? Relation::kLessOrEqual : Relation::kLess});
}

void AddComparisons(const Expression& predicate, std::vector<Comparison>* all) {
  if (predicate.type == "CONJUNCTION_AND") {
    for (const Expression& part : predicate.children) AddComparisons(part, all);
  } else if (predicate.kind == "BOUND_COMPARISON") {
    auto relation = RelationOf(predicate.type);
    const Expression* left = predicate.Member("left");
    const Expression* right = predicate.Member("right");
    if (relation && left != nullptr && right != nullptr) {
      all->push_back({left, 0, right, 0, *relation});
    }
  } else if (predicate.kind == "BOUND_BETWEEN") {
    AddBetween(predicate, all);
  } else if (predicate.type == "OPERATOR_IS_NOT_NULL" && predicate.children.size() == 1) {
    all->push_back({&predicate.children[0], 0, nullptr, 0, Relation::kNotNull});
  } else if (predicate.type == "OPERATOR_IS_NULL" && predicate.children.size() == 1) {
    all->push_back({&predicate.children[0], 0, nullptr, 0, Relation::kIsNull});
  }
}

/// What `other` can be, given that `known` relates to it: known < other, …
class Bound {
 public:
  Bound(const TimeFunctions& times, bool whole_days)
      : times_(times), whole_days_(whole_days) {}

  Need Of(Relation relation, const Need& known) const {
    Need other = Need::Everything();
    other.null = relation == Relation::kNotDistinct && known.null;
    if (relation == Relation::kNotNull) return other;
    other.times = known.times;
    if (relation == Relation::kEqual || relation == Relation::kNotDistinct) {
      other.dimension = known.dimension;
    } else if (other.times) {
      bool later = relation == Relation::kLess || relation == Relation::kLessOrEqual;
      bool strict = relation == Relation::kLess || relation == Relation::kGreater;
      Endpoint& kept = later ? other.times->low : other.times->high;
      Endpoint& open = later ? other.times->high : other.times->low;
      if (strict) kept = PastIt(kept, later);
      open = later ? Span::Everything().high : Span::Everything().low;
    }
    return other;
  }

 private:
  /// Of whole days, "later than" is "a day later or more".
  Endpoint PastIt(const Endpoint& end, bool later) const {
    Unit day = UnitOf(partition::Grain::kDay);
    // After months a day more or less would only blur the end.
    if (!whole_days_ || end.unbounded() || end.offset().months != 0 ||
        !end.IsAligned(day, times_.output())) {
      return end;
    }
    return end.Plus({0, later ? day.micros : -day.micros});
  }

  const TimeFunctions& times_;
  bool whole_days_;
};

/// Adds what the demand gains if the expression can only have needed values.
void Restrict(const Expression& expression, std::size_t shift, const Need& need,
              const TimeFunctions& times, Demand* demand) {
  if (need.nothing()) {
    std::vector<std::size_t> columns;
    CollectColumns(expression, &columns);
    for (std::size_t column : columns) demand->Add(column + shift, Need{});
    return;
  }
  std::vector<Demand> ways = times.Preimage(expression, need, shift);
  if (ways.size() != 1) return;
  for (const auto& [column, narrower] : ways[0].needs()) demand->Add(column, narrower);
}

void NarrowOnce(const Comparison& comparison, const TimeFunctions& times,
                Demand* demand) {
  const Expression& left = *comparison.left;
  Need left_need = times.Image(left, *demand, comparison.left_shift);
  if (comparison.relation == Relation::kIsNull) {
    Restrict(left, comparison.left_shift, left_need.OnlyNull(), times, demand);
    return;
  }
  if (comparison.right == nullptr) {
    Restrict(left, comparison.left_shift, left_need.WithoutNull(), times, demand);
    return;
  }
  const Expression& right = *comparison.right;
  Need right_need = times.Image(right, *demand, comparison.right_shift);
  Bound bound(times, times.IsWholeDays(left) && times.IsWholeDays(right));
  Need right_now = right_need.Intersect(bound.Of(comparison.relation, left_need));
  Need left_now =
      left_need.Intersect(bound.Of(Reversed(comparison.relation), right_need));
  Restrict(right, comparison.right_shift, right_now, times, demand);
  Restrict(left, comparison.left_shift, left_now, times, demand);
}

}  // namespace

std::vector<Comparison> ComparisonsIn(const Expression& predicate) {
  std::vector<Comparison> all;
  AddComparisons(predicate, &all);
  return all;
}

std::vector<Comparison> ComparisonsOfJoin(const Operator& join) {
  std::vector<Comparison> all;
  std::size_t shift = join.children[0].arity.value_or(0);
  for (const JoinCondition& condition : JoinConditions(join)) {
    auto relation = RelationOf(condition.comparison);
    if (relation) all.push_back({condition.left, 0, condition.right, shift, *relation});
  }
  auto it = join.shape.find("condition");
  const Expression* predicate = it == join.shape.end() ? nullptr : join.At(*it);
  if (predicate != nullptr) AddComparisons(*predicate, &all);
  return all;
}

void Narrow(const std::vector<Comparison>& comparisons, const TimeFunctions& times,
            Demand* demand) {
  for (int round = 0; round < kRounds; ++round) {
    Demand before = *demand;
    for (const Comparison& comparison : comparisons) {
      NarrowOnce(comparison, times, demand);
    }
    if (*demand == before) return;
  }
}

}  // namespace amend::sql

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sql/bound_plan.h"
#include "sql/time_functions.h"
#include "sql/times.h"

namespace amend::sql {

/// A comparison that holds in every row (a conjunct of a filter, a condition of a join).
/// `left_shift` and `right_shift` are added to the column positions of its sides.
struct Comparison {
  enum class Relation : std::uint8_t {
    kEqual,
    kNotDistinct,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kNotNull,  ///< nothing is known but that both sides are not NULL
    kIsNull,   ///< the left side is NULL
  };
  const Expression* left = nullptr;
  std::size_t left_shift = 0;
  const Expression* right = nullptr;  ///< null for kIsNull, and where there is only one
  std::size_t right_shift = 0;
  Relation relation = Relation::kNotNull;
};

/// What a predicate that is true implies, through AND and BETWEEN.
std::vector<Comparison> ComparisonsIn(const Expression& predicate);

/// What holds in every pair of rows that a join matches.
std::vector<Comparison> ComparisonsOfJoin(const Operator& join);

/// Narrows the demand to rows in which all comparisons can hold: 'w.d > a.d - 7' carries
/// a span of a.d to w.d and the other way round, an equality carries it as it is, and
/// whatever is compared is not NULL.
void Narrow(const std::vector<Comparison>& comparisons, const TimeFunctions& times,
            Demand* demand);

}  // namespace amend::sql

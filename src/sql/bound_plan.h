#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace amend::sql {

/// One expression of a bound plan. `shape` is the engine's own JSON in which every
/// sub-expression is replaced by {"$": index into children} and everything that does not
/// change its value (alias, place in the text) is gone. So the generic parts (which
/// columns does it read, is it the same as before) work for every kind of expression,
/// also ones not known here, and only those that mappings look into need names.
///
/// What a lambda captures is among the children of its function; its body stays opaque in
/// the shape, because the column numbers in it mean its parameters.
struct Expression {
  std::string kind;                ///< expression_class: "BOUND_REF", "BOUND_FUNCTION", …
  std::string type;                ///< "COMPARE_EQUAL", "OPERATOR_CAST", …
  std::string name;                ///< of functions and aggregates
  std::string value_type;          ///< type id of the result: "DATE"; empty if not told
  std::size_t column = 0;          ///< BOUND_REF: position in the input
  std::optional<std::int64_t> at;  ///< byte in the text
  Json shape;
  std::vector<Expression> children;

  bool is_column() const { return kind == "BOUND_REF"; }
  bool is_function(std::string_view wanted) const {
    return kind == "BOUND_FUNCTION" && name == wanted;
  }
  /// The child that stands in a member of the shape, or null.
  const Expression* Member(std::string_view member) const;
  /// The children that stand in a list in the shape.
  std::vector<const Expression*> Members(std::string_view member) const;
};

/// One operator of a bound plan, as Expression: `shape` with placeholders.
///
/// Output columns are positions: of the children one after the other for joins, groups
/// then aggregates, the input then its windows.
struct Operator {
  std::string type;  ///< "LOGICAL_FILTER"
  int id = 0;        ///< unique in the plan, in the order of the plan
  Json shape;
  /// How many columns come out. Nothing where the operator is not understood: then no
  /// position of its output, or of what stands on it up to the next projection, means
  /// anything.
  std::optional<std::size_t> arity;
  std::vector<Expression> expressions;
  std::vector<Operator> children;

  bool is(std::string_view wanted) const { return type == wanted; }
  const Expression* At(const Json& placeholder) const;
  std::vector<const Expression*> Members(std::string_view member) const;
  /// A number of the shape; 0 where absent.
  std::int64_t Number(std::string_view member) const;
  std::string Text(std::string_view member) const;
};

/// Every operator with two inputs that pairs their rows.
bool IsJoin(const Operator& op);

/// A sort key of ORDER BY, DISTINCT ON, a window or an ordered aggregate.
struct SortKey {
  const Expression* expression = nullptr;
  bool descending = false;
  bool nulls_first = false;
};
std::vector<SortKey> SortKeys(const Operator& op);
/// Of the member "orders" of a window.
std::vector<SortKey> SortKeys(const Expression& window);

/// One side against the other of a comparison join.
struct JoinCondition {
  const Expression* left = nullptr;   ///< over the left input
  const Expression* right = nullptr;  ///< over the right input
  std::string comparison;             ///< "COMPARE_EQUAL"
};
std::vector<JoinCondition> JoinConditions(const Operator& join);

/// The plan inside the answer of json_serialize_plan. Internal where it is not as the
/// pinned engine writes it.
Result<Operator> ParsePlan(const Json& plan);

/// Adds every column position that the expression reads.
void CollectColumns(const Expression& expression, std::vector<std::size_t>* columns);

/// Calls fn for the expression and everything below it.
template <typename Fn>
void ForEachExpression(const Expression& expression, const Fn& fn) {
  fn(expression);
  for (const Expression& child : expression.children) ForEachExpression(child, fn);
}

}  // namespace amend::sql

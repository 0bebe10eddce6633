#include "sql/bound_plan.h"

#include <limits>
#include <set>
#include <utility>

namespace amend::sql {
namespace {

constexpr const char* kPlaceholder = "$";

/// Members of an expression that do not change what it means. Elsewhere the same words
/// can carry meaning (the alias of a type).
bool IsNoise(const std::string& member) {
  static const std::set<std::string> kNoise = {"alias", "query_location"};
  return kNoise.contains(member);
}

/// Members whose column numbers are not positions in the input.
bool IsOpaque(const std::string& member) {
  static const std::set<std::string> kOpaque = {"function_data", "bind_info"};
  return kOpaque.contains(member);
}

bool IsExpression(const Json& json) {
  return json.is_object() && json.contains("expression_class");
}

Json WithoutNoise(const Json& json) {
  if (json.is_array()) {
    Json copy = Json::array();
    for (const Json& element : json) copy.push_back(WithoutNoise(element));
    return copy;
  }
  if (!json.is_object()) return json;
  Json copy = Json::object();
  for (const auto& [name, value] : json.items()) {
    if (!IsExpression(json) || !IsNoise(name)) copy[name] = WithoutNoise(value);
  }
  return copy;
}

std::string TextOf(const Json& json, const char* member) {
  auto it = json.find(member);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::string TypeIdOf(const Json& json) {
  auto it = json.find("return_type");
  return it != json.end() && it->is_object() ? TextOf(*it, "id") : std::string();
}

Expression ParseExpression(const Json& json);

/// A copy of `json` without its expressions, which go to `expressions`.
Json Hoist(const Json& json, std::vector<Expression>* expressions) {
  if (IsExpression(json)) {
    expressions->push_back(ParseExpression(json));
    return {{kPlaceholder, expressions->size() - 1}};
  }
  if (json.is_array()) {
    Json copy = Json::array();
    for (const Json& element : json) copy.push_back(Hoist(element, expressions));
    return copy;
  }
  if (!json.is_object()) return json;
  Json copy = Json::object();
  for (const auto& [name, value] : json.items()) {
    copy[name] = IsOpaque(name) ? WithoutNoise(value) : Hoist(value, expressions);
  }
  return copy;
}

std::optional<std::int64_t> PlaceOf(const Json& json) {
  auto it = json.find("query_location");
  if (it == json.end() || !it->is_number_unsigned()) return std::nullopt;
  auto at = it->get<std::uint64_t>();
  if (at > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(at);
}

Expression ParseExpression(const Json& json) {
  Expression expression;
  expression.kind = TextOf(json, "expression_class");
  expression.type = TextOf(json, "type");
  expression.name = TextOf(json, "name");
  expression.value_type = TypeIdOf(json);
  expression.at = PlaceOf(json);
  if (expression.is_column()) {
    expression.column = json.value("index", std::size_t{0});
    return expression;
  }
  if (expression.kind == "BOUND_CONSTANT" && json.contains("value")) {
    expression.value_type = TextOf(json["value"].value("type", Json::object()), "id");
  }
  expression.shape = Json::object();
  for (const auto& [name, value] : json.items()) {
    if (IsNoise(name)) continue;
    expression.shape[name] =
        IsOpaque(name) ? WithoutNoise(value) : Hoist(value, &expression.children);
  }
  return expression;
}

std::size_t ListSize(const Operator& op, const char* member) {
  auto it = op.shape.find(member);
  return it != op.shape.end() && it->is_array() ? it->size() : 0;
}

std::optional<std::size_t> Sum(const Operator& op, std::size_t more) {
  std::size_t sum = more;
  for (const Operator& child : op.children) {
    if (!child.arity) return std::nullopt;
    sum += *child.arity;
  }
  return sum;
}

/// Only the optimiser makes operators that drop columns of their input in passing.
bool DropsColumns(const Operator& op) {
  return ListSize(op, "projection_map") + ListSize(op, "projections") +
             ListSize(op, "left_projection_map") + ListSize(op, "right_projection_map") +
             ListSize(op, "projection_ids") >
         0;
}

std::optional<std::size_t> JoinArity(const Operator& op) {
  std::string type = op.Text("join_type");
  if (op.children.size() != 2) return std::nullopt;
  const auto& left = op.children[0].arity;
  if (type == "SEMI" || type == "ANTI") return left;
  if (type == "MARK") return left ? std::optional(*left + 1) : std::nullopt;
  if (op.is("LOGICAL_CROSS_PRODUCT") || op.is("LOGICAL_POSITIONAL_JOIN") ||
      type == "INNER" || type == "LEFT" || type == "RIGHT" || type == "OUTER" ||
      type == "FULL" || type == "SINGLE") {
    return Sum(op, 0);
  }
  return std::nullopt;
}

std::optional<std::size_t> ArityOf(const Operator& op) {
  if (DropsColumns(op)) return std::nullopt;
  if (IsJoin(op)) return JoinArity(op);
  const std::string& type = op.type;
  if (type == "LOGICAL_GET" && op.children.empty()) {
    return ListSize(op, "column_indexes");
  }
  if (type == "LOGICAL_PROJECTION") return ListSize(op, "expressions");
  if (type == "LOGICAL_FILTER" || type == "LOGICAL_ORDER_BY" || type == "LOGICAL_LIMIT" ||
      type == "LOGICAL_DISTINCT" || type == "LOGICAL_SAMPLE") {
    return op.children.size() == 1 ? op.children[0].arity : std::nullopt;
  }
  if (type == "LOGICAL_AGGREGATE_AND_GROUP_BY") {
    return ListSize(op, "groups") + ListSize(op, "expressions") +
           ListSize(op, "grouping_functions");
  }
  if (type == "LOGICAL_WINDOW" || type == "LOGICAL_UNNEST") {
    return Sum(op, ListSize(op, "expressions"));
  }
  if (type == "LOGICAL_UNION" || type == "LOGICAL_EXCEPT" ||
      type == "LOGICAL_INTERSECT" || type == "LOGICAL_RECURSIVE_CTE") {
    return static_cast<std::size_t>(op.Number("column_count"));
  }
  if (type == "LOGICAL_MATERIALIZED_CTE") {
    return op.children.size() == 2 ? op.children[1].arity : std::nullopt;
  }
  if (type == "LOGICAL_CTE_REF" || type == "LOGICAL_DELIM_GET") {
    return ListSize(op, "chunk_types");
  }
  if (type == "LOGICAL_EXPRESSION_GET") return ListSize(op, "expr_types");
  if (type == "LOGICAL_DUMMY_SCAN") return 1;
  return std::nullopt;
}

Result<Operator> ParseOperator(const Json& json, int* next_id) {
  if (!json.is_object() || TextOf(json, "type").empty()) {
    return Fail(Internal("an operator of the bound plan has no type"));
  }
  Operator op;
  op.id = (*next_id)++;
  op.type = TextOf(json, "type");
  op.shape = Json::object();
  for (const auto& [name, value] : json.items()) {
    if (name == "children") continue;
    op.shape[name] = IsOpaque(name) ? WithoutNoise(value) : Hoist(value, &op.expressions);
  }
  if (auto children = json.find("children"); children != json.end()) {
    for (const Json& child : *children) {
      AMEND_ASSIGN(Operator parsed, ParseOperator(child, next_id));
      op.children.push_back(std::move(parsed));
    }
  }
  op.arity = ArityOf(op);
  return op;
}

const Expression* Resolve(const Json& placeholder,
                          const std::vector<Expression>& expressions) {
  if (!placeholder.is_object()) return nullptr;
  auto it = placeholder.find(kPlaceholder);
  if (it == placeholder.end()) return nullptr;
  auto index = it->get<std::size_t>();
  return index < expressions.size() ? &expressions[index] : nullptr;
}

std::vector<const Expression*> ResolveList(const Json& shape, std::string_view member,
                                           const std::vector<Expression>& expressions) {
  std::vector<const Expression*> list;
  auto it = shape.find(std::string(member));
  if (it == shape.end() || !it->is_array()) return list;
  for (const Json& element : *it) {
    if (const Expression* e = Resolve(element, expressions)) list.push_back(e);
  }
  return list;
}

std::vector<SortKey> KeysOf(const Json& orders, const std::vector<Expression>& all) {
  std::vector<SortKey> keys;
  if (!orders.is_array()) return keys;
  for (const Json& order : orders) {
    SortKey key;
    key.expression = Resolve(order.value("expression", Json()), all);
    key.descending = TextOf(order, "type") == "DESCENDING";
    key.nulls_first = TextOf(order, "null_order") == "NULLS FIRST";
    if (key.expression != nullptr) keys.push_back(key);
  }
  return keys;
}

}  // namespace

bool IsJoin(const Operator& op) {
  return op.is("LOGICAL_COMPARISON_JOIN") || op.is("LOGICAL_ANY_JOIN") ||
         op.is("LOGICAL_ASOF_JOIN") || op.is("LOGICAL_DELIM_JOIN") ||
         op.is("LOGICAL_CROSS_PRODUCT") || op.is("LOGICAL_POSITIONAL_JOIN");
}

const Expression* Expression::Member(std::string_view member) const {
  auto it = shape.find(std::string(member));
  return it == shape.end() ? nullptr : Resolve(*it, children);
}

std::vector<const Expression*> Expression::Members(std::string_view member) const {
  return ResolveList(shape, member, children);
}

const Expression* Operator::At(const Json& placeholder) const {
  return Resolve(placeholder, expressions);
}

std::vector<const Expression*> Operator::Members(std::string_view member) const {
  return ResolveList(shape, member, expressions);
}

std::int64_t Operator::Number(std::string_view member) const {
  auto it = shape.find(std::string(member));
  return it != shape.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

std::string Operator::Text(std::string_view member) const {
  return TextOf(shape, std::string(member).c_str());
}

std::vector<SortKey> SortKeys(const Operator& op) {
  const Json& shape = op.shape;
  if (shape.contains("orders")) return KeysOf(shape["orders"], op.expressions);
  // DISTINCT ON keeps its order in a modifier of its own.
  if (shape.contains("order_by") && shape["order_by"].is_object()) {
    return KeysOf(shape["order_by"].value("orders", Json()), op.expressions);
  }
  return {};
}

std::vector<SortKey> SortKeys(const Expression& window) {
  if (!window.shape.contains("orders")) return {};
  return KeysOf(window.shape["orders"], window.children);
}

std::vector<JoinCondition> JoinConditions(const Operator& join) {
  std::vector<JoinCondition> conditions;
  for (const Json& condition : join.shape.value("conditions", Json::array())) {
    JoinCondition parsed;
    parsed.left = join.At(condition.value("left", Json()));
    parsed.right = join.At(condition.value("right", Json()));
    parsed.comparison = TextOf(condition, "comparison");
    if (parsed.left != nullptr && parsed.right != nullptr) conditions.push_back(parsed);
  }
  return conditions;
}

Result<Operator> ParsePlan(const Json& plan) {
  int next_id = 0;
  return ParseOperator(plan, &next_id);
}

void CollectColumns(const Expression& expression, std::vector<std::size_t>* columns) {
  ForEachExpression(expression, [columns](const Expression& e) {
    if (e.is_column()) columns->push_back(e.column);
  });
}

}  // namespace amend::sql

#include "sql/determinism.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace amend::sql {
namespace {

using Finding = lineage::DeterminismFinding;
using Kind = Finding::Kind;

/// Aggregates that pick or line up rows: their value is that of an order.
bool DependsOnOrder(const std::string& name) {
  static const std::set<std::string> kNames = {
      "first",           "last",         "any_value",
      "arbitrary",       "list",         "array_agg",
      "string_agg",      "group_concat", "listagg",
      "approx_quantile", "approx_top_k", "reservoir_quantile"};
  return kNames.contains(name);
}

/// Aggregates that pick among equals.
bool PicksAmongTies(const std::string& name) {
  static const std::set<std::string> kNames = {"arg_min",
                                               "argmin",
                                               "min_by",
                                               "arg_max",
                                               "argmax",
                                               "max_by",
                                               "arg_min_null",
                                               "arg_max_null",
                                               "arg_min_nulls_last",
                                               "arg_max_nulls_last",
                                               "mode"};
  return kNames.contains(name);
}

/// Aggregates over floats that give the same bits in any order.
bool IsExactOnFloats(const std::string& name) {
  static const std::set<std::string> kNames = {"min",
                                               "max",
                                               "count",
                                               "count_star",
                                               "median",
                                               "quantile",
                                               "quantile_disc",
                                               "quantile_cont",
                                               "bool_and",
                                               "bool_or",
                                               "approx_count_distinct",
                                               "mad",
                                               "histogram"};
  return kNames.contains(name) || DependsOnOrder(name) || PicksAmongTies(name);
}

bool ReadsFloats(const Expression& aggregate) {
  return std::any_of(aggregate.children.begin(), aggregate.children.end(),
                     [](const Expression& e) {
                       return e.value_type == "DOUBLE" || e.value_type == "FLOAT";
                     });
}

/// The engine guards a scalar subquery by first() and count(*) over its one row; no
/// user's aggregation lacks the number of its grouping functions.
bool IsScalarSubqueryGuard(const Operator& op) {
  return op.is("LOGICAL_AGGREGATE_AND_GROUP_BY") && op.Number("groupings_index") == -1;
}

class Finder {
 public:
  Finder(const Stability& stability, const std::function<int(std::int64_t)>& line_of)
      : stability_(stability), line_of_(line_of) {}

  void Visit(const Operator& op) {
    for (const Expression& e : op.expressions) {
      if (IsScalarSubqueryGuard(op)) break;
      ForEachExpression(e, [this](const Expression& part) { Visit(part); });
    }
    if (op.is("LOGICAL_SAMPLE")) Add(Kind::kRandom, "a sample of rows", std::nullopt);
    if (op.is("LOGICAL_LIMIT")) VisitLimit(op);
    if (op.is("LOGICAL_ASOF_JOIN")) {
      // To few rows the engine joins by loop, to more by order; only the loop lets a
      // NULL match nothing, as SQL has it.
      Add(Kind::kTies,
          "an ASOF join where several rows are equally near or a time is NULL",
          std::nullopt);
    }
    if (op.is("LOGICAL_POSITIONAL_JOIN")) {
      Add(Kind::kUnordered, "a positional join", std::nullopt);
    }
    if (op.Text("distinct_type") == "DISTINCT_ON") {
      bool ordered = !SortKeys(op).empty();
      Add(ordered ? Kind::kTies : Kind::kUnordered,
          ordered ? "DISTINCT ON where rows are equal in the order"
                  : "DISTINCT ON without an order",
          std::nullopt);
    }
    for (const Operator& child : op.children) Visit(child);
  }

  Determinism Take() { return std::move(found_); }

 private:
  void Add(Kind kind, std::string text, const std::optional<std::int64_t>& at) {
    int line = at ? line_of_(*at) : 0;
    if (at) text += " at line " + std::to_string(line);
    if (seen_.insert({kind, text}).second) {
      found_.findings.push_back({kind, std::move(text), line});
    }
  }

  void Visit(const Expression& e) {
    if (e.kind == "BOUND_FUNCTION") VisitFunction(e);
    if (e.kind == "BOUND_AGGREGATE") VisitAggregate(e);
    if (e.kind == "BOUND_WINDOW") VisitWindow(e);
  }

  void VisitFunction(const Expression& e) {
    auto it = stability_.find(e.name);
    if (it == stability_.end() || e.name == "error") return;
    Add(it->second == "VOLATILE" ? Kind::kRandom : Kind::kClock, e.name + "()", e.at);
  }

  void VisitAggregate(const Expression& e) {
    auto orders = e.shape.find("order_bys");
    bool ordered = orders != e.shape.end() && !orders->is_null();
    if (DependsOnOrder(e.name)) {
      if (!ordered) Add(Kind::kUnordered, e.name + "() without ORDER BY", e.at);
    } else if (PicksAmongTies(e.name)) {
      Add(Kind::kTies, e.name + "() where values are equal", e.at);
    }
    if (ReadsFloats(e) && !IsExactOnFloats(e.name)) found_.order_sensitive = true;
  }

  void VisitWindow(const Expression& e) {
    if (e.type == "WINDOW_AGGREGATE") {
      if (ReadsFloats(e) && !IsExactOnFloats(e.name)) found_.order_sensitive = true;
    }
    std::string_view name =
        std::string_view(e.type).substr(std::string_view("WINDOW_").size());
    bool by_rank = e.type == "WINDOW_RANK" || e.type == "WINDOW_RANK_DENSE" ||
                   e.type == "WINDOW_PERCENT_RANK" || e.type == "WINDOW_CUME_DIST";
    std::string start = e.shape.value("start", "");
    std::string end = e.shape.value("end", "");
    bool by_rows = start.ends_with("ROWS") || end.ends_with("ROWS");
    bool stable_aggregate =
        e.type == "WINDOW_AGGREGATE" && !by_rows && !DependsOnOrder(e.name);
    if (by_rank || stable_aggregate) return;
    bool ordered = !SortKeys(e).empty();
    if (!ordered && e.type == "WINDOW_AGGREGATE" && !DependsOnOrder(e.name) &&
        start.starts_with("UNBOUNDED") && end.starts_with("UNBOUNDED")) {
      return;
    }
    std::string what(e.type == "WINDOW_AGGREGATE" ? std::string_view(e.name) : name);
    std::transform(what.begin(), what.end(), what.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    Add(ordered ? Kind::kTies : Kind::kUnordered,
        what + (ordered ? "() over rows that are equal in the window's order"
                        : "() over a window without ORDER BY"),
        e.at);
  }

  void VisitLimit(const Operator& op) {
    const Operator& child = op.children.front();
    bool ordered = child.is("LOGICAL_ORDER_BY");
    Add(ordered ? Kind::kTies : Kind::kUnordered,
        ordered ? "LIMIT where rows are equal in the order" : "LIMIT without ORDER BY",
        std::nullopt);
  }

  const Stability& stability_;
  const std::function<int(std::int64_t)>& line_of_;
  std::set<std::pair<Kind, std::string>> seen_;
  Determinism found_;
};

}  // namespace

Determinism DeterminismOf(const Operator& root, const Stability& stability,
                          const std::function<int(std::int64_t)>& line_of) {
  Finder finder(stability, line_of);
  finder.Visit(root);
  return finder.Take();
}

}  // namespace amend::sql

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "sql/flow.h"

namespace amend::sql {
namespace {

/// How far a function looks from the current row in the order of its window.
enum class Look {
  kNone,       ///< the row itself and its peers
  kUnbounded,  ///< to the end
  kByValue,    ///< to a value of the order key, which an expression gives
};

struct Extent {
  Look before = Look::kUnbounded;
  Look after = Look::kUnbounded;
  const Expression* before_value = nullptr;
  const Expression* after_value = nullptr;
};

Look LookOf(std::string_view boundary, bool is_start) {
  if (boundary == "EXPR_PRECEDING_RANGE" || boundary == "EXPR_FOLLOWING_RANGE") {
    return Look::kByValue;
  }
  if (boundary.starts_with("CURRENT_ROW")) return Look::kNone;
  // Counted in rows or groups: unbounded in value on that side, and never past the row on
  // the other one.
  bool preceding = boundary.starts_with("EXPR_PRECEDING");
  bool following = boundary.starts_with("EXPR_FOLLOWING");
  if (is_start && following) return Look::kNone;
  if (!is_start && preceding) return Look::kNone;
  return Look::kUnbounded;
}

Extent ExtentOfFrame(const Expression& window) {
  Extent extent;
  extent.before = LookOf(window.shape.value("start", ""), true);
  extent.after = LookOf(window.shape.value("end", ""), false);
  extent.before_value = window.Member("start_expr");
  extent.after_value = window.Member("end_expr");
  return extent;
}

/// LAG and LEAD by a constant that does not turn them round.
bool OffsetIsForward(const Expression& window) {
  const Expression* offset = window.Member("offset_expr");
  if (offset == nullptr) return true;
  auto number = ConstantInteger(*offset);
  return number && *number >= 0;
}

Extent ExtentOf(const Expression& window) {
  const std::string& type = window.type;
  const Json arguments_order = window.shape.value("arg_orders", Json::array());
  bool framed = type == "WINDOW_AGGREGATE" || type == "WINDOW_FIRST_VALUE" ||
                type == "WINDOW_LAST_VALUE" || type == "WINDOW_NTH_VALUE";
  if (framed) return ExtentOfFrame(window);
  Extent extent;
  if (!arguments_order.empty()) return extent;
  if (type == "WINDOW_ROW_NUMBER" || type == "WINDOW_RANK" ||
      type == "WINDOW_RANK_DENSE" || (type == "WINDOW_LAG" && OffsetIsForward(window))) {
    extent.after = Look::kNone;
  } else if (type == "WINDOW_LEAD" && OffsetIsForward(window)) {
    extent.before = Look::kNone;
  }
  return extent;
}

/// Values of the first order key in the rows that are looked at for rows whose key is
/// `own`. Descending order turns before and after round.
Need KeysLookedAt(const Extent& extent, const SortKey& key, const Need& own,
                  const Demand& demand, const TimeFunctions& times) {
  // NULLs lie at one end of the order: who looks to that end sees them, and they see all
  // when they look to the other.
  bool to_start = extent.before == Look::kUnbounded;
  bool to_end = extent.after == Look::kUnbounded;
  bool sees_null = key.nulls_first ? to_start : to_end;
  bool seen_by_null = key.nulls_first ? to_end : to_start;
  if (own.null && seen_by_null) return Need::Everything();
  Need keys{own.times, own.null || sees_null, std::nullopt};
  if (!keys.times) return keys;
  Span& span = *keys.times;
  auto widen = [&](Look look, const Expression* value, bool low) {
    Endpoint& end = low ? span.low : span.high;
    Endpoint open = low ? Span::Everything().low : Span::Everything().high;
    if (look == Look::kNone) return;
    if (look == Look::kUnbounded || value == nullptr) {
      end = open;
      return;
    }
    Need reached = times.Image(*value, demand);
    end =
        reached.times ? end.Outer(low ? reached.times->low : reached.times->high) : open;
  };
  widen(extent.before, extent.before_value, !key.descending);
  widen(extent.after, extent.after_value, key.descending);
  return keys;
}

/// Only rows whose expression has a needed value, where that is one demand.
void AddPreimage(const Expression& expression, const Need& need,
                 const TimeFunctions& times, Demand* demand) {
  std::vector<Demand> ways = times.Preimage(expression, need);
  if (ways.size() != 1) return;
  for (const auto& [column, narrower] : ways[0].needs()) demand->Add(column, narrower);
}

}  // namespace

std::vector<Demand> WindowDemands(const Operator& op, const Demand& demand,
                                  const TimeFunctions& times) {
  std::vector<Demand> demands;
  for (const Expression* window : op.Members("expressions")) {
    Demand looked_at;
    for (const Expression* partition : window->Members("partitions")) {
      AddPreimage(*partition, times.Image(*partition, demand), times, &looked_at);
    }
    std::vector<SortKey> keys = SortKeys(*window);
    if (!keys.empty()) {
      const Expression& key = *keys[0].expression;
      Need own = times.Image(key, demand);
      Need seen = KeysLookedAt(ExtentOf(*window), keys[0], own, demand, times);
      AddPreimage(key, seen, times, &looked_at);
    }
    if (std::find(demands.begin(), demands.end(), looked_at) == demands.end()) {
      demands.push_back(std::move(looked_at));
    }
  }
  if (demands.empty()) demands.push_back(demand);
  return demands;
}

}  // namespace amend::sql

#include "sql/flow.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "sql/predicates.h"

namespace amend::sql {
namespace {

/// Ways to follow before giving up. Honest SELECTs have tens.
constexpr std::size_t kMaxScans = 1'000;
constexpr std::size_t kMaxWays = 16;
constexpr std::size_t kMaxBranches = 64;

bool RejectsNull(const Demand& demand) {
  return std::any_of(demand.needs().begin(), demand.needs().end(),
                     [](const auto& entry) { return !entry.second.null; });
}

/// The part of a demand on columns in [first, first + count), moved to 0.
Demand Part(const Demand& demand, std::size_t first, std::size_t count) {
  Demand part;
  for (const auto& [column, need] : demand.needs()) {
    if (column >= first && column - first < count) part.Add(column - first, need);
  }
  return part;
}

/// Both must hold: every pair of branches.
std::vector<Flow::Branch> And(const std::vector<Flow::Branch>& a,
                              const std::vector<Flow::Branch>& b) {
  if (a.size() * b.size() > kMaxBranches) return {{}};
  std::vector<Flow::Branch> both;
  for (const Flow::Branch& x : a) {
    for (const Flow::Branch& y : b) {
      Flow::Branch sum = x;
      sum.insert(y.begin(), y.end());
      both.push_back(std::move(sum));
    }
  }
  return both;
}

/// For which rows a join speaks: those of the left, of the right, of both.
enum class Kept { kMatches, kLeft, kRight, kAll };

Kept KeptBy(const std::string& type) {
  if (type == "LEFT" || type == "SINGLE") return Kept::kLeft;
  if (type == "RIGHT") return Kept::kRight;
  if (type == "OUTER" || type == "FULL") return Kept::kAll;
  return Kept::kMatches;
}

/// A demand that no padded row meets leaves only rows of that side.
Kept KeptUnder(Kept kept, const Demand& left, const Demand& right) {
  bool no_padded_right = RejectsNull(right);
  bool no_padded_left = RejectsNull(left);
  if (kept == Kept::kAll && no_padded_left) kept = Kept::kLeft;
  if (kept == Kept::kAll && no_padded_right) kept = Kept::kRight;
  if (kept == Kept::kLeft && no_padded_right) return Kept::kMatches;
  if (kept == Kept::kRight && no_padded_left) return Kept::kMatches;
  return kept;
}

std::vector<Comparison> OnlyNotDistinct(std::vector<Comparison> all) {
  std::erase_if(all, [](const Comparison& c) {
    return c.relation != Comparison::Relation::kNotDistinct;
  });
  return all;
}

}  // namespace

Flow Flow::Needed(const Operator& root, const Demand& demand,
                  const TimeFunctions& times) {
  Flow flow(Mode::kNeeded, times);
  flow.Walk({&root, demand}, {});
  return flow;
}

Flow Flow::Existing(const Operator& root, const Demand& demand,
                    const TimeFunctions& times) {
  Flow flow(Mode::kExisting, times);
  flow.branches_ = flow.Walk({&root, demand}, {});
  return flow;
}

std::vector<Flow::Branch> Flow::Walk(const Input& input, ScanPath path) {
  const Operator& op = *input.op;
  if (gave_up_ || scans_.size() > kMaxScans) {
    gave_up_ = true;
    return {{}};
  }
  if (input.demand.nothing()) return {};
  if (op.is("LOGICAL_GET") && op.Text("name") == "seq_scan") {
    path.push_back(op.id);
    scans_[path] = {&op, input.demand};
    return {{path}};
  }
  if (op.is("LOGICAL_CTE_REF")) {
    return WalkReference(op, input.demand, std::move(path));
  }
  if (op.is("LOGICAL_MATERIALIZED_CTE") && op.children.size() == 2) {
    ctes_[static_cast<int>(op.Number("table_index"))] = &op.children[0];
    return Walk({&op.children[1], input.demand}, std::move(path));
  }
  Rule rule = op.arity ? RuleOf(op, input.demand, input.only_marked) : Everything(op);
  std::vector<Branch> any;
  for (std::size_t way = 0; way < rule.size(); ++way) {
    ScanPath here = path;
    if (rule.size() > 1) here.insert(here.end(), {op.id, static_cast<int>(way)});
    std::vector<Branch> all = {{}};
    for (const Input& next : rule[way]) {
      std::vector<Branch> branches = Walk(next, here);
      if (next.must_exist) all = And(all, branches);
    }
    any.insert(any.end(), all.begin(), all.end());
  }
  return any.size() > kMaxBranches ? std::vector<Branch>{{}} : any;
}

std::vector<Flow::Branch> Flow::WalkReference(const Operator& reference,
                                              const Demand& demand, ScanPath path) {
  int cte = static_cast<int>(reference.Number("cte_index"));
  auto definition = ctes_.find(cte);
  // A recursive CTE that reads itself: its other parts are read whole.
  if (definition == ctes_.end()) return {{}};
  for (const Followed& before : followed_) {
    if (before.cte == cte && before.demand == demand) return before.branches;
  }
  path.push_back(reference.id);
  std::vector<Branch> branches = Walk({definition->second, demand}, std::move(path));
  followed_.push_back({cte, demand, branches});
  return branches;
}

Flow::Rule Flow::Everything(const Operator& op) const {
  std::vector<Input> inputs;
  inputs.reserve(op.children.size());
  for (const Operator& child : op.children) inputs.push_back({&child, {}, false});
  return {inputs};
}

Flow::Rule Flow::RuleOf(const Operator& op, const Demand& demand, bool only_marked) {
  if (IsJoin(op)) return ThroughJoin(op, demand, only_marked);
  if (op.is("LOGICAL_PROJECTION")) return ThroughProjection(op, demand);
  if (op.is("LOGICAL_FILTER")) return ThroughFilter(op, demand);
  if (op.is("LOGICAL_AGGREGATE_AND_GROUP_BY")) return ThroughGrouping(op, demand);
  if (op.is("LOGICAL_DISTINCT")) return ThroughDistinct(op, demand);
  if (op.is("LOGICAL_WINDOW")) return ThroughWindow(op, demand);
  if (op.is("LOGICAL_UNION") || op.is("LOGICAL_EXCEPT") || op.is("LOGICAL_INTERSECT")) {
    return ThroughSetOperation(op, demand);
  }
  if (op.children.size() != 1) return Everything(op);
  const Operator& child = op.children[0];
  if (op.is("LOGICAL_ORDER_BY")) return {{{&child, demand}}};
  if (op.is("LOGICAL_UNNEST")) {
    return {{{&child, Part(demand, 0, child.arity.value_or(0))}}};
  }
  if (op.is("LOGICAL_LIMIT") || op.is("LOGICAL_SAMPLE")) {
    // Which rows remain depends on all; those that do were there before.
    return {{{&child, mode_ == Mode::kExisting ? demand : Demand()}}};
  }
  return Everything(op);
}

std::vector<Demand> Flow::Pull(const std::vector<const Expression*>& expressions,
                               const Demand& demand) const {
  std::vector<Demand> ways = {{}};
  for (const auto& [column, need] : demand.needs()) {
    if (column >= expressions.size()) continue;
    std::vector<Demand> through = times_.Preimage(*expressions[column], need);
    // Too many combinations: this need is dropped.
    if (ways.size() * through.size() > kMaxWays) continue;
    ways = Both(ways, through);
  }
  return ways;
}

Flow::Rule Flow::ThroughProjection(const Operator& op, const Demand& demand) const {
  if (op.children.size() != 1) return Everything(op);
  Rule rule;
  for (Demand& way : Pull(op.Members("expressions"), demand)) {
    rule.push_back({{&op.children[0], std::move(way)}});
  }
  return rule;
}

Flow::Rule Flow::ThroughFilter(const Operator& op, const Demand& demand) const {
  const Operator& child = op.children[0];
  Demand narrowed = demand;
  std::vector<Comparison> comparisons;
  bool only_marked = false;
  for (const Expression* predicate : op.Members("expressions")) {
    for (const Comparison& comparison : ComparisonsIn(*predicate)) {
      comparisons.push_back(comparison);
    }
    // The mark is the last column of its join.
    only_marked = only_marked || (predicate->is_column() && child.arity &&
                                  predicate->column + 1 == *child.arity);
  }
  Narrow(comparisons, times_, &narrowed);
  return {{{&child, std::move(narrowed), true, only_marked}}};
}

Flow::Rule Flow::ThroughGrouping(const Operator& op, const Demand& demand) const {
  const Operator& child = op.children[0];
  std::vector<const Expression*> groups = op.Members("groups");
  const Json sets = op.shape.value("grouping_sets", Json::array());
  bool always_a_row = groups.empty();
  Demand on_groups;
  for (const auto& [column, need] : demand.needs()) {
    if (column >= groups.size()) continue;
    bool in_every_set = std::all_of(sets.begin(), sets.end(), [&](const Json& set) {
      return std::find(set.begin(), set.end(), column) != set.end();
    });
    // Where a set leaves the column out, its groups have NULL there and hold all rows.
    if (in_every_set || !need.null) on_groups.Add(column, need);
  }
  for (const Json& set : sets) always_a_row = always_a_row || set.empty();
  Rule rule;
  for (Demand& way : Pull(groups, on_groups)) {
    rule.push_back({{&child, std::move(way), !always_a_row}});
  }
  return rule;
}

Flow::Rule Flow::ThroughDistinct(const Operator& op, const Demand& demand) const {
  const Operator& child = op.children[0];
  if (op.Text("distinct_type") == "DISTINCT" || mode_ == Mode::kExisting) {
    return {{{&child, demand}}};
  }
  Demand on_targets;
  for (const Expression* target : op.Members("distinct_targets")) {
    if (!target->is_column()) continue;
    if (const Need* need = demand.Find(target->column)) {
      on_targets.Add(target->column, *need);
    }
  }
  return {{{&child, std::move(on_targets)}}};
}

Flow::Rule Flow::ThroughWindow(const Operator& op, const Demand& demand) const {
  const Operator& child = op.children[0];
  Demand on_child = Part(demand, 0, child.arity.value_or(0));
  if (mode_ == Mode::kExisting) return {{{&child, std::move(on_child)}}};
  Rule rule;
  for (Demand& way : WindowDemands(op, on_child, times_)) {
    rule.push_back({{&child, std::move(way)}});
  }
  return rule;
}

Flow::Rule Flow::ThroughSetOperation(const Operator& op, const Demand& demand) const {
  if (op.is("LOGICAL_UNION")) {
    Rule rule;
    for (const Operator& child : op.children) rule.push_back({{&child, demand}});
    return rule;
  }
  std::vector<Input> inputs;
  for (const Operator& child : op.children) {
    bool must_exist = inputs.empty() || op.is("LOGICAL_INTERSECT");
    inputs.push_back({&child, demand, must_exist});
  }
  return {inputs};
}

Flow::Rule Flow::ThroughJoin(const Operator& op, const Demand& demand,
                             bool only_marked) const {
  const Operator& left = op.children[0];
  const Operator& right = op.children[1];
  if (op.is("LOGICAL_POSITIONAL_JOIN")) return Everything(op);
  std::string type = op.Text("join_type");
  if (type == "MARK" && only_marked) type = "SEMI";
  std::size_t width = left.arity.value_or(0);
  std::size_t right_width = right.arity.value_or(0);
  bool one_sided = type == "MARK" || type == "SEMI" || type == "ANTI";
  bool as_of = op.is("LOGICAL_ASOF_JOIN");
  Demand on_left = Part(demand, 0, width);
  // Which row of the right an as-of join takes depends on the others.
  Demand on_right = one_sided || as_of ? Demand() : Part(demand, width, right_width);
  Kept kept = one_sided ? Kept::kLeft : KeptUnder(KeptBy(type), on_left, on_right);
  if (type == "SEMI") kept = Kept::kMatches;
  if (as_of && (kept == Kept::kRight || kept == Kept::kAll)) return Everything(op);

  std::vector<Comparison> comparisons = ComparisonsOfJoin(op);
  // The mark is also about rows that do not match, unless the parts are kept apart.
  if (type == "MARK") comparisons = OnlyNotDistinct(std::move(comparisons));
  // What a matching pair of rows satisfies if these sides do.
  auto pair_of = [&](const Demand& of_left, const Demand& of_right) {
    Demand pair = of_left;
    for (const auto& [column, need] : of_right.needs()) pair.Add(column + width, need);
    Narrow(comparisons, times_, &pair);
    return pair;
  };
  if (kept == Kept::kMatches) {
    Demand pair = pair_of(on_left, on_right);
    if (pair.nothing()) return {};
    return {{{&left, Part(pair, 0, width)}, {&right, Part(pair, width, right_width)}}};
  }
  // An outer join is the rows of one side with their partners, and for FULL those of the
  // other side too: partners matter only where they can match.
  Rule rule;
  if (kept != Kept::kRight) {
    Demand partners = Part(pair_of(on_left, {}), width, right_width);
    rule.push_back({{&left, on_left}, {&right, std::move(partners), false}});
  }
  if (kept != Kept::kLeft) {
    Demand partners = Part(pair_of({}, on_right), 0, width);
    rule.push_back({{&right, on_right}, {&left, std::move(partners), false}});
  }
  return rule;
}

}  // namespace amend::sql

#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sql/bound_plan.h"
#include "sql/time_functions.h"
#include "sql/times.h"

namespace amend::sql {

/// One way in which rows of a base table reach the output: the numbers of the operators
/// and alternatives passed where the way forks (references to CTEs, COALESCE), and last
/// that of the scan. Equal for all demands on one plan, ordered by the plan.
using ScanPath = std::vector<int>;

/// What the rows in a slice of the output come from.
///
/// Method: from the root down. A Demand on an operator's output ("only rows with d in
/// this span matter") becomes demands on its inputs such that the demanded rows are a
/// function of the demanded input rows. Each rule is an identity of relational algebra:
/// selection commutes with projection (through the preimage), filter, union, grouping by
/// the selected column, DISTINCT, windows partitioned by it; a predicate of a join
/// carries it from one side to the other; a RANGE frame widens it. Where no rule holds,
/// the demand is dropped, which demands everything. So an unknown operator or function
/// costs tightness, never truth.
///
/// Rejected: bottom-up inference of "the partition column of each relation": it must
/// guess which column will matter, and cannot see that a later predicate makes a LEFT
/// JOIN inner.
class Flow {
 public:
  struct Scan {
    const Operator* op = nullptr;
    Demand demand;  ///< over the columns of the scan, by position
  };
  using Branch = std::set<ScanPath>;

  /// Which rows of each scan the demanded output rows are made from.
  static Flow Needed(const Operator& root, const Demand& demand,
                     const TimeFunctions& times);
  /// Which rows must exist where a demanded output row exists.
  static Flow Existing(const Operator& root, const Demand& demand,
                       const TimeFunctions& times);

  const std::map<ScanPath, Scan>& scans() const { return scans_; }
  /// A demanded row exists only if for some branch every scan in it has demanded rows. An
  /// empty branch always holds; no branch at all: no demanded row can exist. Of Existing.
  const std::vector<Branch>& branches() const { return branches_; }
  /// There were too many ways to follow: everything may need everything.
  bool gave_up() const { return gave_up_; }

 private:
  /// An input of a rule, with what is demanded of it.
  struct Input {
    const Operator* op = nullptr;
    Demand demand;
    bool must_exist = true;  ///< no output row without a row of it
    /// A MARK join below a filter on its mark: only rows that match pass.
    bool only_marked = false;
  };
  /// Alternatives; in each, inputs that are read together.
  using Rule = std::vector<std::vector<Input>>;
  enum class Mode { kNeeded, kExisting };

  Flow(Mode mode, const TimeFunctions& times) : mode_(mode), times_(times) {}

  std::vector<Branch> Walk(const Input& input, ScanPath path);
  std::vector<Branch> WalkReference(const Operator& reference, const Demand& demand,
                                    ScanPath path);
  Rule RuleOf(const Operator& op, const Demand& demand, bool only_marked);
  Rule Everything(const Operator& op) const;
  Rule ThroughProjection(const Operator& op, const Demand& demand) const;
  Rule ThroughFilter(const Operator& op, const Demand& demand) const;
  Rule ThroughGrouping(const Operator& op, const Demand& demand) const;
  Rule ThroughDistinct(const Operator& op, const Demand& demand) const;
  Rule ThroughWindow(const Operator& op, const Demand& demand) const;
  Rule ThroughSetOperation(const Operator& op, const Demand& demand) const;
  Rule ThroughJoin(const Operator& op, const Demand& demand, bool only_marked) const;
  std::vector<Demand> Pull(const std::vector<const Expression*>& expressions,
                           const Demand& demand) const;

  struct Followed {
    int cte;
    Demand demand;
    std::vector<Branch> branches;
  };

  Mode mode_;
  const TimeFunctions& times_;
  std::map<int, const Operator*> ctes_;  ///< by the index that references carry
  std::vector<Followed> followed_;
  std::map<ScanPath, Scan> scans_;
  std::vector<Branch> branches_;
  bool gave_up_ = false;
};

/// What the window functions of an operator look at to compute the demanded rows of its
/// input: one demand per function.
std::vector<Demand> WindowDemands(const Operator& op, const Demand& demand,
                                  const TimeFunctions& times);

}  // namespace amend::sql

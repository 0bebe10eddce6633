#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "lineage/lineage.h"

namespace amend::lineage {
namespace {

using Reads = std::map<std::string, std::set<std::string>>;

/// A cycle among models that all lie on or behind one, from its smallest name on.
std::vector<std::string> FindCycle(const Reads& left) {
  // Every model left reads another one left, so following them must come back.
  std::vector<std::string> path = {left.begin()->first};
  for (;;) {
    const std::set<std::string>& reads = left.at(path.back());
    auto next =
        std::find_if(reads.begin(), reads.end(),
                     [&left](const std::string& name) { return left.contains(name); });
    AMEND_CHECK(next != reads.end());
    auto seen = std::find(path.begin(), path.end(), *next);
    if (seen != path.end()) {
      path.erase(path.begin(), seen);
      break;
    }
    path.push_back(*next);
  }
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  return path;
}

Status CycleStatus(const Reads& left) {
  std::vector<std::string> cycle = FindCycle(left);
  cycle.push_back(cycle.front());
  if (cycle.size() == 2) {
    return Invalid("model '" + cycle.front() + "' reads itself")
        .Table(cycle.front())
        .Hint("a model is built from other tables; split the state into its own model");
  }
  return Invalid("models read each other in a circle: " + Join(cycle, " reads "))
      .Table(cycle.front())
      .Hint("take one of these references out");
}

}  // namespace

Result<std::vector<std::string>> TopologicalOrder(const Reads& reads) {
  std::map<std::string, std::size_t> waiting_for;
  Reads readers;
  for (const auto& [model, tables] : reads) {
    std::size_t& count = waiting_for[model];
    for (const std::string& table : tables) {
      if (!reads.contains(table)) continue;
      ++count;
      readers[table].insert(model);
    }
  }
  std::set<std::string> ready;
  for (const auto& [model, count] : waiting_for) {
    if (count == 0) ready.insert(model);
  }
  std::vector<std::string> order;
  while (!ready.empty()) {
    std::string model = std::move(ready.extract(ready.begin()).value());
    waiting_for.erase(model);
    for (const std::string& reader : readers[model]) {
      if (--waiting_for.at(reader) == 0) ready.insert(reader);
    }
    order.push_back(std::move(model));
  }
  if (waiting_for.empty()) return order;
  Reads left;
  for (const auto& [model, count] : waiting_for) left.emplace(model, reads.at(model));
  return Fail(CycleStatus(left));
}

}  // namespace amend::lineage

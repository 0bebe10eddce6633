#include "plan/columns.h"

#include <algorithm>

namespace amend::plan {

bool Reads(const lineage::InputRef& ref, const ChangedColumns& changed) {
  if (!changed) return true;
  return std::any_of(changed->begin(), changed->end(), [&](const std::string& column) {
    return ref.columns.contains(column);
  });
}

ChangedColumns ChangedOutputs(const lineage::BoundModel& bound, const std::string& table,
                              const ChangedColumns& changed) {
  if (!changed) return std::nullopt;
  std::set<std::string> outputs;
  for (const std::string& column : *changed) {
    lineage::ColumnRef ref{table, column};
    bool read = std::any_of(
        bound.inputs.begin(), bound.inputs.end(), [&](const lineage::InputRef& input) {
          return input.table == table && input.columns.contains(column);
        });
    if (bound.row_reads.contains(ref)) return std::nullopt;
    bool reaches_output = false;
    for (const lineage::OutputColumn& output : bound.columns) {
      if (!output.reads.contains(ref)) continue;
      outputs.insert(output.name);
      reaches_output = true;
    }
    if (read && !reaches_output) return std::nullopt;
  }
  return outputs;
}

std::string WhyText(const lineage::InputRef& ref) {
  return ref.why.empty() ? ref.mapping.ToString() : ref.why;
}

ChangedColumns Merge(const ChangedColumns& a, const ChangedColumns& b) {
  if (!a || !b) return std::nullopt;
  std::set<std::string> both = *a;
  both.insert(b->begin(), b->end());
  return both;
}

}  // namespace amend::plan

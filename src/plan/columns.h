#pragma once

#include <optional>
#include <set>
#include <string>

#include "lineage/definition.h"

namespace amend::plan {

/// Which columns of a table may differ; nothing means rows, and with them every column.
using ChangedColumns = std::optional<std::set<std::string>>;

/// Whether a reference to the table can see the change.
bool Reads(const lineage::InputRef& ref, const ChangedColumns& changed);

/// What may differ in a model's output when these columns of `table` do: rows where one
/// of them decides which rows there are, otherwise the columns computed from them. A
/// column that is read, but of which it is not known for what, is taken as deciding rows.
ChangedColumns ChangedOutputs(const lineage::BoundModel& bound, const std::string& table,
                              const ChangedColumns& changed);

/// How the reference carries partitions, in words.
std::string WhyText(const lineage::InputRef& ref);

/// Both changes together.
ChangedColumns Merge(const ChangedColumns& a, const ChangedColumns& b);

}  // namespace amend::plan

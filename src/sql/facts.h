#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "lineage/definition.h"
#include "sql/bound_plan.h"

namespace amend::sql {

/// What one output column of an operator is made of.
struct ColumnFacts {
  std::set<lineage::ColumnRef> reads;
  /// Digest of how the value is computed from base columns, given the rows.
  std::string print;
};

/// What an operator produces. Two operators with equal `rows` produce the same rows, and
/// then two columns with equal `print` hold the same values in them. Invariants:
///  1. whatever decides which rows there are, or which row a value comes from, is in
///  `rows`;
///  2. a value that depends on other rows than its own (windows, padded sides of outer
///     joins, subqueries) holds the `rows` it was computed over in its `print`.
/// So equal prints prove sameness; unequal ones prove nothing.
struct RelationFacts {
  std::vector<ColumnFacts> columns;
  std::set<lineage::ColumnRef> row_reads;
  std::string rows;
  /// The number of columns is not known: every position has the facts of columns[0].
  bool opaque = false;

  const ColumnFacts& at(std::size_t column) const;
};

/// Columns, lineage and digests of a bound plan, from the scans up. Internal where the
/// plan refers to columns that are not there.
Result<RelationFacts> FactsOf(const Operator& root);

/// The columns of a scan by their names, in the order of its output; empty for one that
/// is not a column (the row number that COUNT(*) scans).
std::vector<std::string> ScanColumns(const Operator& scan);
/// The table that a scan reads; empty if the operator is no scan of a table.
std::string ScanTable(const Operator& op);

}  // namespace amend::sql

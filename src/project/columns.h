#pragma once

#include <string>
#include <vector>

#include "lineage/definition.h"
#include "project/partition_text.h"
#include "project/section.h"

namespace amend::project {

enum class ColumnsOf {
  kSource,  ///< all columns, each with a type
  kModel,   ///< a contract: those that the header speaks of
};

/// `columns`: a map of name to type or to {type, nullable, …}, or a list of {name, type,
/// …}. A source has type and nullable; a model's contract also not_null, unique,
/// accepted_values and tolerance. Types come out canonical (lineage/column_type.h).
std::vector<lineage::ColumnContract> ReadColumns(const YamlNode& node,
                                                 const std::string& path, ColumnsOf of,
                                                 Report& report);

DeclaredColumns DeclaredBy(const std::vector<lineage::ColumnContract>& contracts,
                           ColumnsOf of);

/// `key`: one column or a list; checked against the columns where those are complete.
std::vector<std::string> ReadKey(Section& in, const DeclaredColumns& columns);

}  // namespace amend::project

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "iceberg/schema.h"
#include "lineage/definition.h"

namespace amend::table {

/// The Iceberg type that stores a column of this SQL type (DuckDB's spelling).
/// Unsupported, with what to cast to, for types that format version 2 lacks or that other
/// engines cannot read: TIME, INTERVAL, HUGEINT, unsigned integers, ENUM, UNION,
/// TIMESTAMP_NS … Ids of nested fields are 0; iceberg::AssignFreshIds or AssignIds gives
/// them.
Result<iceberg::Type> TypeFromSql(std::string_view sql_type);

/// The SQL type that a column of this Iceberg type is read and written as.
std::string SqlFromType(const iceberg::Type& type);

/// Columns of a schema as definitions see them, landing's own columns left out.
std::vector<lineage::Column> ColumnsOf(const iceberg::Schema& schema);

/// `columns` as a schema that continues `base`: a column that `base` has keeps its id
/// (matched by name), new ones get ids above `last_column_id`, optional. Unsupported
/// where a column's type differs from the base's in a way that old files cannot be read
/// with.
Result<iceberg::Schema> ContinueSchema(const iceberg::Schema& base, int last_column_id,
                                       const std::vector<lineage::Column>& columns);

}  // namespace amend::table

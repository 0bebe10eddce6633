#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "iceberg/avro.h"
#include "iceberg/partition_spec.h"
#include "iceberg/schema.h"
#include "iceberg/value.h"

namespace amend::iceberg {

/// The Avro schemas of manifests and manifest lists, as JSON text. Names, order, ids and
/// defaults are those that Java writes: ClickHouse and icebird resolve by name; Java,
/// PyIceberg and DuckDB by id; some insist on element-id or on the map's logicalType.

/// One partition field of a manifest to be written.
struct PartitionColumn {
  std::string name;  ///< as in the spec
  int field_id = 0;
  Type type;  ///< of the partition value
};

/// The fields of a spec with the types that `schema` gives them. Unsupported for unknown
/// transforms and fields whose source column is gone.
Result<std::vector<PartitionColumn>> PartitionColumns(const PartitionSpec& spec,
                                                      const Schema& schema);

std::string ManifestSchemaJson(const std::vector<PartitionColumn>& columns);
std::string ManifestListSchemaJson();

/// `name` if Avro takes it, else with the characters escaped as Java does.
std::string AvroName(std::string_view name);

/// Encodes an optional partition value. Invalid where it is not of the type.
Status EncodePartitionValue(const Type& type, const Value& value, AvroEncoder& out);

/// A partition value as its Avro type says; null for null.
Value DecodePartitionValue(AvroDecoder& decoder, const AvroType& type);

}  // namespace amend::iceberg

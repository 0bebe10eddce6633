#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "iceberg/schema.h"
#include "iceberg/value.h"

namespace amend::iceberg {

/// Partition transforms (Iceberg specification, "Partition Transforms"). kUnknown is read
/// by ignoring the field when pruning and is never written.
enum class TransformKind {
  kIdentity,
  kYear,
  kMonth,
  kDay,
  kHour,
  kBucket,
  kTruncate,
  kVoid,
  kUnknown,
};

struct Transform {
  TransformKind kind = TransformKind::kIdentity;
  int parameter = 0;      ///< bucket count or truncate width
  std::string text = {};  ///< as read, for kUnknown

  static Transform Parse(std::string_view text);
  std::string ToString() const;  ///< "day", "bucket[16]"
  /// Type of the partition value: day gives date, month int, identity the source's.
  Type ResultType(const Type& source) const;
  /// The partition value of one source value; null stays null. Time transforms floor.
  /// Unsupported for kUnknown or a source type the transform does not take.
  Result<Value> Apply(const Type& source, const Value& value) const;
  friend bool operator==(const Transform&, const Transform&) = default;
};

struct PartitionField {
  int source_id = 0;
  int field_id = 0;  ///< 1000 and up, unique over all specs of the table
  std::string name = {};
  Transform transform = {};
  friend bool operator==(const PartitionField&, const PartitionField&) = default;
};

struct PartitionSpec {
  int id = 0;
  std::vector<PartitionField> fields = {};
  bool is_unpartitioned() const { return fields.empty(); }
  friend bool operator==(const PartitionSpec&, const PartitionSpec&) = default;
};

Result<PartitionSpec> SpecFromJson(const Json& json);
Json SpecToJson(const PartitionSpec& spec);
/// The array alone, as a manifest's header wants it.
Json SpecFieldsToJson(const PartitionSpec& spec);

}  // namespace amend::iceberg

#include "iceberg/partition_match.h"

#include <algorithm>
#include <utility>

#include "iceberg/value.h"

namespace amend::iceberg {
namespace {

const Field* FindField(const std::vector<Field>& fields, int id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (const Field* inner = FindField(field.type.children, id)) return inner;
  }
  return nullptr;
}

/// The source column of a partition field; old specs may name a column that is dropped.
const Field* FindSource(const TableMetadata& metadata, int id) {
  if (const Field* field = FindField(metadata.schema().fields, id)) return field;
  for (const Schema& schema : metadata.schemas()) {
    if (const Field* field = FindField(schema.fields, id)) return field;
  }
  return nullptr;
}

/// Types whose Values compare as every writer orders their bounds.
bool IsOrdered(const Type& type) {
  switch (type.id) {
    case TypeId::kBoolean:
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kDate:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
    case TypeId::kString:
      return true;
    default:
      return false;
  }
}

std::optional<Value> Bound(const Type& type, const std::optional<std::string>& bytes) {
  if (!bytes) return std::nullopt;
  auto value = DecodeSingleValue(type, *bytes);
  if (!value) return std::nullopt;
  return *std::move(value);
}

}  // namespace

std::vector<std::optional<Type>> PartitionTypes(const TableMetadata& metadata,
                                                const PartitionSpec& spec) {
  std::vector<std::optional<Type>> types;
  for (const PartitionField& field : spec.fields) {
    const Field* source = FindSource(metadata, field.source_id);
    bool known = source != nullptr && field.transform.kind != TransformKind::kUnknown;
    types.push_back(known ? std::optional(field.transform.ResultType(source->type))
                          : std::nullopt);
  }
  return types;
}

PartitionMatcher::PartitionMatcher(const TableMetadata& metadata,
                                   const PartitionSpec& spec,
                                   std::set<PartitionTuple> partitions)
    : partitions_(std::move(partitions)), ordered_types_(PartitionTypes(metadata, spec)) {
  for (std::optional<Type>& type : ordered_types_) {
    if (type && !IsOrdered(*type)) type.reset();
  }
}

bool PartitionMatcher::Range::Admits(const Value& value) const {
  if (IsNull(value)) return contains_null;
  return !(lower && value < *lower) && !(upper && *upper < value);
}

std::optional<std::vector<PartitionMatcher::Range>> PartitionMatcher::RangesOf(
    const ManifestFile& manifest) const {
  if (manifest.partitions.size() != ordered_types_.size()) return std::nullopt;
  std::vector<Range> ranges(ordered_types_.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const PartitionFieldSummary& summary = manifest.partitions[i];
    ranges[i].contains_null = summary.contains_null;
    if (!ordered_types_[i]) continue;
    ranges[i].lower = Bound(*ordered_types_[i], summary.lower_bound);
    ranges[i].upper = Bound(*ordered_types_[i], summary.upper_bound);
  }
  return ranges;
}

bool PartitionMatcher::MayHold(const ManifestFile& manifest) const {
  auto ranges = RangesOf(manifest);
  if (!ranges || ranges->empty()) return !partitions_.empty();
  auto admits = [&ranges](const PartitionTuple& tuple) {
    for (std::size_t i = 0; i < tuple.size(); ++i) {
      if (!(*ranges)[i].Admits(tuple[i])) return false;
    }
    return true;
  };
  // Tuples are sorted by their first value, null first: skip those below its lower bound.
  auto it = partitions_.begin();
  const Range& first = ranges->front();
  if (first.lower && !first.contains_null) it = partitions_.lower_bound({*first.lower});
  for (; it != partitions_.end(); ++it) {
    if (first.upper && !IsNull((*it)[0]) && *first.upper < (*it)[0]) return false;
    if (admits(*it)) return true;
  }
  return false;
}

}  // namespace amend::iceberg

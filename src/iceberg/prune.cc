#include "iceberg/prune.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "fmt/format.h"

namespace amend::iceberg {
namespace {

/// What is known of a set of values of one type. Null bounds are unknown.
struct Known {
  bool may_be_null = true;
  bool only_null = false;
  bool may_be_nan = false;
  bool exact = false;  ///< least is the only value
  Value least;
  Value most;
};

bool IsFloating(const Type& type) {
  return type.id == TypeId::kFloat || type.id == TypeId::kDouble;
}

/// A bound, or null where it cannot be read. Java once compared UUIDs as signed numbers,
/// so bounds of those say nothing.
Value ReadBound(const Type& type, const std::optional<std::string>& bytes) {
  if (!bytes || !type.is_primitive() || type.id == TypeId::kUuid) return {};
  return DecodeSingleValue(type, *bytes).value_or(Value());
}

bool MayEqual(const Type& type, const Value& literal, const Known& known) {
  return !(CompareValues(type, literal, known.least) < 0) &&
         !(CompareValues(type, literal, known.most) > 0);
}

/// Unordered comparisons (unknown bounds, NaN literals) keep.
bool MaySatisfy(const Type& type, CompareOp op, const std::vector<Value>& literals,
                const Known& known) {
  if (op == CompareOp::kIsNull) return known.may_be_null;
  if (known.only_null) return false;
  switch (op) {
    case CompareOp::kIsNull:
    case CompareOp::kNotNull:
      return true;
    case CompareOp::kEqual:
    case CompareOp::kIn:
      return std::any_of(literals.begin(), literals.end(), [&](const Value& literal) {
        return MayEqual(type, literal, known);
      });
    case CompareOp::kNotEqual:
      return !known.exact || CompareValues(type, literals[0], known.least) != 0;
    case CompareOp::kLess:
      return !(CompareValues(type, known.least, literals[0]) >= 0);
    case CompareOp::kLessOrEqual:
      return !(CompareValues(type, known.least, literals[0]) > 0);
    case CompareOp::kGreater:
      return known.may_be_nan || !(CompareValues(type, known.most, literals[0]) <= 0);
    case CompareOp::kGreaterOrEqual:
      return known.may_be_nan || !(CompareValues(type, known.most, literals[0]) < 0);
  }
  return true;
}

Known KnownOf(const Type& type, const PartitionFieldSummary& summary) {
  Known known;
  known.may_be_null = summary.contains_null;
  known.may_be_nan = IsFloating(type) && summary.contains_nan.value_or(true);
  known.only_null = summary.contains_null && !known.may_be_nan && !summary.lower_bound &&
                    !summary.upper_bound;
  known.least = ReadBound(type, summary.lower_bound);
  known.most = ReadBound(type, summary.upper_bound);
  return known;
}

Known KnownOf(const Value& value) {
  Known known;
  known.may_be_null = known.only_null = IsNull(value);
  known.exact = true;
  known.least = known.most = value;
  return known;
}

template <typename T>
std::optional<T> Find(const FlatMap<int, T>& map, int id) {
  auto it = map.find(id);
  if (it == map.end()) return std::nullopt;
  return it->second;
}

Known KnownOf(const Type& type, int id, const DataFile& file) {
  Known known;
  auto nulls = Find(file.null_counts, id);
  auto values = Find(file.value_counts, id);
  known.may_be_null = nulls != std::int64_t{0};
  known.only_null = nulls && nulls == values && type.is_primitive();
  known.may_be_nan = IsFloating(type) && Find(file.nan_counts, id) != std::int64_t{0};
  known.least = ReadBound(type, Find(file.lower_bounds, id));
  known.most = ReadBound(type, Find(file.upper_bounds, id));
  return known;
}

/// `x < 5` as `x <= 4` for whole numbers: tighter once a transform has rounded it.
Value Closed(const Value& value, int step) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) return value;
  using Limits = std::numeric_limits<std::int64_t>;
  if (*number == (step < 0 ? Limits::min() : Limits::max())) return value;
  return *number + step;
}

/// Projects one condition through one transform that keeps order or equality.
class Projection {
 public:
  Projection(const Transform& transform, const Type& source)
      : transform_(transform), source_(source) {
    bool is_time = transform.kind == TransformKind::kYear ||
                   transform.kind == TransformKind::kMonth ||
                   transform.kind == TransformKind::kDay ||
                   transform.kind == TransformKind::kHour;
    bool is_exact = transform.kind == TransformKind::kDay && source.id == TypeId::kDate;
    may_be_one_high_ = is_time && !is_exact;
  }

  std::optional<Condition> Run(const Condition& condition) const {
    switch (transform_.kind) {
      case TransformKind::kVoid:
      case TransformKind::kUnknown:
        return std::nullopt;
      case TransformKind::kIdentity:
        return condition;
      default:
        break;
    }
    switch (condition.op) {
      case CompareOp::kIsNull:
      case CompareOp::kNotNull:
        return condition;
      case CompareOp::kNotEqual:
        return std::nullopt;
      case CompareOp::kEqual:
      case CompareOp::kIn:
        return OneOf(condition.literals);
      default:
        return transform_.kind == TransformKind::kBucket ? std::nullopt
                                                         : Range(condition);
    }
  }

 private:
  std::optional<Condition> OneOf(const std::vector<Value>& literals) const {
    Condition projected{.field_id = 0, .op = CompareOp::kIn, .literals = {}};
    for (const Value& literal : literals) {
      auto value = transform_.Apply(source_, literal);
      if (!value) return std::nullopt;
      projected.literals.push_back(*value);
      if (Value high = MaybeHigher(*value); high != *value) {
        projected.literals.push_back(high);
      }
    }
    return projected;
  }

  std::optional<Condition> Range(const Condition& condition) const {
    bool below =
        condition.op == CompareOp::kLess || condition.op == CompareOp::kLessOrEqual;
    bool open = condition.op == CompareOp::kLess || condition.op == CompareOp::kGreater;
    const Value& literal = condition.literals[0];
    auto value =
        transform_.Apply(source_, open ? Closed(literal, below ? -1 : 1) : literal);
    if (!value) return std::nullopt;
    return Condition{.field_id = 0,
                     .op = below ? CompareOp::kLessOrEqual : CompareOp::kGreaterOrEqual,
                     .literals = {below ? MaybeHigher(*value) : *value}};
  }

  Value MaybeHigher(const Value& value) const {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (!may_be_one_high_ || number == nullptr || *number >= 0) return value;
    return *number + 1;
  }

  const Transform& transform_;
  const Type& source_;
  bool may_be_one_high_ = false;
};

Status CheckCondition(const Field& column, const Condition& condition) {
  bool is_null_test =
      condition.op == CompareOp::kIsNull || condition.op == CompareOp::kNotNull;
  std::size_t expected = is_null_test ? 0 : 1;
  if (condition.op != CompareOp::kIn && condition.literals.size() != expected) {
    return Invalid(fmt::format("a condition on column '{}' has {} literals", column.name,
                               condition.literals.size()));
  }
  for (const Value& literal : condition.literals) {
    const auto* number = std::get_if<double>(&literal);
    bool is_nan = number != nullptr && *number != *number && IsFloating(column.type);
    if (!is_nan && CompareValues(column.type, literal, literal) != 0) {
      return Invalid(fmt::format("a literal for column '{}' is not of type {}",
                                 column.name, column.type.ToString()));
    }
  }
  return {};
}

}  // namespace

Result<Pruner> Pruner::Create(const TableMetadata& metadata, const Filter& filter) {
  Pruner pruner;
  for (const Condition& condition : filter) {
    const Field* column = metadata.schema().FindById(condition.field_id);
    if (column == nullptr) {
      return Fail(Invalid(fmt::format("table {} has no column of id {}",
                                      metadata.location(), condition.field_id)));
    }
    AMEND_FAIL_IF_ERROR(CheckCondition(*column, condition));
    pruner.conditions_.push_back({column->type, condition});
  }
  return pruner;
}

const std::vector<ProjectedCondition>& Pruner::Projected(const PartitionSpec& spec) {
  auto [it, is_new] = projected_.try_emplace(spec.id);
  if (!is_new) return it->second;
  for (const ColumnCondition& column : conditions_) {
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      const PartitionField& field = spec.fields[i];
      if (field.source_id != column.condition.field_id) continue;
      auto condition = Projection(field.transform, column.type).Run(column.condition);
      if (!condition) continue;
      it->second.push_back({i, field.transform.ResultType(column.type), condition->op,
                            std::move(condition->literals)});
    }
  }
  return it->second;
}

bool Pruner::MayMatch(const ManifestFile& manifest, const PartitionSpec& spec) {
  if (manifest.partitions.size() != spec.fields.size()) return true;
  const auto& projected = Projected(spec);
  return std::all_of(projected.begin(), projected.end(), [&](const auto& one) {
    Known known = KnownOf(one.type, manifest.partitions[one.position]);
    return MaySatisfy(one.type, one.op, one.literals, known);
  });
}

bool Pruner::MayMatch(const DataFile& file, const PartitionSpec& spec) {
  for (const ProjectedCondition& one : Projected(spec)) {
    Known known = KnownOf(file.partition[one.position]);
    if (!MaySatisfy(one.type, one.op, one.literals, known)) return false;
  }
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const auto& one) {
    Known known = KnownOf(one.type, one.condition.field_id, file);
    return MaySatisfy(one.type, one.condition.op, one.condition.literals, known);
  });
}

}  // namespace amend::iceberg

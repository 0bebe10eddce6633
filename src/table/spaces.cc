#include "table/spaces.h"

#include "base/civil.h"
#include "base/text.h"
#include "fmt/format.h"
#include "table/types.h"

namespace amend::table {
namespace {

using iceberg::Field;
using iceberg::PartitionField;
using iceberg::Transform;
using iceberg::TransformKind;
using iceberg::TypeId;
using partition::Dimension;
using partition::Grain;
using partition::PartitionSpace;

constexpr int kFirstPartitionFieldId = 1000;

bool IsTimestamp(TypeId id) {
  return id == TypeId::kTimestamp || id == TypeId::kTimestamptz;
}

/// Weeks and quarters have no transform; their column holds the first day.
bool IsMaterialised(Grain grain) {
  return grain == Grain::kWeek || grain == Grain::kQuarter;
}

TransformKind KindOf(Grain grain) {
  switch (grain) {
    case Grain::kHour:
      return TransformKind::kHour;
    case Grain::kDay:
      return TransformKind::kDay;
    case Grain::kMonth:
      return TransformKind::kMonth;
    case Grain::kYear:
      return TransformKind::kYear;
    case Grain::kWeek:
    case Grain::kQuarter:
      break;
  }
  return TransformKind::kIdentity;
}

std::optional<Grain> GrainOf(TransformKind kind) {
  switch (kind) {
    case TransformKind::kHour:
      return Grain::kHour;
    case TransformKind::kDay:
      return Grain::kDay;
    case TransformKind::kMonth:
      return Grain::kMonth;
    case TransformKind::kYear:
      return Grain::kYear;
    default:
      return std::nullopt;
  }
}

std::optional<partition::ValueType> ValueTypeOf(TypeId id) {
  switch (id) {
    case TypeId::kBoolean:
      return partition::ValueType::kBoolean;
    case TypeId::kInt:
    case TypeId::kLong:
      return partition::ValueType::kInteger;
    case TypeId::kDate:
      return partition::ValueType::kDate;
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return partition::ValueType::kTimestamp;
    case TypeId::kString:
      return partition::ValueType::kString;
    default:
      return std::nullopt;
  }
}

Result<PartitionField> TimeFieldOf(const Dimension& dimension, const Field& column) {
  bool date = column.type.id == TypeId::kDate;
  if (!dimension.zone.empty()) {
    return Fail(Unsupported("partition_by " + dimension.ToString() + " has a time zone")
                    .Column(column.name)
                    .Hint("Add a column with the local date or hour to the SELECT and "
                          "partition by that."));
  }
  bool fits = IsMaterialised(dimension.grain) || dimension.grain == Grain::kDay ||
                      dimension.grain == Grain::kMonth || dimension.grain == Grain::kYear
                  ? date || IsTimestamp(column.type.id)
                  : IsTimestamp(column.type.id);
  if (!fits || (IsMaterialised(dimension.grain) && !date)) {
    return Fail(
        Invalid(fmt::format("partition_by {} needs a {} column, but {} is {}",
                            dimension.ToString(),
                            IsMaterialised(dimension.grain)   ? "DATE"
                            : dimension.grain == Grain::kHour ? "TIMESTAMP"
                                                              : "DATE or TIMESTAMP",
                            column.name, SqlFromType(column.type)))
            .Column(column.name)
            .Hint("Cast the column in the SELECT."));
  }
  PartitionField field;
  field.transform.kind = KindOf(dimension.grain);
  field.name = IsMaterialised(dimension.grain)
                   ? column.name
                   : column.name + "_" + std::string(GrainName(dimension.grain));
  return field;
}

Result<PartitionField> ValueFieldOf(const Dimension& dimension, const Field& column) {
  if (dimension.kind == Dimension::Kind::kBucket) {
    return Fail(Unsupported("partition_by " + dimension.ToString() +
                            " needs a bucket column that the SELECT makes")
                    .Column(column.name)
                    .Hint("Add the bucket as an INTEGER column and partition by it."));
  }
  auto type = ValueTypeOf(column.type.id);
  if (!type || *type != dimension.type) {
    return Fail(Invalid(fmt::format("partition_by {} cannot use a column of type {}",
                                    dimension.ToString(), SqlFromType(column.type)))
                    .Column(column.name)
                    .Hint("Partition by a BOOLEAN, INTEGER, BIGINT, DATE, TIMESTAMP or "
                          "VARCHAR column."));
  }
  PartitionField field;
  field.name = column.name;
  return field;
}

std::vector<std::string> NamesOf(const iceberg::Schema& schema) {
  std::vector<std::string> names;
  for (const Field& field : schema.fields) names.push_back(field.name);
  return names;
}

}  // namespace

Result<iceberg::PartitionSpec> SpecOf(const PartitionSpace& space,
                                      const iceberg::Schema& schema) {
  iceberg::PartitionSpec spec;
  for (const Dimension& dimension : space.dimensions()) {
    const Field* column = schema.FindByName(dimension.column);
    if (column == nullptr) {
      auto nearest = NearestName(dimension.column, NamesOf(schema));
      return Fail(Invalid("partition_by " + dimension.ToString() +
                          " names a column that the table does not have")
                      .Column(dimension.column)
                      .Hint(nearest ? "Did you mean " + *nearest + "?"
                                    : "Add the column to the SELECT."));
    }
    AMEND_ASSIGN(PartitionField field, dimension.kind == Dimension::Kind::kTime
                                           ? TimeFieldOf(dimension, *column)
                                           : ValueFieldOf(dimension, *column));
    field.source_id = column->id;
    field.field_id = kFirstPartitionFieldId + static_cast<int>(spec.fields.size());
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

PartitionSpace SpaceOf(const iceberg::PartitionSpec& spec,
                       const iceberg::Schema& schema) {
  std::vector<Dimension> dimensions;
  for (const PartitionField& field : spec.fields) {
    const Field* column = schema.FindById(field.source_id);
    if (column == nullptr) return {};
    if (auto grain = GrainOf(field.transform.kind)) {
      dimensions.push_back(Dimension::Time(column->name, *grain));
    } else if (auto type = ValueTypeOf(column->type.id);
               type && field.transform.kind == TransformKind::kIdentity) {
      dimensions.push_back(Dimension::OfValue(column->name, *type));
    } else {
      return {};
    }
  }
  auto space = PartitionSpace::Make(std::move(dimensions));
  return space ? *std::move(space) : PartitionSpace();
}

bool SpecFits(const PartitionSpace& space, const iceberg::PartitionSpec& spec,
              const iceberg::Schema& schema) {
  auto wanted = SpecOf(space, schema);
  if (!wanted || wanted->fields.size() != spec.fields.size()) return false;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    if (wanted->fields[i].source_id != spec.fields[i].source_id ||
        wanted->fields[i].transform.kind != spec.fields[i].transform.kind) {
      return false;
    }
  }
  return true;
}

Result<partition::Partition> PointOf(const PartitionSpace& space,
                                     const iceberg::PartitionTuple& tuple) {
  partition::Partition point;
  if (space.unpartitioned()) return point;
  if (tuple.size() != space.dimensions().size()) {
    return Fail(Damaged(fmt::format("a partition tuple has {} fields instead of {}",
                                    tuple.size(), space.dimensions().size())));
  }
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    const Dimension& dimension = space.dimensions()[i];
    const iceberg::Value& value = tuple[i];
    if (std::holds_alternative<double>(value)) {
      return Fail(Damaged("a partition value is a floating number"));
    }
    if (dimension.kind == Dimension::Kind::kTime) {
      const auto* number = std::get_if<std::int64_t>(&value);
      if (number == nullptr && !iceberg::IsNull(value)) {
        return Fail(Damaged("a time partition value is not a number"));
      }
      if (number == nullptr) {
        point.time = std::nullopt;
      } else if (IsMaterialised(dimension.grain)) {
        point.time = PeriodContainingDay(dimension.grain, *number).ordinal();
      } else {
        point.time = *number;
      }
      continue;
    }
    if (const auto* flag = std::get_if<bool>(&value)) {
      point.values.emplace_back(*flag);
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
      point.values.emplace_back(*number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      point.values.emplace_back(*text);
    } else {
      point.values.emplace_back();
    }
  }
  return point;
}

iceberg::PartitionTuple TupleOf(const PartitionSpace& space,
                                const partition::Partition& point) {
  iceberg::PartitionTuple tuple;
  std::size_t next_value = 0;
  for (const Dimension& dimension : space.dimensions()) {
    if (dimension.kind == Dimension::Kind::kTime) {
      if (!point.time) {
        tuple.emplace_back();
      } else if (IsMaterialised(dimension.grain)) {
        tuple.emplace_back(StartDay(partition::Period(dimension.grain, *point.time)));
      } else {
        tuple.emplace_back(*point.time);
      }
      continue;
    }
    std::visit([&tuple](const auto& value) { tuple.emplace_back(value); },
               point.values[next_value++]);
  }
  return tuple;
}

std::string TimeOrdinalSql(const PartitionSpace& space) {
  const Dimension* time = space.time();
  AMEND_CHECK(time != nullptr);
  return TimeOrdinalSql(time->grain, SqlIdentifier(time->column));
}

std::string TimeOrdinalSql(Grain grain, std::string_view expression) {
  switch (grain) {
    case Grain::kHour:
      // epoch_us floors nothing itself; // is integer division that truncates, so the
      // remainder is taken off first.
      return fmt::format(
          "((epoch_us({0}::TIMESTAMP) - ((epoch_us({0}::TIMESTAMP) % 3600000000) + "
          "3600000000) % 3600000000) // 3600000000)",
          expression);
    case Grain::kDay:
      return fmt::format("({}::DATE - DATE '1970-01-01')::BIGINT", expression);
    case Grain::kWeek:
      // Week 0 starts on Monday 1969-12-29; date_trunc gives Mondays.
      return fmt::format(
          "((date_trunc('week', {}::DATE)::DATE - DATE '1969-12-29') // 7)::BIGINT",
          expression);
    case Grain::kMonth:
      return fmt::format("((year({0}) - 1970) * 12 + month({0}) - 1)::BIGINT",
                         expression);
    case Grain::kQuarter:
      return fmt::format("((year({0}) - 1970) * 4 + quarter({0}) - 1)::BIGINT",
                         expression);
    case Grain::kYear:
      return fmt::format("(year({}) - 1970)::BIGINT", expression);
  }
  return "0";
}

}  // namespace amend::table

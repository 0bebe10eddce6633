#include "engine/partition_columns.h"

#include "base/text.h"
#include "fmt/format.h"
#include "table/spaces.h"

namespace amend::engine {

std::vector<std::string> PointColumnNames(const partition::PartitionSpace& space) {
  std::vector<std::string> names;
  if (space.has_time()) names.emplace_back("amend_t");
  for (std::size_t i = 0; i < space.value_dimensions().size(); ++i) {
    names.push_back(fmt::format("amend_v{}", i));
  }
  if (names.empty()) names.emplace_back("amend_all");
  return names;
}

std::string PointColumnsSql(const partition::PartitionSpace& space) {
  std::vector<std::string> columns;
  if (space.has_time()) {
    columns.push_back(table::TimeOrdinalSql(space) + " AS amend_t");
  }
  for (std::size_t i = 0; i < space.value_dimensions().size(); ++i) {
    columns.push_back(fmt::format("{} AS amend_v{}",
                                  SqlIdentifier(space.value_dimensions()[i].column), i));
  }
  if (columns.empty()) columns.emplace_back("0::BIGINT AS amend_all");
  return Join(columns, ", ");
}

std::string GroupList(std::size_t count) {
  std::vector<std::string> places;
  for (std::size_t i = 1; i <= count; ++i) places.push_back(std::to_string(i));
  return Join(places, ", ");
}

partition::Value PointValue(const duck::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* date = std::get_if<duck::Date>(&value)) return std::int64_t{date->days};
  if (const auto* time = std::get_if<duck::Timestamp>(&value)) return time->micros;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return {};
}

partition::Partition PointOfRow(const partition::PartitionSpace& space,
                                const duck::Row& row, std::size_t first) {
  partition::Partition point;
  if (space.has_time()) {
    const auto* ordinal = std::get_if<std::int64_t>(&row[first++]);
    point.time = ordinal == nullptr ? std::nullopt : std::optional(*ordinal);
  }
  for (std::size_t i = 0; i < space.value_dimensions().size(); ++i) {
    point.values.push_back(PointValue(row[first + i]));
  }
  return point;
}

std::int64_t CountOf(const duck::Value& value) {
  if (const auto* huge = std::get_if<duck::HugeInt>(&value)) {
    return static_cast<std::int64_t>(huge->number);
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : *number;
}

}  // namespace amend::engine

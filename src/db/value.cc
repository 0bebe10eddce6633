#include "db/value.h"

#include <array>
#include <string_view>

namespace amend::db {
namespace {

constexpr std::array<std::string_view, 5> kTypeNames = {"NULL", "an integer", "a double",
                                                        "text", "bytes"};

template <typename T>
Result<T> As(const Value& value, std::size_t column, std::string_view wanted) {
  if (const T* held = std::get_if<T>(&value)) return *held;
  return Fail(Damaged("column " + std::to_string(column) + " of a stored row holds " +
                      std::string(kTypeNames.at(value.index())) + " where " +
                      std::string(wanted) + " was expected"));
}

}  // namespace

const Value& Row::at(std::size_t column) const {
  AMEND_CHECK(column < values_.size());
  return values_[column];
}

bool Row::IsNull(std::size_t column) const {
  return std::holds_alternative<Null>(at(column));
}

Result<std::int64_t> Row::Int(std::size_t column) const {
  return As<std::int64_t>(at(column), column, "an integer");
}

Result<double> Row::Double(std::size_t column) const {
  return As<double>(at(column), column, "a double");
}

Result<std::string> Row::Text(std::size_t column) const {
  return As<std::string>(at(column), column, "text");
}

Result<Blob> Row::Bytes(std::size_t column) const {
  return As<Blob>(at(column), column, "bytes");
}

Result<std::optional<std::int64_t>> Row::OptionalInt(std::size_t column) const {
  if (IsNull(column)) return std::nullopt;
  AMEND_ASSIGN(std::int64_t number, Int(column));
  return number;
}

Result<std::optional<std::string>> Row::OptionalText(std::size_t column) const {
  if (IsNull(column)) return std::nullopt;
  AMEND_ASSIGN(std::string text, Text(column));
  return text;
}

}  // namespace amend::db

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"

namespace amend::db {

/// Bytes without a character set.
struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

struct Null {
  friend bool operator==(const Null&, const Null&) = default;
};

/// What one column holds and what one `?` is bound to: the five types that SQLite and
/// PostgreSQL store and return without loss. Booleans are 0 and 1, instants are
/// microseconds since the epoch, decimals are text.
///
/// Text is UTF-8 without NUL bytes and doubles are not NaN: PostgreSQL refuses the one,
/// SQLite stores NULL for the other, so a Transaction refuses both (Invalid).
using Value = std::variant<Null, std::int64_t, double, std::string, Blob>;

/// NULL where the optional is empty.
inline Value OrNull(std::optional<std::string> text) {
  return text ? Value(*std::move(text)) : Value(Null{});
}
inline Value OrNull(std::optional<std::int64_t> number) {
  return number ? Value(*number) : Value(Null{});
}

/// One row of a result. The typed getters fail with Damaged where the column holds
/// another type (NULL included): tables of ours are STRICT, so another type means that
/// somebody else wrote them.
///
/// Columns count from 0; an index beyond the row is a bug and aborts.
class Row {
 public:
  explicit Row(std::vector<Value> values) : values_(std::move(values)) {}

  std::size_t size() const { return values_.size(); }
  const Value& at(std::size_t column) const;
  bool IsNull(std::size_t column) const;

  Result<std::int64_t> Int(std::size_t column) const;
  Result<double> Double(std::size_t column) const;
  Result<std::string> Text(std::size_t column) const;
  Result<Blob> Bytes(std::size_t column) const;
  /// Nothing where the column is NULL.
  Result<std::optional<std::int64_t>> OptionalInt(std::size_t column) const;
  Result<std::optional<std::string>> OptionalText(std::size_t column) const;

  friend bool operator==(const Row&, const Row&) = default;

 private:
  std::vector<Value> values_;
};

using Rows = std::vector<Row>;

}  // namespace amend::db

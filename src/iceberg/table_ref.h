#pragma once

#include <compare>
#include <string>

namespace amend::iceberg {

/// A table's name in a catalog. Levels of the namespace are joined by dots, as the SQL
/// catalog stores them. Ordered as pointers are locked: by namespace, then name.
struct TableRef {
  std::string table_namespace;
  std::string name;

  std::string ToString() const { return table_namespace + "." + name; }
  friend auto operator<=>(const TableRef&, const TableRef&) = default;
};

}  // namespace amend::iceberg

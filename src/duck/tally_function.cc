#include "duck/tally_function.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include "duckdb.h"

namespace amend::duck {
namespace {

struct FreeFunction {
  void operator()(duckdb_scalar_function f) const { duckdb_destroy_scalar_function(&f); }
};
using Function =
    std::unique_ptr<std::remove_pointer_t<duckdb_scalar_function>, FreeFunction>;

struct FreeType {
  void operator()(duckdb_logical_type type) const { duckdb_destroy_logical_type(&type); }
};
using LogicalType = std::unique_ptr<std::remove_pointer_t<duckdb_logical_type>, FreeType>;

/// One chunk. The engine gives flat vectors.
void Take(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
  auto& tally =
      **static_cast<std::shared_ptr<Tally>*>(duckdb_scalar_function_get_extra_info(info));
  if (duckdb_data_chunk_get_column_count(input) != tally.columns() + 1) {
    duckdb_scalar_function_set_error(info, "a tally was not started for these arguments");
    return;
  }
  auto data = [&](idx_t column) {
    return duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, column));
  };
  const idx_t rows = duckdb_data_chunk_get_size(input);
  const auto* groups = static_cast<const std::int64_t*>(data(0));
  std::copy_n(groups, rows, static_cast<std::int64_t*>(duckdb_vector_get_data(output)));
  try {
    std::vector<const std::uint64_t*> columns;
    for (idx_t i = 0; i < tally.columns(); ++i) {
      columns.push_back(static_cast<const std::uint64_t*>(data(i + 1)));
    }
    tally.Add(groups, columns, rows);
  } catch (const std::exception& error) {  // of memory
    duckdb_scalar_function_set_error(info, error.what());
  }
}

}  // namespace

Status RegisterTally(duckdb_connection connection, const std::string& name,
                     std::shared_ptr<Tally> tally) {
  const Function function(duckdb_create_scalar_function());
  const LogicalType group(duckdb_create_logical_type(DUCKDB_TYPE_BIGINT));
  const LogicalType number(duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT));
  duckdb_scalar_function_set_name(function.get(), name.c_str());
  duckdb_scalar_function_add_parameter(function.get(), group.get());
  duckdb_scalar_function_set_varargs(function.get(), number.get());
  duckdb_scalar_function_set_return_type(function.get(), group.get());
  // Else constant arguments would be folded and equal calls be made once.
  duckdb_scalar_function_set_volatile(function.get());
  duckdb_scalar_function_set_extra_info(
      function.get(), new std::shared_ptr<Tally>(std::move(tally)),
      [](void* held) { delete static_cast<std::shared_ptr<Tally>*>(held); });
  duckdb_scalar_function_set_function(function.get(), Take);
  if (duckdb_register_scalar_function(connection, function.get()) == DuckDBError) {
    return Internal("the engine does not take the function " + name);
  }
  return {};
}

}  // namespace amend::duck

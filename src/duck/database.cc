#include "duck/database.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "duck/errors.h"
#include "duck/tally_function.h"
#include "duck/vector.h"
#include "duckdb.h"
#include "fmt/format.h"

namespace amend::duck {
namespace {

struct FreeStatement {
  void operator()(duckdb_prepared_statement s) const { duckdb_destroy_prepare(&s); }
};
using Statement =
    std::unique_ptr<std::remove_pointer_t<duckdb_prepared_statement>, FreeStatement>;

struct FreePending {
  void operator()(duckdb_pending_result p) const { duckdb_destroy_pending(&p); }
};
using Pending =
    std::unique_ptr<std::remove_pointer_t<duckdb_pending_result>, FreePending>;

struct FreeExtracted {
  void operator()(duckdb_extracted_statements e) const { duckdb_destroy_extracted(&e); }
};
using Extracted =
    std::unique_ptr<std::remove_pointer_t<duckdb_extracted_statements>, FreeExtracted>;

struct FreeType {
  void operator()(duckdb_logical_type type) const { duckdb_destroy_logical_type(&type); }
};
using LogicalType = std::unique_ptr<std::remove_pointer_t<duckdb_logical_type>, FreeType>;

struct FreeChunk {
  void operator()(duckdb_data_chunk chunk) const { duckdb_destroy_data_chunk(&chunk); }
};
using DataChunk = std::unique_ptr<std::remove_pointer_t<duckdb_data_chunk>, FreeChunk>;

/// A result, destroyed with its scope.
class EngineResult {
 public:
  EngineResult() = default;
  EngineResult(const EngineResult&) = delete;
  EngineResult& operator=(const EngineResult&) = delete;
  ~EngineResult() { duckdb_destroy_result(&result_); }
  duckdb_result* get() { return &result_; }

 private:
  duckdb_result result_{};
};

duckdb_hugeint Narrow(__int128 number) {
  return {static_cast<std::uint64_t>(number), static_cast<std::int64_t>(number >> 64)};
}

/// Binds one value as parameter `index`, 1-based.
struct Binder {
  duckdb_prepared_statement statement;
  idx_t index;

  duckdb_state operator()(std::monostate) const {
    return duckdb_bind_null(statement, index);
  }
  duckdb_state operator()(bool flag) const {
    return duckdb_bind_boolean(statement, index, flag);
  }
  duckdb_state operator()(std::int64_t number) const {
    return duckdb_bind_int64(statement, index, number);
  }
  duckdb_state operator()(const HugeInt& huge) const {
    return duckdb_bind_hugeint(statement, index, Narrow(huge.number));
  }
  duckdb_state operator()(const Decimal& decimal) const {
    return duckdb_bind_decimal(
        statement, index,
        {static_cast<std::uint8_t>(decimal.width),
         static_cast<std::uint8_t>(decimal.scale), Narrow(decimal.unscaled)});
  }
  duckdb_state operator()(double number) const {
    return duckdb_bind_double(statement, index, number);
  }
  duckdb_state operator()(const std::string& text) const {
    return duckdb_bind_varchar_length(statement, index, text.data(), text.size());
  }
  duckdb_state operator()(const Blob& blob) const {
    return duckdb_bind_blob(statement, index, blob.bytes.data(), blob.bytes.size());
  }
  duckdb_state operator()(const Date& date) const {
    return duckdb_bind_date(statement, index, {date.days});
  }
  duckdb_state operator()(const Time& time) const {
    return duckdb_bind_time(statement, index, {time.micros});
  }
  duckdb_state operator()(const Timestamp& stamp) const {
    return stamp.zoned ? duckdb_bind_timestamp_tz(statement, index, {stamp.micros})
                       : duckdb_bind_timestamp(statement, index, {stamp.micros});
  }
  duckdb_state operator()(const Interval& interval) const {
    return duckdb_bind_interval(statement, index,
                                {interval.months, interval.days, interval.micros});
  }
  duckdb_state operator()(const Json&) const { return DuckDBError; }
};

Result<std::vector<std::pair<std::string, std::string>>> ConfigOf(
    const DatabaseOptions& options) {
  if (options.threads < 1) return Fail(Invalid("the engine needs at least one thread"));
  if (options.memory_limit_bytes < 0) {
    return Fail(Invalid("the engine's memory limit is negative"));
  }
  std::vector<std::pair<std::string, std::string>> config = {
      {"threads", std::to_string(options.threads)},
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
      {"preserve_insertion_order", "true"},
      // Would keep a second copy of what the page cache holds, and takes a tenth of a
      // scan's CPU (measured) to fill it.
      {"enable_external_file_cache", "false"},
      {"temp_directory", options.temp_directory},
      {"enable_external_access", options.external_access ? "true" : "false"},
  };
  if (options.memory_limit_bytes > 0) {
    config.emplace_back("memory_limit", std::to_string(options.memory_limit_bytes) + "B");
  }
  if (!options.extension_directory.empty()) {
    config.emplace_back("extension_directory", options.extension_directory);
  }
  return config;
}

/// The C API ends a statement at its first NUL.
Status CheckText(std::string_view sql) {
  if (sql.find('\0') == std::string_view::npos) return {};
  return Invalid("the statement holds a NUL byte");
}

struct FreeConfig {
  void operator()(duckdb_config config) const { duckdb_destroy_config(&config); }
};

}  // namespace

struct Database::Impl {
  DatabaseOptions options;
  duckdb_database handle = nullptr;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { duckdb_close(&handle); }

  Limits limits() const {
    return {options.memory_limit_bytes, !options.temp_directory.empty()};
  }
};

Result<Database> Database::Open(const DatabaseOptions& options) {
  if (std::string_view version = duckdb_library_version(); version != kPinnedVersion) {
    return Fail(Internal(fmt::format("this is DuckDB {}, but plans, files and row hashes "
                                     "are made with {}",
                                     version, kPinnedVersion))
                    .Hint("run scripts/bootstrap build, then build again"));
  }
  AMEND_ASSIGN(auto settings, ConfigOf(options));
  duckdb_config raw = nullptr;
  if (duckdb_create_config(&raw) == DuckDBError) {
    return Fail(Internal("the engine made no configuration"));
  }
  std::unique_ptr<std::remove_pointer_t<duckdb_config>, FreeConfig> config(raw);
  for (const auto& [name, value] : settings) {
    if (duckdb_set_config(config.get(), name.c_str(), value.c_str()) == DuckDBError) {
      return Fail(Internal(fmt::format("the engine refuses {} = '{}'", name, value)));
    }
  }
  auto impl = std::make_shared<Impl>();
  impl->options = options;
  char* error = nullptr;
  if (duckdb_open_ext(nullptr, &impl->handle, config.get(), &error) == DuckDBError) {
    std::string text = error != nullptr ? error : "";
    duckdb_free(error);
    return Fail(StatusOf(text, impl->limits()).Annotate("the engine does not open"));
  }
  return Database(std::move(impl));
}

const DatabaseOptions& Database::options() const { return impl_->options; }

struct Connection::Impl {
  std::shared_ptr<Database::Impl> database;
  duckdb_connection handle = nullptr;
  std::atomic<bool> stop = false;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { duckdb_disconnect(&handle); }

  Status Error(const char* text) const {
    return StatusOf(text != nullptr ? text : "", database->limits());
  }
  Result<Statement> Prepare(std::string_view sql, const std::vector<Value>& parameters);
  Status Bind(duckdb_prepared_statement statement, const std::vector<Value>& parameters);
  /// Runs a prepared statement; its rows, if any, are still to be fetched.
  Status Run(duckdb_prepared_statement statement, bool streaming, EngineResult& result);
};

struct Chunk::View {
  std::vector<ColumnInfo> columns;
  std::vector<LogicalType> types;
  std::vector<duckdb_vector> vectors;
  std::int64_t rows = 0;
};

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Database::Connect() const {
  auto impl = std::make_unique<Connection::Impl>();
  impl->database = impl_;
  if (duckdb_connect(impl_->handle, &impl->handle) == DuckDBError) {
    return Fail(Internal("the engine makes no connection"));
  }
  Connection connection(std::move(impl));
  AMEND_ASSIGN([[maybe_unused]] auto done,
               connection.Execute("SET TimeZone = 'UTC'; SET Calendar = 'gregorian'"));
  AMEND_ASSIGN(Value zone, connection.QueryValue("SELECT current_setting('TimeZone')"));
  if (zone != Value(std::string("UTC"))) {
    return Fail(Internal("the session zone is " + ToText(zone) + ", not UTC"));
  }
  return connection;
}

Result<Database::Usage> Database::MemoryUsage() const {
  AMEND_ASSIGN(Connection connection, Connect());
  AMEND_ASSIGN(Rows rows, connection.Query("SELECT sum(memory_usage_bytes)::BIGINT, "
                                           "sum(temporary_storage_bytes)::BIGINT "
                                           "FROM duckdb_memory()"));
  return Usage{std::get<std::int64_t>(rows.rows.at(0).at(0)),
               std::get<std::int64_t>(rows.rows.at(0).at(1))};
}

Status Connection::Impl::Bind(duckdb_prepared_statement statement,
                              const std::vector<Value>& parameters) {
  idx_t wanted = duckdb_nparams(statement);
  if (wanted != parameters.size()) {
    return Invalid(fmt::format("the statement takes {} parameters, {} are given", wanted,
                               parameters.size()));
  }
  for (idx_t i = 0; i < wanted; ++i) {
    if (std::visit(Binder{statement, i + 1}, parameters[i]) == DuckDBError) {
      return Invalid(
          fmt::format("parameter {} cannot be bound: {}", i + 1, ToText(parameters[i])));
    }
  }
  return {};
}

Result<Statement> Connection::Impl::Prepare(std::string_view sql,
                                            const std::vector<Value>& parameters) {
  AMEND_FAIL_IF_ERROR(CheckText(sql));
  duckdb_prepared_statement raw = nullptr;
  duckdb_state state = duckdb_prepare(handle, std::string(sql).c_str(), &raw);
  Statement statement(raw);
  if (state == DuckDBError) return Fail(Error(duckdb_prepare_error(raw)));
  AMEND_FAIL_IF_ERROR(Bind(raw, parameters));
  return statement;
}

Status Connection::Impl::Run(duckdb_prepared_statement statement, bool streaming,
                             EngineResult& result) {
  duckdb_pending_result raw = nullptr;
  duckdb_state state = streaming ? duckdb_pending_prepared_streaming(statement, &raw)
                                 : duckdb_pending_prepared(statement, &raw);
  Pending pending(raw);
  if (state == DuckDBError) return Error(duckdb_pending_error(raw));
  // The engine forgot earlier interrupts when it made the pending result, and remembers
  // later ones: only here none can be lost.
  if (stop) return Transient("the statement was interrupted");
  if (duckdb_execute_pending(raw, result.get()) == DuckDBError) {
    return Error(duckdb_result_error(result.get()));
  }
  return {};
}

Result<std::int64_t> Connection::Execute(std::string_view sql) {
  AMEND_FAIL_IF_ERROR(CheckText(sql));
  duckdb_extracted_statements raw = nullptr;
  idx_t count = duckdb_extract_statements(impl_->handle, std::string(sql).c_str(), &raw);
  Extracted statements(raw);
  if (count == 0) {
    const char* error = duckdb_extract_statements_error(raw);
    if (error != nullptr && *error != '\0') return Fail(impl_->Error(error));
    return Fail(Invalid("there is no statement to run"));
  }
  std::int64_t changed = 0;
  for (idx_t i = 0; i < count; ++i) {
    duckdb_prepared_statement prepared = nullptr;
    duckdb_state state =
        duckdb_prepare_extracted_statement(impl_->handle, raw, i, &prepared);
    Statement statement(prepared);
    if (state == DuckDBError) return Fail(impl_->Error(duckdb_prepare_error(prepared)));
    EngineResult result;
    AMEND_FAIL_IF_ERROR(impl_->Run(prepared, false, result));
    changed = static_cast<std::int64_t>(duckdb_rows_changed(result.get()));
  }
  return changed;
}

Result<std::int64_t> Connection::Execute(std::string_view sql,
                                         const std::vector<Value>& parameters) {
  AMEND_ASSIGN(Statement statement, impl_->Prepare(sql, parameters));
  EngineResult result;
  AMEND_FAIL_IF_ERROR(impl_->Run(statement.get(), false, result));
  return static_cast<std::int64_t>(duckdb_rows_changed(result.get()));
}

Result<std::vector<ColumnInfo>> Connection::Visit(std::string_view sql,
                                                  const std::vector<Value>& parameters,
                                                  const Visitor& visitor) {
  AMEND_ASSIGN(Statement statement, impl_->Prepare(sql, parameters));
  EngineResult result;
  AMEND_FAIL_IF_ERROR(impl_->Run(statement.get(), true, result));
  Chunk::View view;
  for (idx_t i = 0; i < duckdb_column_count(result.get()); ++i) {
    view.types.emplace_back(duckdb_column_logical_type(result.get(), i));
    view.columns.push_back(
        {duckdb_column_name(result.get(), i), TypeName(view.types.back().get())});
  }
  view.vectors.resize(view.columns.size());
  while (true) {
    if (impl_->stop) return Fail(Transient("the statement was interrupted"));
    DataChunk chunk(duckdb_fetch_chunk(*result.get()));
    if (!chunk) break;
    view.rows = static_cast<std::int64_t>(duckdb_data_chunk_get_size(chunk.get()));
    if (view.rows == 0) break;
    for (idx_t i = 0; i < view.vectors.size(); ++i) {
      view.vectors[i] = duckdb_data_chunk_get_vector(chunk.get(), i);
    }
    AMEND_FAIL_IF_ERROR(visitor(Chunk(view)));
  }
  const char* error = duckdb_result_error(result.get());
  if (error != nullptr && *error != '\0') return Fail(impl_->Error(error));
  return std::move(view.columns);
}

Result<Rows> Connection::Query(std::string_view sql,
                               const std::vector<Value>& parameters) {
  Rows rows;
  auto keep = [&rows](const Chunk& chunk) -> Status {
    for (std::int64_t r = 0; r < chunk.size(); ++r) {
      Row row;
      row.reserve(chunk.columns().size());
      for (std::size_t c = 0; c < chunk.columns().size(); ++c) {
        AMEND_ASSIGN_OR_RETURN(Value value, chunk.Get(c, r));
        row.push_back(std::move(value));
      }
      rows.rows.push_back(std::move(row));
    }
    return {};
  };
  AMEND_ASSIGN(rows.columns, Visit(sql, parameters, keep));
  return rows;
}

Result<Value> Connection::QueryValue(std::string_view sql,
                                     const std::vector<Value>& parameters) {
  AMEND_ASSIGN(Rows rows, Query(sql, parameters));
  if (rows.rows.size() != 1 || rows.columns.size() != 1) {
    return Fail(Internal(fmt::format("one value was expected, not {} rows of {} columns",
                                     rows.rows.size(), rows.columns.size())));
  }
  return std::move(rows.rows[0][0]);
}

Result<std::vector<ColumnInfo>> Connection::Describe(std::string_view sql) {
  AMEND_FAIL_IF_ERROR(CheckText(sql));
  duckdb_prepared_statement raw = nullptr;
  duckdb_state state = duckdb_prepare(impl_->handle, std::string(sql).c_str(), &raw);
  Statement statement(raw);
  if (state == DuckDBError) return Fail(impl_->Error(duckdb_prepare_error(raw)));
  std::vector<ColumnInfo> columns;
  for (idx_t i = 0; i < duckdb_prepared_statement_column_count(raw); ++i) {
    const char* name = duckdb_prepared_statement_column_name(raw, i);
    LogicalType type(duckdb_prepared_statement_column_logical_type(raw, i));
    columns.push_back({name, TypeName(type.get())});
    duckdb_free(const_cast<char*>(name));
  }
  return columns;
}

Status Connection::AddTally(const std::string& name, std::shared_ptr<Tally> tally) {
  if (impl_->database->options.threads != 1) {
    return Invalid("a tally needs a database of one thread");
  }
  return RegisterTally(impl_->handle, name, std::move(tally));
}

Status Connection::LoadExtension(std::string_view name) {
  if (impl_->database->options.extension_directory.empty()) {
    return Invalid("no extension directory is set, so '" + std::string(name) +
                   "' cannot be loaded");
  }
  auto loaded = Execute("LOAD " + SqlIdentifier(name));
  return loaded ? Status() : loaded.error().Annotate("extension " + std::string(name));
}

void Connection::Interrupt() {
  impl_->stop = true;
  duckdb_interrupt(impl_->handle);
}

bool Connection::interrupted() const { return impl_->stop; }
void Connection::Rearm() { impl_->stop = false; }

std::int64_t Chunk::size() const { return view_.rows; }
const std::vector<ColumnInfo>& Chunk::columns() const { return view_.columns; }

bool Chunk::IsNull(std::size_t column, std::int64_t row) const {
  std::uint64_t* validity = duckdb_vector_get_validity(view_.vectors[column]);
  return validity != nullptr &&
         !duckdb_validity_row_is_valid(validity, static_cast<idx_t>(row));
}

std::int64_t Chunk::Int64(std::size_t column, std::int64_t row) const {
  const void* data = duckdb_vector_get_data(view_.vectors[column]);
  return static_cast<const std::int64_t*>(data)[row];
}

double Chunk::Double(std::size_t column, std::int64_t row) const {
  const void* data = duckdb_vector_get_data(view_.vectors[column]);
  return static_cast<const double*>(data)[row];
}

std::string_view Chunk::Text(std::size_t column, std::int64_t row) const {
  void* data = duckdb_vector_get_data(view_.vectors[column]);
  duckdb_string_t* text = static_cast<duckdb_string_t*>(data) + row;
  return {duckdb_string_t_data(text), duckdb_string_t_length(*text)};
}

Result<Value> Chunk::Get(std::size_t column, std::int64_t row) const {
  return ReadValue(view_.vectors[column], view_.types[column].get(),
                   static_cast<std::uint64_t>(row));
}

}  // namespace amend::duck

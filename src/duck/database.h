#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "duck/tally.h"
#include "duck/value.h"

namespace amend::duck {

/// The one engine version that bound plans, Parquet output and row hashes are made with.
/// Another library is refused at Open: plans of different versions do not compare.
inline constexpr std::string_view kPinnedVersion = "v1.5.5";

struct DatabaseOptions {
  int threads = 1;                      ///< ≥ 1, for all connections together
  std::int64_t memory_limit_bytes = 0;  ///< of the buffer pool; 0 = the engine's default
  /// Where operators spill; made when needed. Empty: nothing spills, and what does not
  /// fit is Exhausted.
  std::string temp_directory;
  /// Where signed extensions lie as v1.5.5/<platform>/<name>.duckdb_extension. Empty:
  /// none can be loaded. Nothing is ever downloaded or loaded unasked.
  std::string extension_directory;
  /// May statements read and write files? False for the shadow database that only binds.
  bool external_access = true;
};

class Chunk;
class Connection;

/// An in-memory DuckDB: the engine that binds models, runs tasks, writes Parquet.
///
/// Every database is opened the same way, because results must not depend on the machine:
/// session zone UTC (asserted per connection), insertion order kept, no extension
/// downloaded or loaded by itself, no account of progress kept, which took up to a tenth
/// of a long COPY's time.
///
/// This room is the only one that sees duckdb.h; others get values and Status, never
/// handles or exceptions.
///
/// Thread-safe. The last of database and connections closes the engine.
class Database {
 public:
  /// Internal where the library is not kPinnedVersion, Invalid for bad options.
  static Result<Database> Open(const DatabaseOptions& options);

  Result<Connection> Connect() const;
  const DatabaseOptions& options() const;

  /// Bytes in the buffer pool and in spilled files now.
  struct Usage {
    std::int64_t memory_bytes = 0;
    std::int64_t spilled_bytes = 0;
  };
  Result<Usage> MemoryUsage() const;

 private:
  friend class Connection;
  struct Impl;
  explicit Database(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// One session. Statements run on the caller's thread and the database's workers.
///
/// Not thread-safe, but for Interrupt(). Movable; not while a statement runs.
///
/// Errors of every statement: Invalid (does not parse or bind; the place holds the line
/// of the statement, 1-based), NotFound (a file it names does not exist), Refused (the
/// data does not fit: a cast, overflow, constraint), Exhausted (memory limit or disk
/// full; names the limit), Damaged (a file is not what it should be), Transient
/// (interrupted, I/O), Internal.
class Connection {
 public:
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// Runs one or more statements separated by ';', result dropped. Returns the rows that
  /// the last one changed (COPY: wrote).
  Result<std::int64_t> Execute(std::string_view sql);
  /// One statement with $1, $2, … bound.
  Result<std::int64_t> Execute(std::string_view sql,
                               const std::vector<Value>& parameters);

  /// One statement, its rows in memory. For small results.
  Result<Rows> Query(std::string_view sql, const std::vector<Value>& parameters = {});
  /// The only value of the only row; Internal if it is not one by one.
  Result<Value> QueryValue(std::string_view sql,
                           const std::vector<Value>& parameters = {});

  /// One statement, its rows streamed in chunks of at most 2,048, in order: memory stays
  /// flat. A failing visitor ends the statement with its status. The chunk lives only
  /// during the call. The columns are the same in every call; an empty result makes none.
  using Visitor = std::function<Status(const Chunk&)>;
  Result<std::vector<ColumnInfo>> Visit(std::string_view sql,
                                        const std::vector<Value>& parameters,
                                        const Visitor& visitor);

  /// Columns of a query without running it.
  Result<std::vector<ColumnInfo>> Describe(std::string_view sql);

  /// Makes `name(BIGINT, UBIGINT…) → BIGINT` a function of the database that fills the
  /// tally (tally.h). No argument may be NULL. Invalid where the database has more than
  /// one thread; Internal where the name is taken.
  Status AddTally(const std::string& name, std::shared_ptr<Tally> tally);

  /// Loads a signed extension from the extension directory.
  Status LoadExtension(std::string_view name);

  /// Stops the running statement and refuses later ones until Rearm(), so that a stop
  /// between two statements is not lost. Thread-safe.
  void Interrupt();
  bool interrupted() const;
  void Rearm();

 private:
  friend class Database;
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Some consecutive rows of a streamed result. Valid only during the visit. The typed
/// accessors are for hot loops; REQUIRES: the column has that type and the value is not
/// NULL. Get works for every type.
class Chunk {
 public:
  std::int64_t size() const;  ///< rows
  const std::vector<ColumnInfo>& columns() const;

  bool IsNull(std::size_t column, std::int64_t row) const;
  std::int64_t Int64(std::size_t column, std::int64_t row) const;  ///< BIGINT only
  double Double(std::size_t column, std::int64_t row) const;       ///< DOUBLE only
  /// VARCHAR or BLOB; borrowed from the chunk.
  std::string_view Text(std::size_t column, std::int64_t row) const;
  /// Unsupported for types without a Value (BIT, UNION, TIMETZ …): cast in SQL.
  Result<Value> Get(std::size_t column, std::int64_t row) const;

 private:
  friend class Connection;
  struct View;
  explicit Chunk(const View& view) : view_(view) {}
  const View& view_;
};

}  // namespace amend::duck

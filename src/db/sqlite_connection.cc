#include <sqlite3.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "db/sqlite.h"

namespace amend::db {
namespace {

constexpr Dialect kSqliteDialect = {
    .name = "sqlite",
    .int64_type = "INTEGER",
    .double_type = "REAL",
    .blob_type = "BLOB",
    .table_suffix = " STRICT",
    .columns_sql = "SELECT name FROM pragma_table_info(?) ORDER BY cid",
};

/// Statements kept prepared. Ours are some dozens of fixed texts; beyond that somebody
/// builds texts, and keeping them would only grow memory.
constexpr std::size_t kPreparedMax = 128;

struct CloseHandle {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, CloseHandle>;
using Prepared = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// Gives a cached statement back: unbound, and holding no lock.
class ResetAfterUse {
 public:
  explicit ResetAfterUse(sqlite3_stmt* statement) : statement_(statement) {}
  ~ResetAfterUse() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  ResetAfterUse(const ResetAfterUse&) = delete;
  ResetAfterUse& operator=(const ResetAfterUse&) = delete;

 private:
  sqlite3_stmt* statement_;
};

/// `code` is an extended result code (sqlite.org/rescode.html).
Status FromSqlite(int code, const std::string& text) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Transient(text).Hint(
          "Another program is writing to the catalog; run the same command again.");
    case SQLITE_CONSTRAINT:
      if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY ||
          code == SQLITE_CONSTRAINT_ROWID) {
        return Conflict(text);
      }
      return Internal(text);
    case SQLITE_NOMEM:
      return Exhausted(text);
    case SQLITE_FULL:
      return Exhausted(text).Hint("Free disk space, then run the same command again.");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Damaged(text).Hint("Restore the catalog file from a backup.");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return Invalid(text);
    case SQLITE_IOERR:
      return Transient(text);
    default:
      return Internal(text);
  }
}

class SqliteConnection final : public Connection {
 public:
  SqliteConnection(Handle handle, const SqliteOptions& options)
      : Connection(options.observer), path_(options.path), handle_(std::move(handle)) {}

  /// The settings that hold for the session, and WAL for a file without pages.
  Status Configure(const SqliteOptions& options) {
    sqlite3_extended_result_codes(handle_.get(), 1);
    sqlite3_busy_timeout(handle_.get(), options.busy_timeout_ms);
    AMEND_RETURN_IF_ERROR(Pragma("PRAGMA foreign_keys=ON"));
    AMEND_RETURN_IF_ERROR(Pragma("PRAGMA synchronous=FULL"));
    Effect pages;
    // The first statement that reads the file: a file that is no database fails here.
    AMEND_RETURN_IF_ERROR(Pragma("PRAGMA page_count", &pages));
    if (options.read_only || pages.rows.empty()) return {};
    AMEND_ASSIGN_OR_RETURN(std::int64_t count, pages.rows.front().Int(0));
    return count == 0 ? EnterWal() : Status();
  }

  const Dialect& dialect() const override { return kSqliteDialect; }

 protected:
  std::string_view BeginSql(TransactionMode mode) const override {
    return mode == TransactionMode::kWrite ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED";
  }

  Result<Effect> Send(std::string_view sql, const std::vector<Value>& parameters,
                      TransactionMode mode) override {
    AMEND_ASSIGN(sqlite3_stmt * statement, Prepare(sql));
    ResetAfterUse reset(statement);
    if (mode == TransactionMode::kRead && sqlite3_stmt_readonly(statement) == 0) {
      return Fail(Internal("a read transaction was asked to write: " + std::string(sql)));
    }
    AMEND_FAIL_IF_ERROR(Bind(statement, sql, parameters));
    std::int64_t changes_before = sqlite3_total_changes64(handle_.get());
    Effect effect;
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
      effect.rows.push_back(ReadRow(statement));
    }
    if (code != SQLITE_DONE) return Fail(LastError(sql));
    // sqlite3_changes() keeps the count of an earlier statement after a schema change.
    if (sqlite3_total_changes64(handle_.get()) != changes_before) {
      effect.affected = sqlite3_changes64(handle_.get());
    }
    return effect;
  }

  CommitReply SendCommit() override {
    Result<Effect> sent = Send("COMMIT", {}, TransactionMode::kWrite);
    if (sent.has_value()) return {};
    int code = sqlite3_extended_errcode(handle_.get());
    int primary = code & 0xFF;
    bool still_open = sqlite3_get_autocommit(handle_.get()) == 0;
    bool proves_nothing_written = primary == SQLITE_BUSY || primary == SQLITE_CONSTRAINT;
    if (still_open && proves_nothing_written) {
      return {std::move(sent).error(), true};
    }
    return {Unknown("the outcome of COMMIT is unknown: " + sent.error().message())
                .Hint("Run the same command again: it first finds out what happened."),
            false};
  }

  Status SendRollback() override {
    // Some errors (disk full, I/O) make SQLite roll back by itself.
    if (sqlite3_get_autocommit(handle_.get()) != 0) return {};
    Result<Effect> sent = Send("ROLLBACK", {}, TransactionMode::kWrite);
    return sent.has_value() ? Status() : std::move(sent).error();
  }

  void Disconnect() override {
    prepared_.clear();
    handle_.reset();
  }

 private:
  /// SQLite answers with the mode in force and no error where it cannot change it.
  Status EnterWal() {
    Effect mode;
    AMEND_RETURN_IF_ERROR(Pragma("PRAGMA journal_mode=WAL", &mode));
    if (mode.rows.size() == 1 && mode.rows.front() == Row({std::string("wal")}))
      return {};
    return Unsupported(path_ + " cannot use a write-ahead log")
        .Hint("Keep the catalog on a local file system.");
  }

  Status Pragma(std::string_view sql, Effect* effect = nullptr) {
    return Observed(sql, [&] {
      Result<Effect> sent = Send(sql, {}, TransactionMode::kWrite);
      if (!sent.has_value()) return std::move(sent).error();
      if (effect != nullptr) *effect = *std::move(sent);
      return Status();
    });
  }

  Result<sqlite3_stmt*> Prepare(std::string_view sql) {
    if (auto found = prepared_.find(sql); found != prepared_.end()) {
      return found->second.get();
    }
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                  SQLITE_PREPARE_PERSISTENT, &raw, &rest);
    Prepared statement(raw);
    if (code != SQLITE_OK) return Fail(LastError(sql));
    std::string_view tail(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
    if (raw == nullptr || tail.find_first_not_of(" \n\t;") != std::string_view::npos) {
      return Fail(Internal("not exactly one SQL statement: " + std::string(sql)));
    }
    if (prepared_.size() >= kPreparedMax) prepared_.clear();
    prepared_.emplace(sql, std::move(statement));
    return raw;
  }

  Status Bind(sqlite3_stmt* statement, std::string_view sql,
              const std::vector<Value>& parameters) {
    if (static_cast<std::size_t>(sqlite3_bind_parameter_count(statement)) !=
        parameters.size()) {
      return Internal(std::to_string(parameters.size()) +
                      " parameters do not fit: " + std::string(sql));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      int code = BindOne(statement, static_cast<int>(i) + 1, parameters[i]);
      if (code != SQLITE_OK) return LastError(sql);
    }
    return {};
  }

  /// The bytes are borrowed: the statement is reset before the caller's values die.
  static int BindOne(sqlite3_stmt* statement, int position, const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return sqlite3_bind_int64(statement, position, *number);
    }
    if (const auto* number = std::get_if<double>(&value)) {
      return sqlite3_bind_double(statement, position, *number);
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      return sqlite3_bind_text64(statement, position, text->data(), text->size(),
                                 SQLITE_STATIC, SQLITE_UTF8);
    }
    if (const auto* blob = std::get_if<Blob>(&value)) {
      return sqlite3_bind_blob64(statement, position, blob->bytes.data(),
                                 blob->bytes.size(), SQLITE_STATIC);
    }
    return sqlite3_bind_null(statement, position);
  }

  static Row ReadRow(sqlite3_stmt* statement) {
    std::vector<Value> values;
    int columns = sqlite3_column_count(statement);
    values.reserve(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      values.push_back(ReadValue(statement, column));
    }
    return Row(std::move(values));
  }

  static Value ReadValue(sqlite3_stmt* statement, int column) {
    auto bytes = [&](const void* data) {
      auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return size == 0 ? std::string()
                       : std::string(static_cast<const char*>(data), size);
    };
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, column)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, column);
      case SQLITE_TEXT:
        return bytes(sqlite3_column_text(statement, column));
      case SQLITE_BLOB:
        return Blob{bytes(sqlite3_column_blob(statement, column))};
      default:
        return Null{};
    }
  }

  Status LastError(std::string_view sql) const {
    return FromSqlite(
        sqlite3_extended_errcode(handle_.get()),
        path_ + ": " + sqlite3_errmsg(handle_.get()) + " (" + std::string(sql) + ")");
  }

  std::string path_;
  Handle handle_;  ///< destroyed after the statements below
  std::map<std::string, Prepared, std::less<>> prepared_;
};

}  // namespace

Result<std::unique_ptr<Connection>> OpenSqlite(const SqliteOptions& options) {
  int flags = options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (options.create) flags |= SQLITE_OPEN_CREATE;
  sqlite3* raw = nullptr;
  int code =
      sqlite3_open_v2(options.path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle handle(raw);
  if (code != SQLITE_OK) {
    if (!options.create && sqlite3_system_errno(raw) == ENOENT) {
      return Fail(NotFound("there is no catalog at " + options.path)
                      .Hint("Create the project first: amend init."));
    }
    return Fail(
        FromSqlite(code, "cannot open " + options.path + ": " + sqlite3_errstr(code)));
  }
  auto connection = std::make_unique<SqliteConnection>(std::move(handle), options);
  AMEND_FAIL_IF_ERROR(connection->Configure(options));
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace amend::db

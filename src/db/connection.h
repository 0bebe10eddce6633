#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/value.h"

namespace amend::db {

class Transaction;

/// How CREATE TABLE spells what the two databases spell differently. Everything else
/// that we send is understood by both.
struct Dialect {
  std::string_view name;          ///< "sqlite", "postgresql"
  std::string_view int64_type;    ///< INTEGER, BIGINT
  std::string_view double_type;   ///< REAL, DOUBLE PRECISION
  std::string_view blob_type;     ///< BLOB, BYTEA
  std::string_view table_suffix;  ///< after the closing parenthesis: " STRICT", ""
  std::string_view columns_sql;   ///< names of the columns of table `?`, in order
};

/// Sees every statement that a connection sends, BEGIN, COMMIT, ROLLBACK and those of
/// opening included. Tests count statements with it and make each of them a fault point:
/// kill the process before or after, refuse to send it, or lose its reply.
///
/// Called on the thread that uses the connection; it must not use that connection.
class StatementObserver {
 public:
  virtual ~StatementObserver() = default;
  /// A failure is returned in place of sending the statement.
  virtual Status Before(std::string_view sql) = 0;
  /// A failure replaces `outcome`: the statement took effect and its reply was lost.
  virtual Status After(std::string_view sql, const Status& outcome) = 0;
};

enum class TransactionMode {
  kRead,   ///< one snapshot, fixed by the first query; refuses statements that write
  kWrite,  ///< holds the write lock from Begin on, so COMMIT is the only late surprise
};

/// One session with a database that holds catalog and ledger. Everything runs inside a
/// Transaction; there is no autocommit, because a statement outside a transaction is how
/// half a publication becomes visible.
///
/// The rules that both databases keep (db/contract_test.cc runs them against each):
///   C1  Statements of a transaction that did not commit leave no trace.
///   C2  After Commit() returned ok, every later transaction of any session sees it, also
///       after a power loss.
///   C3  A transaction with a failed statement, or a doomed one, cannot commit.
///   C4  kRead sees one snapshot, whatever others commit meanwhile, and blocks no writer.
///   C5  At most one kWrite transaction is open per database; others wait for at most the
///       busy timeout and then fail with Transient.
///   C6  Commit() says kUnknown where it cannot prove that nothing was committed.
///
/// Failures of statements: Transient (busy, the same transaction may succeed later),
/// Conflict (a unique key exists), Internal (another constraint, malformed SQL: bugs),
/// Damaged, Exhausted (disk full), Invalid (read-only, or text that cannot be stored).
///
/// Use from one thread at a time. Outlives its transactions.
class Connection {
 public:
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Transient where the database stayed locked for the busy timeout, or where an earlier
  /// failure has closed the session (then open another). One transaction at a time:
  /// Internal while one is open.
  Result<Transaction> Begin(TransactionMode mode);

  virtual const Dialect& dialect() const = 0;

  /// The session was given up (outcome unknown, failed rollback); Begin no longer works.
  bool closed() const { return closed_; }

 protected:
  /// `observer` is borrowed, may be null and outlives the connection.
  explicit Connection(StatementObserver* observer) : observer_(observer) {}

  struct Effect {
    Rows rows;
    std::int64_t affected = 0;
  };
  struct CommitReply {
    Status status;
    bool still_open = false;  ///< COMMIT may be sent again
  };

  // What an adapter implements: one exchange with the database each, no bookkeeping.
  virtual std::string_view BeginSql(TransactionMode mode) const = 0;
  virtual Result<Effect> Send(std::string_view sql, const std::vector<Value>& parameters,
                              TransactionMode mode) = 0;
  /// Status kUnknown unless the database proves that nothing was committed.
  virtual CommitReply SendCommit() = 0;
  virtual Status SendRollback() = 0;
  /// Ends the session so that the database rolls back what is open. Cannot fail.
  virtual void Disconnect() = 0;

  /// Runs `send` between the observer's two calls.
  template <typename Send>
  Status Observed(std::string_view sql, Send send) {
    if (observer_ == nullptr) return send();
    AMEND_RETURN_IF_ERROR(observer_->Before(sql));
    Status outcome = send();
    Status seen = observer_->After(sql, outcome);
    return seen.ok() ? outcome : seen;
  }

 private:
  friend class Transaction;
  void Close();

  StatementObserver* observer_;
  bool in_transaction_ = false;
  bool closed_ = false;
};

/// A transaction of one connection: rolls back when it goes out of scope unless Commit()
/// returned ok. Move-only; must not outlive its connection.
///
/// It is one class for all databases and not an interface: rollback, refusal after a
/// failure and the treatment of an unknown outcome are what must never differ.
class Transaction {
 public:
  /// Who changes it: Begin → kOpen; a failed statement or Doom → kFailed; Commit →
  /// kCommitted, kEnded (certain failure), kUnknown, or kOpen still (Transient); Rollback
  /// and the destructor → kEnded.
  enum class State {
    kOpen,
    kFailed,     ///< a statement failed, or it was doomed; only Rollback is left
    kCommitted,  ///< durable
    kEnded,      ///< rolled back; left no trace
    kUnknown,  ///< committed or not: the session was closed, ask the ledger in a new one
  };

  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  /// Rows of a SELECT (or of RETURNING), in the order the statement asks for. `?` stands
  /// for the parameters in order, in both databases.
  Result<Rows> Query(std::string_view sql, const std::vector<Value>& parameters = {});

  /// Number of rows that INSERT, UPDATE or DELETE touched; 0 for schema changes.
  Result<std::int64_t> Execute(std::string_view sql,
                               const std::vector<Value>& parameters = {});

  /// Makes it impossible to commit, as a failed statement does: for a compare-and-swap
  /// that touched no row. The first reason is kept.
  void Doom(Status reason);

  /// Columns of a table in their order; empty where there is no such table.
  Result<std::vector<std::string>> Columns(const std::string& table);

  /// ok: durable.
  /// Transient: nothing was committed and the transaction is still open; call again.
  /// kUnknown: the session is closed; only what a new session reads decides, and a
  /// finding
  ///   of "not committed" holds only once that session has committed a write of its own
  ///   (db/sqlite.h says why). Delete no file before.
  /// Any other code: certainly not committed; rolled back.
  Status Commit();

  /// Ends it without a trace; ok also where it has ended already.
  Status Rollback();

  State state() const { return state_; }
  TransactionMode mode() const { return mode_; }
  const Dialect& dialect() const { return connection_->dialect(); }

 private:
  friend class Connection;
  Transaction(Connection* connection, TransactionMode mode)
      : connection_(connection), mode_(mode) {}

  Result<Connection::Effect> Run(std::string_view sql,
                                 const std::vector<Value>& parameters);
  Status CheckUsable() const;
  void End(State state);

  Connection* connection_;  ///< null once moved from
  TransactionMode mode_;
  State state_ = State::kOpen;
  Status failure_;  ///< what made it kFailed
};

}  // namespace amend::db

#include "db/connection.h"

#include <cmath>
#include <utility>

namespace amend::db {
namespace {

constexpr std::string_view kCommit = "COMMIT";
constexpr std::string_view kRollback = "ROLLBACK";

/// PostgreSQL refuses NUL in text and SQLite turns NaN into NULL: neither is ever sent.
Status CheckParameters(const std::vector<Value>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string* text = std::get_if<std::string>(&parameters[i]);
    const double* number = std::get_if<double>(&parameters[i]);
    bool has_nul = text != nullptr && text->find('\0') != std::string::npos;
    bool is_nan = number != nullptr && std::isnan(*number);
    if (has_nul || is_nan) {
      return Invalid("parameter " + std::to_string(i + 1) + " is " +
                     (has_nul ? "text with a NUL byte" : "not a number (NaN)") +
                     ", which databases do not keep as it is");
    }
  }
  return {};
}

Status UnknownOutcome(const Status& cause) {
  if (cause.code() == StatusCode::kUnknown) return cause;
  return Unknown("COMMIT was sent and its outcome is unknown: " + cause.message())
      .Hint("Run the same command again: it first finds out what happened.");
}

}  // namespace

Result<Transaction> Connection::Begin(TransactionMode mode) {
  if (in_transaction_) return Fail(Internal("a transaction is already open"));
  if (closed_) {
    return Fail(Transient("the database session was given up after a failure"));
  }
  bool begun = false;
  std::string_view sql = BeginSql(mode);
  Status status = Observed(sql, [&] {
    Result<Effect> effect = Send(sql, {}, TransactionMode::kWrite);
    begun = effect.has_value();
    return begun ? Status() : std::move(effect).error();
  });
  if (!status.ok()) {
    if (begun && !SendRollback().ok()) Close();
    return Fail(std::move(status));
  }
  in_transaction_ = true;
  return Transaction(this, mode);
}

void Connection::Close() {
  Disconnect();
  closed_ = true;
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)),
      mode_(other.mode_),
      state_(std::exchange(other.state_, State::kEnded)),
      failure_(std::move(other.failure_)) {}

Transaction::~Transaction() {
  if (connection_ == nullptr) return;
  // A failed ROLLBACK has closed the session, which rolls back too.
  Status ended = Rollback();
  static_cast<void>(ended);
}

void Transaction::End(State state) {
  state_ = state;
  connection_->in_transaction_ = false;
}

Status Transaction::CheckUsable() const {
  switch (state_) {
    case State::kOpen:
      return {};
    case State::kFailed:
      return failure_.Annotate("an earlier statement of this transaction failed");
    case State::kCommitted:
      return Internal("the transaction was committed already");
    case State::kEnded:
      return Internal("the transaction was rolled back already");
    case State::kUnknown:
      return Unknown("the outcome of this transaction is unknown");
  }
  return Internal("impossible transaction state");
}

Result<Connection::Effect> Transaction::Run(std::string_view sql,
                                            const std::vector<Value>& parameters) {
  AMEND_FAIL_IF_ERROR(CheckUsable());
  Connection::Effect effect;
  Status status = CheckParameters(parameters);
  if (status.ok()) {
    status = connection_->Observed(sql, [&] {
      Result<Connection::Effect> sent = connection_->Send(sql, parameters, mode_);
      if (!sent.has_value()) return std::move(sent).error();
      effect = *std::move(sent);
      return Status();
    });
  }
  if (!status.ok()) {
    Doom(status);
    return Fail(std::move(status));
  }
  return effect;
}

Result<Rows> Transaction::Query(std::string_view sql,
                                const std::vector<Value>& parameters) {
  AMEND_ASSIGN(Connection::Effect effect, Run(sql, parameters));
  return std::move(effect.rows);
}

Result<std::int64_t> Transaction::Execute(std::string_view sql,
                                          const std::vector<Value>& parameters) {
  AMEND_ASSIGN(Connection::Effect effect, Run(sql, parameters));
  return effect.affected;
}

void Transaction::Doom(Status reason) {
  if (state_ != State::kOpen) return;
  state_ = State::kFailed;
  failure_ = std::move(reason);
}

Result<std::vector<std::string>> Transaction::Columns(const std::string& table) {
  AMEND_ASSIGN(Rows rows, Query(dialect().columns_sql, {table}));
  std::vector<std::string> columns;
  columns.reserve(rows.size());
  for (const Row& row : rows) {
    AMEND_ASSIGN(std::string name, row.Text(0));
    columns.push_back(std::move(name));
  }
  return columns;
}

Status Transaction::Commit() {
  AMEND_RETURN_IF_ERROR(CheckUsable());
  bool sent = false;
  Connection::CommitReply reply;
  Status status = connection_->Observed(kCommit, [&] {
    sent = true;
    reply = connection_->SendCommit();
    return reply.status;
  });
  if (status.ok()) {
    End(State::kCommitted);
    return status;
  }
  bool reply_lost = sent && reply.status.ok();
  if (reply_lost || status.code() == StatusCode::kUnknown) {
    connection_->Close();
    End(State::kUnknown);
    return UnknownOutcome(status);
  }
  bool still_open = !sent || reply.still_open;
  if (still_open && status.code() == StatusCode::kTransient) return status;
  if (!still_open) {
    End(State::kEnded);
    return status;
  }
  // The rollback cannot change what is certain: this commit failed.
  Status ended = Rollback();
  static_cast<void>(ended);
  return status;
}

Status Transaction::Rollback() {
  if (state_ != State::kOpen && state_ != State::kFailed) return {};
  Status status =
      connection_->Observed(kRollback, [&] { return connection_->SendRollback(); });
  if (!status.ok()) connection_->Close();
  End(State::kEnded);
  return status;
}

}  // namespace amend::db

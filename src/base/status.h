#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tl/expected.hpp"

namespace amend {

/// What the caller can do about a failure. There are few on purpose: a code exists only
/// where the next step differs. docs/cli.md maps them to exit codes.
enum class StatusCode {
  kOk,           ///< nothing failed
  kInvalid,      ///< the project or the command line is wrong: edit it and run again
  kNotFound,     ///< a name, id or version does not exist: correct the name
  kUnsupported,  ///< understood and refused; the text says what would have to change
  kRefused,      ///< a check or contract stopped it: look at the data
  kConflict,     ///< another writer was there first; nothing was published: plan again
  kExhausted,    ///< a limit or breaker stopped it: raise the limit, then resume
  kUnknown,      ///< the outcome is unknown: touch nothing, run recovery
  kTransient,    ///< busy or unreachable: the same call may succeed later
  kDamaged,      ///< stored bytes are not what was written: restore them
  kInternal,     ///< a bug in Amend
};

/// The name used in JSON errors and logs, e.g. "conflict". Stable.
std::string_view CodeName(StatusCode code);

/// Where a failure is. Every member is optional; the command line prints those that
/// apply.
struct Place {
  std::string file;
  std::optional<int> line;  ///< 1-based
  std::string table;
  std::string partition;
  std::string column;
  std::string value;

  friend bool operator==(const Place&, const Place&) = default;
};

/// The outcome of an operation that returns no value: what happened, where, what to do.
/// No exception crosses the wall of a room; this does.
///
/// A value type; safe to copy and to move between threads.
class [[nodiscard]] Status {
 public:
  /// Success.
  Status() = default;

  /// REQUIRES: code != kOk. `message` is one sentence without a trailing period.
  Status(StatusCode code, std::string message);

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }
  const Place& place() const { return place_; }

  /// Builders, used as `return Invalid("…").At(file, line).Hint("…")`.
  Status&& At(std::string file, std::optional<int> line = std::nullopt) &&;
  Status&& Table(std::string table) &&;
  Status&& Partition(std::string partition) &&;
  Status&& Column(std::string column) &&;
  Status&& Value(std::string value) &&;
  Status&& Hint(std::string hint) &&;

  /// The same failure with `context: ` in front of its message.
  Status Annotate(std::string_view context) const;

  /// "file:line: message [table t] [partition p] …" and the hint on a line of its own.
  std::string ToString() const;

  friend bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
  std::string hint_;
  Place place_;
};

Status Invalid(std::string message);
Status NotFound(std::string message);
Status Unsupported(std::string message);
Status Refused(std::string message);
Status Conflict(std::string message);
Status Exhausted(std::string message);
Status Unknown(std::string message);
Status Transient(std::string message);
Status Damaged(std::string message);
Status Internal(std::string message);

/// A value, or why there is none. `[[nodiscard]]` comes with tl::expected.
template <typename T>
using Result = tl::expected<T, Status>;

/// What a failing function returns where a Result is expected: `return
/// Fail(NotFound("…"))`.
inline tl::unexpected<Status> Fail(Status status) {
  return tl::unexpected<Status>(std::move(status));
}

/// Aborts the process with `what`: for broken invariants only, kept on in release builds.
/// A crash is safe here because nothing is visible before its commit.
[[noreturn]] void CheckFailed(const char* file, int line, const char* what);

}  // namespace amend

#define AMEND_CONCAT_INNER(a, b) a##b
#define AMEND_CONCAT(a, b) AMEND_CONCAT_INNER(a, b)

/// Leaves the function with the Status of `expr` unless it is ok. Works in functions that
/// return Status.
#define AMEND_RETURN_IF_ERROR(expr)                                                     \
  do {                                                                                  \
    if (::amend::Status amend_status = (expr); !amend_status.ok()) return amend_status; \
  } while (false)

/// The same in functions that return Result<T>.
#define AMEND_FAIL_IF_ERROR(expr)                                  \
  do {                                                             \
    if (::amend::Status amend_status = (expr); !amend_status.ok()) \
      return ::amend::Fail(std::move(amend_status));               \
  } while (false)

/// `AMEND_ASSIGN(auto x, F())`: x = value of the Result, or leaves with its Status (in
/// functions that return Result<T>).
#define AMEND_ASSIGN(lhs, expr) \
  AMEND_ASSIGN_IMPL(AMEND_CONCAT(amend_result_, __LINE__), lhs, expr)
#define AMEND_ASSIGN_IMPL(tmp, lhs, expr)                             \
  auto tmp = (expr);                                                  \
  if (!tmp.has_value()) return ::amend::Fail(std::move(tmp).error()); \
  lhs = std::move(*tmp)

/// The same in functions that return Status.
#define AMEND_ASSIGN_OR_RETURN(lhs, expr) \
  AMEND_ASSIGN_OR_RETURN_IMPL(AMEND_CONCAT(amend_result_, __LINE__), lhs, expr)
#define AMEND_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr)    \
  auto tmp = (expr);                                   \
  if (!tmp.has_value()) return std::move(tmp).error(); \
  lhs = std::move(*tmp)

#define AMEND_CHECK(condition)        \
  ((condition) ? static_cast<void>(0) \
               : ::amend::CheckFailed(__FILE__, __LINE__, #condition))

#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "db/connection.h"

namespace amend::testing {

/// What happens at a fault point.
enum class Fault {
  kNone,
  kFailBefore,   ///< the call fails and has no effect
  kFailAfter,    ///< the call has its effect and its answer is a failure
  kKillBefore,   ///< the process ends before the effect
  kKillAfter,    ///< the process ends after the effect
  kTearAndKill,  ///< writes: half of the bytes, then the process ends; else kKillBefore
};

/// One count over everything that a program does to the outside: calls of FaultEnv and
/// statements of a ScriptedObserver, in the order they happen. A first run without a
/// strike gives the number of points and their names; then one run per point and fault is
/// the crash matrix.
///
/// A kill calls `on_kill`, which may end the process (_exit) and then never returns. If
/// it returns, the world is dead: every later call fails and has no effect, so that the
/// code under test unwinds without touching anything and the same process goes on to
/// look at what a crash would have left.
///
/// Thread-safe.
class FaultScript {
 public:
  explicit FaultScript(std::function<void()> on_kill = {})
      : on_kill_(std::move(on_kill)) {}

  /// Strikes at the call with this number (from 1), counted since construction. The
  /// failure that a caller sees may be chosen; kills need none.
  void StrikeAt(std::int64_t number, Fault fault,
                Status failure = Transient("injected fault"));

  std::int64_t count() const;
  bool dead() const;
  /// Every point so far: "write a/b.parquet", "sql COMMIT".
  std::vector<std::string> touched() const;

  /// What one call does around its effect.
  struct Entry {
    std::int64_t number = 0;
    Fault fault = Fault::kNone;
    Status status;  ///< not ok: return it, without the effect
  };
  Entry Enter(std::string what);
  /// The status that the caller gets after the effect.
  Status Leave(const Entry& entry, Status outcome);
  /// The process ends here.
  Status Kill();

 private:
  mutable std::mutex mutex_;
  std::function<void()> on_kill_;
  std::int64_t strike_at_ = 0;
  Fault fault_ = Fault::kNone;
  Status failure_;
  bool dead_ = false;
  std::vector<std::string> touched_;
};

/// Puts the statements of one db::Connection into the same count. Borrows the script.
class ScriptedObserver : public db::StatementObserver {
 public:
  explicit ScriptedObserver(FaultScript& script) : script_(script) {}
  Status Before(std::string_view sql) override;
  Status After(std::string_view sql, const Status& outcome) override;

 private:
  FaultScript& script_;
  FaultScript::Entry entry_;
};

}  // namespace amend::testing

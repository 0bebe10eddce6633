#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amend/workspace.h"
#include "base/env.h"
#include "base/json.h"
#include "base/status.h"
#include "run/runner.h"
#include "state/plan.h"

namespace amend {

/// What a command gives: the object of `--json` (contract in docs/cli.md) and the same
/// for a person. Diagnostics are not in it; failures are a Status.
struct Answer {
  Json json;
  std::string text;
  /// 0, or the exit code of a command that worked and found something (3: checks failed,
  /// 10: there is work, with --detailed-exitcode).
  int exit_code = 0;
  /// What ended a command that got part of the way (`stage`); decides the exit code.
  Status failure;
};

struct PlanOptions {
  std::vector<std::string> select;
  std::string from, to;                 ///< of the selected models
  std::vector<std::string> partitions;  ///< k=v
  bool full = false;
  std::string reason;
  std::string ticket;
  /// Asked where there is work and no reason was given. Null: none is needed.
  std::function<Result<std::string>()> ask_reason;
};

struct LandOptions {
  std::string source;
  std::vector<std::string> files;  ///< paths as typed
  bool replace_partitions = false;
  std::string reason;
  std::string ticket;
};

struct RollbackOptions {
  std::int64_t number = 0;  ///< of the publication or landing
  std::string reason;
  std::string ticket;  ///< "" = that of what is taken back
};

struct QueryOptions {
  std::string sql;
  std::optional<std::int64_t> at;  ///< a number; the tables as it left them
};

struct GcOptions {
  bool yes = false;  ///< otherwise a dry run
};

/// Progress of long work, told on the calling thread.
using Progress = std::function<void(const run::RunProgress&)>;

/// Whether to go on with what the text tells.
using Confirmation = std::function<Result<bool>(const std::string&)>;

/// The facade: every command of the program as a call, the only place where the rooms are
/// put together. Open it once for each command.
///
/// Commands that write first end what a killed process left (publish::Publisher::Recover)
/// and hold the lock beside the catalog, so that two of them never interleave, also from
/// two checkouts; readers need no lock.
///
/// Not thread-safe.
class Amend {
 public:
  /// Opens the project in `folder` or the nearest one above that has an amend.yaml.
  /// `observer` sees every statement sent to catalog and ledger; borrowed, may be null.
  static Result<std::unique_ptr<Amend>> Open(Env& env, const std::string& folder,
                                             db::StatementObserver* observer = nullptr);

  // Without a sound project.
  static Result<Answer> Init(Env& env, const std::string& folder,
                             const std::string& name);
  static Result<Answer> Validate(Env& env, const std::string& folder);

  Result<Answer> Land(const LandOptions& options);
  Result<Answer> Plan(const PlanOptions& options);
  Result<Answer> Stage(const std::string& plan, const Progress& progress);
  Result<Answer> Review(const std::string& plan);
  Result<Answer> Publish(const std::string& plan);
  /// plan → stage → publish. `confirm` is asked once, with the plan's text, before
  /// anything is computed; a no ends it with nothing done.
  Result<Answer> Backfill(const PlanOptions& options, const Progress& progress,
                          const Confirmation& confirm);
  Result<Answer> Rollback(const RollbackOptions& options);
  Result<Answer> Release(const std::string& model,
                         const std::vector<std::string>& partitions,
                         const std::string& reason);
  Result<Answer> Status();
  Result<Answer> Pins(std::optional<std::int64_t> at);
  Result<Answer> Query(const QueryOptions& options);
  Result<Answer> Why(const std::string& table, const std::string& partition);
  Result<Answer> Show(const std::string& id);
  Result<Answer> Gc(const GcOptions& options);

  Workspace& workspace() { return *workspace_; }

 private:
  explicit Amend(std::unique_ptr<Workspace> workspace)
      : workspace_(std::move(workspace)) {}

  std::unique_ptr<Workspace> workspace_;
};

/// The folder of the nearest amend.yaml at or above `folder`. NotFound, with what to
/// type.
Result<std::string> FindProject(Env& env, const std::string& folder);

}  // namespace amend

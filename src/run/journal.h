#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/json.h"
#include "base/status.h"
#include "check/judge.h"
#include "state/verdict.h"
#include "state/write_set.h"

namespace amend::run {

/// What a finished task left: its write set and what was found about it.
struct StagedRecord {
  state::WriteSet write_set;
  std::vector<state::Verdict> verdicts;
  check::Grounds grounds;  ///< of the verdicts
  std::string run;         ///< that made it
};

/// The run-local log: one line for each attempt, end of a task and end of the run, each
/// with a checksum in front. It exists so that finished work survives the process; the
/// catalog's single write lock is not touched while computing.
///
/// Group commit: Append buffers in the file, Sync makes everything appended durable; the
/// scheduler syncs once for all tasks that ended together. A staged line is appended only
/// after the task's files are durable.
///
/// A bad line is left out and said to be: it is where a process died, and what it held
/// was never acknowledged. Later lines count; each carries its own checksum.
///
/// Not thread-safe.
class Journal {
 public:
  /// Opens `<folder>/<run>.jsonl` for appending, made where missing.
  static Result<Journal> Open(Env& env, const std::string& folder,
                              const std::string& run);

  Status Append(const Json& record);
  Status Attempt(std::size_t task, int attempt, std::string_view write_set);
  Status Staged(const StagedRecord& record);
  Status Sync();

 private:
  explicit Journal(std::unique_ptr<AppendFile> file) : file_(std::move(file)) {}
  std::unique_ptr<AppendFile> file_;
};

/// What can be read of one journal.
struct JournalContents {
  std::vector<Json> records;
  bool torn = false;  ///< some line was bad
};
Result<JournalContents> ReadJournal(Env& env, const std::string& path);

/// Every write set that some run in `folder` finished and whose files still exist with
/// their sizes, by name; the latest where two runs made the same.
Result<std::map<std::string, StagedRecord>> FinishedWriteSets(Env& env,
                                                              const std::string& folder);

}  // namespace amend::run

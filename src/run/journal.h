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
/// A run's journal names all that its plan publishes: where a task reuses what another
/// run made, the record is written again. So a journal lives as long as its plan is open
/// and no longer (gc), whatever becomes of the other run.
///
/// A bad line is left out and said to be: it is where a process died, and what it held
/// was never acknowledged. Later lines count; each carries its own checksum. A line that
/// another version wrote in a format of its own is left out, too: its work is done again.
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
  int torn = 0;  ///< lines that were bad
};
Result<JournalContents> ReadJournal(Env& env, const std::string& path);

/// What the runs of a folder of journals finished. A value; not thread-safe.
class FinishedWork {
 public:
  /// Reads every journal in `folder`; looks at no other file.
  static Result<FinishedWork> Read(Env& env, const std::string& folder);

  /// The record of a write set whose files still exist with their sizes: of `run`, else
  /// of another; the latest of several. Null where there is none. Looks at its files.
  const StagedRecord* Find(Env& env, const std::string& write_set,
                           const std::string& run) const;

  /// What could not be believed, a sentence for each journal.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void Add(const std::string& run, const JournalContents& contents);

  std::map<std::string, std::vector<StagedRecord>> by_name_;
  std::vector<std::string> left_out_;
};

/// Where `run` keeps its journal in `folder`.
std::string JournalPath(const std::string& folder, const std::string& run);

/// Files of every write set that a journal names. Empty where there is no journal.
Result<std::vector<std::string>> StagedPaths(Env& env, const std::string& path);

}  // namespace amend::run

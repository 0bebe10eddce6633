#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "duck/database.h"
#include "duck/tally.h"
#include "engine/task.h"

namespace amend::engine {

struct EngineOptions {
  std::int64_t memory_bytes = 1'000'000'000;  ///< of this worker's buffer pool
  std::string temp_directory;                 ///< spill; made by the engine when needed
};

/// One worker's engine: a DuckDB database of its own with one thread.
///
/// One engine thread per task, parallel across tasks: sums of doubles depend on the order
/// in which rows arrive, and with two threads twelve runs of one query gave twelve
/// results; with one thread over files in canonical order, one (measured on 1.5.5).
///
/// Rows are measured on their way into the files (tallied.h), each file's count against
/// what COPY says it wrote; where that cannot be, by one scan over the files. Either way
/// what is judged and digested is what would be published, and no second copy of it is
/// held in memory.
///
/// Not thread-safe, but for Interrupt().
class Engine {
 public:
  static Result<Engine> Open(Env& env, const EngineOptions& options);

  /// Runs the task and leaves its files, synced by nobody yet, in spec.folder. On failure
  /// files may remain under `<folder>/<prefix>…`; the run's owner removes them.
  ///
  /// A task of more partitions than one COPY keeps open, or of partitions without end, is
  /// evaluated once into a temporary table (which spills) and written from there in
  /// parts.
  Result<TaskResult> Run(const TaskSpec& spec);

  /// A SELECT over bound inputs, for people: rows in memory.
  Result<duck::Rows> Query(const std::vector<TaskInput>& inputs, std::string_view sql);

  /// Binds names as temporary views. Names bound before are dropped first.
  Status Bind(const std::vector<TaskInput>& inputs);
  duck::Connection& connection() { return *connection_; }

  void Interrupt() { connection_->Interrupt(); }

 private:
  Result<TaskResult> RunOnce(const TaskSpec& spec);
  Result<TaskResult> RunInParts(const TaskSpec& spec);
  Status WriteParts(const TaskSpec& spec, const std::vector<partition::Partition>& points,
                    TaskResult* result);
  Status WriteWithoutEnd(const TaskSpec& spec, TaskResult* result);
  Result<std::vector<partition::Partition>> PartitionsWithRows(
      const partition::PartitionSpace& space);
  Engine(Env& env, duck::Database database, duck::Connection connection,
         std::shared_ptr<duck::Tally> tally);

  Env* env_;
  duck::Database database_;
  // Behind a pointer so that Interrupt() stays valid while the engine is moved.
  std::unique_ptr<duck::Connection> connection_;
  std::shared_ptr<duck::Tally> tally_;
  std::vector<std::string> bound_;
};

}  // namespace amend::engine

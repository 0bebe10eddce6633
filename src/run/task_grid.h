#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "lineage/lineage.h"
#include "partition/partition_set.h"
#include "state/plan.h"

namespace amend::run {

/// A task's life. Changed by TaskGrid::Advance alone.
///
///   kWaiting   some task it reads has not finished       → kReady, kSkipped
///   kReady     everything it reads is known              → kRunning, kCutOff, kReused
///   kRunning   a worker has it                           → kStaged, kFailed, kReady
///   (retry) kStaged    its write set is durable                  (end) kReused    a
///   write set of its name existed already   (end) kCutOff    no input of it turned out
///   changed         (end) kFailed    its last attempt failed                   (end)
///   kSkipped   something it reads failed                 (end)
enum class TaskState {
  kWaiting,
  kReady,
  kRunning,
  kStaged,
  kReused,
  kCutOff,
  kFailed,
  kSkipped,
};

std::string_view TaskStateName(TaskState state);
bool IsEnd(TaskState state);

struct Task {
  std::size_t id = 0;  ///< place in the grid; inputs have lower ids
  std::string model;
  partition::PartitionSet batch;     ///< what the plan allows; work only shrinks
  std::vector<std::size_t> reads;    ///< tasks whose output it may read
  std::vector<std::size_t> readers;  ///< the inverse
  TaskState state = TaskState::kWaiting;
  std::size_t open_reads = 0;  ///< unfinished tasks among `reads`
};

/// The tasks of one run and what waits for what: model × batch, in dependency order.
/// Readiness is a function of finished predecessors only, so models pipeline: a reader's
/// batch starts when the batches it needs have ended, not when their model has.
///
/// Not thread-safe: the scheduler's thread owns it. Deterministic: ready tasks are handed
/// out by id.
class TaskGrid {
 public:
  /// `batches[i]` are those of plan.models[i].
  TaskGrid(const lineage::Lineage& lineage, const state::Plan& plan,
           const std::vector<std::vector<partition::PartitionSet>>& batches);

  const std::vector<Task>& tasks() const { return tasks_; }
  const Task& task(std::size_t id) const { return tasks_[id]; }
  /// The lowest ready task, or nothing.
  std::optional<std::size_t> NextReady() const;
  /// Whether every task has ended.
  bool Done() const { return ended_ == tasks_.size(); }

  /// Moves a task to a state that its present one allows (CHECK) and, where that ends it,
  /// releases or skips its readers.
  void Advance(std::size_t id, TaskState to);

  std::size_t CountIn(TaskState state) const;

 private:
  void SkipReaders(std::size_t id);

  std::vector<Task> tasks_;
  std::set<std::size_t> ready_;
  std::size_t ended_ = 0;
};

}  // namespace amend::run

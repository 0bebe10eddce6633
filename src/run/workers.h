#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "engine/engine.h"

namespace amend::run {

struct Assignment {
  std::size_t task = 0;
  engine::TaskSpec spec;
};

struct Completion {
  std::size_t task = 0;
  Result<engine::TaskResult> result;
};

/// Threads that each own one engine and run one task at a time. They know tasks, not the
/// graph: coordinators never hold a worker, so any number of workers is free of deadlock.
///
/// A task's files are synced by the worker before the completion is handed over, so the
/// scheduler may journal it at once.
///
/// Submit, Wait and Stop are for one thread, the scheduler's. The destructor interrupts
/// running tasks and joins.
class Workers {
 public:
  static Result<std::unique_ptr<Workers>> Start(Env& env, int threads,
                                                const engine::EngineOptions& each);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// REQUIRES: idle() > 0.
  void Submit(Assignment assignment);
  int idle() const { return idle_; }
  int running() const { return static_cast<int>(engines_.size()) - idle_; }
  /// Blocks until at least one task has ended; returns all that have. REQUIRES:
  /// running().
  std::vector<Completion> Wait();
  /// Ends running tasks as soon as their engines can; they complete with a failure.
  void Interrupt();

 private:
  Workers(Env& env, std::vector<engine::Engine> engines);
  void Loop(engine::Engine& engine);

  Env& env_;
  std::vector<engine::Engine> engines_;
  int idle_ = 0;  // scheduler's thread only

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<Assignment> queue_;         // guarded by mutex_
  std::vector<Completion> completions_;  // guarded by mutex_
  bool stopping_ = false;                // guarded by mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace amend::run

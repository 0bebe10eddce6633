#include "run/workers.h"

#include <utility>

#include "table/data_files.h"

namespace amend::run {
namespace {

/// Makes a task's files and their folders durable.
Status SyncFiles(Env& env, const engine::TaskResult& result) {
  std::vector<std::string> paths;
  for (const state::StagedFile& file : result.write_set.files) paths.push_back(file.path);
  return table::SyncRunFiles(env, paths);
}

Result<engine::TaskResult> RunOne(Env& env, engine::Engine& engine,
                                  const engine::TaskSpec& spec) {
  AMEND_ASSIGN(engine::TaskResult result, engine.Run(spec));
  AMEND_FAIL_IF_ERROR(SyncFiles(env, result));
  return result;
}

}  // namespace

Result<std::unique_ptr<Workers>> Workers::Start(Env& env, int threads,
                                                const engine::EngineOptions& each) {
  AMEND_CHECK(threads >= 1);
  std::vector<engine::Engine> engines;
  for (int i = 0; i < threads; ++i) {
    engine::EngineOptions options = each;
    if (!options.temp_directory.empty()) {
      options.temp_directory += "/" + std::to_string(i);
    }
    AMEND_ASSIGN(engine::Engine engine, engine::Engine::Open(env, options));
    engines.push_back(std::move(engine));
  }
  return std::unique_ptr<Workers>(new Workers(env, std::move(engines)));
}

Workers::Workers(Env& env, std::vector<engine::Engine> engines)
    : env_(env), engines_(std::move(engines)), idle_(static_cast<int>(engines_.size())) {
  for (engine::Engine& engine : engines_) {
    threads_.emplace_back([this, &engine] { Loop(engine); });
  }
}

Workers::~Workers() {
  Interrupt();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
  }
  work_.notify_all();
}

void Workers::Loop(engine::Engine& engine) {
  for (;;) {
    Assignment assignment;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      assignment = std::move(queue_.front());
      queue_.pop_front();
    }
    Completion completion{assignment.task, RunOne(env_, engine, assignment.spec)};
    {
      std::lock_guard lock(mutex_);
      completions_.push_back(std::move(completion));
    }
    done_.notify_one();
  }
}

void Workers::Submit(Assignment assignment) {
  AMEND_CHECK(idle_ > 0);
  --idle_;
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(assignment));
  }
  work_.notify_one();
}

std::vector<Completion> Workers::Wait() {
  AMEND_CHECK(running() > 0);
  std::vector<Completion> completions;
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return !completions_.empty(); });
    completions = std::exchange(completions_, {});
  }
  idle_ += static_cast<int>(completions.size());
  return completions;
}

void Workers::Interrupt() {
  for (engine::Engine& engine : engines_) engine.Interrupt();
}

}  // namespace amend::run

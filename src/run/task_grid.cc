#include "run/task_grid.h"

#include <algorithm>
#include <map>

namespace amend::run {
namespace {

/// The table of transitions above TaskState, as a function.
bool Allowed(TaskState from, TaskState to) {
  switch (from) {
    case TaskState::kWaiting:
      return to == TaskState::kReady || to == TaskState::kSkipped;
    case TaskState::kReady:
      return to == TaskState::kRunning || to == TaskState::kCutOff ||
             to == TaskState::kReused;
    case TaskState::kRunning:
      return to == TaskState::kStaged || to == TaskState::kFailed ||
             to == TaskState::kReady;
    default:
      return false;
  }
}

}  // namespace

std::string_view TaskStateName(TaskState state) {
  switch (state) {
    case TaskState::kWaiting:
      return "waiting";
    case TaskState::kReady:
      return "ready";
    case TaskState::kRunning:
      return "running";
    case TaskState::kStaged:
      return "staged";
    case TaskState::kReused:
      return "reused";
    case TaskState::kCutOff:
      return "cut_off";
    case TaskState::kFailed:
      return "failed";
    case TaskState::kSkipped:
      return "skipped";
  }
  return "failed";
}

bool IsEnd(TaskState state) {
  return state != TaskState::kWaiting && state != TaskState::kReady &&
         state != TaskState::kRunning;
}

TaskGrid::TaskGrid(const lineage::Lineage& lineage, const state::Plan& plan,
                   const std::vector<std::vector<partition::PartitionSet>>& batches) {
  std::map<std::string, std::vector<std::size_t>> of_model;
  for (std::size_t m = 0; m < plan.models.size(); ++m) {
    const std::string& model = plan.models[m].model;
    for (const partition::PartitionSet& batch : batches[m]) {
      Task task;
      task.id = tasks_.size();
      task.model = model;
      task.batch = batch;
      for (const lineage::Edge* edge : lineage.InputsOf(model)) {
        auto upstream = of_model.find(edge->from);
        if (upstream == of_model.end()) continue;
        partition::PartitionSet required = edge->Required(batch);
        for (std::size_t id : upstream->second) {
          if (required.Intersects(tasks_[id].batch)) task.reads.push_back(id);
        }
      }
      task.open_reads = task.reads.size();
      of_model[model].push_back(task.id);
      tasks_.push_back(std::move(task));
    }
  }
  for (Task& task : tasks_) {
    for (std::size_t id : task.reads) tasks_[id].readers.push_back(task.id);
    if (task.reads.empty()) Advance(task.id, TaskState::kReady);
  }
}

std::optional<std::size_t> TaskGrid::NextReady() const {
  if (ready_.empty()) return std::nullopt;
  return *ready_.begin();
}

void TaskGrid::Advance(std::size_t id, TaskState to) {
  Task& task = tasks_[id];
  AMEND_CHECK(Allowed(task.state, to));
  task.state = to;
  if (to == TaskState::kReady) {
    ready_.insert(id);
  } else {
    ready_.erase(id);
  }
  if (!IsEnd(to)) return;
  ++ended_;
  if (to == TaskState::kFailed || to == TaskState::kSkipped) {
    SkipReaders(id);
    return;
  }
  for (std::size_t reader : task.readers) {
    Task& waiting = tasks_[reader];
    if (--waiting.open_reads == 0 && waiting.state == TaskState::kWaiting) {
      Advance(reader, TaskState::kReady);
    }
  }
}

void TaskGrid::SkipReaders(std::size_t id) {
  for (std::size_t reader : tasks_[id].readers) {
    if (tasks_[reader].state == TaskState::kWaiting) {
      Advance(reader, TaskState::kSkipped);
    }
  }
}

std::size_t TaskGrid::CountIn(TaskState state) const {
  return static_cast<std::size_t>(
      std::count_if(tasks_.begin(), tasks_.end(),
                    [state](const Task& task) { return task.state == state; }));
}

}  // namespace amend::run

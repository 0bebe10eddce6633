#include "testing/fakes/fault_script.h"

#include <utility>

namespace amend::testing {

void FaultScript::StrikeAt(std::int64_t number, Fault fault, Status failure) {
  std::lock_guard lock(mutex_);
  strike_at_ = number;
  fault_ = fault;
  failure_ = std::move(failure);
}

std::int64_t FaultScript::count() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(touched_.size());
}

bool FaultScript::dead() const {
  std::lock_guard lock(mutex_);
  return dead_;
}

std::vector<std::string> FaultScript::touched() const {
  std::lock_guard lock(mutex_);
  return touched_;
}

FaultScript::Entry FaultScript::Enter(std::string what) {
  Entry entry;
  {
    std::lock_guard lock(mutex_);
    if (dead_) return {0, Fault::kNone, Internal("the process is dead")};
    touched_.push_back(std::move(what));
    entry.number = static_cast<std::int64_t>(touched_.size());
    if (entry.number != strike_at_) return entry;
    entry.fault = fault_;
    if (fault_ == Fault::kFailBefore) entry.status = failure_;
  }
  if (entry.fault == Fault::kKillBefore) entry.status = Kill();
  return entry;
}

Status FaultScript::Leave(const Entry& entry, Status outcome) {
  if (entry.fault == Fault::kFailAfter) {
    std::lock_guard lock(mutex_);
    return failure_;
  }
  if (entry.fault == Fault::kKillAfter || entry.fault == Fault::kTearAndKill) {
    return Kill();
  }
  return outcome;
}

Status FaultScript::Kill() {
  {
    std::lock_guard lock(mutex_);
    dead_ = true;
  }
  if (on_kill_) on_kill_();
  return Internal("the process was killed");
}

Status ScriptedObserver::Before(std::string_view sql) {
  entry_ = script_.Enter("sql " + std::string(sql));
  // A statement has no half: tearing it is killing before it.
  if (entry_.status.ok() && entry_.fault == Fault::kTearAndKill) return script_.Kill();
  return entry_.status;
}

Status ScriptedObserver::After(std::string_view, const Status& outcome) {
  return script_.Leave(entry_, outcome);
}

}  // namespace amend::testing

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "publish/protocol.h"
#include "testing/simulation/world.h"

namespace amend::simulation {

/// Chances of faults per action, in 1/1000.
struct Faults {
  int busy = 0;
  int fatal = 0;  ///< disk full, failed sync
  int lost = 0;   ///< no answer; whether it took effect is another throw
};

/// A process that carries one intent through the protocol: the simulated counterpart of
/// publisher.cc. It drives the product's Step and keeps the promises that the actions ask
/// of a driver, unless a mutant breaks one. An action is carried out in small ticks
/// (a table, a file, a transaction), and its answer is taken in by a tick of its own, so
/// that a kill can come between any two.
class Process {
 public:
  Process(World& world, int id, const publish::Event& beginning);

  int id() const { return id_; }
  const publish::ProtocolState& state() const { return state_; }
  bool alive() const { return alive_; }
  void Tick(const Faults& faults, std::unordered_set<std::uint64_t>& states);
  void Kill();

 private:
  enum class Throw { kFine, kBusy, kFatal, kLostApplied, kLostNotApplied };

  Throw ThrowFaults(const Faults& faults, bool writes);
  /// Carries out the next bit of the action.
  void Act(const Faults& faults);
  void Answer(publish::Event event) { answer_ = std::move(event); }
  /// Answers as `fate` says: `event` if fine.
  void AnswerAs(Throw fate, publish::Event event);
  publish::Event Mutate(publish::Event event);
  void TakeIn(std::unordered_set<std::uint64_t>& states);

  void Do(const publish::WriteIntent& action, const Faults& faults);
  void Do(const publish::Renumber& action, const Faults& faults);
  void Do(const publish::ReadHeads& action, const Faults& faults);
  void Do(const publish::LockRows& action, const Faults& faults);
  void Do(const publish::ReleaseRows& action, const Faults& faults);
  void Do(const publish::ComparePartitions& action, const Faults& faults);
  void Do(const publish::BuildCommits& action, const Faults& faults);
  void Do(const publish::SyncFiles& action, const Faults& faults);
  void Do(const publish::CommitSwap& action, const Faults& faults);
  void Do(const publish::Resolve& action, const Faults& faults);
  void Do(const publish::ReadBack& action, const Faults& faults);
  void Do(const publish::DiscardFiles& action, const Faults& faults);
  void Do(const publish::FinishIntent& action, const Faults& faults);
  void Do(const publish::Pause& action, const Faults& faults);
  void Do(const publish::Stop& action, const Faults& faults);

  void LoseCommit(const publish::CommitSwap& action, Throw fate);
  publish::Compared::Item Compare(const PlanTable& target, const std::string& head) const;
  std::optional<publish::StagedCommit> Build(const PlanTable& target,
                                             const std::string& head, std::int64_t number,
                                             const std::string& stem);
  publish::Served Served(const publish::Swap& swap) const;
  const Plan& plan() const;
  std::vector<int> Tables() const;

  World& world_;
  const int id_;
  bool alive_ = true;
  publish::ProtocolState state_;
  publish::Action action_;
  std::optional<publish::Event> answer_;
  std::size_t cursor_ = 0;  ///< ticks spent on the action
  publish::Compared compared_;
  publish::Built built_;
  std::vector<std::string> doomed_;    ///< of DiscardFiles
  std::vector<std::string> unsynced_;  ///< of the mutant kSyncAfterSwap
};

}  // namespace amend::simulation

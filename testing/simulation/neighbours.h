#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "testing/simulation/world.h"

namespace amend::simulation {

/// Another engine on the same tables: appends, compacts, rolls back, expires snapshots
/// and deletes the files that, by its own view, nothing needs any more. Honest by
/// Iceberg's rules (prepare, compare-and-swap, delete only after the commit), and knows
/// nothing of us. Prepare, commit and clean-up are ticks of their own.
class Neighbour {
 public:
  explicit Neighbour(World& world) : world_(world) {}
  void Tick();
  /// Its process dies; what it wrote stays.
  void Forget() { change_.reset(), doomed_files_.clear(), doomed_lists_.clear(); }

 private:
  struct Change {
    int table = 0;
    std::string base;
    std::string location;
    std::string what;
    std::shared_ptr<Version> version;
  };

  void Prepare();
  bool Append(Change& change);
  bool Compact(Change& change);
  bool RollBack(Change& change);
  bool Expire(Change& change);
  std::shared_ptr<Snapshot> Successor(Change& change);
  void Commit();
  void CleanUp();
  void Condemn(const Version& before, const Version& after);

  World& world_;
  std::optional<Change> change_;
  int written_ = 0;
  std::vector<int> doomed_files_;
  std::vector<std::string> doomed_lists_;
};

/// `amend gc`: deletes what intents and runs of ours registered, once they are closed and
/// nothing can reach it. Claims the files of a run in the transaction that finds no open
/// intent for its plan; a claimed plan cannot be published any more.
class Gc {
 public:
  explicit Gc(World& world) : world_(world) {}
  /// One transaction that finds what can go, or one deletion.
  void Tick();
  bool idle() const { return doomed_paths_.empty() && doomed_files_.empty(); }
  void Forget() { doomed_paths_.clear(), doomed_files_.clear(); }
  /// After a full run with all intents closed: is anything of ours left that nothing
  /// uses?
  void JudgeLeftovers() const;

 private:
  struct Reachable {
    std::set<std::string> paths;
    std::set<int> files;
  };
  Reachable Reach() const;
  bool MayGo(const std::string& path) const;
  void Scan();

  World& world_;
  std::vector<std::string> doomed_paths_;
  std::vector<int> doomed_files_;
};

}  // namespace amend::simulation

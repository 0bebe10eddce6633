#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "amend/amend.h"
#include "amend/world.h"
#include "plan/survey.h"
#include "testing/equal/oracle.h"
#include "testing/equal/random_project.h"

namespace amend::equal {

/// What stories met, over many of them.
struct Statistics {
  int projects = 0;
  int projects_narrow = 0;  ///< with a plan that was neither empty nor everything
  int plans = 0;            ///< after corrections
  int plans_narrow = 0;     ///< neither empty nor everything
  int plans_empty = 0;
  int no_ops = 0;     ///< second commands, each proved to move nothing
  int rollbacks = 0;  ///< each proved to bring the state before back
  int unlanded = 0;   ///< landings taken back
  int selected = 0;   ///< backfills of one model, each proved to call nothing current
                      ///< that is not
  int overtaken = 0;  ///< staged plans that a landing overtook
  int overtaken_refused = 0;
  std::int64_t current = 0;  ///< partitions proved equal
  std::int64_t other = 0;    ///< partitions in another class
};

/// Lives one random project through: first build, corrections, each followed by a
/// backfill. After each step
///  1. every partition that is called current equals its definition (Oracle), and every
///     partition with rows is in a class;
/// and after each backfill
///  2. nothing is stale, missing or drifted any more;
///  3. the same command again moves no file, no catalog row, no ledger row.
/// After a rollback the tables are what they were, and nothing is planned.
class Story {
 public:
  /// `folder` is empty; borrows the rest.
  Story(RandomProject project, std::string folder, Oracle* oracle,
        Statistics* statistics);
  /// Opens the project for each command, as the program does. Otherwise only when a file
  /// of it has changed, since that is half of what a command costs.
  void OpenAlways() { open_always_ = true; }

  /// The first thing that is wrong.
  Status Run();
  /// Files and steps so far.
  std::string Describe() const;

 private:
  /// For the next command; valid until the next call.
  Result<Amend*> OpenProject();
  Status Write(const File& file);  ///< of the project
  Status WriteText(const File& file);
  Status Land(const Landing& landing);
  /// A model cut by what its inputs are not cut by has no end of partitions, and no plan
  /// can list them: such models are cut by less, and a change to such a one is undone.
  /// So are models of so many partitions that one story costs as much as ten.
  Status CutByLess();
  Status Apply(const Correction& correction);
  Status ApplyKind(const Correction& correction);
  Status RollBackPublication();
  Status TakeLandingBack(int landings_ago);
  /// Takes `entries[at]` back, after which its tables hold what they held before it.
  Status RollBack(Amend& amend, const std::vector<ledger::Entry>& entries,
                  std::size_t at);
  Status BuildSelected(const Correction& correction);
  Status ReleaseAll();
  Status Overtake(const Correction& correction);
  Status CollectGarbage();
  /// Backfill, then all that must hold.
  Status Settle();
  /// Current means equal, and every partition with rows is in a class; `done` says that
  /// nothing may be left to do either. How many partitions there are.
  Result<std::int64_t> CheckModels(Workspace& workspace, bool done);
  Status CheckEquality(const partition::PartitionSpace& space,
                       const plan::Standing& standing,
                       const RandomProject::NamedSql& model, bool done);
  Status CheckNothingMoves();
  void CountPlan(std::int64_t planned, std::int64_t all);
  Result<std::vector<std::string>> Everything() const;

  RandomProject project_;
  std::unique_ptr<Amend> amend_;
  bool open_always_ = false;
  std::string folder_;
  Oracle* oracle_;
  Statistics* statistics_;
  std::vector<std::string> steps_;
  bool expect_nothing_ = false;  ///< a rollback must not be undone by the next backfill
  bool built_ = false;           ///< the first build, which is everything, is done
  std::int64_t planned_ = 0;     ///< partitions, since the last correction
  bool narrow_ = false;
};

}  // namespace amend::equal

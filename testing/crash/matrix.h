#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "testing/crash/child.h"
#include "testing/crash/crash_project.h"
#include "testing/fakes/fault_script.h"

namespace amend::testing {

/// What happens at one fault point of a command.
struct Strike {
  std::int64_t point = 0;  ///< from 1; 0 = nothing happens
  Fault fault = Fault::kNone;
  Status failure;              ///< what the call answers; for failures
  bool power_loss = false;     ///< a kill takes with it what was not synced
  bool database_gone = false;  ///< no statement gets through afterwards
  /// Called in the command's process with the number of the point that comes next.
  std::function<void(std::int64_t point, std::string_view sql)> before_statement = {};
};

/// How a command that was not killed ended.
struct Ending {
  int exit_code = 0;
  std::string error;
  Json answer;
  std::vector<std::string> touched;  ///< every fault point
};

/// One command (a step of the story) under every fault: the project as it was before the
/// command, what an uninterrupted run makes of it, and cases that compare with that.
///
/// Each case starts from the same bytes in the same folder, because tables know their
/// files by absolute paths.
class Matrix {
 public:
  /// Prepares the project by running the steps before, and the command twice without
  /// faults; both must touch the same points in the same order.
  explicit Matrix(Step step);
  ~Matrix();

  /// Every Env call and SQL statement of the command.
  const std::vector<std::string>& points() const { return points_; }
  const std::string& point(std::int64_t number) const;

  /// The COMMIT that makes the publication visible: that of the transaction which writes
  /// the ledger row.
  std::int64_t PublishingCommit() const;

  /// The command dies there and is run again: the end is that of an uninterrupted run.
  void KillAndRunAgain(const Strike& strike);
  /// A call fails there: the exit code says what happened, and the same command, run
  /// again, succeeds. Returns the exit code of the first run.
  int FailAndRunAgain(const Strike& strike);
  /// The same where the kill is by `strike.before_statement`; returns all there is to see
  /// in the end, to be compared with `examined`.
  Json DieAndRunAgain(const Strike& strike);
  /// The command and the next one in one process, then the power fails. Returns all there
  /// is to see in the end.
  Json LosePowerAfter(Step next);
  const Json& examined() const { return examined_; }
  /// Kills, and returns what a reader of `amend pins` finds then.
  Json PinsAfter(const Strike& strike);
  /// Runs the command undisturbed. Before each of its statements and at the end a reader
  /// of `amend pins` asks; what differs from its answer before goes to `look`, there and
  /// then, in the command's process. Returns what `look` made of it.
  struct Watched {
    int asks = 0;
    std::vector<Json> looks;
  };
  Watched Watch(const std::function<Json(const Json& pins)>& look);
  /// Folder of the project that the cases work in.
  const std::string& work() const { return work_; }
  /// Rows of all tables before and after the command.
  const Json& before() const { return before_; }
  const Json& after() const { return after_; }

  /// Fault points at which a run has died.
  const std::set<std::int64_t>& visited() const { return visited_; }
  int kills() const { return kills_; }
  int reruns() const { return reruns_; }

 private:
  std::optional<Ending> Run(const Strike& strike, int turn);
  /// Name of the point at which the last killed run died.
  std::string Struck() const;
  void Prepare();
  /// What is true after the command; runs it again, gc, and what follows.
  Json Examine();
  /// Runs the command again and compares all there is to see; not where a crash has left
  /// this very state before.
  void FinishAndCompare(Poller& poller);
  void CheckSightings(const Sightings& seen) const;
  bool Published(const Json& pointers) const;
  Json LookNow() const;

  Step step_;
  Story story_;
  std::string base_;
  std::string pristine_;
  std::string work_;
  std::vector<std::string> points_;
  Json before_;
  Json after_;
  Json examined_;
  Json old_pointers_;
  Json new_pointers_;
  std::set<std::int64_t> visited_;
  std::set<std::string> verified_;  // digests of states whose rerun was looked at
  int kills_ = 0;
  int reruns_ = 0;
};

/// What kind of call a point is: "write", "sync folder", "sql COMMIT".
std::string KindOf(const std::string& point);
/// Whether the point changes something outside the process.
bool HasEffect(const std::string& point);
/// Whether the point writes bytes, so that half of them may arrive.
bool WritesBytes(const std::string& point);

}  // namespace amend::testing

#include "testing/crash/matrix.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/hash.h"
#include "cli/output.h"
#include "testing/crash/disk_state.h"
#include "testing/crash/still_env.h"

namespace amend::testing {
namespace {

// Turns of StillEnv: preparation takes those below.
constexpr int kFirstRun = 50;
constexpr int kRerun = 60;
constexpr int kExamination = 70;

std::string CatalogOf(const std::string& project) {
  return project + "/.amend/catalog.db";
}

/// The points of a script, and a database that may go away after one of them.
class CrashObserver : public ScriptedObserver {
 public:
  CrashObserver(FaultScript& script, const Strike& strike)
      : ScriptedObserver(script), script_(script), strike_(strike) {}

  Status Before(std::string_view sql) override {
    if (strike_.before_statement) strike_.before_statement(script_.count() + 1, sql);
    if (strike_.database_gone && script_.count() >= strike_.point) {
      return Transient("the database does not answer");
    }
    return ScriptedObserver::Before(sql);
  }

 private:
  FaultScript& script_;
  const Strike& strike_;
};

/// A file beside the project in which a dying run says where it dies.
std::string StruckFile(const std::string& work) { return work + "_struck"; }

/// What was touched, without the names that the engine draws for files of a COPY: they
/// are random until we give them ours.
std::string Stable(const std::string& touched) {
  static const std::regex kDrawn("/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.parquet");
  return std::regex_replace(touched, kDrawn, "/DRAWN.parquet");
}

/// The command in this process.
Json RunHere(const std::string& work, Step step, Story story, int turn,
             const Strike& strike) {
  FaultEnv* power = nullptr;
  FaultScript* points = nullptr;
  FaultScript script([&] {
    std::ofstream(StruckFile(work)) << Stable(points->touched().back());
    if (strike.power_loss) power->LosePower();
    Die();
  });
  points = &script;
  if (strike.point > 0) script.StrikeAt(strike.point, strike.fault, strike.failure);
  StillEnv env(script, work, turn);
  power = &env;
  CrashObserver observer(script, strike);
  Json json = Json::object();
  auto run = [&]() -> Result<Answer> {
    AMEND_ASSIGN(auto amend, Amend::Open(env, work, &observer));
    return RunStep(*amend, step, &story);
  };
  auto answer = run();
  Status failure = answer ? answer->failure : answer.error();
  json["exit_code"] = failure.ok() ? answer->exit_code : cli::ExitCodeOf(failure.code());
  json["error"] = failure.ok() ? "" : failure.ToString();
  json["answer"] = answer ? answer->json : Json();
  json["touched"] = Json::array();
  for (const std::string& point : script.touched()) {
    json["touched"].push_back(Stable(point));
  }
  json["plan"] = story.plan;
  json["publication"] = story.publication;
  return json;
}

/// Rows of all tables by an Amend of its own.
Json RowsHere(const std::string& work) {
  FaultScript script;
  StillEnv env(script, work, kExamination);
  auto amend = Amend::Open(env, work);
  if (!amend) return amend.error().ToString();
  return Describe(**amend);
}

/// Opens a project, does one thing, closes it.
Json With(const std::string& work, int turn,
          const std::function<Result<Json>(Amend&)>& body) {
  FaultScript script;
  StillEnv env(script, work, turn);
  auto amend = Amend::Open(env, work);
  if (!amend) return Json{{"error", amend.error().ToString()}};
  auto result = body(**amend);
  return result ? *result : Json{{"error", result.error().ToString()}};
}

Result<Json> CollectGarbage(Amend& amend) {
  AMEND_ASSIGN(Answer answer, amend.Gc({true}));
  return answer.json["files"];
}

/// Everything that must be so after a command, in the order it is looked at. A project
/// is opened for each command that writes, and once for what only looks.
Json ExamineHere(const std::string& work, Step step, Story story) {
  Json seen = Json::object();
  int turn = kExamination;
  std::string before = PublishedStateOf(work);
  seen["again says no-op"] = With(work, turn++, [&](Amend& amend) -> Result<Json> {
    AMEND_ASSIGN(Answer answer, RunStep(amend, step, &story));
    return Json(SaysNoOp(step, answer.json));
  });
  seen["again moves nothing"] = PublishedStateOf(work) == before;
  if (step == Step::kStage || step == Step::kStageAgain) {
    // Files of a run that may still be published are no garbage (B98).
    With(work, turn++, [&seen](Amend& amend) -> Result<Json> {
      seen["world when staged"] = Describe(amend);
      return CollectGarbage(amend);
    });
    Step next = step == Step::kStage ? Step::kPublish : Step::kPublishAgain;
    seen["published"] = With(work, turn++, [&](Amend& amend) -> Result<Json> {
      AMEND_ASSIGN(Answer answer, RunStep(amend, next, &story));
      return answer.json["no_op"];
    });
  }
  seen["garbage of a second gc"] = With(work, turn++, [&](Amend& amend) -> Result<Json> {
    seen["world"] = Describe(amend);
    AMEND_ASSIGN(Json first, CollectGarbage(amend));
    AMEND_ASSIGN(Json second, CollectGarbage(amend));
    seen["world is the same after gc"] = Describe(amend) == seen["world"];
    return second;
  });
  auto leftovers = FindLeftovers(Env::Real(), work, work + "/" + kWarehouse);
  seen["leftovers"] = leftovers ? Json(*leftovers) : Json(leftovers.error().ToString());
  return seen;
}

/// `amend pins` by an Amend of its own.
Json PinsHere(const std::string& work) {
  return With(work, kRerun, [](Amend& amend) -> Result<Json> {
    AMEND_ASSIGN(Answer answer, amend.Pins(std::nullopt));
    return answer.json["tables"];
  });
}

bool IsPublication(Step step) {
  return step != Step::kStage && step != Step::kStageAgain;
}

}  // namespace

std::string KindOf(const std::string& point) {
  if (!point.starts_with("sql ")) return point.substr(0, point.find(" /"));
  return point.substr(0, point.find_first_of(" (;", 4));
}

bool HasEffect(const std::string& point) {
  for (const char* reading : {"read ", "info ", "list ", "sql SELECT", "sql PRAGMA"}) {
    if (point.starts_with(reading)) return false;
  }
  return true;
}

bool WritesBytes(const std::string& point) {
  return point.starts_with("write ") || point.starts_with("append ");
}

Matrix::Matrix(Step step) : step_(step), base_(ScratchFolder(StepName(step))) {
  pristine_ = base_ + "/pristine";
  work_ = base_ + "/work";
  Prepare();
}

Matrix::~Matrix() { std::filesystem::remove_all(base_); }

const std::string& Matrix::point(std::int64_t number) const {
  return points_.at(static_cast<std::size_t>(number - 1));
}

std::int64_t Matrix::PublishingCommit() const {
  bool row = false;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    row = row || points_[i].starts_with("sql INSERT INTO amend_entries");
    if (row && points_[i] == "sql COMMIT") return static_cast<std::int64_t>(i + 1);
  }
  ADD_FAILURE() << "no transaction writes a ledger row";
  return 0;
}

std::optional<Ending> Matrix::Run(const Strike& strike, int turn) {
  auto json = RunInChild([&] { return RunHere(work_, step_, story_, turn, strike); });
  if (!json) return std::nullopt;
  if (json->contains("crashed")) return Ending{-1, "crashed", {}, {}};
  return Ending{(*json)["exit_code"].get<int>(), (*json)["error"].get<std::string>(),
                (*json)["answer"], (*json)["touched"].get<std::vector<std::string>>()};
}

std::string Matrix::Struck() const {
  std::ifstream file(StruckFile(work_));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Matrix::Prepare() {
  std::filesystem::create_directories(work_);
  WriteProject(work_);
  for (int i = 0; i < static_cast<int>(step_); ++i) {
    Step step = static_cast<Step>(i);
    auto done = RunInChild([&] { return RunHere(work_, step, story_, i, {}); });
    ASSERT_TRUE(done && (*done)["exit_code"] == 0)
        << StepName(step) << ": " << (done ? done->dump() : "killed");
    story_.plan = (*done)["plan"].get<std::string>();
    story_.publication = (*done)["publication"].get<std::int64_t>();
  }
  CopyProject(work_, pristine_);
  before_ = *RunInChild([&] { return RowsHere(work_); });

  CopyProject(pristine_, work_);
  std::optional<Ending> first = Run({}, kFirstRun);
  ASSERT_TRUE(first && first->exit_code == 0) << first->error;
  CopyProject(pristine_, work_);
  Poller poller(CatalogOf(work_));
  std::optional<Ending> second = Run({}, kFirstRun);
  Sightings seen = poller.Finish();
  ASSERT_EQ(first->touched, second->touched) << "fault points have no fixed numbers";
  points_ = second->touched;
  examined_ = Examine();
  after_ = examined_["world"];
  for (const char* part : {"orders", "daily", "recent", "monthly", "ledger"}) {
    EXPECT_TRUE(after_[part].is_array()) << after_[part];
  }
  EXPECT_TRUE(after_["status"].is_object()) << after_["status"];
  EXPECT_EQ(examined_["again says no-op"], true);
  EXPECT_EQ(examined_["again moves nothing"], true);
  EXPECT_EQ(examined_["garbage of a second gc"], Json::array());
  EXPECT_EQ(examined_["world is the same after gc"], true);
  EXPECT_EQ(examined_["leftovers"], Json::array());
  ASSERT_FALSE(seen.states.empty());
  old_pointers_ = seen.states.front();
  CopyProject(pristine_, work_);
  ASSERT_EQ(LookNow(), old_pointers_);
  ASSERT_TRUE(Run({}, kFirstRun).has_value());
  new_pointers_ = LookNow();
}

Json Matrix::LookNow() const {
  PointerReader reader(CatalogOf(work_));
  return reader.Look().value_or(Json());
}

Json Matrix::Examine() {
  auto seen = RunInChild([&] { return ExamineHere(work_, step_, story_); });
  return seen.value_or(Json("killed"));
}

/// Whether all tables that the command moves have moved, and nothing else: the pointers
/// are new ones each time, but which of them moves is not.
bool Matrix::Published(const Json& pointers) const {
  if (pointers.size() != new_pointers_.size()) return false;
  for (const auto& [table, now] : new_pointers_.items()) {
    if (!pointers.contains(table)) return false;
    if (table == "entries") {
      if (pointers[table] != now) return false;
      continue;
    }
    bool had = old_pointers_.contains(table);
    bool moves = !had || old_pointers_[table] != now;
    if (moves == (had && pointers[table] == old_pointers_[table])) return false;
  }
  return true;
}

void Matrix::CheckSightings(const Sightings& seen) const {
  EXPECT_GT(seen.looks, 0);
  EXPECT_LE(seen.states.size(), 2U) << "pointers moved more than once";
  for (const Json& state : seen.states) {
    EXPECT_TRUE(state == old_pointers_ || Published(state))
        << "a reader saw half a publication: " << state.dump(1)
        << "\nbefore: " << old_pointers_.dump(1);
  }
}

void Matrix::FinishAndCompare(Poller& poller) {
  if (!verified_.insert(Sha256Hex(StateOf(work_))).second) {
    CheckSightings(poller.Finish());
    return;
  }
  ++reruns_;
  std::optional<Ending> rerun = Run({}, kRerun);
  ASSERT_TRUE(rerun.has_value());
  EXPECT_EQ(rerun->exit_code, 0) << rerun->error;
  CheckSightings(poller.Finish());
  if (IsPublication(step_)) {
    EXPECT_TRUE(Published(LookNow()));
  }
  Json seen = Examine();
  for (const auto& [what, expected] : examined_.items()) {
    EXPECT_EQ(seen[what], expected) << what;
  }
}

void Matrix::KillAndRunAgain(const Strike& strike) {
  SCOPED_TRACE(StepName(step_) + ", point " + std::to_string(strike.point) + " of " +
               std::to_string(points_.size()) + ": " + point(strike.point) + ", fault " +
               std::to_string(static_cast<int>(strike.fault)));
  CopyProject(pristine_, work_);
  Poller poller(CatalogOf(work_));
  ++kills_;
  std::optional<Ending> killed = Run(strike, kFirstRun);
  EXPECT_FALSE(killed.has_value()) << "it was not killed: " << killed->error;
  EXPECT_EQ(Struck(), point(strike.point));
  visited_.insert(strike.point);
  FinishAndCompare(poller);
}

int Matrix::FailAndRunAgain(const Strike& strike) {
  SCOPED_TRACE(StepName(step_) + ", point " + std::to_string(strike.point) + " of " +
               std::to_string(points_.size()) + ": " + point(strike.point) + ", fails");
  CopyProject(pristine_, work_);
  Poller poller(CatalogOf(work_));
  std::optional<Ending> failed = Run(strike, kFirstRun);
  EXPECT_TRUE(failed.has_value());
  if (!failed) return -1;
  Json now = LookNow();
  bool published = now != old_pointers_;
  // 0: done all the same. 5: certainly nothing published. 6: the next command finds out.
  if (failed->exit_code == 0 && IsPublication(step_)) {
    EXPECT_TRUE(published);
  }
  if (failed->exit_code == 5) {
    EXPECT_FALSE(published) << failed->error;
  }
  EXPECT_THAT(failed->exit_code, ::testing::AnyOf(0, 5, 6)) << failed->error;
  FinishAndCompare(poller);
  return failed->exit_code;
}

Json Matrix::DieAndRunAgain(const Strike& strike) {
  CopyProject(pristine_, work_);
  EXPECT_FALSE(Run(strike, kFirstRun).has_value()) << "it was not killed";
  std::optional<Ending> rerun = Run({}, kRerun);
  EXPECT_TRUE(rerun && rerun->exit_code == 0) << (rerun ? rerun->error : "killed");
  return Examine();
}

Json Matrix::LosePowerAfter(Step next) {
  CopyProject(pristine_, work_);
  auto done = RunInChild([&] {
    FaultScript script;
    StillEnv env(script, work_, kFirstRun);
    Story story = story_;
    auto run = [&](Step step) -> Result<Answer> {
      AMEND_ASSIGN(auto amend, Amend::Open(env, work_));
      return RunStep(*amend, step, &story);
    };
    for (Step step : {step_, next}) {
      auto answer = run(step);
      if (!answer) return Json(answer.error().ToString());
    }
    env.LosePower();
    return Json("lost");
  });
  EXPECT_EQ(done, Json("lost"));
  return Examine();
}

Matrix::Watched Matrix::Watch(const std::function<Json(const Json& pins)>& look) {
  CopyProject(pristine_, work_);
  auto seen = RunInChild([&] {
    Json last;
    Json looks = Json::array();
    int asks = 0;
    auto ask = [&] {
      ++asks;
      Json pins = PinsHere(work_);
      if (pins == last) return;
      looks.push_back(look(pins));
      last = std::move(pins);
    };
    Strike watching;
    watching.before_statement = [&](std::int64_t, std::string_view) { ask(); };
    RunHere(work_, step_, story_, kFirstRun, watching);
    ask();
    return Json{{"asks", asks}, {"looks", looks}};
  });
  EXPECT_TRUE(seen && seen->contains("asks"));
  if (!seen || !seen->contains("asks")) return {};
  return {(*seen)["asks"].get<int>(), (*seen)["looks"].get<std::vector<Json>>()};
}

Json Matrix::PinsAfter(const Strike& strike) {
  CopyProject(pristine_, work_);
  EXPECT_FALSE(Run(strike, kFirstRun).has_value());
  return RunInChild([&] { return PinsHere(work_); }).value_or(Json());
}

}  // namespace amend::testing

// Every effect of a commit fails, kills or loses the power once: what the pointer names
// stays whole, and so does what a finished commit wrote.
#include "gmock/gmock.h"
#include "iceberg/twin.h"
#include "iceberg/update.h"
#include "testing/fakes/fault_env.h"
#include "testing/iceberg/update_fixture.h"

namespace amend::iceberg {
namespace {

using ::amend::testing::Fault;
using ::amend::testing::FaultEnv;
using ::amend::testing::FaultScript;
using ::testing::ElementsAre;

class UpdateCrash : public UpdateTest {
 protected:
  /// One world with a fault in it.
  struct World {
    World(const std::string& root, std::int64_t strike_at, Fault fault)
        : env(Env::Real(), script, {.root = root, .now_micros = 1'700'000'100'000'000}) {
      if (strike_at > 0) script.StrikeAt(strike_at, fault);
    }
    FaultScript script;
    FaultEnv env;
  };

  Result<StagedCommit> Stage(Env& env, const LoadedTable& head) {
    SnapshotUpdate update(env);
    update.Replace({Day(2)}).Add({File(2, "new")});
    return update.Stage(head);
  }

  Result<StagedCommit> StageTwinOf(Env& env, const LoadedTable& live) {
    SnapshotUpdate update(env);
    update.Replace({Day(2)}).Add({File(2, "new")});
    TwinTarget target{.ref = {"db__stage", "flights"},
                      .location = ToUri(root_ + "/db__stage/flights"),
                      .properties = {}};
    return StageTwin(env, live, target, update);
  }

  /// Kinds of effects in order, without names of files.
  static std::vector<std::string> Kinds(const FaultScript& script) {
    std::vector<std::string> kinds;
    for (const std::string& what : script.touched()) {
      kinds.push_back(what.substr(0, what.find(" /")));
    }
    return kinds;
  }
};

TEST_F(UpdateCrash, FinishedCommitSurvivesThePowerLossAfterIt) {
  LoadedTable head = Create({1, 2, 3});
  World world(root_, 0, Fault::kNone);
  auto commit = Stage(world.env, head);
  ASSERT_TRUE(commit.has_value()) << commit.error().ToString();
  auto twin = StageTwinOf(world.env, head);
  ASSERT_TRUE(twin.has_value()) << twin.error().ToString();
  SnapshotUpdate first(world.env);
  first.Add({File(1, "d1")});
  NewTable other = Flights();
  other.location = ToUri(root_ + "/new space/below/table");
  auto created = StageNewTable(world.env, {"below", "table"}, other, first);
  ASSERT_TRUE(created.has_value()) << created.error().ToString();
  world.env.LosePower();
  EXPECT_THAT(LiveNames(Publish(std::move(commit))), ElementsAre("d1", "d3", "new"));
  EXPECT_THAT(LiveNames(Publish(std::move(twin))), ElementsAre("d1", "d3", "new"));
  EXPECT_THAT(LiveNames(Publish(std::move(created))), ElementsAre("d1"));
}

TEST_F(UpdateCrash, MetadataIsWrittenLastAndEverythingIsSyncedAfterIt) {
  LoadedTable head = Create({1, 2, 3});
  World world(root_, 0, Fault::kNone);
  ASSERT_TRUE(Stage(world.env, head).has_value());
  EXPECT_THAT(Kinds(world.script),
              ElementsAre("read", "read", "write", "write", "write", "write", "sync",
                          "sync", "sync", "sync", "sync folder"));
}

TEST_F(UpdateCrash, AtEveryPointLeavesTheTableAsItWasAndTheNextAttemptSucceeds) {
  LoadedTable head = Create({1, 2, 3});
  World counting(root_, 0, Fault::kNone);
  ASSERT_TRUE(Stage(counting.env, head).has_value());
  std::int64_t points = counting.script.count();
  ASSERT_EQ(points, 11);
  for (Fault fault : {Fault::kFailBefore, Fault::kFailAfter, Fault::kKillBefore,
                      Fault::kKillAfter, Fault::kTearAndKill}) {
    for (std::int64_t at = 1; at <= points; ++at) {
      SCOPED_TRACE(::testing::Message()
                   << "fault " << static_cast<int>(fault) << " at effect " << at);
      World world(root_, at, fault);
      EXPECT_FALSE(Stage(world.env, head).has_value());
      if (world.script.dead()) world.env.LosePower();
      auto again = LoadTable(env_, ref_, head.metadata_location);
      ASSERT_TRUE(again.has_value()) << again.error().ToString();
      EXPECT_THAT(LiveNames(*again), ElementsAre("d1", "d2", "d3"));
      EXPECT_THAT(LiveNames(Publish(Stage(env_, *again))),
                  ElementsAre("d1", "d3", "new"));
    }
  }
}

TEST_F(UpdateCrash, SameUpdateIsStagedAgainAfterAFailureThatPasses) {
  LoadedTable head = Create({1, 2, 3});
  for (std::int64_t at = 1; at <= 11; ++at) {
    SCOPED_TRACE(at);
    World world(root_, at, Fault::kFailAfter);
    SnapshotUpdate update(world.env);
    update.Replace({Day(2)}).Add({File(2, "new")});
    ASSERT_FALSE(update.Stage(head).has_value());
    EXPECT_THAT(LiveNames(Publish(update.Stage(head))), ElementsAre("d1", "d3", "new"));
  }
}

}  // namespace
}  // namespace amend::iceberg

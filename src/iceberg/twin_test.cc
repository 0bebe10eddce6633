#include "iceberg/twin.h"

#include "gmock/gmock.h"
#include "testing/iceberg/update_fixture.h"

namespace amend::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class TwinTest : public UpdateTest {
 protected:
  TwinTarget Target() const {
    return {.ref = {"db__stage", "flights"},
            .location = ToUri(root_ + "/db__stage/flights"),
            .properties = {{"run", "r1"}}};
  }
};

TEST_F(TwinTest, ShowsWhatTheTableWouldBeAndLeavesItAlone) {
  LoadedTable live = Create({1, 2});
  std::set<std::string> before = env_.written;
  SnapshotUpdate update(env_);
  update.Replace({Day(2)}).Add({File(2, "staged")});
  auto commit = StageTwin(env_, live, Target(), update);
  ASSERT_TRUE(commit.has_value()) << commit.error().ToString();
  EXPECT_FALSE(commit->base_location.has_value());
  LoadedTable twin = Publish(std::move(commit));

  EXPECT_THAT(LiveNames(twin), ElementsAre("d1", "staged"));
  EXPECT_THAT(LiveNames(live), ElementsAre("d1", "d2"));
  EXPECT_NE(twin.metadata.uuid(), live.metadata.uuid());
  EXPECT_EQ(twin.metadata.location(), Target().location);
  EXPECT_EQ(twin.metadata.properties().at("run"), "r1");
  EXPECT_EQ(twin.metadata.properties().at("gc.enabled"), "false");
  for (const std::string& path : env_.written) {
    if (!before.contains(path)) {
      EXPECT_THAT(path, StartsWith(root_ + "/db__stage/flights/metadata/"));
    }
  }
  const Snapshot& head = *twin.metadata.current_snapshot();
  EXPECT_EQ(head.parent_id, live.metadata.current_snapshot()->id)
      << "what is published now is readable in the twin as its parent";
  EXPECT_EQ(head.sequence_number, 2);
}

TEST_F(TwinTest, ListsLiveManifestsWhereTheyAre) {
  LoadedTable live = Create({1, 2});
  SnapshotUpdate update(env_);
  update.Add({File(3, "staged")});
  LoadedTable twin = Publish(StageTwin(env_, live, Target(), update));
  EXPECT_EQ(Manifests(twin)[1].path, Manifests(live)[0].path);
}

TEST_F(TwinTest, IsUpdatedAsAnyTableAndKeepsLiveFilesFromCollection) {
  LoadedTable live = Create({1, 2});
  SnapshotUpdate first(env_);
  first.Replace({Day(1)}).Add({File(1, "staged1")});
  LoadedTable twin = Publish(StageTwin(env_, live, Target(), first));
  SnapshotUpdate second(env_);
  second.Replace({Day(2)}).Add({File(2, "staged2")});
  twin = Publish(second.Stage(twin));
  EXPECT_THAT(LiveNames(twin), ElementsAre("staged1", "staged2"));
  EXPECT_EQ(twin.metadata.properties().at("gc.enabled"), "false");
  EXPECT_THAT(LiveNames(live), ElementsAre("d1", "d2"));
}

TEST_F(TwinTest, WithoutAnUpdateIsTheTableItself) {
  LoadedTable live = Create({1, 2});
  SnapshotUpdate nothing(env_);
  auto commit = StageTwin(env_, live, Target(), nothing);
  ASSERT_TRUE(commit.has_value()) << commit.error().ToString();
  EXPECT_EQ(commit->files.size(), 1U);
  EXPECT_EQ(commit->snapshot_id, live.metadata.current_snapshot()->id);
  EXPECT_EQ(LiveOf(Publish(std::move(commit))), LiveOf(live));
}

TEST_F(TwinTest, OfAnEmptyTable) {
  SnapshotUpdate nothing(env_);
  LoadedTable live = Publish(StageNewTable(env_, ref_, Flights(), nothing));
  SnapshotUpdate update(env_);
  update.Replace({Day(1)}).Add({File(1, "staged")});
  EXPECT_THAT(LiveNames(Publish(StageTwin(env_, live, Target(), update))),
              ElementsAre("staged"));
}

TEST_F(TwinTest, NeedsANameAndAPlaceOfItsOwn) {
  LoadedTable live = Create({1});
  SnapshotUpdate update(env_);
  TwinTarget same_name = Target();
  same_name.ref = live.ref;
  EXPECT_EQ(StageTwin(env_, live, same_name, update).error().code(),
            StatusCode::kInvalid);
  TwinTarget same_place = Target();
  same_place.location = "file:" + root_ + "/db/flights";
  EXPECT_EQ(StageTwin(env_, live, same_place, update).error().code(),
            StatusCode::kInvalid);
}

}  // namespace
}  // namespace amend::iceberg

#include "iceberg/update.h"

#include <algorithm>
#include <map>

#include "gmock/gmock.h"
#include "testing/iceberg/update_fixture.h"

namespace amend::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Summary = std::map<std::string, std::string>;

TEST_F(UpdateTest, CreatingWithDataPutsTheFirstSnapshotIntoVersionZero) {
  SnapshotUpdate update(env_);
  update.Add({File(1, "a"), File(2, "b")}).SetSummary({{"amend-run", "r1"}});
  auto commit = StageNewTable(env_, ref_, Flights(), update);
  ASSERT_TRUE(commit.has_value()) << commit.error().ToString();
  EXPECT_FALSE(commit->base_location.has_value());
  EXPECT_THAT(commit->new_location,
              HasSubstr(ToUri(root_) + "/db/flights/metadata/00000-"));
  EXPECT_EQ(commit->snapshot_id, update.snapshot_id());
  EXPECT_EQ(commit->files.size(), 3U) << "manifest, list, metadata";

  LoadedTable table = Publish(std::move(commit));
  EXPECT_THAT(LiveNames(table), ElementsAre("a", "b"));
  const Snapshot& snapshot = *table.metadata.current_snapshot();
  EXPECT_FALSE(snapshot.parent_id.has_value());
  EXPECT_EQ(snapshot.sequence_number, 1);
  EXPECT_EQ(snapshot.schema_id, 0);
  EXPECT_EQ(snapshot.summary, (Summary{{"operation", "append"},
                                       {"added-data-files", "2"},
                                       {"added-records", "20"},
                                       {"added-files-size", "2000"},
                                       {"changed-partition-count", "2"},
                                       {"total-data-files", "2"},
                                       {"total-records", "20"},
                                       {"total-files-size", "2000"},
                                       {"total-delete-files", "0"},
                                       {"total-position-deletes", "0"},
                                       {"total-equality-deletes", "0"},
                                       {"amend-run", "r1"}}));
}

TEST_F(UpdateTest, CreatingWithoutFilesMakesNoSnapshot) {
  SnapshotUpdate update(env_);
  auto commit = StageNewTable(env_, ref_, Flights(), update);
  ASSERT_TRUE(commit.has_value()) << commit.error().ToString();
  EXPECT_EQ(commit->snapshot_id, kNoSnapshot);
  EXPECT_EQ(commit->files.size(), 1U);
  LoadedTable table = Publish(std::move(commit));
  EXPECT_EQ(table.metadata.current_snapshot(), nullptr);

  SnapshotUpdate first(env_);
  first.Add({File(1, "a")}).TagParent({"before", std::nullopt});
  table = Publish(first.Stage(table));
  EXPECT_THAT(LiveNames(table), ElementsAre("a"));
  EXPECT_FALSE(table.metadata.refs().contains("before")) << "there was nothing before";
}

TEST_F(UpdateTest, AppendRelistsWhatIsThereAndLogsTheOldVersion) {
  LoadedTable before = Create({1, 2});
  SnapshotUpdate update(env_);
  update.Add({File(2, "late")});
  LoadedTable after = Publish(update.Stage(before));
  EXPECT_THAT(LiveNames(after), ElementsAre("d1", "d2", "late"));
  EXPECT_THAT(after.metadata_location, HasSubstr("/00001-"));
  EXPECT_EQ(after.metadata.metadata_log()[0].file, before.metadata_location);
  EXPECT_EQ(Manifests(after)[1].path, Manifests(before)[0].path);
  EXPECT_EQ(after.metadata.current_snapshot()->parent_id,
            before.metadata.current_snapshot()->id);
  EXPECT_EQ(after.metadata.current_snapshot()->summary.at("total-records"), "30");
}

TEST_F(UpdateTest, ReplaceTakesTheNamedPartitionsAndNothingElse) {
  LoadedTable table = Create({1, 2, 3});
  SnapshotUpdate more(env_);
  more.Add({File(4, "d4"), File(5, "d5")});
  table = Publish(more.Stage(table));
  std::string untouched = Manifests(table)[0].path;  // days 4 and 5

  SnapshotUpdate update(env_);
  update.Replace({Day(2), Day(3)}).Add({File(2, "new2"), File(2, "new2b")});
  table = Publish(update.Stage(table));

  EXPECT_THAT(LiveNames(table), ElementsAre("d1", "d4", "d5", "new2", "new2b"));
  auto manifests = Manifests(table);
  ASSERT_EQ(manifests.size(), 3U);
  EXPECT_EQ(manifests[1].path, untouched);
  EXPECT_EQ(manifests[2].sequence_number, 3);
  EXPECT_EQ(manifests[2].min_sequence_number, 1) << "of the file that stays";
  EXPECT_EQ(manifests[2].existing_files, 1);
  EXPECT_EQ(manifests[2].deleted_files, 2);
  for (const ManifestEntry& entry : Entries(table)) {
    if (entry.file.path == Path("d2")) {
      EXPECT_EQ(entry.status, EntryStatus::kDeleted);
      EXPECT_EQ(entry.snapshot_id, update.snapshot_id());
      EXPECT_EQ(entry.sequence_number, 1);
      EXPECT_EQ(entry.file_sequence_number, 1);
    }
    if (entry.file.path == Path("d1")) {
      EXPECT_EQ(entry.status, EntryStatus::kExisting);
      EXPECT_NE(entry.snapshot_id, update.snapshot_id());
    }
    if (entry.file.path == Path("new2")) {
      EXPECT_EQ(entry.sequence_number, 3);
    }
  }
  const Summary& summary = table.metadata.current_snapshot()->summary;
  EXPECT_EQ(summary.at("operation"), "overwrite");
  EXPECT_EQ(summary.at("replace-partitions"), "true");
  EXPECT_EQ(summary.at("deleted-data-files"), "2");
  EXPECT_EQ(summary.at("changed-partition-count"), "2");
  EXPECT_EQ(summary.at("total-data-files"), "5");
  EXPECT_EQ(summary.at("total-files-size"), "5000");
}

TEST_F(UpdateTest, FilesThatStayKeepTheirMetrics) {
  LoadedTable table = Create({1});
  DataFile goes = File(2, "goes");
  goes.value_counts = {{1, 10}};
  DataFile stays = File(3, "stays");
  stays.value_counts = {{1, 10}};
  stays.upper_bounds = {{1, "z"}};
  std::vector<DataFile> files = {goes, stays};
  SnapshotUpdate append(env_);
  append.AddBorrowed(files);
  table = Publish(append.Stage(table));
  SnapshotUpdate update(env_);
  update.Replace({Day(2)});
  table = Publish(update.Stage(table));

  std::map<std::string, DataFile> listed;
  for (const ManifestEntry& entry : Entries(table)) {
    listed.emplace(entry.file.path, entry.file);
  }
  EXPECT_EQ(listed.at(Path("stays")).value_counts, stays.value_counts);
  EXPECT_EQ(listed.at(Path("stays")).upper_bounds, stays.upper_bounds);
  EXPECT_TRUE(listed.at(Path("goes")).value_counts.empty());
  EXPECT_EQ(listed.at(Path("goes")).record_count, goes.record_count);
}

TEST_F(UpdateTest, AnEmptiedPartitionStaysEmptyAndItsManifestGoesNextTime) {
  LoadedTable table = Create({1});
  SnapshotUpdate other(env_);
  other.Add({File(2, "d2")});
  table = Publish(other.Stage(table));
  SnapshotUpdate empty(env_);
  empty.Replace({Day(1)});
  table = Publish(empty.Stage(table));
  EXPECT_THAT(LiveNames(table), ElementsAre("d2"));
  EXPECT_EQ(table.metadata.current_snapshot()->summary.at("operation"), "delete");
  EXPECT_EQ(Manifests(table).size(), 2U) << "one tells what was deleted";

  SnapshotUpdate next(env_);
  next.Add({File(3, "d3")});
  table = Publish(next.Stage(table));
  EXPECT_EQ(Manifests(table).size(), 2U);
  EXPECT_THAT(LiveNames(table), ElementsAre("d2", "d3"));
}

TEST_F(UpdateTest, WayBackRestoresFilesWithTheirNumbersAndKeepsLaterWork) {
  LoadedTable published = Create({1, 2, 3});
  SnapshotUpdate wrong(env_);
  wrong.Replace({Day(1), Day(2)})
      .Add({File(1, "wrong1"), File(2, "wrong2")})
      .TagParent({"amend_before_7", 86'400'000});
  LoadedTable table = Publish(wrong.Stage(published));
  SnapshotRef tag = table.metadata.refs().at("amend_before_7");
  EXPECT_TRUE(tag.is_tag);
  EXPECT_EQ(tag.snapshot_id, published.metadata.current_snapshot()->id);
  EXPECT_EQ(tag.max_ref_age_ms, 86'400'000);
  SnapshotUpdate neighbour(env_);
  neighbour.Add({File(9, "theirs")});
  table = Publish(neighbour.Stage(table));

  SnapshotUpdate back(env_);
  back.Replace({Day(1), Day(2)})
      .Restore({{File(1, "d1"), 1}, {File(2, "d2"), 1}})
      .DropTags({"amend_before_7", "gone already"});
  table = Publish(back.Stage(table));
  Live live = LiveOf(table);
  EXPECT_THAT(live[Day(1)], ElementsAre(Pair(Path("d1"), 1)));
  EXPECT_THAT(live[Day(2)], ElementsAre(Pair(Path("d2"), 1)));
  EXPECT_THAT(live[Day(9)], ElementsAre(Pair(Path("theirs"), 3)));
  EXPECT_EQ(Manifests(table)[0].min_sequence_number, 1);
  EXPECT_EQ(Manifests(table)[0].sequence_number, 4);
  EXPECT_FALSE(table.metadata.refs().contains("amend_before_7"));
}

TEST_F(UpdateTest, SnapshotFromBeforeADeletionIsKeptWithoutAnAge) {
  LoadedTable before = Create({1});
  std::int64_t kept = before.metadata.current_snapshot()->id;
  SnapshotUpdate wrong(env_);
  wrong.Replace({Day(1)}).Add({File(1, "wrong")}).TagParent({"amend_before_1", 1'000});
  LoadedTable table = Publish(wrong.Stage(before));
  SnapshotUpdate back(env_);
  back.Replace({Day(1)})
      .Restore({{File(1, "d1"), 1}})
      .KeepSnapshot("amend_before_1", kept)
      .KeepSnapshot("another", kept);
  table = Publish(back.Stage(table));
  for (const char* name : {"amend_before_1", "another"}) {
    const SnapshotRef& tag = table.metadata.refs().at(name);
    EXPECT_EQ(tag.snapshot_id, kept);
    EXPECT_TRUE(tag.is_tag);
    EXPECT_FALSE(tag.max_ref_age_ms.has_value());
  }
  SnapshotUpdate lost(env_);
  lost.KeepSnapshot("third", 12345);
  EXPECT_EQ(lost.Stage(table).error().code(), StatusCode::kNotFound);
}

TEST_F(UpdateTest, FilesThatAreLiveAlreadyStayWhenTheirPartitionIsReplacedByThem) {
  LoadedTable table = Create({1, 2});
  SnapshotUpdate append(env_);
  append.Add({File(1, "landed later")});
  table = Publish(append.Stage(table));

  SnapshotUpdate back(env_);
  back.Replace({Day(1)}).Restore({{File(1, "d1"), 1}});
  table = Publish(back.Stage(table));
  EXPECT_THAT(LiveNames(table), ElementsAre("d1", "d2"));
  for (const ManifestEntry& entry : Entries(table)) {
    EXPECT_TRUE(entry.file.path != Path("d1") || entry.status != EntryStatus::kDeleted);
  }
  SnapshotUpdate again(env_);
  again.Replace({Day(1)}).Restore({{File(1, "d1"), 1}});
  LoadedTable same = Publish(again.Stage(table));
  EXPECT_EQ(LiveOf(same), LiveOf(table));
  EXPECT_FALSE(
      same.metadata.current_snapshot()->summary.contains("changed-partition-count"));
}

TEST_F(UpdateTest, LostRaceIsStagedAgainOnTheNewHeadWithTheSameManifest) {
  LoadedTable base = Create({1});
  SnapshotUpdate ours(env_);
  ours.Replace({Day(1)}).Add({File(1, "ours")});
  auto lost = ours.Stage(base);
  ASSERT_TRUE(lost.has_value());
  SnapshotUpdate theirs(env_);
  theirs.Add({File(2, "theirs")});
  LoadedTable head = Publish(theirs.Stage(base));

  auto won = ours.Stage(head);
  ASSERT_TRUE(won.has_value()) << won.error().ToString();
  EXPECT_EQ(won->files[1], lost->files[1]) << "the manifest of added files";
  EXPECT_NE(won->files[0], lost->files[0]) << "the rewritten one";
  EXPECT_EQ(won->base_location, head.metadata_location);
  LoadedTable table = Publish(std::move(won));
  EXPECT_THAT(LiveNames(table), ElementsAre("ours", "theirs"));
  EXPECT_EQ(LiveOf(table)[Day(1)][Path("ours")], 3) << "the number of the winning commit";

  for (const std::string& path : lost->files) {
    ASSERT_TRUE(env_.RemoveFile(path).ok());
  }
  LoadedTable rewritten = Publish(ours.Stage(head));
  EXPECT_THAT(LiveNames(rewritten), ElementsAre("ours", "theirs"));
}

TEST_F(UpdateTest, ColumnsComeWithTheFilesThatHaveThem) {
  LoadedTable table = Create({1});
  Schema wider = table.metadata.schema();
  wider.fields.push_back(Column(4, "note", TypeId::kString));
  SnapshotUpdate ours(env_);
  ours.Replace({Day(1)}).Add({File(1, "wide")}).SetSchema(wider, 3);
  LoadedTable after = Publish(ours.Stage(table));
  EXPECT_NE(after.metadata.schema().FindByName("note"), nullptr);
  EXPECT_EQ(after.metadata.current_snapshot()->schema_id, after.metadata.schema().id);
  SnapshotUpdate same(env_);
  same.Add({File(2, "wide2")}).SetSchema(wider, 3);
  EXPECT_TRUE(same.Stage(after).has_value()) << "the column is there: no conflict";
  EXPECT_THAT(ours.Stage(after).error().ToString(), HasSubstr("taken"))
      << "an update is committed once";

  Schema other = table.metadata.schema();
  other.fields.push_back(Column(4, "theirs", TypeId::kInt));
  SnapshotUpdate late(env_);
  late.Add({File(2, "x")}).SetSchema(other, 3);
  auto conflict = late.Stage(after);
  ASSERT_FALSE(conflict.has_value());
  EXPECT_EQ(conflict.error().code(), StatusCode::kConflict);
}

TEST_F(UpdateTest, SchemaAloneMakesNoSnapshotAndNothingAtAllIsInvalid) {
  LoadedTable table = Create({1});
  Schema wider = table.metadata.schema();
  wider.fields.push_back(Column(4, "note", TypeId::kString));
  SnapshotUpdate schema(env_);
  schema.SetSchema(wider, 3);
  LoadedTable after = Publish(schema.Stage(table));
  EXPECT_EQ(after.metadata.snapshots().size(), 1U);
  SnapshotUpdate nothing(env_);
  EXPECT_EQ(nothing.Stage(table).error().code(), StatusCode::kInvalid);
}

TEST_F(UpdateTest, EverythingWrittenIsSyncedWithItsFolders) {
  SnapshotUpdate update(env_);
  update.Add({File(1, "a")});
  auto commit = StageNewTable(env_, ref_, Flights(), update);
  ASSERT_TRUE(commit.has_value());
  EXPECT_EQ(env_.written,
            std::set<std::string>(commit->files.begin(), commit->files.end()));
  for (const std::string& path : commit->files) EXPECT_TRUE(env_.synced.contains(path));
  for (const char* folder : {"/db/flights/metadata", "/db/flights", "/db", ""}) {
    EXPECT_TRUE(env_.synced.contains(root_ + folder)) << folder;
  }
  EXPECT_THAT(commit->files.back(), HasSubstr("metadata.json"));
}

TEST_F(UpdateTest, ReadsOnlyManifestsThatMayHoldThePartitions) {
  LoadedTable table = Create({1});
  for (std::int64_t day = 2; day <= 20; ++day) {
    SnapshotUpdate append(env_);
    append.Add({File(day, "d" + std::to_string(day))});
    table = Publish(append.Stage(table));
  }
  env_.read.clear();
  SnapshotUpdate update(env_);
  update.Replace({Day(7), Day(8)});
  ASSERT_TRUE(update.Stage(table).has_value());
  EXPECT_EQ(env_.read.size(), 3U) << "the list and two manifests of twenty";
}

TEST_F(UpdateTest, OtherSpellingsOfThePlaceAreKeptAsTheyAre) {
  LoadedTable table = Create({1});
  std::string local = *ToLocalPath(table.metadata_location);
  auto spark = LoadTable(env_, ref_, "file:" + local);
  ASSERT_TRUE(spark.has_value()) << spark.error().ToString();
  SnapshotUpdate update(env_);
  DataFile theirs = File(2, "spark");
  theirs.path = "file:" + root_ + "/db/flights/data/day=2/part-0.parquet";
  update.Add({theirs});
  auto commit = update.Stage(*spark);
  ASSERT_TRUE(commit.has_value()) << commit.error().ToString();
  EXPECT_EQ(commit->base_location, "file:" + local);
  LoadedTable after = Publish(std::move(commit));
  EXPECT_EQ(after.metadata.metadata_log()[0].file, "file:" + local);
  EXPECT_THAT(LiveOf(after)[Day(2)], ElementsAre(Pair(theirs.path, 2)));
}

TEST_F(UpdateTest, TotalsAreRecountedWhereTheParentDoesNotTellThem) {
  LoadedTable table = Create({1, 2});
  Json document = *ParseJson(table.metadata.ToJson(), "test");
  for (const char* key : {"total-files-size", "total-records", "total-data-files"}) {
    document["snapshots"][0]["summary"].erase(key);
  }
  table.metadata = *TableMetadata::FromJson(document.dump(), "test");
  SnapshotUpdate update(env_);
  update.Add({File(3, "c")});
  const Summary summary =
      Publish(update.Stage(table)).metadata.current_snapshot()->summary;
  EXPECT_EQ(summary.at("total-files-size"), "3000");
  EXPECT_EQ(summary.at("total-records"), "30");
}

TEST_F(UpdateTest, UnpartitionedTablesAreReplacedWhole) {
  NewTable rank = Flights();
  rank.spec.fields.clear();
  DataFile first = File(0, "first");
  first.partition = {};
  DataFile second = File(0, "second");
  second.partition = {};
  SnapshotUpdate create(env_);
  create.Add({first});
  LoadedTable table = Publish(StageNewTable(env_, ref_, rank, create));
  SnapshotUpdate update(env_);
  update.Replace({PartitionTuple{}}).Add({second});
  table = Publish(update.Stage(table));
  EXPECT_THAT(LiveNames(table), ElementsAre("second"));
}

TEST_F(UpdateTest, NullIsAPartitionLikeAnyOther) {
  DataFile null_file = File(0, "null");
  null_file.partition = {Value()};
  LoadedTable table = Create({1});
  SnapshotUpdate append(env_);
  append.Add({null_file});
  table = Publish(append.Stage(table));
  SnapshotUpdate update(env_);
  update.Replace({PartitionTuple{Value()}});
  table = Publish(update.Stage(table));
  EXPECT_THAT(LiveNames(table), ElementsAre("d1"));
}

// --- what is refused -----------------------------------------------------------------

class RefusedUpdate : public UpdateTest {
 protected:
  /// The failure of staging on a table with days 1 and 2.
  Status Refusal(const std::function<void(SnapshotUpdate&)>& plan) {
    LoadedTable table = Create({1, 2});
    std::set<std::string> before = env_.written;
    SnapshotUpdate update(env_);
    plan(update);
    auto commit = update.Stage(table);
    EXPECT_EQ(env_.written.size(), before.size()) << "a refusal writes nothing";
    return commit ? Status() : std::move(commit).error();
  }
};

TEST_F(RefusedUpdate, ByWhatThePlanSays) {
  using Update = SnapshotUpdate;
  auto says = [this](const std::function<void(Update&)>& plan) {
    return Refusal(plan).ToString();
  };
  EXPECT_THAT(says([](Update& u) { u.Replace({}); }),
              HasSubstr("at least one partition"));
  EXPECT_THAT(says([](Update& u) { u.Replace({PartitionTuple{}}); }),
              HasSubstr("does not fit the 1 fields"))
      << "a tuple that fixes nothing would be everything";
  EXPECT_THAT(says([](Update& u) { u.Replace({PartitionTuple{Value("2001-01-01")}}); }),
              HasSubstr("day"));
  EXPECT_THAT(says([this](Update& u) { u.Replace({Day(1)}).Add({File(2, "x")}); }),
              HasSubstr("outside the replaced partitions"));
  EXPECT_THAT(says([this](Update& u) { u.Add({File(3, "x"), File(3, "x")}); }),
              HasSubstr("added twice"));
  EXPECT_THAT(says([this](Update& u) { u.Add({File(1, "d1")}); }),
              HasSubstr("live in the table already"));
  EXPECT_THAT(says([this](Update& u) {
                DataFile empty = File(3, "x");
                empty.record_count = 0;
                u.Add({empty});
              }),
              HasSubstr("empty files are not listed"));
  EXPECT_THAT(says([this](Update& u) {
                DataFile other = File(3, "x");
                other.spec_id = 1;
                u.Add({other});
              }),
              HasSubstr("partition spec 1"));
  EXPECT_THAT(says([this](Update& u) {
                DataFile deletes = File(3, "x");
                deletes.content = FileContent::kPositionDeletes;
                u.Add({deletes});
              }),
              HasSubstr("delete files"));
  EXPECT_THAT(says([this](Update& u) {
                u.Add({File(3, "x")}).SetSummary({{"total-records", "0"}});
              }),
              HasSubstr("belongs to Iceberg"));
  EXPECT_THAT(says([this](Update& u) { u.Restore({{File(3, "x"), 2}}); }),
              HasSubstr("the table's last is 1"));
}

TEST_F(UpdateTest, ManifestsOfAnotherSpecAreNamedAndNotReplaced) {
  LoadedTable table = Create({1});
  Json document = *ParseJson(table.metadata.ToJson(), "test");
  Json monthly = document["partition-specs"][0];
  monthly["spec-id"] = 1;
  monthly["fields"][0]["field-id"] = 1001;
  monthly["fields"][0]["name"] = "day_month";
  monthly["fields"][0]["transform"] = "month";
  document["partition-specs"].push_back(monthly);
  document["default-spec-id"] = 1;
  document["last-partition-id"] = 1001;
  table.metadata = *TableMetadata::FromJson(document.dump(), "test");
  DataFile file = File(0, "x");
  file.spec_id = 1;

  SnapshotUpdate replace(env_);
  replace.Replace({Day(0)}).Add({file});
  auto refused = replace.Stage(table);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("of partition spec 0"));

  SnapshotUpdate append(env_);
  append.Add({file});
  EXPECT_THAT(LiveNames(Publish(append.Stage(table))), ElementsAre("d1", "x"));
}

/// The head again with a manifest list of its own making.
LoadedTable Relisted(Env& env, LoadedTable table, const std::vector<ManifestFile>& list) {
  const Snapshot& head = *table.metadata.current_snapshot();
  std::string path = table.metadata.metadata_folder() + "/snap-test.avro";
  AMEND_CHECK(WriteManifestList(env, path,
                                {.snapshot_id = head.id,
                                 .parent_snapshot_id = {},
                                 .sequence_number = head.sequence_number},
                                list)
                  .ok());
  Json document = *ParseJson(table.metadata.ToJson(), "test");
  document["snapshots"][0]["manifest-list"] = path;
  table.metadata = *TableMetadata::FromJson(document.dump(), "test");
  return table;
}

TEST_F(UpdateTest, TablesWithDeleteFilesAreRefusedByName) {
  LoadedTable table = Create({1});
  std::vector<ManifestFile> list = Manifests(table);
  list.push_back(list[0]);
  list[1].path += "-deletes.avro";
  list[1].is_deletes = true;
  SnapshotUpdate update(env_);
  update.Add({File(2, "x")});
  auto refused = update.Stage(Relisted(env_, table, list));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("delete files"));
}

TEST_F(UpdateTest, CountsThatDoNotAgreeWithTheManifestAreDamage) {
  LoadedTable table = Create({1, 2});
  std::vector<ManifestFile> list = Manifests(table);
  list[0].added_rows = 19;
  SnapshotUpdate update(env_);
  update.Replace({Day(1)});
  auto refused = update.Stage(Relisted(env_, table, list));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), StatusCode::kDamaged);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("counts other files or rows"));
}

TEST_F(UpdateTest, LoadingNamesWhatIsGoneOrPacked) {
  LoadedTable table = Create({1});
  std::string path = *ToLocalPath(table.metadata_location);
  EXPECT_EQ(LoadTable(env_, ref_, path + ".gz.metadata.json").error().code(),
            StatusCode::kUnsupported);
  ASSERT_TRUE(env_.RemoveFile(path).ok());
  auto gone = LoadTable(env_, ref_, table.metadata_location);
  EXPECT_EQ(gone.error().code(), StatusCode::kDamaged);
  EXPECT_THAT(gone.error().ToString(), HasSubstr("db.flights"));
}

}  // namespace
}  // namespace amend::iceberg

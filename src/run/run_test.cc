#include <filesystem>

#include "base/env.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/batches.h"
#include "run/journal.h"
#include "run/task_grid.h"

namespace amend::run {
namespace {

using partition::Grain;
using partition::PartitionMapping;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::TimeRuns;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const PartitionSpace& Days() {
  static const PartitionSpace kDays = PartitionSpace::OfTime("d", Grain::kDay);
  return kDays;
}

PartitionSet DaySet(std::int64_t first, std::int64_t end) {
  return PartitionSet::OfTimes(Days().shape(), TimeRuns::Of(first, end));
}

TEST(Batches, CutByCountAndByBytesTheSameEveryTime) {
  partition::PartitionMap<state::PartitionSize> sizes(Days().shape());
  for (int day = 0; day < 10; ++day) {
    sizes.Set(DaySet(day, day + 1), {1, day == 4 ? 1000 : 10});
  }
  auto by_count = CutBatches(DaySet(0, 10), sizes, {.partitions = 4, .bytes = 1'000'000});
  ASSERT_TRUE(by_count.has_value());
  EXPECT_THAT(*by_count, ElementsAre(DaySet(0, 4), DaySet(4, 8), DaySet(8, 10)));
  auto by_bytes = CutBatches(DaySet(0, 10), sizes, {.partitions = 64, .bytes = 100});
  EXPECT_THAT(*by_bytes, ElementsAre(DaySet(0, 4), DaySet(4, 5), DaySet(5, 10)));
}

/// src → a → b, all by day; b needs the day before too.
lineage::Lineage Chain() {
  lineage::Source source;
  source.name = "src";
  source.space = Days();
  auto model = [](const std::string& name, const std::string& input,
                  PartitionMapping mapping) {
    lineage::BoundModelEntry entry;
    entry.model.name = name;
    entry.model.space = Days();
    entry.bound.inputs.push_back({input, std::move(mapping), std::nullopt, {"v"}, "w"});
    entry.definition = "def-" + name;
    return entry;
  };
  partition::TimeMapping trailing;
  trailing.all = false;
  trailing.back = partition::Reach::Of(1, Grain::kDay);
  auto window = PartitionMapping::Make(Days().shape(), Days().shape(), trailing);
  auto lineage = lineage::Lineage::Make(
      {source}, {model("a", "src", PartitionMapping::Identity(Days().shape())),
                 model("b", "a", *window)});
  EXPECT_TRUE(lineage.has_value());
  return *std::move(lineage);
}

state::Plan PlanOf(const PartitionSet& a, const PartitionSet& b) {
  state::Plan plan;
  plan.models.push_back({"a", "def-a", a, {}, std::nullopt, {}});
  plan.models.push_back({"b", "def-b", b, {}, std::nullopt, {}});
  return plan;
}

TEST(TaskGrid, ReadersStartWhenTheBatchesTheyReadHaveEnded) {
  lineage::Lineage lineage = Chain();
  state::Plan plan = PlanOf(DaySet(0, 4), DaySet(0, 4));
  TaskGrid grid(lineage, plan,
                {{DaySet(0, 2), DaySet(2, 4)}, {DaySet(0, 2), DaySet(2, 4)}});
  ASSERT_THAT(grid.tasks(), SizeIs(4));
  EXPECT_THAT(grid.task(2).reads, ElementsAre(0));
  EXPECT_THAT(grid.task(3).reads, ElementsAre(0, 1));  // day 2 needs day 1
  EXPECT_EQ(grid.NextReady(), 0U);
  grid.Advance(0, TaskState::kRunning);
  EXPECT_EQ(grid.NextReady(), 1U);
  grid.Advance(1, TaskState::kRunning);
  EXPECT_EQ(grid.NextReady(), std::nullopt);
  grid.Advance(0, TaskState::kStaged);
  EXPECT_EQ(grid.NextReady(), 2U);  // the second batch of b still waits
  grid.Advance(2, TaskState::kCutOff);
  grid.Advance(1, TaskState::kReady);  // a transient failure: tried again
  grid.Advance(1, TaskState::kReused);
  EXPECT_EQ(grid.NextReady(), 3U);
}

TEST(TaskGrid, WhatReadsAFailedTaskIsSkipped) {
  lineage::Lineage lineage = Chain();
  TaskGrid grid(lineage, PlanOf(DaySet(0, 2), DaySet(0, 2)),
                {{DaySet(0, 1), DaySet(1, 2)}, {DaySet(0, 1), DaySet(1, 2)}});
  grid.Advance(0, TaskState::kRunning);
  grid.Advance(0, TaskState::kFailed);
  EXPECT_EQ(grid.task(2).state, TaskState::kSkipped);
  EXPECT_EQ(grid.task(3).state, TaskState::kSkipped);
  EXPECT_FALSE(grid.Done());
  grid.Advance(1, TaskState::kRunning);
  grid.Advance(1, TaskState::kStaged);
  EXPECT_TRUE(grid.Done());
}

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("amend-" + Env::Real().NewUuid()))
            .string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  StagedRecord Record(const std::string& name) {
    StagedRecord record;
    record.run = "r1";
    record.write_set.name = name;
    record.write_set.model = "m";
    record.write_set.partitions = DaySet(0, 1);
    state::StagedPartition staged;
    staged.partition.time = 0;
    staged.digest = {"f", 0, 1, 2};
    record.write_set.staged.push_back(staged);
    return record;
  }

  std::string folder_;
};

TEST_F(JournalTest, FinishedWorkIsFoundAgain) {
  Env& env = Env::Real();
  auto journal = Journal::Open(env, folder_, "r1");
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE(journal->Attempt(0, 1, "ws1").ok());
  ASSERT_TRUE(journal->Staged(Record("ws1")).ok());
  ASSERT_TRUE(journal->Sync().ok());
  auto found = FinishedWork::Read(env, folder_);
  ASSERT_TRUE(found.has_value()) << found.error().ToString();
  ASSERT_NE(found->Find(env, "ws1", "r1"), nullptr);
  EXPECT_EQ(found->Find(env, "ws1", "r1")->write_set, Record("ws1").write_set);
  EXPECT_EQ(found->Find(env, "ws2", "r1"), nullptr);
  EXPECT_THAT(found->left_out(), IsEmpty());
}

TEST_F(JournalTest, TheOwnRunsRecordComesFirst) {
  Env& env = Env::Real();
  for (const char* run : {"r1", "r2", "r3"}) {
    auto journal = Journal::Open(env, folder_, run);
    ASSERT_TRUE(journal.has_value());
    ASSERT_TRUE(journal->Staged(Record("ws1")).ok());
  }
  auto found = FinishedWork::Read(env, folder_);
  EXPECT_EQ(found->Find(env, "ws1", "r2")->run, "r2");
  EXPECT_EQ(found->Find(env, "ws1", "r9")->run, "r3");
}

// A newer or older version wrote it: that must not stop every stage and publish.
TEST_F(JournalTest, LinesThatCannotBeBelievedAreLeftOutAndSaid) {
  Env& env = Env::Real();
  auto journal = Journal::Open(env, folder_, "r1");
  Json other = Json{{"type", "staged"},
                    {"write_set", WriteSetToJson(Record("ws1").write_set)},
                    {"verdicts", Json::array()}};
  other["write_set"]["format"] = 99;
  ASSERT_TRUE(journal->Append(other).ok());
  other["write_set"] = 7;
  ASSERT_TRUE(journal->Append(other).ok());
  ASSERT_TRUE(journal->Append(Json::array()).ok());
  ASSERT_TRUE(journal->Append(Json{{"type", 1}}).ok());
  ASSERT_TRUE(journal->Staged(Record("ws2")).ok());
  auto found = FinishedWork::Read(env, folder_);
  ASSERT_TRUE(found.has_value()) << found.error().ToString();
  EXPECT_EQ(found->Find(env, "ws1", "r1"), nullptr);
  EXPECT_NE(found->Find(env, "ws2", "r1"), nullptr);
  EXPECT_THAT(found->left_out(), ElementsAre(AllOf(HasSubstr("journal of r1: 2 lines"),
                                                   HasSubstr("format 99"))));
}

TEST_F(JournalTest, AJournalNamesTheFilesOfItsWriteSets) {
  Env& env = Env::Real();
  std::string path = JournalPath(folder_, "r1");
  EXPECT_THAT(*StagedPaths(env, path), IsEmpty());
  auto journal = Journal::Open(env, folder_, "r1");
  ASSERT_TRUE(journal->Attempt(0, 1, "ws1").ok());
  for (const char* name : {"/w/b", "/w/a"}) {
    StagedRecord record = Record(name);
    record.write_set.files.push_back({name, {0, {}}, 1, 10, 0, Json::object()});
    ASSERT_TRUE(journal->Staged(record).ok());
  }
  EXPECT_THAT(*StagedPaths(env, path), ElementsAre("/w/b", "/w/a"));
}

// A process may die at any byte; a later one appends behind the torn line.
TEST_F(JournalTest, EveryTruncationLosesAtMostTheTornLine) {
  Env& env = Env::Real();
  std::string path = folder_ + "/r1.jsonl";
  {
    auto journal = Journal::Open(env, folder_, "r1");
    ASSERT_TRUE(journal->Staged(Record("ws1")).ok());
    ASSERT_TRUE(journal->Staged(Record("ws2")).ok());
  }
  std::string whole = *env.ReadFile(path);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    std::filesystem::remove(path);
    ASSERT_TRUE(env.WriteNewFile(path, whole.substr(0, length)).ok());
    auto journal = Journal::Open(env, folder_, "r1");
    ASSERT_TRUE(journal->Staged(Record("ws3")).ok());
    auto contents = ReadJournal(env, path);
    ASSERT_TRUE(contents.has_value());
    std::size_t kept = contents->records.size();
    ASSERT_GE(kept, 1U) << "the new line is lost after a cut at " << length;
    ASSERT_EQ(contents->records.back()["write_set"],
              WriteSetToJson(Record("ws3").write_set));
  }
}

TEST_F(JournalTest, AFlippedByteIsNeverBelieved) {
  Env& env = Env::Real();
  std::string path = folder_ + "/r1.jsonl";
  {
    auto journal = Journal::Open(env, folder_, "r1");
    ASSERT_TRUE(journal->Staged(Record("ws1")).ok());
  }
  std::string whole = *env.ReadFile(path);
  for (std::size_t at = 1; at + 1 < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    std::filesystem::remove(path);
    ASSERT_TRUE(env.WriteNewFile(path, flipped).ok());
    auto found = FinishedWork::Read(env, folder_);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->Find(env, "ws1", "r1"), nullptr) << "byte " << at;
    ASSERT_THAT(found->left_out(), ElementsAre(HasSubstr("torn"))) << "byte " << at;
  }
}

TEST_F(JournalTest, AWriteSetWhoseFileIsGoneIsNotReused) {
  Env& env = Env::Real();
  StagedRecord record = Record("ws1");
  record.write_set.files.push_back(
      {folder_ + "/gone.parquet", {0, {}}, 1, 10, 0, Json::object()});
  auto journal = Journal::Open(env, folder_, "r1");
  ASSERT_TRUE(journal->Staged(record).ok());
  EXPECT_EQ(FinishedWork::Read(env, folder_)->Find(env, "ws1", "r1"), nullptr);
}

}  // namespace
}  // namespace amend::run

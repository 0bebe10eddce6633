#include "land/history.h"

#include "gtest/gtest.h"

namespace amend::land {
namespace {

using partition::Grain;
using partition::Partition;
using partition::PartitionSpace;

const PartitionSpace kDays = PartitionSpace::OfTime("d", Grain::kDay);

ledger::Entry Landed(std::int64_t number,
                     const std::vector<std::pair<std::string, int>>& files) {
  ledger::Entry entry;
  entry.number = number;
  entry.kind = ledger::EntryKind::kLand;
  entry.run = "l" + std::to_string(number);
  entry.tables.emplace_back().table = "s";
  entry.body["files"] = Json::array();
  for (const auto& [digest, rows] : files) {
    entry.body["files"].push_back({{"file", "x"}, {"digest", digest}, {"rows", rows}});
  }
  return entry;
}

table::TableFile Live(std::int64_t day, const std::string& run, std::int64_t rows) {
  table::TableFile file;
  file.file.path = "file:///w/s/data/_amend/" + run + "/00000-1.parquet";
  file.file.record_count = rows;
  file.point.time = day;
  return file;
}

class HistoryTest : public ::testing::Test {
 protected:
  /// The number of the landing that FindExact names; 0 = replacing would change
  /// something.
  std::int64_t Exact(const std::set<std::string>& digests,
                     std::vector<table::TableFile> live) {
    auto landings = LandingsOf(entries_, "s");
    EXPECT_TRUE(landings.has_value()) << landings.error().ToString();
    const PastLanding* found =
        FindExact(*landings, digests, table::Contents(kDays, std::move(live)));
    return found == nullptr ? 0 : found->number;
  }

  std::vector<ledger::Entry> entries_ = {Landed(1, {{"f1", 2}}), Landed(2, {{"f2", 3}})};
};

TEST_F(HistoryTest, AFileAloneInItsPartitionsIsThereWhateverElseIsThere) {
  EXPECT_EQ(Exact({"f1"}, {Live(1, "l1", 2), Live(2, "l2", 3)}), 1);
  EXPECT_EQ(Exact({"f1", "f2"}, {Live(1, "l1", 2), Live(2, "l2", 3)}), 2);
}

TEST_F(HistoryTest, RowsOfOthersBesideItMakeItAnother) {
  EXPECT_EQ(Exact({"f1"}, {Live(1, "l1", 2), Live(1, "l2", 3)}), 0);
  EXPECT_EQ(Exact({"f1"}, {Live(1, "l1", 2), Live(1, "", 1)}), 0);
  EXPECT_EQ(Exact({"f1", "f2"}, {Live(1, "l1", 2), Live(1, "l2", 3)}), 2);
}

TEST_F(HistoryTest, RowsThatWereReplacedAreNotThere) {
  EXPECT_EQ(Exact({"f1"}, {Live(1, "l1", 1), Live(2, "l2", 3)}), 0);
  EXPECT_EQ(Exact({"f1"}, {Live(2, "l2", 3)}), 0);
}

TEST_F(HistoryTest, BytesThatAreThereTwiceAreNotWhatAReplacementLeaves) {
  entries_.push_back(Landed(3, {{"f1", 2}}));
  EXPECT_EQ(Exact({"f1"}, {Live(1, "l3", 2)}), 3);
  EXPECT_EQ(Exact({"f1"}, {Live(1, "l1", 2), Live(1, "l3", 2)}), 0);
}

TEST_F(HistoryTest, FilesOfALargerLandingAreNotTakenForIt) {
  entries_.push_back(Landed(3, {{"f3", 2}, {"f4", 2}}));
  EXPECT_EQ(Exact({"f3"}, {Live(1, "l3", 4)}), 0);
  EXPECT_EQ(Exact({"f3", "f4"}, {Live(1, "l3", 4)}), 3);
}

TEST_F(HistoryTest, AnEmptyFileIsThereOnceItWasLanded) {
  EXPECT_EQ(Exact({"f5"}, {}), 0);
  entries_.push_back(Landed(3, {{"f5", 0}}));
  EXPECT_EQ(Exact({"f5"}, {Live(1, "l1", 2)}), 3);
  EXPECT_EQ(Exact({"f5", "f1"}, {Live(1, "l1", 2)}), 1);
}

TEST_F(HistoryTest, WhatWasTakenBackIsNoLanding) {
  ledger::Entry back;
  back.number = 3;
  back.kind = ledger::EntryKind::kRollback;
  back.rolls_back = 2;
  entries_.push_back(back);
  auto landings = LandingsOf(entries_, "s");
  ASSERT_TRUE(landings.has_value());
  EXPECT_EQ(landings->size(), 1U);
  EXPECT_EQ(FindLanded(*landings, "f2"), nullptr);
  EXPECT_EQ(FindLanded(*landings, "f1")->number, 1);
}

TEST_F(HistoryTest, ADamagedEntryIsNamed) {
  entries_[1].body["files"][0].erase("digest");
  EXPECT_EQ(LandingsOf(entries_, "s").error().code(), StatusCode::kDamaged);
  entries_[1].body = nullptr;
  EXPECT_EQ(LandingsOf(entries_, "s").error().code(), StatusCode::kDamaged);
}

}  // namespace
}  // namespace amend::land

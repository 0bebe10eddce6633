#include "engine/facts_file.h"

#include <filesystem>

#include "engine/engine.h"
#include "gtest/gtest.h"

namespace amend::engine {
namespace {

using state::PartitionFact;

/// Versions with the uuid of their table, and those of facts of before it was kept.
TEST(FactsFile, ComesBackEqualWithAndWithoutUuids) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("amend-" + Env::Real().NewUuid()))
          .string();
  std::filesystem::create_directories(folder);
  auto engine = Engine::Open(Env::Real(), {500'000'000, folder + "/spill"});
  ASSERT_TRUE(engine.has_value()) << engine.error().ToString();
  const auto space = partition::PartitionSpace::OfTime("d", partition::Grain::kDay);
  PartitionFact known;
  known.partition = {7, {}};
  known.digest = {"f1", 12, 1, UINT64_MAX};
  known.record = {"def", 3, {{"m1", kThisPublication}, {"feed", 9}}, {{"feed", "u-1"}}};
  known.write_set = "w";
  known.files = {"/w/a.parquet", "/w/b.parquet"};
  PartitionFact removed;
  removed.partition = {8, {}};
  removed.kind = state::FactKind::kRemoved;
  state::RestFact rest;
  rest.partitions = partition::PartitionSet::OfTimes(
      space.shape(), partition::TimeRuns::Of(9, partition::kPlusInfinity));
  rest.record = known.record;
  const state::TableFacts facts = {{known, removed}, {rest}};

  const std::string path = folder + "/facts.parquet";
  auto digest = WriteFacts(Env::Real(), engine->connection(), space, facts, path, folder);
  ASSERT_TRUE(digest.has_value()) << digest.error().ToString();
  auto read = ReadFacts(Env::Real(), engine->connection(), space, path, *digest);
  ASSERT_TRUE(read.has_value()) << read.error().ToString();
  EXPECT_EQ(*read, facts);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace amend::engine

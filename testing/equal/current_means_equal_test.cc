// Guarantee 1 on random projects: every partition that `status` calls current equals the
// evaluation of its definition in force, and every other one is in a class.
//
// AMEND_EQUAL_SEED=n lives one story again; AMEND_EQUAL_SEEDS=n lives that many a shard.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/equal/story.h"

namespace amend::equal {
namespace {

constexpr std::uint64_t kShards = 6;
constexpr std::uint64_t kSeedsAShard = 51;

std::optional<std::uint64_t> NumberFrom(const char* variable) {
  const char* text = std::getenv(variable);
  auto number = text == nullptr ? std::nullopt : ParseInt(text);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

class Folder {
 public:
  Folder()
      : path_((std::filesystem::temp_directory_path() /
               ("amend-equal-" + Env::Real().NewUuid()))
                  .string()) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    if (kept_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  void Keep() { kept_ = true; }

 private:
  std::string path_;
  bool kept_ = false;
};

/// Lives one story; `keep` leaves the project of a failure behind.
bool Live(std::uint64_t seed, bool keep, Oracle* oracle, Statistics* statistics) {
  Folder folder;
  Story story(RandomProject(seed), folder.path(), oracle, statistics);
  if (seed % 8 == 0) story.OpenAlways();
  const Status outcome = story.Run();
  if (outcome.ok()) return true;
  ADD_FAILURE() << "seed " << seed << ": " << outcome.ToString()
                << "\nAMEND_EQUAL_SEED=" << seed << " lives it again\n\n"
                << story.Describe();
  if (keep) {
    folder.Keep();
    std::printf("the project is kept in %s\n", folder.path().c_str());
  }
  return false;
}

void Print(const Statistics& s) {
  std::printf(
      "%d projects, %d with a radius neither empty nor everything; %d plans after "
      "corrections, %d neither, %d empty; %lld partitions current and equal, %lld in "
      "other classes; %d second backfills moved nothing; %d rollbacks, %d landings taken "
      "back, %d models built alone; %d plans overtaken, %d refused\n",
      s.projects, s.projects_narrow, s.plans, s.plans_narrow, s.plans_empty,
      static_cast<long long>(s.current), static_cast<long long>(s.other), s.no_ops,
      s.rollbacks, s.unlanded, s.selected, s.overtaken, s.overtaken_refused);
}

class CurrentMeansEqual : public ::testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Shards, CurrentMeansEqual,
                         ::testing::Range(std::uint64_t{0}, kShards));

TEST_P(CurrentMeansEqual, OnRandomProjectsAfterEachCorrection) {
  auto oracle = Oracle::Open();
  ASSERT_TRUE(oracle) << oracle.error().ToString();
  Statistics statistics;
  if (auto seed = NumberFrom("AMEND_EQUAL_SEED")) {
    if (*seed % kShards == GetParam()) Live(*seed, true, &*oracle, &statistics);
    return;
  }
  const std::uint64_t seeds = NumberFrom("AMEND_EQUAL_SEEDS").value_or(kSeedsAShard);
  int failed = 0;
  for (std::uint64_t i = 0; i < seeds && failed < 3; ++i) {
    if (!Live(i * kShards + GetParam(), false, &*oracle, &statistics)) ++failed;
  }
  Print(statistics);
  EXPECT_GE(2 * statistics.projects_narrow, statistics.projects)
      << "the corrections are too large, or too small, to say anything";
}

/// That the stories can fail: see RandomProject::WithLie.
TEST(CurrentMeansEqualItself, FindsAMappingThatSaysTooLittle) {
  for (std::uint64_t seed : {1, 2, 3}) {
    auto oracle = Oracle::Open();
    ASSERT_TRUE(oracle) << oracle.error().ToString();
    Statistics statistics;
    Folder folder;
    Story story(RandomProject::WithLie(seed), folder.path(), &*oracle, &statistics);
    const Status outcome = story.Run();
    EXPECT_THAT(outcome.ToString(), ::testing::HasSubstr("is called current, but"))
        << story.Describe();
  }
}

}  // namespace
}  // namespace amend::equal

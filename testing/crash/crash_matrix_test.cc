#include <gmock/gmock.h>

#include <iostream>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "testing/crash/matrix.h"

namespace amend::testing {
namespace {

// Points of one command are split over this many tests, so that they run side by side.
constexpr int kShards = 3;

using Counts = std::map<std::string, int>;  // by kind of point

/// Fewer of a kind mean that something is no longer counted.
Counts LeastOf(Step step) {
  if (step == Step::kCorrect) {
    return {{"write", 3}, {"sync", 4}, {"sql COMMIT", 4}, {"sql INSERT", 3}};
  }
  if (step == Step::kStageAgain) {
    return {{"write", 9}, {"rename", 3}, {"append", 3}, {"sync", 12}, {"sql COMMIT", 3}};
  }
  // What any publication of three tables does at the very least.
  return {{"write", 9},      {"sync", 12},       {"sync folder", 3}, {"read", 10},
          {"sql BEGIN", 10}, {"sql COMMIT", 4},  {"sql SELECT", 15}, {"sql INSERT", 5},
          {"sql UPDATE", 4}, {"sql ROLLBACK", 4}};
}

struct Shard {
  std::int64_t first = 0;  ///< points, from 1
  std::int64_t last = 0;
};

Shard ShardOf(std::int64_t points, int shard) {
  return {1 + points * shard / kShards, points * (shard + 1) / kShards};
}

TEST(CrashMatrixShards, HaveEveryPointOnce) {
  for (std::int64_t points = 1; points < 500; ++points) {
    std::int64_t next = 1;
    for (int shard = 0; shard < kShards; ++shard) {
      EXPECT_EQ(ShardOf(points, shard).first, next);
      next = ShardOf(points, shard).last + 1;
    }
    EXPECT_EQ(next, points + 1);
  }
}

class CrashMatrix : public ::testing::TestWithParam<std::tuple<Step, int>> {
 protected:
  void SetUp() override {
    matrix_ = std::make_unique<Matrix>(std::get<0>(GetParam()));
    ASSERT_FALSE(HasFailure());
    Counts kinds;
    for (const std::string& point : matrix_->points()) ++kinds[KindOf(point)];
    for (const auto& [kind, least] : LeastOf(std::get<0>(GetParam()))) {
      EXPECT_GE(kinds[kind], least) << kind;
    }
    std::int64_t all = static_cast<std::int64_t>(matrix_->points().size());
    shard_ = ShardOf(all, std::get<1>(GetParam()));
    std::cout << all << " fault points, here " << shard_.first << " to " << shard_.last
              << "; of all:";
    for (const auto& [kind, count] : kinds) std::cout << " " << kind << " " << count;
    std::cout << std::endl;
  }
  void TearDown() override {
    std::cout << matrix_->kills() << " kills left states that took " << matrix_->reruns()
              << " reruns" << std::endl;
  }

  std::unique_ptr<Matrix> matrix_;
  Shard shard_;
};

/// After a call without effect everything is as before it, so a kill there is one case.
TEST_P(CrashMatrix, KilledAnywhereAndRunAgain) {
  for (std::int64_t point = shard_.first; point <= shard_.last && !HasFailure();
       ++point) {
    const std::string& what = matrix_->point(point);
    matrix_->KillAndRunAgain({point, Fault::kKillBefore});
    if (HasEffect(what)) matrix_->KillAndRunAgain({point, Fault::kKillAfter});
    if (WritesBytes(what)) matrix_->KillAndRunAgain({point, Fault::kTearAndKill});
  }
  std::vector<std::int64_t> every(
      static_cast<std::size_t>(shard_.last - shard_.first + 1));
  std::iota(every.begin(), every.end(), shard_.first);
  EXPECT_THAT(matrix_->visited(), ::testing::ElementsAreArray(every));
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Step, int>>& info) {
  return StepName(std::get<0>(info.param)) + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(
    Commands, CrashMatrix,
    ::testing::Combine(::testing::Values(Step::kCorrect, Step::kStageAgain,
                                         Step::kPublish, Step::kPublishAgain,
                                         Step::kRollback),
                       ::testing::Range(0, kShards)),
    NameOf);

}  // namespace
}  // namespace amend::testing

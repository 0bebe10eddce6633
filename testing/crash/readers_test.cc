// What a reader of `amend pins` sees while a command runs, and after one that died.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "testing/crash/matrix.h"
#include "testing/crash/still_env.h"

namespace amend::testing {
namespace {

std::string NameOfStep(const ::testing::TestParamInfo<Step>& info) {
  return StepName(info.param);
}

/// Rows and the sum of all whole numbers of every table, as PyIceberg reads the pins.
Json PyIcebergTotals(const Json& pins) {
  std::string folder = ScratchFolder("peer");
  std::ofstream(folder + "/pins.json") << pins.dump();
  std::string command = std::string(std::getenv("AMEND_DEPS_DIR")) + "/venv/bin/python " +
                        std::getenv("AMEND_SOURCE_DIR") + "/testing/crash/read_pins.py " +
                        folder + "/pins.json";
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  while (std::size_t got = fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << text;
  return Json::parse(text, nullptr, false);
}

Json Totals(const Json& world, const Json& tables) {
  Json totals = Json::object();
  for (const auto& [table, pin] : tables.items()) {
    std::int64_t sum = 0;
    for (const Json& row : world[table]) {
      for (const Json& cell : row) {
        if (cell.is_number_integer()) sum += cell.get<std::int64_t>();
      }
    }
    totals[table] = Json::array({world[table].size(), sum});
  }
  return totals;
}

TEST(PinsOfADeadCommand, AreAWholePublicationToPyIceberg) {
  Matrix matrix(Step::kPublishAgain);
  ASSERT_FALSE(HasFailure());
  std::int64_t commit = matrix.PublishingCommit();
  for (Fault fault : {Fault::kKillBefore, Fault::kKillAfter}) {
    Json pins = matrix.PinsAfter({commit, fault});
    const Json& world = fault == Fault::kKillAfter ? matrix.after() : matrix.before();
    ASSERT_EQ(pins.size(), 4U) << pins;
    EXPECT_EQ(PyIcebergTotals(pins), Totals(world, pins));
  }
}

class PinsMeanwhile : public ::testing::TestWithParam<Step> {};

/// A reader that asks `amend pins` between any two statements, and reads what it is told
/// with PyIceberg at that moment: the world before, then the world after.
TEST_P(PinsMeanwhile, B66_AreAWholePublicationToPyIceberg) {
  Matrix matrix(GetParam());
  ASSERT_FALSE(HasFailure());
  Matrix::Watched watched = matrix.Watch([](const Json& pins) {
    return Json{{"pins", pins}, {"totals", PyIcebergTotals(pins)}};
  });
  EXPECT_GT(watched.asks, 100);
  ASSERT_EQ(watched.looks.size(), 2U);
  const Json& first = watched.looks.front();
  const Json& second = watched.looks.back();
  EXPECT_EQ(first["totals"], Totals(matrix.before(), first["pins"]));
  EXPECT_EQ(second["totals"], Totals(matrix.after(), second["pins"]));
  EXPECT_NE(first["totals"], second["totals"]);
}

INSTANTIATE_TEST_SUITE_P(Commands, PinsMeanwhile,
                         ::testing::Values(Step::kPublish, Step::kPublishAgain,
                                           Step::kRollback),
                         NameOfStep);

}  // namespace
}  // namespace amend::testing

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/env.h"
#include "project/load.h"

namespace amend::project {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string FlightsFolder() {
  const char* root = std::getenv("AMEND_SOURCE_DIR");
  return std::string(root ? root : ".") + "/examples/flights";
}

TEST(FlightsExample, IsAProjectWithoutProblems) {
  const Loaded loaded = LoadProject(Env::Real(), FlightsFolder());
  std::vector<std::string> problems;
  for (const Problem& problem : loaded.problems) {
    problems.push_back(ToString(problem));
  }
  EXPECT_THAT(problems, IsEmpty());

  std::map<std::string, std::string> spaces;
  for (const auto& source : loaded.project.sources) {
    spaces[source.name] = source.space.ToString();
  }
  for (const auto& model : loaded.project.models) {
    spaces[model.name] = model.space.ToString();
  }
  EXPECT_THAT(spaces, ElementsAre(Pair("airport_rank", "unpartitioned"),
                                  Pair("airports", "unpartitioned"),
                                  Pair("daily_airport", "day(flight_date)"),
                                  Pair("daily_route", "day(flight_date)"),
                                  Pair("flights", "day(date)"),
                                  Pair("monthly_state", "month(flight_month)"),
                                  Pair("route_7d", "day(flight_date)"),
                                  Pair("stg_flights", "day(flight_date)")));
}

}  // namespace
}  // namespace amend::project

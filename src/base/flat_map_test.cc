#include "base/flat_map.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"

namespace amend {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(FlatMap, KeepsKeysAscendingHoweverTheyCome) {
  FlatMap<int, std::string> map = {{3, "c"}, {1, "a"}, {2, "b"}};
  map[0] = "z";
  map[4] = "d";
  EXPECT_THAT(map, ElementsAre(Pair(0, "z"), Pair(1, "a"), Pair(2, "b"), Pair(3, "c"),
                               Pair(4, "d")));
  EXPECT_EQ(map.find(5), map.end());
  EXPECT_EQ(map.find(3)->second, "c");
}

TEST(FlatMap, OfEqualKeysTheLastCounts) {
  FlatMap<int, int> map({{2, 1}, {1, 1}, {2, 2}, {1, 3}, {2, 5}});
  EXPECT_THAT(map, ElementsAre(Pair(1, 3), Pair(2, 5)));
}

TEST(FlatMap, SaysWhatAStdMapSays) {
  EXPECT_TRUE(rc::check([](const std::vector<std::pair<char, int>>& made,
                           const std::vector<std::pair<char, int>>& set) {
    FlatMap<char, int> flat(made);
    std::map<char, int> twin;
    for (const auto& [key, value] : made) twin[key] = value;
    for (const auto& [key, value] : set) flat[key] = twin[key] = value;
    RC_ASSERT(flat.size() == twin.size());
    for (const auto& [key, value] : twin) RC_ASSERT(flat.find(key)->second == value);
    std::vector<std::pair<char, int>> all(twin.begin(), twin.end());
    RC_ASSERT(flat == (FlatMap<char, int>(all)));
  }));
}

}  // namespace
}  // namespace amend

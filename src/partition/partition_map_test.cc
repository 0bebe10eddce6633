#include "partition/partition_map.h"

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace amend::partition {
namespace {

const Shape kShape{Grain::kDay, 1};
const ValueTuple kEu{std::string("EU")};
const ValueTuple kUs{std::string("US")};
const ValueTuple kOther{std::string("elsewhere")};

TimeRuns RandomTimes() {
  int first = *rc::gen::inRange(-10, 10);
  int end = *rc::gen::inRange(first, 11);
  return TimeRuns::FromRuns({{first, end}}, *rc::gen::arbitrary<bool>());
}

PartitionSet RandomSet() {
  PartitionSet::Named named;
  if (*rc::gen::arbitrary<bool>()) named.emplace_back(kEu, RandomTimes());
  if (*rc::gen::arbitrary<bool>()) named.emplace_back(kUs, RandomTimes());
  TimeRuns rest = *rc::gen::arbitrary<bool>() ? RandomTimes() : TimeRuns();
  return PartitionSet::Of(kShape, rest, named);
}

std::vector<Partition> Universe() {
  std::vector<Partition> all;
  for (const ValueTuple& values : {kEu, kUs, kOther}) {
    all.push_back({std::nullopt, values});
    for (int at = -11; at < 12; ++at) all.push_back({at, values});
  }
  return all;
}

/// Neighbouring runs that could be one would make equal maps differ.
template <typename V>
bool IsCanonical(const TimeMap<V>& map) {
  const auto& entries = map.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].first >= entries[i].end) return false;
    if (i == 0) continue;
    if (entries[i - 1].end > entries[i].first) return false;
    if (entries[i - 1].end == entries[i].first &&
        entries[i - 1].value == entries[i].value) {
      return false;
    }
  }
  return true;
}

RC_GTEST_PROP(PartitionMapProperty, AgreesWithAMapOfPoints, ()) {
  PartitionMap<int> map(kShape);
  std::map<Partition, int> twin;
  int steps = *rc::gen::inRange(1, 12);
  for (int i = 0; i < steps; ++i) {
    PartitionSet set = RandomSet();
    bool erase = *rc::gen::inRange(0, 4) == 0;
    int value = *rc::gen::inRange(0, 3);
    erase ? map.Erase(set) : map.Set(set, value);
    for (const Partition& p : Universe()) {
      if (!set.Contains(p)) continue;
      if (erase) {
        twin.erase(p);
      } else {
        twin[p] = value;
      }
    }
    RC_ASSERT(IsCanonical(map.rest()));
    for (const auto& [values, times] : map.named()) {
      RC_ASSERT(IsCanonical(times));
      RC_ASSERT(!(times == map.rest()));
    }
  }
  PartitionSet ones = map.Where([](int v) { return v == 1; });
  PartitionSet domain = map.Domain();
  PartitionSet some = RandomSet();
  PartitionSet some_ones = map.WhereIn(some, [](int v) { return v == 1; });
  RC_ASSERT(some_ones == ones.Intersect(some));
  for (const Partition& p : Universe()) {
    auto expected = twin.find(p);
    const int* found = map.Find(p);
    RC_ASSERT((found != nullptr) == (expected != twin.end()));
    RC_ASSERT(domain.Contains(p) == (found != nullptr));
    if (found != nullptr) RC_ASSERT(*found == expected->second);
    RC_ASSERT(ones.Contains(p) == (found != nullptr && *found == 1));
  }
  // Walking the runs inside a set visits each of its points once, with its value.
  PartitionSet within = RandomSet();
  std::map<Partition, int> visited;
  map.ForEachRunIn(within, [&](const PartitionSet& at, int value) {
    RC_ASSERT(at.Verify().ok());
    for (const Partition& p : Universe()) {
      if (at.Contains(p)) RC_ASSERT(visited.emplace(p, value).second);
    }
  });
  for (const Partition& p : Universe()) {
    bool expected = within.Contains(p) && twin.contains(p);
    RC_ASSERT(visited.contains(p) == expected);
    if (expected) RC_ASSERT(visited[p] == twin[p]);
  }
  std::map<Partition, int> spans;
  map.ForEachTimeIn(
      PartitionSet::Of(kShape, TimeRuns(), {{kEu, within.At(kEu)}}),
      [&](std::int64_t first, std::int64_t end, int value) {
        for (std::int64_t at = first; at < end; ++at) spans[{at, kEu}] = value;
      },
      [&](int value) { spans[{std::nullopt, kEu}] = value; });
  std::erase_if(visited, [](const auto& one) { return one.first.values != kEu; });
  RC_ASSERT(spans == visited);
  PartitionMap<int> copy(kShape);
  copy.Overlay(map);
  RC_ASSERT(copy == map);
}

TEST(PartitionMap, AppendingKeepsOneRunPerValue) {
  PartitionMap<int> map(Shape{Grain::kDay, 0});
  for (int day = 0; day < 100'000; ++day) {
    map.Set(PartitionSet::OfTimes(map.shape(), TimeRuns::Point(day)), day / 50'000);
  }
  EXPECT_EQ(map.RunCount(), 2u);
  EXPECT_EQ(*map.Find({49'999, {}}), 0);
  EXPECT_EQ(*map.Find({50'000, {}}), 1);
  EXPECT_EQ(map.Find({100'000, {}}), nullptr);
}

TEST(PartitionMap, AnUnpartitionedTableHasOneValue) {
  PartitionMap<std::string> map;
  EXPECT_TRUE(map.empty());
  map.Set(PartitionSet::All(Shape{}), "built");
  EXPECT_EQ(*map.Find(Partition{}), "built");
  EXPECT_EQ(map.Domain(), PartitionSet::All(Shape{}));
  map.Erase(PartitionSet::All(Shape{}));
  EXPECT_TRUE(map.empty());
}

}  // namespace
}  // namespace amend::partition

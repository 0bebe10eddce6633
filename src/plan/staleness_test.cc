#include "plan/staleness.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace amend::plan {
namespace {

using partition::Grain;
using partition::Partition;
using partition::PartitionMapping;
using partition::PartitionSet;
using partition::Reach;
using partition::Shape;
using partition::TimeRuns;
using state::BuildRecords;
using state::Version;

const Shape kDay{Grain::kDay, 0};

PartitionSet Days(std::int64_t first, std::int64_t end, bool null = false) {
  return PartitionSet::OfTimes(kDay, TimeRuns::Of(first, end).WithNull(null));
}

PartitionMapping AnyMapping(Shape output) {
  partition::TimeMapping time;
  time.all = *rc::gen::inRange(0, 8) == 0;
  time.back = Reach::Of(*rc::gen::element(0, 0, 1, 6, 40), Grain::kDay);
  if (*rc::gen::inRange(0, 6) == 0) time.back = Reach::Unbounded();
  time.ahead = Reach::Of(*rc::gen::element(0, 0, 2), Grain::kDay);
  time.null_to_null = *rc::gen::arbitrary<bool>();
  time.null_to_all = *rc::gen::inRange(0, 4) == 0;
  time.all_to_null = *rc::gen::inRange(0, 4) == 0;
  return PartitionMapping::Make(kDay, output, time).value();
}

/// One who asks each partition which partitions it needs.
RC_GTEST_PROP(MayBeStaleProperty, AgreesWithAWalkOverAllPartitions, ()) {
  Shape output{*rc::gen::element(Grain::kDay, Grain::kMonth), 0};
  partition::PartitionMap<std::size_t> built(output);
  std::vector<Version> verified;
  for (int i = *rc::gen::inRange(1, 8); i > 0; --i) {
    int first = *rc::gen::inRange(0, 60);
    int end = *rc::gen::inRange(first, 70);
    built.Set(PartitionSet::OfTimes(
                  output, TimeRuns::Of(first, end).WithNull(*rc::gen::arbitrary<bool>())),
              verified.size());
    bool never = *rc::gen::inRange(0, 8) == 0;
    verified.push_back(never ? BuildRecords::kNever : *rc::gen::inRange(0, 6));
  }
  state::ChangeLog changes(kDay);
  for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
    int first = *rc::gen::inRange(-10, 80);
    int end = *rc::gen::inRange(first, 90);
    changes.push_back({0, *rc::gen::inRange(1, 7),
                       Days(first, end, *rc::gen::arbitrary<bool>()), std::nullopt, ""});
  }
  std::vector<lineage::InputRef> refs(static_cast<std::size_t>(*rc::gen::inRange(1, 3)));
  for (auto& ref : refs) ref.mapping = AnyMapping(output);

  PartitionSet suspects = MayBeStale(built, verified, changes.LatestTimes(), refs);
  std::vector<Partition> points;
  for (int at = 0; at < 70; ++at) points.push_back({at, {}});
  points.push_back({std::nullopt, {}});
  for (const Partition& at : points) {
    const std::size_t* record = built.Find(at);
    bool stale = false;
    for (std::size_t i = 0; record != nullptr && i < changes.size(); ++i) {
      for (const auto& ref : refs) {
        stale = stale || (changes.AppliesTo(i, verified[*record]) &&
                          ref.mapping.Required(PartitionSet::Of(output, at))
                              .Intersects(changes.partitions(i)));
      }
    }
    if (stale) RC_ASSERT(suspects.Contains(at));
    if (record == nullptr) RC_ASSERT(!suspects.Contains(at));
  }
}

TEST(MayBeStale, OldNewsMakesNobodySuspect) {
  partition::PartitionMap<std::size_t> built(kDay);
  std::vector<Version> verified;
  state::ChangeLog changes(kDay);
  for (int day = 0; day < 100; ++day) {
    built.Set(Days(day, day + 1), verified.size());
    verified.push_back(day + 1);
    changes.push_back({0, day + 1, Days(day, day + 1), std::nullopt, "a day"});
  }
  std::vector<lineage::InputRef> refs(1);
  partition::TimeMapping week;
  week.all = false;
  week.back = Reach::Of(6, Grain::kDay);
  refs[0].mapping = PartitionMapping::Make(kDay, kDay, week).value();
  auto suspects = MayBeStale(built, verified, changes.LatestTimes(), refs);
  EXPECT_TRUE(suspects.empty());
  changes.push_back({0, 200, Days(50, 52), std::nullopt, "a correction"});
  suspects = MayBeStale(built, verified, changes.LatestTimes(), refs);
  EXPECT_EQ(suspects, Days(50, 58));
}

}  // namespace
}  // namespace amend::plan

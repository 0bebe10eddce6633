#include "plan/request.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::plan {
namespace {

using partition::Dimension;
using partition::Grain;
using partition::PartitionSpace;
using testing::HasSubstr;

std::string Asked(const PartitionSpace& space, std::string_view from,
                  std::string_view to) {
  auto request = RangeRequest(space, from, to);
  if (!request) return request.error().ToString();
  return Describe(space, request->partitions) + (request->widened ? " widened" : "");
}

/// Cases B18, B22: keys are mapped to the table's own grain first, and both ends count.
TEST(Request, RangesAreInclusiveAndWidenedToTheTablesGrain) {
  PartitionSpace days = PartitionSpace::OfTime("ts", Grain::kDay);
  PartitionSpace months = PartitionSpace::OfTime("ts", Grain::kMonth);
  EXPECT_EQ(Asked(days, "2024-01-15", "2024-01-15"), "2024-01-15");
  EXPECT_EQ(Asked(days, "2024-01-15", ""), "2024-01-15 and later");
  EXPECT_EQ(Asked(days, "", "2024-01-15"), "up to 2024-01-15");
  EXPECT_EQ(Asked(days, "2024-01-15T11", "2024-01-16"),
            "2024-01-15 … 2024-01-16 (2) widened");
  EXPECT_EQ(Asked(months, "2024-01-15", "2024-03-02"), "2024-01 … 2024-03 (3) widened");
  EXPECT_EQ(Asked(months, "2024-01", "2024-03"), "2024-01 … 2024-03 (3)");
}

TEST(Request, RangesThatMeanNothingAreErrors) {
  PartitionSpace days = PartitionSpace::OfTime("ts", Grain::kDay);
  EXPECT_THAT(Asked(days, "2024-01-16", "2024-01-15"), HasSubstr("lies before"));
  EXPECT_THAT(Asked(days, "2024-01", ""), HasSubstr("is a month"));
  EXPECT_THAT(Asked(days, "2024-02-30", ""), HasSubstr("is not a day"));
  EXPECT_THAT(Asked(PartitionSpace::OfTime("ts", Grain::kMonth), "2024-W05", ""),
              HasSubstr("is a week"));
  EXPECT_THAT(Asked(PartitionSpace(), "2024-01-01", ""),
              HasSubstr("use --partition or --full"));
}

TEST(Request, OnePartitionIsNamedByItsColumns) {
  auto space =
      PartitionSpace::Make({Dimension::OfValue("region", partition::ValueType::kString),
                            Dimension::Time("ts", Grain::kDay)});
  auto asked = [&](std::string_view text) {
    auto set = PartitionRequest(*space, text);
    return set ? Describe(*space, *set) : set.error().ToString();
  };
  EXPECT_EQ(asked("region=EU/ts=2024-01-15"), "2024-01-15 region=EU");
  EXPECT_EQ(asked("ts=2024-01-15/region=EU"), "2024-01-15 region=EU");
  EXPECT_EQ(asked("region=null/2024-01-15"), "2024-01-15 region=null");
  EXPECT_EQ(asked("2024-01-15"), "2024-01-15 of every value");
  EXPECT_EQ(asked("ts=null/region=\"a/b=c\""), "null region=\"a/b=c\"");
  EXPECT_EQ(asked("region=EU"), "null region=EU, every day region=EU");
  EXPECT_EQ(*PartitionRequest(*space, "all"), partition::PartitionSet::All(*space));
  EXPECT_THAT(asked("regon=EU"), HasSubstr("did you mean region?"));
  EXPECT_THAT(asked("region=EU/region=US"), HasSubstr("named twice"));
  EXPECT_THAT(asked("2024-01-15/2024-01-16"), HasSubstr("two times"));
  EXPECT_THAT(asked("ts=yesterday"), HasSubstr("is not a day"));
}

TEST(Request, UnpartitionedTablesHaveOnePartition) {
  PartitionSpace whole;
  EXPECT_EQ(*PartitionRequest(whole, "all"), partition::PartitionSet::All(whole));
  EXPECT_THAT(PartitionRequest(whole, "2024").error().ToString(),
              HasSubstr("--partition all"));
}

TEST(Request, AValueDimensionLeftOutNeedsAllLeftOut) {
  auto space =
      PartitionSpace::Make({Dimension::OfValue("a", partition::ValueType::kInteger),
                            Dimension::OfValue("b", partition::ValueType::kInteger)});
  auto partly = PartitionRequest(*space, "a=1");
  EXPECT_EQ(partly.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(partly.error().ToString(), HasSubstr("leaves out b"));
  EXPECT_EQ(
      *PartitionRequest(*space, "b=2/a=1"),
      partition::PartitionSet::Of(
          space->shape(), partition::Partition{0, {std::int64_t{1}, std::int64_t{2}}}));
}

}  // namespace
}  // namespace amend::plan

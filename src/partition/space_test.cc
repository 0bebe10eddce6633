#include "partition/space.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::partition {
namespace {

using testing::HasSubstr;

PartitionSpace Space(std::vector<Dimension> dimensions) {
  auto space = PartitionSpace::Make(std::move(dimensions));
  EXPECT_TRUE(space.has_value());
  return space.value_or(PartitionSpace());
}

TEST(PartitionSpace, SaysItselfAsPartitionByDoes) {
  PartitionSpace space =
      Space({Dimension::OfValue("region", ValueType::kString),
             Dimension::Time("ts", Grain::kDay), Dimension::Bucket("id", 16)});
  EXPECT_EQ(space.ToString(), "region, day(ts), bucket(16, id)");
  EXPECT_EQ(space.shape(), (Shape{Grain::kDay, 2}));
  EXPECT_EQ(space.time()->column, "ts");
  EXPECT_EQ(PartitionSpace::FromJson(space.ToJson()), space);
  EXPECT_EQ(PartitionSpace().ToString(), "unpartitioned");
  EXPECT_EQ(PartitionSpace::FromJson(PartitionSpace().ToJson()), PartitionSpace());
  PartitionSpace zoned = Space({Dimension::Time("ts", Grain::kHour, "America/New_York")});
  EXPECT_EQ(zoned.ToString(), "hour(ts, 'America/New_York')");
  EXPECT_EQ(PartitionSpace::FromJson(zoned.ToJson()), zoned);
}

TEST(PartitionSpace, RefusesWhatItCannotHold) {
  auto two = PartitionSpace::Make(
      {Dimension::Time("a", Grain::kDay), Dimension::Time("b", Grain::kMonth)});
  EXPECT_EQ(two.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(two.error().ToString(), HasSubstr("day(a) and month(b)"));
  auto none = PartitionSpace::Make({Dimension::Bucket("id", 0)});
  EXPECT_EQ(none.error().code(), StatusCode::kInvalid);
  auto twice = PartitionSpace::Make({Dimension::OfValue("a", ValueType::kString),
                                     Dimension::OfValue("a", ValueType::kString)});
  EXPECT_EQ(twice.error().code(), StatusCode::kInvalid);
}

/// Cases B32, B33, B36, B140: values that were mistaken for others in the field.
TEST(PartitionSpace, AwkwardValuesStayDistinctAndReadBack) {
  PartitionSpace space = Space(
      {Dimension::OfValue("p", ValueType::kString), Dimension::Time("ts", Grain::kDay)});
  std::vector<Value> values = {Value()};
  for (const char* text :
       {"", "null", "NULL", "__HIVE_DEFAULT_PARTITION__", "AC/DC", "a%2Fb", "a/b", "a=b",
        " padded ", "with blank", "\"quoted\"", "\\", "Zürich", "2024-01-01' OR '1'='1",
        "a;b", "x--y", "C:\\d", "\n"}) {
    values.emplace_back(std::string(text));
  }
  values.emplace_back(std::string(300, 'x'));
  std::vector<std::string> seen;
  for (const Value& value : values) {
    for (std::optional<std::int64_t> time :
         {std::optional<std::int64_t>(11'386), std::optional<std::int64_t>()}) {
      Partition point{time, {value}};
      std::string text = space.Format(point);
      EXPECT_THAT(seen, testing::Not(testing::Contains(text)));
      seen.push_back(text);
      auto read = space.Parse(text);
      ASSERT_TRUE(read.has_value()) << text << " " << read.error().ToString();
      EXPECT_EQ(*read, point) << text;
    }
    Json json = ValueToJson(ValueType::kString, value);
    EXPECT_EQ(ValueFromJson(ValueType::kString, json), value);
  }
  EXPECT_THAT(seen, testing::Contains("p=null/2001-03-05"));
  EXPECT_THAT(seen, testing::Contains("p=\"null\"/2001-03-05"));
}

TEST(PartitionSpace, EveryTypeReadsBack) {
  PartitionSpace space =
      Space({Dimension::OfValue("b", ValueType::kBoolean),
             Dimension::OfValue("i", ValueType::kInteger),
             Dimension::OfValue("d", ValueType::kDate),
             Dimension::OfValue("t", ValueType::kTimestamp), Dimension::Bucket("k", 8)});
  Partition point{0,
                  {true, std::int64_t{-9'223'372'036'854'775'807}, std::int64_t{-1},
                   std::int64_t{-1}, std::int64_t{7}}};
  EXPECT_EQ(
      space.Format(point),
      "b=true/i=-9223372036854775807/d=1969-12-31/t=1969-12-31T23:59:59.999999Z/k=7");
  EXPECT_EQ(space.Parse(space.Format(point)), point);
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    ValueType type = space.value_dimensions()[i].type;
    EXPECT_EQ(ValueFromJson(type, ValueToJson(type, point.values[i])), point.values[i]);
  }
  EXPECT_FALSE(space.Holds({0, {true}}));
  EXPECT_FALSE(space.Holds({5, point.values}));
  EXPECT_FALSE(PartitionSpace().Holds({std::nullopt, {}}));
}

TEST(PartitionSpace, ErrorsSayWhatWasExpected) {
  PartitionSpace space = Space({Dimension::Time("ts", Grain::kMonth),
                                Dimension::OfValue("region", ValueType::kInteger)});
  for (const char* text :
       {"", "2001-03", "2001-03-05/region=1", "2001-03/region=EU", "2001-03/area=1",
        "2001-03/region=1/x", "2001-03/region=", "2001-03region=1"}) {
    auto point = space.Parse(text);
    ASSERT_FALSE(point.has_value()) << text;
    EXPECT_EQ(point.error().code(), StatusCode::kInvalid) << text;
  }
  EXPECT_THAT(space.Parse("2001-03-05/region=1").error().hint(),
              HasSubstr("like 2001-03"));
  EXPECT_THAT(space.ParseValue("regon", "1").error().hint(), HasSubstr("region"));
  EXPECT_THAT(space.ParseValue("region", "x").error().place().column, "region");
  EXPECT_EQ(space.ParseValue("region", "null"), Value());
  EXPECT_EQ(space.ParseValue("region", "12"), Value(std::int64_t{12}));
  EXPECT_FALSE(PartitionSpace().Parse("2001").has_value());
  EXPECT_EQ(PartitionSpace().Parse("all"), Partition{});
}

TEST(PartitionSpace, DamagedJsonIsRefused) {
  for (const char* text :
       {R"({})", R"([{}])", R"([{"column":"a"}])", R"([{"column":"a","grain":"eon"}])",
        R"([{"column":"a","type":"float"}])", R"([{"column":"a","buckets":0}])",
        R"([{"column":"a","grain":"day","zone":1}])"}) {
    auto json = ParseJson(text, "test");
    ASSERT_TRUE(json.has_value());
    EXPECT_FALSE(PartitionSpace::FromJson(*json).has_value()) << text;
  }
  for (const char* text : {"1.5", "18446744073709551615", "true", "[]"}) {
    auto json = ParseJson(text, "test");
    EXPECT_FALSE(ValueFromJson(ValueType::kInteger, *json).has_value()) << text;
    EXPECT_FALSE(ValueFromJson(ValueType::kDate, *json).has_value()) << text;
  }
}

}  // namespace
}  // namespace amend::partition

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "table/contents.h"
#include "table/data_files.h"
#include "table/spaces.h"
#include "table/types.h"

namespace amend::table {
namespace {

using partition::Dimension;
using partition::Grain;
using partition::Partition;
using partition::PartitionSpace;
using ::testing::HasSubstr;

TEST(Types, EverySqlTypeComesBack) {
  for (const char* type :
       {"BOOLEAN", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9,2)", "DATE",
        "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "VARCHAR", "UUID", "BLOB", "BIGINT[]",
        "MAP(VARCHAR, INTEGER[])"}) {
    auto parsed = TypeFromSql(type);
    ASSERT_TRUE(parsed.has_value()) << type;
    EXPECT_EQ(SqlFromType(*parsed), type);
  }
  EXPECT_EQ(SqlFromType(*TypeFromSql("STRUCT(a INTEGER, \"b c\" DECIMAL(4,1)[])")),
            "STRUCT(\"a\" INTEGER, \"b c\" DECIMAL(4,1)[])");
}

TEST(Types, RefusesWhatNoTableHoldsAndSaysWhatToWrite) {
  auto refused = TypeFromSql("HUGEINT");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.error().hint(), HasSubstr("DECIMAL(38,0)"));
  EXPECT_FALSE(TypeFromSql("TIME").has_value());
  EXPECT_FALSE(TypeFromSql("DECIMAL(39,0)").has_value());
}

TEST(Types, SchemaContinuesByNameAndKeepsIds) {
  auto v1 = ContinueSchema({}, 0, {{"a", "INTEGER", true}, {"b", "VARCHAR", true}});
  ASSERT_TRUE(v1.has_value());
  auto v2 = ContinueSchema(
      *v1, 2, {{"b", "VARCHAR", true}, {"a", "BIGINT", true}, {"c", "BIGINT[]", true}});
  ASSERT_TRUE(v2.has_value());
  EXPECT_EQ(v2->FindByName("a")->id, 1);
  EXPECT_EQ(v2->FindByName("b")->id, 2);
  EXPECT_EQ(v2->FindByName("c")->id, 3);
  EXPECT_EQ(v2->FindByName("c")->type.children[0].id, 4);
  // B103: a decimal's scale may not change under files that exist.
  auto money = ContinueSchema({}, 0, {{"m", "DECIMAL(9,2)", true}});
  EXPECT_TRUE(ContinueSchema(*money, 1, {{"m", "DECIMAL(12,2)", true}}).has_value());
  auto refused = ContinueSchema(*money, 1, {{"m", "DECIMAL(9,4)", true}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().place().column, "m");
}

TEST(Spaces, PointsAndTuplesAreInverse) {
  auto schema = ContinueSchema(
      {}, 0,
      {{"ts", "TIMESTAMP", true}, {"d", "DATE", true}, {"region", "VARCHAR", true}});
  for (Grain grain : partition::kAllGrains) {
    bool hour = grain == Grain::kHour;
    auto space = PartitionSpace::Make(
        {Dimension::Time(hour ? "ts" : "d", grain),
         Dimension::OfValue("region", partition::ValueType::kString)});
    ASSERT_TRUE(space.has_value());
    auto spec = SpecOf(*space, *schema);
    ASSERT_TRUE(spec.has_value()) << spec.error().ToString();
    EXPECT_TRUE(SpecFits(*space, *spec, *schema));
    for (const Partition& point :
         {Partition{-1, {std::string("EU")}}, Partition{0, {partition::Value()}},
          Partition{std::nullopt, {std::string()}}, Partition{400, {std::string("x")}}}) {
      auto back = PointOf(*space, TupleOf(*space, point));
      ASSERT_TRUE(back.has_value());
      EXPECT_EQ(*back, point);
    }
  }
}

TEST(Spaces, RefusalsNameTheColumnAndTheWayOut) {
  auto schema = ContinueSchema({}, 0, {{"d", "DATE", true}, {"x", "DOUBLE", true}});
  auto missing = SpecOf(PartitionSpace::OfTime("day", Grain::kDay), *schema);
  EXPECT_THAT(missing.error().hint(), HasSubstr("Did you mean d?"));
  auto hour = SpecOf(PartitionSpace::OfTime("d", Grain::kHour), *schema);
  EXPECT_THAT(hour.error().message(), HasSubstr("TIMESTAMP"));
  EXPECT_EQ(hour.error().place().column, "d");
}

TEST(Spaces, AForeignSpecWithoutCounterpartIsOnePartition) {
  auto schema = ContinueSchema({}, 0, {{"id", "BIGINT", true}, {"d", "DATE", true}});
  iceberg::PartitionSpec spec;
  spec.fields.push_back({1, 1000, "id_bucket", iceberg::Transform::Parse("bucket[8]")});
  EXPECT_TRUE(SpaceOf(spec, *schema).unpartitioned());
  spec.fields = {{2, 1000, "d_month", iceberg::Transform::Parse("month")}};
  EXPECT_EQ(SpaceOf(spec, *schema).ToString(), "month(d)");
}

TableFile FileOf(const std::string& name, std::optional<std::int64_t> day,
                 std::int64_t sequence) {
  TableFile file;
  file.file.path = "file:///w/" + name;
  file.file.record_count = 10;
  file.file.file_size = 100;
  file.sequence_number = sequence;
  file.point.time = day;
  return file;
}

TEST(Contents, OrderIsByPartitionSequenceAndOrdinalNeverByFolder) {
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  Contents contents(
      space,
      {FileOf("z/00001-1-00000.parquet", 2, 5), FileOf("a/00001-1-00001.parquet", 1, 7),
       FileOf("b/00001-1-00000.parquet", 1, 7), FileOf("c/00009-1-00000.parquet", 1, 3),
       FileOf("d/00001-1-00000.parquet", std::nullopt, 9)});
  auto paths = contents.PathsIn(partition::PartitionSet::All(space));
  EXPECT_THAT(*paths, ::testing::ElementsAre(
                          "/w/d/00001-1-00000.parquet", "/w/c/00009-1-00000.parquet",
                          "/w/b/00001-1-00000.parquet", "/w/a/00001-1-00001.parquet",
                          "/w/z/00001-1-00000.parquet"));
  EXPECT_EQ(contents.rows(), 50);
  EXPECT_EQ(contents.Sizes().Find({1, {}})->rows, 30);
  EXPECT_EQ(contents.Sizes().Find({std::nullopt, {}})->bytes, 100);
  EXPECT_EQ(contents.Sizes().Find({3, {}}), nullptr);
  EXPECT_EQ(contents.live().Count(), 3);
}

TEST(Contents, FindsTheFilesOfASetAsOneWhoLooksAtEachFile) {
  using partition::TimeRuns;
  auto space = PartitionSpace::Make(
      {partition::Dimension::Time("d", Grain::kDay),
       partition::Dimension::OfValue("region", partition::ValueType::kString)});
  const partition::Value eu = std::string("EU");
  const partition::Value us = std::string("US");
  std::vector<TableFile> files;
  for (const partition::Value& region : {us, partition::Value(), eu}) {
    for (std::int64_t day : {5, 1, 2, 9, 3}) {
      for (int i = 0; i < 2; ++i) {
        files.push_back(FileOf(std::to_string(files.size()), day, i));
        files.back().point.values = {region};
      }
    }
    files.push_back(FileOf(std::to_string(files.size()), std::nullopt, 1));
    files.back().point.values = {region};
  }
  Contents contents(*space, files);
  partition::Shape shape = space->shape();
  TimeRuns some = TimeRuns::FromRuns({{1, 3}, {5, 6}, {7, 12}}, true);
  for (const partition::PartitionSet& set :
       {partition::PartitionSet(shape), partition::PartitionSet::All(shape),
        partition::PartitionSet::OfTimes(shape, some),
        partition::PartitionSet::OfTimes(shape, TimeRuns::Null()),
        partition::PartitionSet::Of(shape, TimeRuns(), {{{eu}, some}}),
        partition::PartitionSet::Of(shape, TimeRuns(),
                                    {{{us}, TimeRuns::Point(2)}, {{eu}, some}}),
        partition::PartitionSet::Of(shape, some, {{{us}, TimeRuns::Null()}})}) {
    std::vector<const TableFile*> expected;
    for (const TableFile& file : contents.files()) {
      if (set.Contains(file.point)) expected.push_back(&file);
    }
    EXPECT_EQ(contents.FilesIn(set), expected) << Describe(*space, set);
  }
}

TEST(DataFiles, MetricsComeBackAndDamageIsSeen) {
  iceberg::DataFile file;
  file.record_count = 3;
  file.file_size = 99;
  file.column_sizes = {{1, 10}};
  file.null_counts = {{1, 0}};
  file.lower_bounds = {{1, std::string("\x00\xff", 2)}};
  Json json = MetricsToJson(file);
  auto back = MetricsFromJson(json);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->lower_bounds, file.lower_bounds);
  EXPECT_EQ(back->record_count, 3);
  for (const char* member : {"rows", "sizes", "lower", "nulls"}) {
    Json broken = json;
    broken.erase(member);
    EXPECT_EQ(MetricsFromJson(broken).error().code(), StatusCode::kDamaged) << member;
  }
  json["lower"]["1"] = "0g";
  EXPECT_EQ(MetricsFromJson(json).error().code(), StatusCode::kDamaged);
}

}  // namespace
}  // namespace amend::table

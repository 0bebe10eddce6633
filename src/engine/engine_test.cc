#include "engine/engine.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/env.h"
#include "base/text.h"
#include "engine/metrics.h"
#include "engine/sql_text.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partition/grain.h"
#include "table/spaces.h"
#include "table/types.h"

namespace amend::engine {
namespace {

using partition::Dimension;
using partition::Grain;
using partition::Partition;
using partition::PartitionSet;
using partition::PartitionSpace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

iceberg::Schema SchemaOf(const std::vector<lineage::Column>& columns) {
  auto schema = table::ContinueSchema({}, 0, columns);
  return *schema;
}

std::int64_t Day(int day) { return 19'723 + day - 1; }  // day of January 2024

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("amend-" + Env::Real().NewUuid()))
            .string();
    std::filesystem::create_directories(folder_);
    auto engine = Engine::Open(Env::Real(), {500'000'000, folder_ + "/spill"});
    ASSERT_TRUE(engine.has_value()) << engine.error().ToString();
    engine_ = std::make_unique<Engine>(*std::move(engine));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A file of `sql`'s rows with the schema's field ids.
  std::string WriteInput(const iceberg::Schema& schema, const std::string& sql) {
    std::string path = folder_ + "/in-" + std::to_string(++inputs_) + ".parquet";
    auto written = engine_->connection().Execute(
        "COPY (" + sql + ") TO " + SqlLiteral(path) + " (FORMAT parquet, FIELD_IDS " +
        FieldIdsSql(schema) + ")");
    EXPECT_TRUE(written.has_value()) << written.error().ToString();
    return path;
  }

  /// A model over one input `src`, partitioned by `space`, asked for `asked`.
  TaskSpec Spec(const PartitionSpace& space, const iceberg::Schema& input,
                std::vector<std::string> files, const iceberg::Schema& output,
                std::string sql, const PartitionSet& asked) {
    TaskSpec spec;
    spec.name = "ws";
    spec.model = "m";
    spec.sql = std::move(sql);
    spec.inputs.push_back({"src", input, std::move(files), false});
    spec.space = space;
    spec.asked = asked;
    spec.tolerated = asked;
    spec.watched = PartitionSet(space.shape());
    spec.schema = output;
    spec.folder = folder_ + "/out";
    spec.file_prefix = "00000-1";
    return spec;
  }

  /// A model of 250 days with two rows each.
  TaskSpec ManyDays(const partition::TimeRuns& asked) {
    iceberg::Schema schema = SchemaOf({{"d", "DATE", true}, {"v", "BIGINT", true}});
    PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
    std::string in = WriteInput(
        schema,
        "SELECT DATE '2024-01-01' + (i % 250)::INT AS d, i AS v FROM range(500) t(i)");
    return Spec(space, schema, {in}, schema, "SELECT d, v FROM src",
                PartitionSet::OfTimes(space.shape(), asked));
  }

  TaskResult Run(const TaskSpec& spec) {
    auto result = engine_->Run(spec);
    EXPECT_TRUE(result.has_value()) << result.error().ToString();
    return result ? *std::move(result) : TaskResult();
  }

  std::string folder_;
  std::unique_ptr<Engine> engine_;
  int inputs_ = 0;
};

const lineage::Column kDay{"d", "DATE", true};
const lineage::Column kValue{"v", "BIGINT", true};

TEST_F(EngineTest, SpillsWhereNoFolderWasYet) {
  auto engine = Engine::Open(Env::Real(), {30'000'000, folder_ + "/not/yet/spill"});
  ASSERT_TRUE(engine.has_value()) << engine.error().ToString();
  auto rows = engine->Query(
      {},
      "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY hash(i)) AS n "
      "FROM range(2000000) t(i))");
  EXPECT_TRUE(rows.has_value()) << rows.error().ToString();
}

/// What parts give is what one COPY of each partition would give.
TEST_F(EngineTest, WritesPartitionsWithoutEndInParts) {
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  // The last ten days are not asked for, only watched.
  TaskSpec spec = ManyDays(partition::TimeRuns::FromRuns(
      {{partition::kMinusInfinity, Day(241)}}, /*null=*/true));
  spec.watched = PartitionSet::OfTimes(
      space.shape(), partition::TimeRuns::Of(Day(241), partition::kPlusInfinity));
  spec.tolerated = PartitionSet::All(space);
  spec.known = {{std::nullopt, {}}, {Day(-5), {}}};
  TaskResult result = Run(spec);

  EXPECT_THAT(result.strays, SizeIs(0));
  EXPECT_THAT(result.write_set.files, SizeIs(240));
  EXPECT_THAT(result.measures, SizeIs(240));
  ASSERT_THAT(result.write_set.staged, SizeIs(242));
  EXPECT_EQ(result.write_set.staged[0].digest.rows, 0);  // NULL had rows before
  EXPECT_EQ(result.write_set.staged[1].partition, (Partition{Day(-5), {}}));
  EXPECT_EQ(result.write_set.files[239].ordinal, 239);
  ASSERT_TRUE(result.write_set.rest.has_value());
  const PartitionSet& rest = *result.write_set.rest;
  EXPECT_FALSE(rest.Contains({Day(1), {}}));
  EXPECT_FALSE(rest.Contains({Day(-5), {}}));   // said by name
  EXPECT_FALSE(rest.Contains({Day(245), {}}));  // has rows, not produced
  EXPECT_TRUE(rest.Contains({Day(251), {}}));
  EXPECT_TRUE(rest.Contains({Day(-6), {}}));

  TaskSpec one = spec;
  one.asked = PartitionSet::Of(space.shape(), Partition{Day(150), {}});
  one.known.clear();
  one.watched = PartitionSet(space.shape());
  one.file_prefix = "00001-1";
  auto of = [](const TaskResult& r, std::int64_t day) {
    for (const state::StagedPartition& staged : r.write_set.staged) {
      if (staged.partition.time == day) return staged.digest;
    }
    return state::Digest();
  };
  EXPECT_EQ(of(Run(one), Day(150)), of(result, Day(150)));
}

TEST_F(EngineTest, TellsOfStraysOnceHoweverManyPartsThereAre) {
  TaskResult result = Run(ManyDays(partition::TimeRuns::Of(Day(1), Day(250))));
  EXPECT_THAT(result.write_set.files, SizeIs(249));
  ASSERT_THAT(result.strays, SizeIs(1));
  EXPECT_EQ(result.strays[0].rows, 2);
}

TEST_F(EngineTest, WritesOneMeasuredFileForEachPartition) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  std::string in = WriteInput(
      schema, "SELECT DATE '2024-01-01' + (i % 3)::INT AS d, i AS v FROM range(10) t(i)");
  PartitionSet asked =
      PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Of(Day(1), Day(5)));
  TaskResult result =
      Run(Spec(space, schema, {in}, schema, "SELECT d, v FROM src", asked));

  EXPECT_THAT(result.write_set.files, SizeIs(3));
  ASSERT_THAT(result.write_set.staged, SizeIs(4));  // the fourth day has no rows
  EXPECT_EQ(result.write_set.staged[0].digest.rows, 4);
  EXPECT_EQ(result.write_set.staged[3].digest.rows, 0);
  EXPECT_EQ(result.write_set.files[0].partition.time, Day(1));
  EXPECT_THAT(result.write_set.files[0].path, HasSubstr("/out/00000-1-00000.parquet"));
  // No partition value is part of any path, and no folder of the COPY is left.
  auto entries = Env::Real().List(folder_ + "/out");
  EXPECT_THAT(*entries, SizeIs(3));
}

/// DuckDB closes the oldest of a hundred open files and goes on under another name.
TEST_F(EngineTest, KeepsTheOrderOfRowsWhereAPartitionHasSeveralFiles) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  std::string in = WriteInput(
      schema,
      "SELECT DATE '2024-01-01' + (i % 130)::INT AS d, i AS v FROM range(20000) t(i)");
  TaskSpec spec =
      Spec(space, schema, {in}, schema, "SELECT d, v FROM src", PartitionSet::All(space));
  spec.streamed = true;
  ASSERT_TRUE(
      engine_->connection().Execute("SET partitioned_write_flush_threshold = 2048"));
  TaskResult result = Run(spec);

  ASSERT_THAT(result.write_set.staged, SizeIs(130));
  std::map<std::int64_t, std::vector<std::string>> files;
  for (const state::StagedFile& file : result.write_set.files) {
    files[*file.partition.time].push_back(file.path);
  }
  auto most = std::max_element(files.begin(), files.end(), [](auto& a, auto& b) {
    return a.second.size() < b.second.size();
  });
  ASSERT_GE(most->second.size(), 5U);
  auto rows = engine_->Query({}, ScanSql(schema, most->second, false));
  ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
  ASSERT_GT(rows->rows.size(), 100U);
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    std::int64_t first = most->first - Day(1);
    ASSERT_EQ(std::get<std::int64_t>(rows->rows[i][1]),
              first + 130 * static_cast<std::int64_t>(i));
  }
}

/// More keys than may be kept in memory are counted by a scan over the files: its slow
/// twin finds what the tally finds.
TEST_F(EngineTest, TalliesOnTheWayWhatAScanOverTheFilesFinds) {
  iceberg::Schema schema = SchemaOf({kDay, kValue, {"t", "VARCHAR", true}});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  std::string in = WriteInput(
      schema,
      "SELECT CASE WHEN i % 5 < 4 THEN DATE '2024-01-01' + (i % 5)::INT END AS d, "
      "CASE WHEN i % 7 = 0 THEN NULL WHEN i % 5 < 3 THEN i ELSE i % 300000 END AS v, "
      "CASE WHEN i % 5 <> 2 THEN (i % 1000)::VARCHAR END AS t FROM range(400000) t(i)");
  TaskSpec spec =
      Spec(space, schema, {in}, schema, "SELECT d, v, t FROM src",
           PartitionSet::OfTimes(space.shape(), partition::TimeRuns::FromRuns(
                                                    {{Day(1), Day(7)}}, /*null=*/true)));
  spec.measures.nulls = {"v", "t"};
  spec.measures.distinct = {{"v", "t"}};
  spec.old_columns = {"d", "v"};
  auto small = Engine::Open(Env::Real(), {40'000'000, folder_ + "/small"});
  ASSERT_TRUE(small.has_value());
  TaskResult tallied = Run(spec);
  spec.file_prefix = "00000-2";
  auto scanned = small->Run(spec);
  ASSERT_TRUE(scanned.has_value()) << scanned.error().ToString();

  ASSERT_THAT(tallied.write_set.staged, SizeIs(7));
  EXPECT_EQ(tallied.write_set.staged, scanned->write_set.staged);
  ASSERT_THAT(tallied.measures, SizeIs(5));
  std::int64_t nulls = 0;
  std::int64_t duplicates = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const PartitionMeasure& mine = tallied.measures[i];
    const PartitionMeasure& twin = scanned->measures[i];
    EXPECT_EQ(mine.partition, twin.partition);
    EXPECT_EQ(mine.rows, twin.rows);
    EXPECT_EQ(mine.nulls, twin.nulls);
    for (const auto& [tuple, offenders] : twin.duplicates) {
      EXPECT_EQ(mine.duplicates.at(tuple).count, offenders.count);
      EXPECT_EQ(mine.duplicates.at(tuple).samples, offenders.samples);
      duplicates += offenders.count;
    }
    nulls += mine.nulls.at("v");
  }
  EXPECT_GT(nulls, 50'000);
  EXPECT_GT(duplicates, 10'000);
}

TEST_F(EngineTest, DigestIsOfContentNotOfOrderOrFiles) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  PartitionSet asked =
      PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Point(Day(1)));
  std::string up =
      WriteInput(schema, "SELECT DATE '2024-01-01' AS d, i AS v FROM range(9) t(i)");
  std::string down =
      WriteInput(schema, "SELECT DATE '2024-01-01' AS d, 8 - i AS v FROM range(9) t(i)");
  std::string twice =
      WriteInput(schema, "SELECT DATE '2024-01-01' AS d, 3 AS v FROM range(2) t(i)");
  auto digest = [&](const std::vector<std::string>& files) {
    TaskSpec spec = Spec(space, schema, files, schema, "SELECT v, d FROM src", asked);
    spec.folder += "-" + std::to_string(++inputs_);
    return Run(spec).write_set.staged[0].digest;
  };
  EXPECT_EQ(digest({up}), digest({down}));
  EXPECT_NE(digest({up}), digest({up, twice}));
  EXPECT_NE(digest({twice}), digest({up}));  // equal rows do not cancel
}

// A row dated outside of the asked partitions is neither written nor silently dropped.
/// The engine's own hash is one for all of these.
TEST_F(EngineTest, NestedValuesThatDifferHaveDigestsThatDiffer) {
  PartitionSpace space;
  auto digests = [&](const std::string& type, const std::vector<std::string>& values) {
    iceberg::Schema schema = SchemaOf({{"x", type, true}});
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      TaskSpec spec =
          Spec(space, schema, {}, schema, "SELECT " + values[i] + "::" + type + " AS x",
               PartitionSet::All(space));
      spec.file_prefix = "n" + std::to_string(i);
      state::Digest digest = Run(spec).write_set.staged[0].digest;
      seen.emplace(digest.low, digest.high);
    }
    return seen.size();
  };
  EXPECT_EQ(digests("INTEGER[]", {"NULL", "[]", "[NULL]", "[NULL, NULL]", "[0]"}), 5U);
  EXPECT_EQ(digests("STRUCT(a INTEGER, b VARCHAR)",
                    {"NULL", "{'a': NULL, 'b': NULL}", "{'a': 1, 'b': NULL}",
                     "{'a': NULL, 'b': ''}"}),
            4U);
  EXPECT_EQ(digests("MAP(VARCHAR, INTEGER)",
                    {"NULL", "map {}", "map {'a': NULL}", "map {'a': 1}"}),
            4U);
  EXPECT_EQ(digests("VARCHAR[][]", {"[['a, b']]", "[['a', 'b']]", "[['a'], ['b']]"}), 3U);
}

TEST_F(EngineTest, B41_RowsOutsideOfThePlanAreNamed) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  PartitionSet asked =
      PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Point(Day(5)));
  std::string in =
      WriteInput(schema, "SELECT DATE '2024-01-05' AS d, i AS v FROM range(3) t(i)");
  TaskResult result = Run(Spec(
      space, schema, {in}, schema,
      "SELECT CASE v WHEN 2 THEN DATE '2024-01-06' ELSE d END AS d, v FROM src", asked));
  ASSERT_THAT(result.strays, SizeIs(1));
  EXPECT_EQ(result.strays[0].partition.time, Day(6));
  EXPECT_EQ(result.strays[0].rows, 1);
  EXPECT_EQ(result.strays[0].samples[0]["v"], 2);
  EXPECT_THAT(result.write_set.files, SizeIs(1));
  EXPECT_THAT(*Env::Real().List(folder_ + "/out"), SizeIs(1));
}

TEST_F(EngineTest, RowsThatOtherPartitionsGetInFullAreLeftOut) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  std::string in = WriteInput(
      schema, "SELECT DATE '2024-01-01' + i::INT AS d, i AS v FROM range(7) t(i)");
  TaskSpec spec =
      Spec(space, schema, {in}, schema,
           "SELECT a.d, sum(b.v)::BIGINT AS v FROM src a JOIN src b "
           "ON b.d BETWEEN a.d - 6 AND a.d GROUP BY 1",
           PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Point(Day(7))));
  spec.tolerated =
      PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Of(Day(1), Day(8)));
  TaskResult result = Run(spec);
  EXPECT_TRUE(result.strays.empty());
  ASSERT_THAT(result.write_set.files, SizeIs(1));
  EXPECT_EQ(result.write_set.files[0].partition.time, Day(7));
}

// Partition values live in metadata, never in text of paths.
TEST_F(EngineTest, B32_B36_AwkwardValuesAreFourPartitions) {
  auto space =
      PartitionSpace::Make({Dimension::OfValue("p", partition::ValueType::kString)});
  iceberg::Schema schema = SchemaOf({{"p", "VARCHAR", true}, {"id", "BIGINT", true}});
  std::string in = WriteInput(
      schema,
      "SELECT * FROM (VALUES ('__HIVE_DEFAULT_PARTITION__', 1::BIGINT), (NULL, 2), "
      "('NULL', 3), ('', 4), ('AC/DC', 5), ('a%2Fb', 6), ('a/b', 7), ('a=b', 8), "
      "(repeat('ž', 300), 9)) t(p, id)");
  TaskResult result =
      Run(Spec(*space, schema, {in}, schema, "SELECT p, id FROM src",
               PartitionSet::All(*space).Intersect(PartitionSet::Of(
                   space->shape(), std::vector<Partition>{
                                       {0, {std::string("__HIVE_DEFAULT_PARTITION__")}},
                                       {0, {partition::Value()}},
                                       {0, {std::string("NULL")}},
                                       {0, {std::string()}},
                                       {0, {std::string("AC/DC")}},
                                       {0, {std::string("a%2Fb")}},
                                       {0, {std::string("a/b")}},
                                       {0, {std::string("a=b")}},
                                   }))));
  EXPECT_THAT(result.write_set.files, SizeIs(8));
  ASSERT_THAT(result.strays, SizeIs(1));  // the ninth was not asked for
  for (const state::StagedPartition& staged : result.write_set.staged) {
    EXPECT_EQ(staged.digest.rows, 1);
  }
}

TEST_F(EngineTest, B46_DuplicateKeysAreFoundNullSafe) {
  iceberg::Schema schema =
      SchemaOf({{"k", "BIGINT", true}, {"j", "BIGINT", true}, {"v", "BIGINT", true}});
  std::string in = WriteInput(
      schema,
      "SELECT * FROM (VALUES (1::BIGINT, NULL::BIGINT, 1::BIGINT), (1, NULL, 2), "
      "(1, NULL, 3), (2, 5, 4)) t(k, j, v)");
  TaskSpec spec = Spec({}, schema, {in}, schema, "SELECT * FROM src",
                       PartitionSet::All(partition::Shape{}));
  spec.measures.distinct = {{"k", "j"}};
  spec.measures.nulls = {"j"};
  spec.measures.accepted["only_one"] = {"k", {"1"}};
  TaskResult result = Run(spec);
  ASSERT_THAT(result.measures, SizeIs(1));
  const Offenders& twice = result.measures[0].duplicates.at({"k", "j"});
  EXPECT_EQ(twice.count, 1);
  EXPECT_EQ(twice.samples[0]["rows"], 3);
  EXPECT_EQ(result.measures[0].not_accepted.at("only_one").count, 1);
  EXPECT_EQ(result.measures[0].nulls["j"], 3);
}

// Hashes of keys say where to look; who is named is decided by the keys.
TEST_F(EngineTest, DuplicateKeysAreNamedInTheirPartitionAlone) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  PartitionSet asked =
      PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Of(Day(1), Day(4)));
  std::string in =
      WriteInput(schema,
                 "SELECT DATE '2024-01-01' + (i % 3)::INT AS d, "
                 "CASE WHEN i % 3 = 1 THEN i // 6 ELSE i END AS v FROM range(30) t(i)");
  TaskSpec spec = Spec(space, schema, {in}, schema, "SELECT d, v FROM src", asked);
  spec.measures.distinct = {{"v"}, {"d", "v"}};
  TaskResult result = Run(spec);
  ASSERT_THAT(result.measures, SizeIs(3));
  for (const PartitionMeasure& measure : result.measures) {
    bool second = measure.partition.time == Day(2);
    EXPECT_EQ(measure.duplicates.at({"v"}).count, second ? 5 : 0);
    EXPECT_EQ(measure.duplicates.at({"d", "v"}).count, second ? 5 : 0);
    EXPECT_THAT(measure.duplicates.at({"v"}).samples, SizeIs(second ? 3 : 0));
  }
}

// The engine has columns of these names itself.
TEST_F(EngineTest, ColumnsMayBeNamedAsTheEnginesOwn) {
  iceberg::Schema schema =
      SchemaOf({kDay, {"filename", "VARCHAR", true}, {"File_Index", "BIGINT", true}});
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  PartitionSet asked =
      PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Of(Day(1), Day(3)));
  std::string in = WriteInput(schema,
                              "SELECT DATE '2024-01-01' + (i % 2)::INT AS d, 'x' AS "
                              "filename, i % 3 AS File_Index FROM range(12) t(i)");
  TaskSpec spec = Spec(space, schema, {in}, schema, "SELECT * FROM src", asked);
  spec.measures.distinct = {{"File_Index"}};
  TaskResult result = Run(spec);
  ASSERT_THAT(result.write_set.staged, SizeIs(2));
  EXPECT_EQ(result.write_set.staged[0].digest.rows, 6);
  EXPECT_EQ(result.measures[1].duplicates.at({"File_Index"}).count, 3);
}

// The bounds of a partition's column say its point, for every grain.
TEST_F(EngineTest, PartitionsOfEveryGrainAreReadFromTheRows) {
  for (Grain grain : {Grain::kHour, Grain::kDay, Grain::kWeek, Grain::kMonth,
                      Grain::kQuarter, Grain::kYear}) {
    iceberg::Schema schema = SchemaOf({{"ts", "TIMESTAMP", true}});
    PartitionSpace space = PartitionSpace::OfTime("ts", grain);
    std::string in = WriteInput(schema,
                                "SELECT TIMESTAMP '1969-12-30 23:30:00' + "
                                "INTERVAL (i * 11) HOUR AS ts FROM range(9) t(i) "
                                "UNION ALL SELECT NULL");
    TaskSpec spec =
        Spec(space, schema, {in}, schema, "SELECT ts FROM src", PartitionSet::All(space));
    spec.folder += "-" + std::to_string(static_cast<int>(grain));
    TaskResult result = Run(spec);
    std::int64_t rows = 0;
    for (const PartitionMeasure& measure : result.measures) rows += measure.rows;
    EXPECT_EQ(rows, 10) << space.ToString();
    EXPECT_EQ(result.measures.size(), result.write_set.files.size());
  }
}

TEST_F(EngineTest, NoRowsLeaveNoFile) {
  iceberg::Schema schema = SchemaOf({kDay, kValue});
  TaskResult whole = Run(Spec({}, schema, {}, schema, "SELECT * FROM src",
                              PartitionSet::All(partition::Shape{})));
  EXPECT_THAT(whole.write_set.files, SizeIs(0));
  ASSERT_THAT(whole.write_set.staged, SizeIs(1));
  EXPECT_EQ(whole.write_set.staged[0].digest.rows, 0);
  EXPECT_THAT(*Env::Real().List(folder_ + "/out"), SizeIs(0));
}

// Columns are matched by name and field id, never by position.
TEST_F(EngineTest, B88_B106_ColumnsAreMatchedByNameAndId) {
  iceberg::Schema v1 = SchemaOf({{"id", "INTEGER", true}, {"name", "VARCHAR", true}});
  auto v2 = table::ContinueSchema(
      v1, 2, {{"id", "BIGINT", true}, {"name", "VARCHAR", true}, {"c", "DOUBLE", true}});
  ASSERT_TRUE(v2.has_value());
  std::string old_file = WriteInput(v1, "SELECT 7::INTEGER AS id, 'Xavier' AS name");
  std::string new_file =
      WriteInput(*v2, "SELECT 8::BIGINT AS id, 'Yves' AS name, 4.5::DOUBLE AS c");
  TaskSpec spec = Spec({}, *v2, {old_file, new_file}, *v2,
                       "SELECT c, name, id FROM src",  // another order than the table
                       PartitionSet::All(partition::Shape{}));
  TaskResult result = Run(spec);
  auto rows = engine_->Query({{"m", *v2, {result.write_set.files[0].path}, false}},
                             "SELECT id, name, c FROM m ORDER BY id");
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][0]), 7);
  EXPECT_EQ(std::get<std::string>(rows->rows[0][1]), "Xavier");
  EXPECT_TRUE(duck::IsNull(rows->rows[0][2]));
  EXPECT_EQ(std::get<double>(rows->rows[1][2]), 4.5);
}

TEST_F(EngineTest, LongStringsGetBoundsThatHold) {
  iceberg::Schema schema = SchemaOf({{"s", "VARCHAR", true}});
  std::string in = WriteInput(schema, "SELECT repeat('ž', 100) AS s");
  TaskResult result = Run(Spec({}, schema, {in}, schema, "SELECT * FROM src",
                               PartitionSet::All(partition::Shape{})));
  const Json& upper = result.write_set.files[0].metrics["upper"];
  std::string sixteen;
  for (int i = 0; i < 15; ++i) sixteen += "c5be";              // ž
  EXPECT_EQ(upper["1"].get<std::string>(), sixteen + "c5bf");  // incremented
}

TEST(TaskSql, MembershipOfUnboundedAndNullRuns) {
  PartitionSpace space = PartitionSpace::OfTime("d", Grain::kMonth);
  EXPECT_EQ(MembershipSql(space, PartitionSet::All(space)), "true");
  EXPECT_EQ(MembershipSql(space, PartitionSet::Empty(space)), "false");
  PartitionSet from = PartitionSet::OfTimes(
      space.shape(),
      partition::TimeRuns::FromRuns({{5, partition::kPlusInfinity}}, true));
  EXPECT_THAT(MembershipSql(space, from), HasSubstr("IS NULL"));
  EXPECT_THAT(MembershipSql(space, from), HasSubstr(">= make_date(151)"));
}

// Comparing a column with the bounds of runs is the same as asking for its ordinal.
TEST_F(EngineTest, MembershipAgreesWithTheOrdinalOfEveryGrain) {
  for (Grain grain : {Grain::kHour, Grain::kDay, Grain::kWeek, Grain::kMonth,
                      Grain::kQuarter, Grain::kYear}) {
    PartitionSpace space = PartitionSpace::OfTime("ts", grain);
    PartitionSet set = PartitionSet::OfTimes(
        space.shape(),
        partition::TimeRuns::FromRuns({{-3, -1}, {0, 1}, {2, 4}, {7, 8}}, false));
    for (const char* type : {"TIMESTAMP", "TIMESTAMPTZ", "DATE"}) {
      if (grain == Grain::kHour && std::string_view(type) == "DATE") continue;
      std::string ordinal = table::TimeOrdinalSql(space);
      auto rows = engine_->connection().Query(fmt::format(
          "SELECT count(*) FILTER (WHERE a), count(*) FILTER (WHERE a IS DISTINCT FROM b)"
          " FROM (SELECT {} AS a, coalesce({} IN (-3, -2, 0, 2, 3, 7), false) AS b FROM "
          "(SELECT (make_timestamp(i * {}) - INTERVAL (i % 2) MICROSECOND)::{} AS ts "
          "FROM range(-100, 200) t(i) UNION ALL SELECT NULL))",
          MembershipSql(space, set), ordinal,
          (partition::StartMicros({grain, 1}) - partition::StartMicros({grain, 0})) / 12,
          type));
      ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
      EXPECT_GT(std::get<std::int64_t>(rows->rows[0][0]), 0) << space.ToString();
      EXPECT_EQ(std::get<std::int64_t>(rows->rows[0][1]), 0) << space.ToString() << type;
    }
  }
}

// The engine's dates reach further than the calendar of periods.
TEST_F(EngineTest, MembershipTellsPeriodsOutsideTheCalendarApart) {
  const std::map<Grain, std::string> at = {
      {Grain::kHour, "make_timestamp(-8000000000000000000)"},
      {Grain::kDay, "make_date(80000000)"}};
  for (const auto& [grain, value] : at) {
    PartitionSpace space = PartitionSpace::OfTime("t", grain);
    std::string row = "(SELECT " + value + " AS t)";
    auto ordinal = engine_->connection().QueryValue(
        "SELECT " + table::TimeOrdinalSql(space) + " FROM " + row);
    ASSERT_TRUE(ordinal.has_value()) << ordinal.error().ToString();
    for (std::int64_t shift : {-1, 0, 1}) {
      std::int64_t first = std::get<std::int64_t>(*ordinal) + shift;
      PartitionSet set =
          PartitionSet::OfTimes(space.shape(), partition::TimeRuns::Of(first, first + 1));
      auto is_in = engine_->connection().QueryValue(
          "SELECT (" + MembershipSql(space, set) + ")::BIGINT FROM " + row);
      ASSERT_TRUE(is_in.has_value()) << is_in.error().ToString();
      EXPECT_EQ(std::get<std::int64_t>(*is_in), shift == 0 ? 1 : 0)
          << space.ToString() << shift;
    }
  }
}

}  // namespace
}  // namespace amend::engine

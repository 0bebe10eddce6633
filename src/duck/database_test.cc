#include "duck/database.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>

#include "base/env.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::duck {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Every story holds with one worker and with two.
class DatabaseTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("duck_" + Env::Real().NewUuid());
    std::filesystem::create_directories(folder_);
    options_.threads = GetParam();
    options_.temp_directory = folder_ / "spill";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Connection Connect() {
    auto database = Database::Open(options_);
    EXPECT_TRUE(database) << database.error().ToString();
    auto connection = database->Connect();
    EXPECT_TRUE(connection) << connection.error().ToString();
    return std::move(*connection);
  }

  std::filesystem::path folder_;
  DatabaseOptions options_;
};

INSTANTIATE_TEST_SUITE_P(Threads, DatabaseTest, testing::Values(1, 2));

Status ErrorOf(const Result<Rows>& result) { return result ? Status() : result.error(); }

TEST_P(DatabaseTest, EveryTypeComesBackTyped) {
  Connection c = Connect();
  auto rows = c.Query(
      "SELECT NULL, true, 1::TINYINT, -2::SMALLINT, 3, 4::BIGINT, 5::UTINYINT, "
      "6::UINTEGER, 18446744073709551615::UBIGINT, -1::HUGEINT, 1.5::FLOAT, 0.1::DOUBLE, "
      "1.23::DECIMAL(4,2), -1.23::DECIMAL(9,2), 1.23::DECIMAL(18,2), "
      "1.23::DECIMAL(38,2), "
      "'a''b', '\\x00\\xFF'::BLOB, DATE '2001-03-05', TIME '01:02:03', "
      "TIMESTAMP '1970-01-01 00:00:01', TIMESTAMPTZ '1970-01-01 00:00:01+00', "
      "INTERVAL '1 month 2 days 3 microseconds', "
      "'550e8400-e29b-41d4-a716-446655440000'::UUID, 'b'::ENUM('a', 'b'), "
      "TIMESTAMP_S '1970-01-01 00:00:01', TIMESTAMP_NS '1970-01-01 00:00:01'");
  ASSERT_TRUE(rows) << rows.error().ToString();
  using I = std::int64_t;
  EXPECT_THAT(
      rows->rows.at(0),
      ElementsAre(Value{}, Value{true}, Value{I{1}}, Value{I{-2}}, Value{I{3}},
                  Value{I{4}}, Value{I{5}}, Value{I{6}},
                  Value{HugeInt{
                      static_cast<__int128>(std::numeric_limits<std::uint64_t>::max())}},
                  Value{HugeInt{-1}}, Value{1.5}, Value{0.1}, Value{Decimal{123, 4, 2}},
                  Value{Decimal{-123, 9, 2}}, Value{Decimal{123, 18, 2}},
                  Value{Decimal{123, 38, 2}}, Value{std::string("a'b")},
                  Value{Blob{std::string("\0\xff", 2)}}, Value{Date{11386}},
                  Value{Time{3'723'000'000}}, Value{Timestamp{1'000'000, false}},
                  Value{Timestamp{1'000'000, true}}, Value{Interval{1, 2, 3}},
                  Value{std::string("550e8400-e29b-41d4-a716-446655440000")},
                  Value{std::string("b")}, Value{Timestamp{1'000'000, false}},
                  Value{Timestamp{1'000'000, false}}));
  EXPECT_EQ(rows->columns[12].type, "DECIMAL(4,2)");
  EXPECT_EQ(rows->columns[21].type, "TIMESTAMP WITH TIME ZONE");
  EXPECT_EQ(rows->columns[24].type, "ENUM('a', 'b')");
}

TEST_P(DatabaseTest, NestedValuesAreJson) {
  Connection c = Connect();
  auto rows = c.Query(
      "SELECT [1, NULL], {'a': 1, 'b': [DATE '2001-03-05']}, MAP {'k': "
      "1.5::DECIMAL(3,1)}, "
      "[1, 2]::INTEGER[2], [[1], []]");
  ASSERT_TRUE(rows) << rows.error().ToString();
  std::vector<std::string> texts;
  for (const Value& value : rows->rows.at(0)) texts.push_back(ToJson(value).dump());
  EXPECT_THAT(texts, ElementsAre("[1,null]", R"({"a":1,"b":["2001-03-05"]})",
                                 R"([{"key":"k","value":"1.5"}])", "[1,2]", "[[1],[]]"));
  EXPECT_EQ(rows->columns[1].type, R"(STRUCT("a" INTEGER, "b" DATE[]))");
  EXPECT_EQ(rows->columns[2].type, "MAP(VARCHAR, DECIMAL(3,1))");
  EXPECT_EQ(rows->columns[3].type, "INTEGER[2]");
}

TEST_P(DatabaseTest, WhatHasNoValueIsRefusedByName) {
  Connection c = Connect();
  Status status = ErrorOf(c.Query("SELECT '101'::BIT"));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("BIT"));
  EXPECT_EQ(
      ErrorOf(c.Query("SELECT TIMESTAMP_NS '1970-01-01 00:00:00.000000001'")).code(),
      StatusCode::kUnsupported);
}

TEST_P(DatabaseTest, ParametersAndLiteralsComeBackUnchanged) {
  Connection c = Connect();
  const std::vector<Value> values = {
      Value{},
      true,
      std::numeric_limits<std::int64_t>::min(),
      HugeInt{static_cast<__int128>(1) << 100},
      Decimal{-12345, 20, 3},
      -0.1,
      std::numeric_limits<double>::infinity(),
      std::string("Jan 1' OR '1'='1 --"),
      std::string("a\0b", 3),
      Blob{std::string("\0'\xff", 3)},
      Date{-800'000},
      Date{std::numeric_limits<std::int32_t>::max()},
      Date{11386},
      Time{1},
      Timestamp{-1, false},
      Timestamp{1'000'001, true},
      Timestamp{std::numeric_limits<std::int64_t>::max(), true},
      Interval{-1, 2, -3}};
  for (const Value& value : values) {
    auto bound = c.QueryValue("SELECT $1", {value});
    ASSERT_TRUE(bound) << ToText(value) << ": " << bound.error().ToString();
    EXPECT_EQ(*bound, value) << ToText(value);
    auto literal = c.QueryValue("SELECT " + ToSqlLiteral(value));
    ASSERT_TRUE(literal) << ToSqlLiteral(value) << ": " << literal.error().ToString();
    EXPECT_EQ(*literal, value) << ToSqlLiteral(value);
  }
}

TEST_P(DatabaseTest, ParametersMustFit) {
  Connection c = Connect();
  EXPECT_EQ(ErrorOf(c.Query("SELECT $1, $2", {true})).code(), StatusCode::kInvalid);
  EXPECT_EQ(ErrorOf(c.Query("SELECT $1", {Json::array()})).code(), StatusCode::kInvalid);
}

TEST_P(DatabaseTest, SessionsRunInUtcWhateverTheHost) {
  Connection c = Connect();
  auto day =
      c.QueryValue("SELECT date_trunc('day', TIMESTAMPTZ '2024-03-10 03:00:00Z')::DATE");
  ASSERT_TRUE(day);
  EXPECT_EQ(ToText(*day), "2024-03-10");
}

TEST_P(DatabaseTest, NoExtensionIsLoadedUnasked) {
  Connection c = Connect();
  EXPECT_EQ(ToText(c.QueryValue("SELECT current_setting('autoload_known_extensions')")
                       .value_or(Value{})),
            "false");
  EXPECT_EQ(ErrorOf(c.Query("SELECT * FROM 's3://nowhere/x.parquet'")).code(),
            StatusCode::kInvalid);
  EXPECT_EQ(c.LoadExtension("iceberg").code(), StatusCode::kInvalid);
}

TEST_P(DatabaseTest, ErrorsCarryTheLineOfTheStatement) {
  Connection c = Connect();
  ASSERT_TRUE(c.Execute("CREATE TABLE t (a INTEGER)"));
  EXPECT_EQ(ErrorOf(c.Query("SELECT a\nFROM t\nWHERE nope = 1")).place().line, 3);
  auto second = c.Execute("SELECT 1;\nSELECT\n nope FROM t");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), StatusCode::kInvalid);
  EXPECT_EQ(second.error().place().line, 3);
}

TEST_P(DatabaseTest, ExecuteRunsAllStatementsAndCountsTheLast) {
  Connection c = Connect();
  EXPECT_EQ(c.Execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2), (3)")
                .value_or(-1),
            3);
  EXPECT_EQ(c.Execute("DELETE FROM t WHERE a > $1", {std::int64_t{1}}).value_or(-1), 2);
  EXPECT_FALSE(c.Execute(""));
  EXPECT_FALSE(c.Execute(std::string("SELECT 1\0; DROP TABLE t", 23)));
  EXPECT_EQ(c.Execute("COPY (SELECT range FROM range(5)) TO '" +
                      (folder_ / "x.parquet").string() + "'")
                .value_or(-1),
            5);
}

TEST_P(DatabaseTest, ABigResultIsVisitedInOrderAndAFailingVisitorEndsIt) {
  Connection c = Connect();
  std::int64_t next = 0;
  auto columns = c.Visit(
      "SELECT range AS n, range / 2.0 AS half, CAST(range AS VARCHAR) AS name, "
      "CASE WHEN range % 3 = 0 THEN range END AS third FROM range(1000000)",
      {}, [&next](const Chunk& chunk) -> Status {
        for (std::int64_t i = 0; i < chunk.size(); ++i, ++next) {
          if (chunk.Int64(0, i) != next || chunk.Text(2, i) != std::to_string(next) ||
              chunk.Double(1, i) != static_cast<double>(next) / 2 ||
              chunk.IsNull(3, i) != (next % 3 != 0)) {
            return Internal("wrong row " + std::to_string(next));
          }
        }
        return {};
      });
  ASSERT_TRUE(columns) << columns.error().ToString();
  EXPECT_EQ(next, 1'000'000);
  EXPECT_EQ(columns->at(0), (ColumnInfo{"n", "BIGINT"}));

  auto ended = c.Visit("SELECT range FROM range(1000000)", {},
                       [](const Chunk&) { return Refused("enough"); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error(), Refused("enough"));
  EXPECT_TRUE(c.QueryValue("SELECT 1"));
}

TEST_P(DatabaseTest, AnErrorAfterTheFirstRowsIsNotTakenForTheEnd) {
  Connection c = Connect();
  std::int64_t seen = 0;
  auto columns = c.Visit(
      "SELECT CASE WHEN range = 3000000 THEN error('late') ELSE range END "
      "FROM range(4000000)",
      {}, [&seen](const Chunk& chunk) {
        seen += chunk.size();
        return Status();
      });
  ASSERT_FALSE(columns);
  EXPECT_THAT(columns.error().message(), HasSubstr("late"));
  EXPECT_GT(seen, 0);
}

TEST_P(DatabaseTest, DescribeBindsWithoutRunning) {
  Connection c = Connect();
  auto columns =
      c.Describe("SELECT error('run') AS a, 1::DECIMAL(5,1) AS \"odd \"\"b\"\"\"");
  ASSERT_TRUE(columns) << columns.error().ToString();
  EXPECT_EQ(columns->at(1), (ColumnInfo{"odd \"b\"", "DECIMAL(5,1)"}));
}

TEST_P(DatabaseTest, OutOfMemoryIsAStatusThatNamesTheLimit) {
  options_.memory_limit_bytes = 60'000'000;
  options_.temp_directory.clear();
  Connection c = Connect();
  Status status = ErrorOf(c.Query(
      "SELECT count(*) FROM (SELECT DISTINCT hash(range), range FROM range(20000000))"));
  EXPECT_EQ(status.code(), StatusCode::kExhausted) << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr("60.0 MB"));
  EXPECT_TRUE(c.QueryValue("SELECT 1"));
}

TEST_P(DatabaseTest, SpillsUnderTheGivenFolder) {
  options_.memory_limit_bytes = 80'000'000;
  Connection c = Connect();
  auto n =
      c.Execute("CREATE TABLE t AS SELECT hash(range) AS h, range FROM range(10000000)");
  ASSERT_TRUE(n) << n.error().ToString();
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "spill"));
}

TEST_P(DatabaseTest, WithoutExternalAccessNoFileIsRead) {
  options_.external_access = false;
  Connection c = Connect();
  Status status = ErrorOf(c.Query("SELECT * FROM read_csv('/etc/passwd')"));
  EXPECT_EQ(status.code(), StatusCode::kInvalid) << status.ToString();
  EXPECT_FALSE(c.Execute("COPY (SELECT 1) TO '" + (folder_ / "x.csv").string() + "'"));
  EXPECT_FALSE(c.Execute("SET enable_external_access = true"));
}

TEST_P(DatabaseTest, FilesThatAreNotWhatTheyShouldBeAreDamaged) {
  Connection c = Connect();
  std::string path = folder_ / "x.parquet";
  ASSERT_TRUE(c.Execute("COPY (SELECT range FROM range(10000)) TO '" + path + "'"));
  std::string bytes = Env::Real().ReadFile(path).value_or("");
  for (std::size_t keep :
       {std::size_t{0}, std::size_t{3}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_TRUE(Env::Real().ReplaceFile(path, bytes.substr(0, keep)).ok());
    Status status = ErrorOf(c.Query("SELECT * FROM read_parquet('" + path + "')"));
    EXPECT_EQ(status.code(), StatusCode::kDamaged) << keep << " " << status.ToString();
  }
  EXPECT_EQ(ErrorOf(c.Query("SELECT * FROM read_parquet('/no/such.parquet')")).code(),
            StatusCode::kNotFound);
}

TEST_P(DatabaseTest, InterruptStopsARunningStatementAndStaysUntilRearmed) {
  Connection c = Connect();
  const std::filesystem::path target =
      folder_ / "never.csv";  // made when the COPY starts
  std::thread stopper([&] {
    while (!std::filesystem::exists(target)) std::this_thread::yield();
    c.Interrupt();
  });
  auto done = c.Execute(
      "COPY (SELECT a.range FROM range(1000000) a, range(1000000) b "
      "WHERE hash(a.range, b.range) = 0) TO " +
      ToPathLiteral(target.string()) + " (FORMAT csv, USE_TMP_FILE false)");
  stopper.join();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), StatusCode::kTransient) << done.error().ToString();
  EXPECT_TRUE(c.interrupted());
  EXPECT_FALSE(c.QueryValue("SELECT 1"));
  c.Rearm();
  EXPECT_TRUE(c.QueryValue("SELECT 1"));
}

TEST_P(DatabaseTest, AnInterruptBetweenStatementsIsNotLost) {
  Connection c = Connect();
  c.Interrupt();
  EXPECT_FALSE(c.Execute("CREATE TABLE t (a INTEGER)"));
  c.Rearm();
  EXPECT_FALSE(c.QueryValue("SELECT count(*) FROM t"));
}

TEST_P(DatabaseTest, AConnectionOutlivesItsDatabase) {
  Connection c = Connect();  // The Database is gone by now.
  EXPECT_TRUE(c.QueryValue("SELECT 1"));
}

TEST(DatabaseOptionsTest, AreChecked) {
  DatabaseOptions none;
  none.threads = 0;
  EXPECT_FALSE(Database::Open(none));
  DatabaseOptions negative;
  negative.memory_limit_bytes = -1;
  EXPECT_FALSE(Database::Open(negative));
}

TEST(DatabaseUsageTest, IsMeasured) {
  auto database = Database::Open({});
  ASSERT_TRUE(database);
  auto connection = database->Connect();
  ASSERT_TRUE(connection);
  ASSERT_TRUE(connection->Execute("CREATE TABLE t AS SELECT range FROM range(1000000)"));
  auto usage = database->MemoryUsage();
  ASSERT_TRUE(usage) << usage.error().ToString();
  EXPECT_GT(usage->memory_bytes, 0);
  EXPECT_EQ(usage->spilled_bytes, 0);
}

}  // namespace
}  // namespace amend::duck

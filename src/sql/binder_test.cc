#include "sql/binder.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lineage/lineage.h"

namespace amend::sql {
namespace {

using partition::Grain;
using partition::PartitionSpace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Change = lineage::CodeChange;

class BinderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Binder::Open();
    ASSERT_TRUE(opened) << opened.error().ToString();
    binder_ = std::make_unique<Binder>(std::move(*opened));
    tables_ = {{"t",
                {{"d", "DATE"}, {"k", "INTEGER"}, {"v", "INTEGER"}, {"x", "DOUBLE"}},
                PartitionSpace::OfTime("d", Grain::kDay)},
               {"Dim", {{"k", "INTEGER"}, {"name", "VARCHAR"}}, PartitionSpace()}};
  }

  Result<lineage::BoundModel> Bind(const std::string& sql) {
    return binder_->Bind({sql, "models/m.sql", 10}, tables_, space_);
  }
  Status Refused(const std::string& sql) {
    auto bound = Bind(sql);
    EXPECT_FALSE(bound) << sql;
    return bound ? Status() : bound.error();
  }
  Change Compare(const std::string& before, const std::string& after) {
    auto a = Bind(before);
    auto b = Bind(after);
    EXPECT_TRUE(a) << a.error().ToString();
    EXPECT_TRUE(b) << b.error().ToString();
    return lineage::Compare(*a, *b);
  }

  std::unique_ptr<Binder> binder_;
  std::vector<InputTable> tables_;
  PartitionSpace space_ = PartitionSpace::OfTime("d", Grain::kDay);
};

TEST_F(BinderTest, GivesColumnsInOrderWithCanonicalTypes) {
  auto bound =
      Bind("SELECT d, x AS y, [k] AS list, CAST(v AS DECIMAL(9, 2)) AS v FROM t");
  ASSERT_TRUE(bound) << bound.error().ToString();
  std::vector<std::string> columns;
  for (const auto& c : bound->columns) columns.push_back(c.name + " " + c.type);
  EXPECT_THAT(columns,
              ElementsAre("d DATE", "y DOUBLE", "list INTEGER[]", "v DECIMAL(9,2)"));
}

TEST_F(BinderTest, NamesAreThoseOfTheCatalogWhateverTheText) {
  auto bound = Bind("SELECT T.D AS d, DIM.Name FROM T JOIN dIM USING (K)");
  ASSERT_TRUE(bound) << bound.error().ToString();
  EXPECT_EQ(bound->inputs.at(1).table, "Dim");
  EXPECT_THAT(bound->columns.at(1).reads, ElementsAre(lineage::ColumnRef{"Dim", "name"}));
}

TEST_F(BinderTest, ABrokenStatementNamesFileLineAndTheNearestName) {
  Status table = Refused("SELECT d\nFROM tt");
  EXPECT_EQ(table.place().file, "models/m.sql");
  EXPECT_EQ(table.place().line, 11);
  EXPECT_THAT(table.hint(), HasSubstr("did you mean t?"));

  Status column = Refused("SELECT d,\n\n  nam\nFROM t JOIN Dim USING (k)");
  EXPECT_EQ(column.place().line, 12);
  EXPECT_THAT(column.message(), HasSubstr("nam"));
  EXPECT_THAT(column.hint(), HasSubstr("did you mean name?"));

  Status syntax = Refused("SELECT d FROM t\nWHERE WHERE");
  EXPECT_EQ(syntax.code(), StatusCode::kInvalid);
  EXPECT_EQ(syntax.place().line, 11);

  Status function = Refused("SELECT d, summ(v) FROM t GROUP BY d");
  EXPECT_THAT(function.hint(), HasSubstr("sum"));
}

TEST_F(BinderTest, OnlyOneSelectIsAModel) {
  for (const char* sql :
       {"INSERT INTO t SELECT * FROM t", "CREATE TABLE y AS SELECT 1", "DROP TABLE t",
        "SELECT d FROM t; SELECT d FROM t", "COPY t TO 'x.csv'", "EXPLAIN SELECT 1",
        "PRAGMA version", "SET threads = 9", "ATTACH 'x.db'", "", "-- nothing"}) {
    Status status = Refused(sql);
    EXPECT_EQ(status.code(), StatusCode::kInvalid) << sql << ": " << status.ToString();
  }
  EXPECT_TRUE(Bind("/* c */ SELECT d FROM t; -- the end"));
}

TEST_F(BinderTest, NothingIsReadPastTheCatalog) {
  for (const char* sql :
       {"SELECT d FROM read_parquet('x.parquet')", "SELECT * FROM 'x.csv'",
        "SELECT * FROM glob('*')", "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM main.t", "SELECT * FROM duckdb_tables()",
        "SELECT * FROM information_schema.tables", "SELECT * FROM t AT (VERSION => 1)",
        "DESCRIBE t", "SUMMARIZE t", "SELECT d FROM t WHERE k = $1",
        "SELECT d FROM t WHERE k = ?",
        "SELECT d, (SELECT count(*) FROM read_csv('x')) FROM t"}) {
    Status status = Refused(sql);
    EXPECT_EQ(status.code(), StatusCode::kInvalid) << sql << ": " << status.ToString();
  }
  EXPECT_THAT(Refused("SELECT d\nFROM read_csv('x')").hint(), HasSubstr("amend land"));
  EXPECT_EQ(Refused("SELECT d\nFROM read_csv('x')").place().line, 11);
}

TEST_F(BinderTest, EveryOutputCanBeStored) {
  Status huge = Refused("SELECT d,\n  sum(k) AS total FROM t GROUP BY d");
  EXPECT_EQ(huge.place().column, "total");
  EXPECT_THAT(huge.message(), HasSubstr("HUGEINT"));
  EXPECT_FALSE(huge.hint().empty());
  EXPECT_EQ(Refused("SELECT d, v, k AS V FROM t").place().column, "V");
}

TEST_F(BinderTest, ThePartitionColumnIsAnOutputOfAFittingType) {
  Status missing = Refused("SELECT d AS dd, v FROM t");
  EXPECT_EQ(missing.place().column, "d");
  EXPECT_THAT(missing.hint(), HasSubstr("dd"));
  EXPECT_THAT(Refused("SELECT CAST(d AS VARCHAR) AS d FROM t").message(),
              HasSubstr("VARCHAR"));
}

TEST_F(BinderTest, TablesReadLeavesCtesOut) {
  auto read = binder_->TablesRead(
      {"WITH a AS (SELECT * FROM base), t AS (SELECT * FROM t JOIN a USING (k)) "
       "SELECT * FROM t, A, (SELECT * FROM other WHERE x IN (SELECT y FROM third))",
       "", 1});
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_THAT(*read, ElementsAre("base", "other", "t", "third"));
  auto scoped = binder_->TablesRead(
      {"SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) s, x", "", 1});
  ASSERT_TRUE(scoped);
  EXPECT_THAT(*scoped, ElementsAre("x"));
  auto recursive = binder_->TablesRead(
      {"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) "
       "SELECT * FROM r",
       "", 1});
  ASSERT_TRUE(recursive);
  EXPECT_THAT(*recursive, IsEmpty());
}

TEST_F(BinderTest, AFailedBindLeavesNothingBehind) {
  EXPECT_FALSE(Bind("SELECT nope FROM t"));
  tables_[0].columns.push_back({"nope", "INTEGER"});
  EXPECT_TRUE(Bind("SELECT d, nope FROM t"));
}

TEST_F(BinderTest, ADeepStatementBinds) {
  std::string sum = "v";
  for (int i = 0; i < 300; ++i) sum += " + k";
  EXPECT_TRUE(Bind("SELECT d, CAST(" + sum + " AS BIGINT) AS s FROM t"));
  std::string ctes = "WITH c0 AS (SELECT * FROM t)";
  for (int i = 1; i < 40; ++i) {
    ctes += ", c" + std::to_string(i) + " AS (SELECT a.* FROM c" + std::to_string(i - 1) +
            " a JOIN c" + std::to_string(i - 1) + " b USING (d))";
  }
  auto bound = Bind(ctes + " SELECT d, v FROM c39");
  ASSERT_TRUE(bound) << bound.error().ToString();
  EXPECT_EQ(bound->inputs.at(0).why, "same day");
}

// What a change of code means for what is built. Never less than the truth: everything
// here that is not `rows` is a promise that old rows, or other columns, stay as they are.

TEST_F(BinderTest, LayoutAliasesAndCommentsChangeNothing) {
  EXPECT_EQ(Compare("SELECT d, v + 1 AS y FROM t WHERE k > 1",
                    "-- why\nSELECT a.d,\n a.v + 1 AS y\nFROM t AS a\nWHERE a.k > 1")
                .kind,
            Change::Kind::kNone);
  EXPECT_EQ(Compare("SELECT d, k, count(*) AS n FROM t GROUP BY d, k",
                    "SELECT d, k, count(*) AS n FROM t GROUP BY k, d ORDER BY n")
                .kind,
            Change::Kind::kNone);
  EXPECT_EQ(Compare("SELECT d, v FROM t WHERE k > 1",
                    "WITH c AS (SELECT * FROM t) SELECT d, v FROM c WHERE k > 1")
                .kind,
            Change::Kind::kNone);
}

TEST_F(BinderTest, ANewColumnIsOnlyThat) {
  Change change = Compare("SELECT d, sum(x) AS s FROM t GROUP BY d",
                          "SELECT d, sum(x) AS s, avg(x) FILTER (WHERE k > 1) AS late "
                          "FROM t GROUP BY d");
  EXPECT_EQ(change.kind, Change::Kind::kColumnsAdded);
  EXPECT_THAT(change.columns, ElementsAre("late"));
}

TEST_F(BinderTest, AChangedExpressionIsThatColumn) {
  Change change =
      Compare("SELECT d, v AS a, k AS b FROM t", "SELECT d, v * 2 AS a, k AS b FROM t");
  EXPECT_EQ(change.kind, Change::Kind::kColumns);
  EXPECT_THAT(change.columns, ElementsAre("a"));
  EXPECT_THAT(
      Compare("SELECT d, v AS a, k AS b FROM t", "SELECT d, k AS a, v AS b FROM t")
          .columns,
      ElementsAre("a", "b"));
}

TEST_F(BinderTest, WhatDecidesRowsIsRows) {
  struct Pair {
    const char* before;
    const char* after;
  };
  const Pair pairs[] = {
      {"SELECT d, v FROM t WHERE k > 1", "SELECT d, v FROM t WHERE k > 2"},
      {"SELECT d, v FROM t", "SELECT DISTINCT d, v FROM t"},
      {"SELECT DISTINCT d, v FROM t", "SELECT DISTINCT d, v + 1 AS v FROM t"},
      {"SELECT d, count(*) AS n FROM t GROUP BY d",
       "SELECT d, count(*) AS n FROM t GROUP BY d, k"},
      {"SELECT d, v FROM t", "SELECT d, v FROM t UNION ALL SELECT d, v FROM t"},
      {"SELECT d, v FROM t JOIN Dim USING (k)",
       "SELECT d, v FROM t LEFT JOIN Dim USING (k)"},
      {"SELECT d, v FROM t ORDER BY v LIMIT 3",
       "SELECT d, v FROM t ORDER BY v DESC LIMIT 3"},
      {"SELECT d, v FROM t LIMIT 3", "SELECT d, v FROM t LIMIT 4"},
      {"SELECT d, v FROM t UNION SELECT d, k FROM t",
       "SELECT d, v FROM t UNION ALL SELECT d, k FROM t"},
      {"SELECT d, v FROM t SEMI JOIN Dim USING (k)",
       "SELECT d, v FROM t ANTI JOIN Dim USING (k)"},
  };
  for (const Pair& pair : pairs) {
    EXPECT_EQ(Compare(pair.before, pair.after).kind, Change::Kind::kRows) << pair.after;
  }
}

/// Pairs whose expressions read alike but mean something else.
TEST_F(BinderTest, SameTextInAnotherPlaceIsAnotherValue) {
  struct Pair {
    const char* before;
    const char* after;
  };
  const Pair pairs[] = {
      // Before or after the padding of an outer join.
      {"SELECT t.d, coalesce(n.name, '-') AS a FROM t LEFT JOIN Dim n ON n.k = t.k",
       "SELECT t.d, n.name AS a FROM t LEFT JOIN "
       "(SELECT k, coalesce(name, '-') AS name FROM Dim) n ON n.k = t.k"},
      // A window before or after a filter.
      {"SELECT * FROM (SELECT d, k, count(*) OVER () AS n FROM t) WHERE k > 1",
       "SELECT d, k, count(*) OVER () AS n FROM t WHERE k > 1"},
      // The two sides of a self join, also through a CTE.
      {"SELECT a.d, a.v AS l, b.v AS r FROM t a JOIN t b ON a.d = b.d AND a.k < b.k",
       "SELECT a.d, b.v AS l, a.v AS r FROM t a JOIN t b ON a.d = b.d AND a.k < b.k"},
      {"WITH c AS (SELECT * FROM t) SELECT a.d, a.v AS l, b.v AS r FROM c a JOIN c b "
       "ON a.d = b.d AND a.k < b.k",
       "WITH c AS (SELECT * FROM t) SELECT a.d, b.v AS l, a.v AS r FROM c a JOIN c b "
       "ON a.d = b.d AND a.k < b.k"},
      // A look-up in other rows.
      {"SELECT d, k, v IN (SELECT k FROM Dim) AS a FROM t",
       "SELECT d, k, v IN (SELECT k FROM Dim WHERE name = 'x') AS a FROM t"},
      {"SELECT d, k, (SELECT max(name) FROM Dim WHERE Dim.k = t.k) AS a FROM t",
       "SELECT d, k, (SELECT max(name) FROM Dim WHERE Dim.k = t.v) AS a FROM t"},
      // The cast's target, a constant, an aggregate's order, its DISTINCT.
      {"SELECT d, CAST(x AS INTEGER) AS a FROM t",
       "SELECT d, CAST(x AS BIGINT) AS a FROM t"},
      {"SELECT d, v > 1 AS a FROM t", "SELECT d, v > 2 AS a FROM t"},
      {"SELECT d, list(v ORDER BY k, v) AS a FROM t GROUP BY d",
       "SELECT d, list(v ORDER BY k DESC, v) AS a FROM t GROUP BY d"},
      {"SELECT d, count(k) AS a FROM t GROUP BY d",
       "SELECT d, count(DISTINCT k) AS a FROM t GROUP BY d"},
      {"SELECT d, list_transform([v], lambda q: q + 1) AS a FROM t",
       "SELECT d, list_transform([v], lambda q: q + 2) AS a FROM t"},
      {"SELECT d, sum(x) OVER (PARTITION BY k ORDER BY d ROWS 2 PRECEDING) AS a FROM t",
       "SELECT d, sum(x) OVER (PARTITION BY k ORDER BY d ROWS 3 PRECEDING) AS a FROM t"},
  };
  for (const Pair& pair : pairs) {
    EXPECT_NE(Compare(pair.before, pair.after).kind, Change::Kind::kNone) << pair.after;
    EXPECT_EQ(Compare(pair.before, pair.before).kind, Change::Kind::kNone) << pair.before;
  }
}

TEST_F(BinderTest, FindingsSayWhatAndWhere) {
  auto bound = Bind("SELECT d,\n  random() AS r,\n  now() AS at\nFROM t");
  ASSERT_TRUE(bound) << bound.error().ToString();
  std::vector<std::string> texts;
  for (const auto& finding : bound->findings) texts.push_back(finding.text);
  EXPECT_THAT(texts, ElementsAre("random() at line 11", "now() at line 12"));
}

}  // namespace
}  // namespace amend::sql

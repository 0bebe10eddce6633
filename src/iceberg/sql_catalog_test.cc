#include "iceberg/sql_catalog.h"

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/env.h"
#include "db/sqlite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class SqlCatalogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() /
               ("amend-catalog-" + Env::Real().NewUuid()))
                  .string();
    std::filesystem::create_directories(folder_);
    connection_ = Open();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<db::Connection> Open() {
    auto opened = db::OpenSqlite(
        {.path = folder_ + "/catalog.db", .create = true, .busy_timeout_ms = 0});
    AMEND_CHECK(opened.has_value());
    return *std::move(opened);
  }
  db::Transaction Begin(db::TransactionMode mode = db::TransactionMode::kWrite) {
    auto tx = connection_->Begin(mode);
    AMEND_CHECK(tx.has_value());
    return *std::move(tx);
  }
  SqlCatalog Catalog(db::Transaction& tx, const std::string& name = "amend") {
    auto catalog = SqlCatalog::Open(tx, name);
    AMEND_CHECK(catalog.has_value());
    return *std::move(catalog);
  }
  /// One publication on its own.
  Status Publish(const std::vector<PointerSwap>& swaps) {
    db::Transaction tx = Begin();
    AMEND_RETURN_IF_ERROR(Catalog(tx).Swap(tx, swaps));
    return tx.Commit();
  }
  void Run(const std::string& sql) {
    db::Transaction tx = Begin();
    ASSERT_TRUE(tx.Execute(sql).has_value());
    ASSERT_TRUE(tx.Commit().ok());
  }
  std::string Location(const TableRef& table) {
    db::Transaction tx = Begin(db::TransactionMode::kRead);
    Result<std::string> location = Catalog(tx).Load(tx, table);
    return location.has_value() ? *location
                                : std::string(CodeName(location.error().code()));
  }

  const TableRef a_{"demo", "a"};
  const TableRef b_{"demo", "b"};
  std::string folder_;
  std::unique_ptr<db::Connection> connection_;
};

TEST_F(SqlCatalogTest, MakesTheStandardTablesOnce) {
  {
    db::Transaction read = Begin(db::TransactionMode::kRead);
    EXPECT_EQ(SqlCatalog::Open(read, "amend").error().code(), StatusCode::kNotFound);
  }
  for (int round = 0; round < 2; ++round) {
    db::Transaction tx = Begin();
    EXPECT_EQ(Catalog(tx).name(), "amend");
    EXPECT_THAT(
        *tx.Columns("iceberg_tables"),
        ElementsAre("catalog_name", "table_namespace", "table_name", "metadata_location",
                    "previous_metadata_location", "iceberg_type"));
    EXPECT_THAT(
        *tx.Columns("iceberg_namespace_properties"),
        ElementsAre("catalog_name", "namespace", "property_key", "property_value"));
    ASSERT_TRUE(tx.Commit().ok());
  }
  db::Transaction read = Begin(db::TransactionMode::kRead);
  EXPECT_TRUE(SqlCatalog::Open(read, "amend").has_value());
}

TEST_F(SqlCatalogTest, RefusesTheOldLayoutAndSaysHowToUpgrade) {
  Run("CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL, table_namespace "
      "VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location "
      "VARCHAR(1000), previous_metadata_location VARCHAR(1000), PRIMARY KEY "
      "(catalog_name, table_namespace, table_name))");
  db::Transaction tx = Begin();
  Status refused = SqlCatalog::Open(tx, "amend").error();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.hint(), HasSubstr("ADD COLUMN iceberg_type"));
  ASSERT_TRUE(tx.Rollback().ok());
  Run("ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)");
  db::Transaction again = Begin();
  EXPECT_TRUE(SqlCatalog::Open(again, "amend").has_value());
}

TEST_F(SqlCatalogTest, CreatesSwapsAndDropsATable) {
  ASSERT_TRUE(Publish({{a_, std::nullopt, "file:/w/a/1.json"}}).ok());
  EXPECT_EQ(Location(a_), "file:/w/a/1.json");
  ASSERT_TRUE(Publish({{a_, "file:/w/a/1.json", "file:///w/a/2.json"}}).ok());
  EXPECT_EQ(Location(a_), "file:///w/a/2.json");
  {
    db::Transaction tx = Begin();
    Result<db::Rows> rows = tx.Query(
        "SELECT previous_metadata_location, iceberg_type, catalog_name FROM "
        "iceberg_tables");
    EXPECT_THAT(
        *rows, ElementsAre(db::Row({std::string("file:/w/a/1.json"), std::string("TABLE"),
                                    std::string("amend")})));
    ASSERT_TRUE(Catalog(tx).Drop(tx, a_, "file:///w/a/2.json").ok());
    ASSERT_TRUE(tx.Commit().ok());
  }
  EXPECT_EQ(Location(a_), "not_found");
}

TEST_F(SqlCatalogTest, ALostSwapNamesTableAndLocationsAndPublishesNothing) {
  ASSERT_TRUE(Publish({{a_, std::nullopt, "a1"}, {b_, std::nullopt, "b1"}}).ok());
  ASSERT_TRUE(Publish({{b_, "b1", "b2"}}).ok());
  db::Transaction tx = Begin();
  Status lost = Catalog(tx).Swap(tx, {{b_, "b1", "b3"}, {a_, "a1", "a3"}});
  EXPECT_EQ(lost.code(), StatusCode::kConflict);
  EXPECT_EQ(lost.message(), "another writer changed demo.b: expected b1, found b2");
  EXPECT_EQ(lost.place().table, "demo.b");
  EXPECT_EQ(tx.Commit().code(), StatusCode::kConflict);
  ASSERT_TRUE(tx.Rollback().ok());
  EXPECT_EQ(Location(a_), "a1");
  EXPECT_EQ(Location(b_), "b2");
}

TEST_F(SqlCatalogTest, EveryKindOfLostRaceIsAConflict) {
  ASSERT_TRUE(Publish({{a_, std::nullopt, "a1"}}).ok());
  Run("INSERT INTO iceberg_tables VALUES('amend', 'demo', 'v', 'v1', NULL, 'VIEW')");
  auto message = [&](PointerSwap swap) {
    Status status = Publish({std::move(swap)});
    EXPECT_EQ(status.code(), StatusCode::kConflict);
    return status.message();
  };
  EXPECT_EQ(message({a_, std::nullopt, "a2"}),
            "another writer changed demo.a: expected no table, found a1");
  EXPECT_EQ(message({b_, "b1", "b2"}),
            "another writer changed demo.b: expected b1, found no table");
  EXPECT_EQ(message({{"demo", "v"}, "v1", "v2"}),
            "a VIEW has the name of demo.v: expected v1, found v1");
  EXPECT_EQ(Publish({{a_, "a1", "a2"}, {a_, "a1", "a3"}}).code(), StatusCode::kInternal);
  {
    db::Transaction tx = Begin();
    EXPECT_EQ(Catalog(tx).Drop(tx, a_, "a0").code(), StatusCode::kConflict);
    EXPECT_EQ(tx.Commit().code(), StatusCode::kConflict);
  }
  EXPECT_EQ(Location(a_), "a1");
}

TEST_F(SqlCatalogTest, SwapsInOrderOfName) {
  ASSERT_TRUE(Publish({{a_, std::nullopt, "a1"}, {b_, std::nullopt, "b1"}}).ok());
  Status lost = Publish({{b_, "x", "b2"}, {a_, "x", "a2"}});
  EXPECT_EQ(lost.place().table, "demo.a");
}

TEST_F(SqlCatalogTest, LoadsManyAtOneInstantAndLeavesOthersAlone) {
  ASSERT_TRUE(Publish({{a_, std::nullopt, "a1"}, {b_, std::nullopt, "b1"}}).ok());
  Run("INSERT INTO iceberg_tables VALUES('amend', 'demo', 'v', 'v1', NULL, 'VIEW')");
  Run("INSERT INTO iceberg_tables VALUES('amend', 'demo', 'old', 'o1', NULL, NULL)");
  Run("INSERT INTO iceberg_tables VALUES('theirs', 'demo', 'a', 'x1', NULL, 'TABLE')");
  ASSERT_TRUE(Publish({{a_, "a1", "a2"}}).ok());
  db::Transaction tx = Begin(db::TransactionMode::kRead);
  SqlCatalog catalog = Catalog(tx);
  auto all =
      catalog.LoadAll(tx, {b_, a_, {"demo", "v"}, {"demo", "none"}, {"demo", "old"}});
  ASSERT_TRUE(all.has_value()) << all.error().ToString();
  EXPECT_THAT(*all, ElementsAre(Pair(a_, "a2"), Pair(b_, "b1"),
                                Pair(TableRef{"demo", "old"}, "o1")));
  EXPECT_TRUE(catalog.LoadAll(tx, {})->empty());
  EXPECT_THAT(*catalog.Tables(tx, "demo"), ElementsAre(a_, b_, TableRef{"demo", "old"}));
  EXPECT_EQ(catalog.Load(tx, {"demo", "v"}).error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(*Catalog(tx, "theirs").Load(tx, a_), "x1");
}

TEST_F(SqlCatalogTest, LoadsThousandsAtOnce) {
  std::vector<PointerSwap> swaps;
  std::vector<TableRef> names;
  for (int i = 0; i < 3'000; ++i) {
    names.push_back({"demo", "t" + std::to_string(i)});
    swaps.push_back({names.back(), std::nullopt, "m" + std::to_string(i)});
  }
  ASSERT_TRUE(Publish(swaps).ok());
  db::Transaction tx = Begin(db::TransactionMode::kRead);
  EXPECT_EQ(Catalog(tx).LoadAll(tx, names)->size(), names.size());
}

TEST_F(SqlCatalogTest, ARowWithoutLocationIsDamage) {
  ASSERT_TRUE(Publish({{a_, std::nullopt, "a1"}}).ok());
  Run("UPDATE iceberg_tables SET metadata_location = NULL");
  EXPECT_EQ(Location(a_), "damaged");
}

TEST_F(SqlCatalogTest, KeepsNamespaces) {
  db::Transaction tx = Begin();
  SqlCatalog catalog = Catalog(tx);
  ASSERT_TRUE(catalog.CreateNamespace(tx, "demo_amend_p1").ok());
  ASSERT_TRUE(catalog.CreateNamespace(tx, "demo_amend_p1").ok());
  ASSERT_TRUE(catalog.Swap(tx, {{a_, std::nullopt, "a1"}}).ok());
  EXPECT_THAT(*catalog.Namespaces(tx), ElementsAre("demo", "demo_amend_p1"));
  EXPECT_EQ(catalog.DropNamespace(tx, "demo").message(), "namespace demo still holds a");
  ASSERT_TRUE(catalog.DropNamespace(tx, "demo_amend_p1").ok());
  EXPECT_THAT(*catalog.Namespaces(tx), ElementsAre("demo"));
  EXPECT_THAT(*catalog.Tables(tx, "nowhere"), IsEmpty());
}

/// Many publishers over the same tables, each from what it read at some earlier time: a
/// publication lands exactly if every pointer it read was still there, and each landed
/// one is whole.
TEST_F(SqlCatalogTest, RacingPublishersLoseNothing) {
  const std::vector<TableRef> tables = {a_, b_, {"demo", "c"}};
  std::vector<std::string> truth = {"0", "0", "0"};
  ASSERT_TRUE(Publish({{tables[0], std::nullopt, "0"},
                       {tables[1], std::nullopt, "0"},
                       {tables[2], std::nullopt, "0"}})
                  .ok());
  std::mt19937 random(20010305);
  struct Publisher {
    std::vector<std::string> read = {"0", "0", "0"};
  };
  std::vector<Publisher> publishers(4);
  int landed = 0;
  for (int step = 1; step <= 400; ++step) {
    Publisher& publisher = publishers[random() % publishers.size()];
    if (random() % 3 == 0) publisher.read = truth;
    std::vector<PointerSwap> swaps;
    std::vector<std::string> after = truth;
    bool fresh = true;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (random() % 2 == 0) continue;
      fresh = fresh && publisher.read[i] == truth[i];
      after[i] = std::to_string(step);
      swaps.push_back({tables[i], publisher.read[i], after[i]});
    }
    Status status = Publish(swaps);
    ASSERT_EQ(status.code(), fresh ? StatusCode::kOk : StatusCode::kConflict);
    if (fresh) truth = after;
    landed += fresh && !swaps.empty() ? 1 : 0;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      ASSERT_EQ(Location(tables[i]), truth[i]);
    }
  }
  EXPECT_GT(landed, 50);
}

}  // namespace
}  // namespace amend::iceberg

#include "duck/tally.h"

#include <memory>
#include <string>

#include "base/env.h"
#include "duck/database.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::duck {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class TallyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto database = Database::Open({.threads = 1});
    ASSERT_TRUE(database) << database.error().ToString();
    auto connection = database->Connect();
    ASSERT_TRUE(connection) << connection.error().ToString();
    connection_ = std::make_unique<Connection>(*std::move(connection));
    Status added = connection_->AddTally("tally", tally_);
    ASSERT_TRUE(added.ok()) << added.ToString();
  }

  std::int64_t Count(const std::string& sql) {
    auto rows = connection_->Query(sql);
    EXPECT_TRUE(rows) << rows.error().ToString();
    return rows ? static_cast<std::int64_t>(rows->rows.size()) : -1;
  }

  std::shared_ptr<Tally> tally_ = std::make_shared<Tally>(100'000);
  std::unique_ptr<Connection> connection_;
};

TEST_F(TallyTest, AddsWhatSqlAdds) {
  tally_->Start({.sums = 2, .lists = 1});
  EXPECT_EQ(Count("SELECT i, tally(i % 7, hash(i), 1, hash(i, 'a')) AS t "
                  "FROM range(10000) r(i) WHERE i % 7 <> 3"),
            8571);
  auto expected = connection_->Query(
      "SELECT i % 7, count(*), (sum(hash(i)) % 18446744073709551616::HUGEINT)::UBIGINT, "
      "list(hash(i, 'a') ORDER BY i)[2] FROM range(10000) r(i) WHERE i % 7 <> 3 "
      "GROUP BY 1");
  ASSERT_TRUE(expected) << expected.error().ToString();
  auto number = [](const Value& value) {
    const auto* huge = std::get_if<HugeInt>(&value);
    return huge != nullptr ? static_cast<std::uint64_t>(huge->number)
                           : static_cast<std::uint64_t>(std::get<std::int64_t>(value));
  };
  for (const Row& row : expected->rows) {
    const Tally::Group* group = tally_->Find(std::get<std::int64_t>(row[0]));
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->rows, std::get<std::int64_t>(row[1]));
    EXPECT_THAT(group->sums, ElementsAre(number(row[2]), group->rows));
    ASSERT_THAT(group->lists, SizeIs(1));
    ASSERT_THAT(group->lists[0], SizeIs(group->rows));
    EXPECT_EQ(group->lists[0][1], number(row[3]));
  }
  EXPECT_EQ(tally_->Find(3), nullptr);
}

TEST_F(TallyTest, PassesTheGroupOn) {
  tally_->Start({.sums = 1});
  auto same = connection_->QueryValue(
      "SELECT bool_and(t = i - 5000) FROM (SELECT i, tally(i - 5000, 1) AS t "
      "FROM range(10000) r(i))");
  ASSERT_TRUE(same) << same.error().ToString();
  EXPECT_EQ(*same, Value(true));
}

/// Nothing may be folded, merged or asked twice.
TEST_F(TallyTest, TakesEachRowOnceWhateverThePlanIs) {
  auto rows = [&](const std::string& sql) {
    tally_->Start({.sums = 1});
    Count(sql);
    return tally_->Find(1)->rows;
  };
  EXPECT_EQ(rows("SELECT tally(1, 1) FROM range(5000)"), 5000);
  EXPECT_EQ(rows("SELECT tally(1, 1) AS t FROM range(5000) ORDER BY t"), 5000);
  EXPECT_EQ(rows("SELECT i, tally(1, 1) AS t FROM range(5000) r(i) ORDER BY t, i"), 5000);
  EXPECT_EQ(rows("SELECT t FROM (SELECT *, tally(1, hash(i)) AS t FROM range(5000) r(i)) "
                 "WHERE t = 1"),
            5000);
  EXPECT_EQ(rows("SELECT tally(1, 1), tally(1, 1) FROM range(5000)"), 10000);
}

TEST_F(TallyTest, StartForgets) {
  tally_->Start({.sums = 1});
  Count("SELECT tally(1, 1) FROM range(10)");
  tally_->Start({.sums = 1});
  EXPECT_EQ(tally_->Find(1), nullptr);
}

TEST_F(TallyTest, GivesListsUpThatGrowTooLongButNoSums) {
  auto list_of = [&](int rows) {
    tally_->Start({.sums = 1, .lists = 1});
    Count("SELECT tally(1, 2, 3) FROM range(" + std::to_string(rows) + ")");
    EXPECT_THAT(tally_->Find(1)->sums, ElementsAre(2 * rows));
    return tally_->Find(1)->lists[0];
  };
  EXPECT_THAT(list_of(100'000), SizeIs(100'000));
  EXPECT_TRUE(tally_->lists_complete());
  EXPECT_THAT(list_of(100'001), IsEmpty());
  EXPECT_FALSE(tally_->lists_complete());
  EXPECT_THAT(list_of(10), SizeIs(10));
  EXPECT_TRUE(tally_->lists_complete());
}

TEST_F(TallyTest, RefusesArgumentsItWasNotStartedFor) {
  tally_->Start({.sums = 2});
  auto rows = connection_->Query("SELECT tally(1, 1)");
  ASSERT_FALSE(rows);
  EXPECT_THAT(rows.error().ToString(), HasSubstr("not started for these arguments"));
}

TEST_F(TallyTest, NeedsOneThread) {
  auto database = Database::Open({.threads = 2});
  ASSERT_TRUE(database);
  auto connection = database->Connect();
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->AddTally("tally", tally_).code(), StatusCode::kInvalid);
}

}  // namespace
}  // namespace amend::duck

#include "engine/diff.h"

#include <cmath>
#include <filesystem>
#include <random>

#include "base/env.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/sql_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "table/types.h"

namespace amend::engine {
namespace {

using partition::Grain;
using partition::PartitionSpace;
using ::testing::ElementsAre;

const std::vector<lineage::Column> kColumns = {{"d", "DATE", true},
                                               {"id", "BIGINT", true},
                                               {"a", "DOUBLE", true},
                                               {"b", "BIGINT", true}};

struct Row {
  int day = 1;  ///< of January 2024
  Json id;
  Json a;
  Json b;
};

class DiffTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("amend-" + Env::Real().NewUuid()))
            .string();
    std::filesystem::create_directories(folder_);
    auto engine = Engine::Open(Env::Real(), {500'000'000, folder_ + "/spill"});
    ASSERT_TRUE(engine.has_value()) << engine.error().ToString();
    engine_ = std::make_unique<Engine>(*std::move(engine));
    files_.space = PartitionSpace::OfTime("d", Grain::kDay);
    files_.schema = *table::ContinueSchema({}, 0, kColumns);
    model_.name = "m";
    model_.key = {"id"};
    model_.contracts.resize(1);
    model_.contracts[0].name = "a";
    model_.contracts[0].tolerance = 0.5;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string Cell(const Json& value) {
    if (value.is_null()) return "NULL";
    if (value.is_number_float() && std::isnan(value.get<double>())) return "'nan'";
    return value.dump();
  }

  std::vector<std::string> Write(const std::vector<Row>& rows) {
    std::string sql =
        "SELECT * FROM (VALUES (NULL::DATE, 0::BIGINT, 0::DOUBLE, 0::BIGINT)";
    for (const Row& row : rows) {
      sql += ", ('2024-01-0" + std::to_string(row.day) + "', " + Cell(row.id) + ", " +
             Cell(row.a) + ", " + Cell(row.b) + ")";
    }
    std::string path = folder_ + "/" + std::to_string(++written_) + ".parquet";
    auto written = engine_->connection().Execute(
        "COPY (" + sql + ") t(d, id, a, b) WHERE d IS NOT NULL) TO " + SqlLiteral(path) +
        " (FORMAT parquet, FIELD_IDS " + FieldIdsSql(files_.schema) + ")");
    EXPECT_TRUE(written.has_value()) << written.error().ToString();
    return {path};
  }

  /// By SQL, checked to add up.
  std::vector<check::PartitionDiff> Compare(const std::vector<Row>& before,
                                            const std::vector<Row>& after) {
    files_.before = Write(before);
    files_.after = Write(after);
    auto unique = KeyIsUnique(engine_->connection(), files_, model_.key);
    EXPECT_TRUE(unique.has_value());
    spec_ = check::DiffSpecFor(model_, kColumns, kColumns, *unique);
    auto diffs = Diff(engine_->connection(), files_, spec_);
    EXPECT_TRUE(diffs.has_value()) << diffs.error().ToString();
    EXPECT_EQ(check::Verify({"m", spec_, *diffs}), Status());
    return *diffs;
  }

  static std::vector<Json> OfDay(const std::vector<Row>& rows, int day) {
    std::vector<Json> found;
    for (const Row& row : rows) {
      if (row.day != day) continue;
      found.push_back({{"d", day}, {"id", row.id}, {"a", row.a}, {"b", row.b}});
    }
    return found;
  }

  std::string folder_;
  int written_ = 0;
  std::unique_ptr<Engine> engine_;
  DiffFiles files_;
  lineage::Model model_;
  check::DiffSpec spec_;
};

constexpr std::int64_t kFirstDay = 19'723;

TEST_F(DiffTest, ARowThatMovedToAnotherPartitionLeftTheOneAndCameToTheOther) {
  auto diffs =
      Compare({{3, 7, 1.0, 1}, {3, 8, 1.0, 1}}, {{3, 8, 1.0, 1}, {5, 7, 1.0, 1}});
  ASSERT_EQ(diffs.size(), 2U);
  EXPECT_EQ(diffs[0], (check::PartitionDiff{{kFirstDay + 2, {}}, 2, 1, 0, 1, 0, 0, {}}));
  EXPECT_EQ(diffs[1], (check::PartitionDiff{{kFirstDay + 4, {}}, 0, 1, 1, 0, 0, 0, {}}));
}

TEST_F(DiffTest, ByAKeyThatRepeatsRowsAreCountedAsABag) {
  auto diffs = Compare({{1, 7, 1.0, 1}, {1, 7, 1.0, 1}}, {{1, 7, 1.0, 1}});
  EXPECT_EQ(spec_.mode, check::DiffMode::kMultiset);
  EXPECT_THAT(diffs,
              ElementsAre(check::PartitionDiff{{kFirstDay, {}}, 2, 1, 0, 1, 0, 0, {}}));
}

// The same rows through SQL and through the slow twin, NULL, NaN and tolerance included.
TEST_F(DiffTest, AgreesWithRowsComparedInMemory) {
  std::mt19937 random(11);
  int keyed = 0;
  for (int round = 0; round < 40; ++round) {
    auto rows = [&] {
      std::vector<Row> made;
      for (int id = 0; id < 12; ++id) {
        if (random() % 4 == 0) continue;
        const Json values[] = {nullptr, std::nan(""), 1.0, 1.25, 2.0};
        made.push_back({1 + static_cast<int>(random() % 2), id == 0 ? Json() : Json(id),
                        values[random() % 5], random() % 3});
        if (round % 3 == 0 && random() % 20 == 0) made.push_back(made.back());
      }
      return made;
    };
    const std::vector<Row> before = rows();
    const std::vector<Row> after = rows();
    std::vector<check::PartitionDiff> wanted;
    auto found = Compare(before, after);
    keyed += spec_.mode == check::DiffMode::kKeyed ? 1 : 0;
    check::DiffSpec slow = spec_;
    for (int day : {1, 2}) {
      check::PartitionDiff diff =
          check::DiffRows(slow, OfDay(before, day), OfDay(after, day));
      diff.partition = {kFirstDay + day - 1, {}};
      if (!diff.same() || diff.within_tolerance > 0) wanted.push_back(diff);
    }
    ASSERT_EQ(found, wanted) << "round " << round;
  }
  EXPECT_GT(keyed, 20);
  EXPECT_LT(keyed, 40);
}

}  // namespace
}  // namespace amend::engine

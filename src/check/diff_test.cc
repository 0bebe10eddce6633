#include "check/diff.h"

#include <functional>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::check {
namespace {

using lineage::Column;
using lineage::Model;
using partition::Grain;
using partition::Partition;
using partition::PartitionSpace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<Column> kColumns = {{"id", "BIGINT", true},
                                      {"name", "VARCHAR", true},
                                      {"a", "DOUBLE", true},
                                      {"b", "DOUBLE", true}};

Model Keyed() {
  Model model;
  model.name = "m";
  model.key = {"id"};
  return model;
}

Json Row(int id, Json name, Json a, Json b) {
  return {
      {"id", id}, {"name", std::move(name)}, {"a", std::move(a)}, {"b", std::move(b)}};
}

ModelDiff DiffOf(PartitionDiff part, DiffSpec spec) {
  ModelDiff diff;
  diff.model = "m";
  diff.spec = std::move(spec);
  diff.partitions = {std::move(part)};
  EXPECT_EQ(Verify(diff), Status());
  return diff;
}

TEST(DiffSpec, IsKeyedOnlyByAKeyThatIsUniqueAndOnBothSides) {
  DiffSpec spec = DiffSpecFor(Keyed(), kColumns, kColumns, true);
  EXPECT_EQ(spec.mode, DiffMode::kKeyed);
  EXPECT_THAT(spec.columns, ElementsAre("name", "a", "b"));
  spec = DiffSpecFor(Keyed(), kColumns, kColumns, false);
  EXPECT_EQ(spec.mode, DiffMode::kMultiset);
  EXPECT_THAT(spec.columns, ElementsAre("id", "name", "a", "b"));
  spec = DiffSpecFor(Keyed(), {{"name", "VARCHAR", true}}, kColumns, true);
  EXPECT_EQ(spec.mode, DiffMode::kMultiset);
  EXPECT_THAT(spec.only_after, ElementsAre("id", "a", "b"));
}

TEST(DiffSpec, LeavesLandingColumnsOutAndSortsTheRest) {
  std::vector<Column> before = kColumns;
  before.push_back({"_amend_row", "BIGINT", true});
  before.push_back({"gone", "DATE", true});
  std::vector<Column> after = kColumns;
  after[1].type = "UUID";
  after.push_back({"tax", "DOUBLE", true});
  Model model = Keyed();
  model.contracts.resize(1);
  model.contracts[0].name = "A";
  model.contracts[0].tolerance = 0.5;
  DiffSpec spec = DiffSpecFor(model, before, after, true);
  EXPECT_THAT(spec.columns, ElementsAre("name", "a", "b", "tax"));
  EXPECT_THAT(spec.retyped, ElementsAre("name"));
  EXPECT_THAT(spec.only_before, ElementsAre("gone"));
  EXPECT_THAT(spec.only_after, ElementsAre("tax"));
  EXPECT_EQ(spec.tolerance, (std::map<std::string, double>{{"a", 0.5}}));
}

TEST(Diff, B115NullToValueAndBackAreOneChangedRowEach) {
  DiffSpec spec = DiffSpecFor(Keyed(), kColumns, kColumns, true);
  PartitionDiff diff = DiffRows(spec, {Row(1, "x", nullptr, 1.0), Row(2, "y", 7, 1.0)},
                                {Row(1, "x", 7, 1.0), Row(2, "y", nullptr, 1.0)});
  EXPECT_EQ(diff.changed, 2);
  EXPECT_EQ(diff.added + diff.removed, 0);
  EXPECT_EQ(diff.columns, (std::map<std::string, std::int64_t>{{"a", 2}}));
}

TEST(Diff, B55DoublesWithinToleranceAreEqualAndSaidToBe) {
  Model model = Keyed();
  model.contracts.resize(1);
  model.contracts[0].name = "a";
  model.contracts[0].tolerance = 0.01;
  DiffSpec spec = DiffSpecFor(model, kColumns, kColumns, true);
  PartitionDiff part = DiffRows(
      spec, {Row(1, "x", 1.0, 1.0), Row(2, "x", 1.0, 1.0), Row(3, "x", 1.0, 1.0)},
      {Row(1, "x", 1.001, 1.0), Row(2, "x", 1.001, 1.001), Row(3, "x", 1.02, 1.0)});
  EXPECT_EQ(part.within_tolerance, 1);
  EXPECT_EQ(part.changed, 2);
  EXPECT_EQ(part.columns, (std::map<std::string, std::int64_t>{{"a", 1}, {"b", 1}}));
  PartitionDiff quiet =
      DiffRows(spec, {Row(1, "x", 1.0, 1.0)}, {Row(1, "x", 1.001, 1.0)});
  EXPECT_TRUE(quiet.same());
  EXPECT_THAT(
      Remarks(DiffOf(quiet, spec), PartitionSpace(), kColumns),
      ElementsAre("1 rows differ by no more than their tolerance and count as equal"));
}

TEST(Diff, NanEqualsNan) {
  DiffSpec spec = DiffSpecFor(Keyed(), kColumns, kColumns, true);
  EXPECT_TRUE(
      DiffRows(spec, {Row(1, "x", std::nan(""), 1.0)}, {Row(1, "x", std::nan(""), 1.0)})
          .same());
}

TEST(Diff, ANewColumnWasNull) {
  DiffSpec spec = DiffSpecFor(
      Keyed(), {{"id", "BIGINT", true}, {"name", "VARCHAR", true}}, kColumns, true);
  PartitionDiff part =
      DiffRows(spec, {{{"id", 1}, {"name", "x"}}, {{"id", 2}, {"name", "y"}}},
               {Row(1, "x", 7, nullptr), Row(2, "y", 8, nullptr)});
  EXPECT_EQ(part.changed, 2);
  EXPECT_EQ(part.columns, (std::map<std::string, std::int64_t>{{"a", 2}}));
  EXPECT_THAT(Remarks(DiffOf(part, spec), PartitionSpace(), kColumns),
              ElementsAre("a is new", "b is new"));
}

TEST(Diff, MultisetsCountCopies) {
  DiffSpec spec = DiffSpecFor(Model(), kColumns, kColumns, true);
  PartitionDiff diff =
      DiffRows(spec, {Row(1, "x", 1, 1), Row(1, "x", 1, 1), Row(2, "y", 1, 1)},
               {Row(1, "x", 1, 1), Row(3, nullptr, 1, 1), Row(2, "y", 1, 1)});
  EXPECT_EQ(diff.removed, 1);
  EXPECT_EQ(diff.added, 1);
  EXPECT_EQ(Verify(DiffOf(diff, spec)), Status());
}

TEST(Diff, B88ASwapOfTwoColumnsOfOneTypeIsRemarkedOn) {
  DiffSpec spec = DiffSpecFor(Keyed(), kColumns, kColumns, true);
  PartitionDiff part = DiffRows(spec, {Row(1, "x", 1, 2), Row(2, "y", 3, 4)},
                                {Row(1, "x", 2, 1), Row(2, "y", 4, 3)});
  EXPECT_THAT(
      Remarks(DiffOf(part, spec), PartitionSpace(), kColumns),
      ElementsAre("a differs in every row that stayed",
                  "b differs in every row that stayed",
                  "a and b differ in as many rows (2) and have one type: swapped?"));
}

TEST(Diff, ReadsAsTheContractHasIt) {
  const PartitionSpace space = PartitionSpace::OfTime("d", Grain::kDay);
  ModelDiff diff;
  diff.model = "m";
  diff.spec = DiffSpecFor(Keyed(), kColumns, kColumns, true);
  diff.partitions.resize(3);
  diff.partitions[0] = {{std::nullopt, {}}, 2, 0, 0, 2, 0, 0, {}};
  diff.partitions[1] = {{11'386, {}}, 10, 11, 2, 1, 3, 0, {{"a", 3}, {"name", 1}}};
  diff.partitions[2] = {{11'387, {}}, 5, 5, 0, 0, 0, 0, {}};
  ASSERT_EQ(Verify(diff), Status());
  EXPECT_EQ(
      DiffToJson(diff, space, {"look here"}).dump(),
      R"({"model":"m","mode":"keyed","partitions":[)"
      R"({"partition":"null","rows_before":2,"rows_after":0,"added":0,"removed":2,)"
      R"("changed":0,"columns":{}},)"
      R"({"partition":"2001-03-05","rows_before":10,"rows_after":11,"added":2,"removed":1,)"
      R"("changed":3,"columns":{"a":3,"name":1}}],"remarks":["look here"]})");
  PartitionDiff total = TotalOf(diff);
  EXPECT_EQ(total.rows_before, 17);
  EXPECT_EQ(total.rows_after, 16);
  EXPECT_EQ(total.changed, 3);
  EXPECT_THAT(Remarks(diff, space, kColumns),
              ElementsAre("null ends empty, it had 2 rows"));
}

TEST(Diff, NumbersThatCannotBeTrueAreRefused) {
  ModelDiff good;
  good.model = "m";
  good.spec = DiffSpecFor(Keyed(), kColumns, kColumns, true);
  good.partitions = {{{0, {}}, 10, 11, 2, 1, 3, 1, {{"a", 3}}},
                     {{1, {}}, 1, 1, 0, 0, 0, 0, {}}};
  ASSERT_EQ(Verify(good), Status());
  const std::function<void(ModelDiff&)> lies[] = {
      [](ModelDiff& d) { d.partitions[0].rows_after = 12; },
      [](ModelDiff& d) { d.partitions[0].changed = 10; },
      [](ModelDiff& d) { d.partitions[0].changed = -1; },
      [](ModelDiff& d) { d.partitions[0].columns["a"] = 4; },
      [](ModelDiff& d) { d.partitions[0].columns["nobody"] = 1; },
      [](ModelDiff& d) { d.partitions[0].columns.clear(); },
      [](ModelDiff& d) { d.spec.mode = DiffMode::kMultiset; },
      [](ModelDiff& d) { std::swap(d.partitions[0], d.partitions[1]); },
      [](ModelDiff& d) { d.partitions[1].partition = d.partitions[0].partition; }};
  for (const auto& lie : lies) {
    ModelDiff diff = good;
    lie(diff);
    EXPECT_EQ(Verify(diff).code(), StatusCode::kInternal);
  }
}

TEST(Diff, AlwaysAddsUpOnRandomRows) {
  std::mt19937 random(7);
  auto rows = [&random] {
    std::vector<Json> made;
    for (int id = 0; id < 8; ++id) {
      if (random() % 3 == 0) continue;
      Json a =
          random() % 4 == 0 ? Json(nullptr) : Json(static_cast<double>(random() % 3));
      made.push_back(Row(id, random() % 2 == 0 ? "x" : "y", a, random() % 2));
    }
    return made;
  };
  Model model = Keyed();
  model.contracts.resize(1);
  model.contracts[0].name = "a";
  model.contracts[0].tolerance = 1;
  for (bool unique : {true, false}) {
    DiffSpec spec = DiffSpecFor(model, kColumns, kColumns, unique);
    for (int i = 0; i < 300; ++i) {
      const std::vector<Json> before = rows();
      const std::vector<Json> after = rows();
      PartitionDiff diff = DiffRows(spec, before, after);
      DiffOf(diff, spec);
      EXPECT_EQ(diff.same() && diff.within_tolerance == 0, before == after);
    }
  }
}

}  // namespace
}  // namespace amend::check

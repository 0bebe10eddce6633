#include "lineage/lineage.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lineage/extent.h"

namespace amend::lineage {
namespace {

using partition::Grain;
using partition::PartitionMapping;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Shape;
using partition::TimeRuns;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Shape kDay = PartitionSpace::OfTime("d", Grain::kDay).shape();
const Shape kMonth = PartitionSpace::OfTime("m", Grain::kMonth).shape();

PartitionMapping Trailing(std::int64_t days) {
  partition::TimeMapping time;
  time.all = false;
  time.back = partition::Reach::Of(days, Grain::kDay);
  return *PartitionMapping::Make(kDay, kDay, time);
}

PartitionMapping DayToMonth() {
  partition::TimeMapping time;
  time.all = false;
  return *PartitionMapping::Make(kDay, kMonth, time);
}

Source DailySource(const std::string& name) {
  Source source;
  source.name = name;
  source.space = PartitionSpace::OfTime("d", Grain::kDay);
  source.at = {"amend.yaml", 4};
  return source;
}

InputRef Ref(const std::string& table, PartitionMapping mapping, std::string why) {
  InputRef ref;
  ref.table = table;
  ref.mapping = std::move(mapping);
  ref.columns = {"x_" + why};
  ref.why = std::move(why);
  return ref;
}

BoundModelEntry ModelOf(const std::string& name, std::vector<InputRef> refs,
                        Grain grain = Grain::kDay) {
  BoundModelEntry entry;
  entry.model.name = name;
  entry.model.at = {"models/" + name + ".sql", 1};
  entry.model.space = PartitionSpace::OfTime("d", grain);
  entry.bound.inputs = std::move(refs);
  return entry;
}

std::vector<std::string> NamesOf(const Lineage& lineage) {
  std::vector<std::string> names;
  for (const BoundModelEntry& entry : lineage.models()) names.push_back(entry.model.name);
  return names;
}

Status StatusOf(std::vector<Source> sources, std::vector<BoundModelEntry> models) {
  auto lineage = Lineage::Make(std::move(sources), std::move(models));
  return lineage ? Status() : lineage.error();
}

TEST(Lineage, InputsComeFirstTiesByName) {
  auto day = PartitionMapping::Identity(kDay);
  auto lineage = Lineage::Make(
      {DailySource("flights"), DailySource("airports")},
      {ModelOf("zeta", {Ref("flights", day, "same day")}),
       ModelOf("monthly", {Ref("daily", DayToMonth(), "day → month")}, Grain::kMonth),
       ModelOf("daily", {Ref("zeta", day, "same day"), Ref("airports", day, "same day")}),
       ModelOf("alpha", {Ref("daily", day, "same day")})});
  ASSERT_TRUE(lineage) << lineage.error().ToString();
  EXPECT_THAT(NamesOf(*lineage), ElementsAre("zeta", "daily", "alpha", "monthly"));
  EXPECT_EQ(lineage->sources()[0].name, "airports");
  ASSERT_EQ(lineage->ReadersOf("daily").size(), 2u);
  EXPECT_EQ(lineage->ReadersOf("daily")[0]->to, "alpha");
  ASSERT_EQ(lineage->InputsOf("daily").size(), 2u);
  EXPECT_EQ(lineage->InputsOf("daily")[0]->from, "airports");
  EXPECT_TRUE(lineage->InputsOf("nobody").empty());
  EXPECT_EQ(lineage->SpaceOf("monthly").shape(), kMonth);
  EXPECT_EQ(lineage->FindSource("nobody"), nullptr);
  EXPECT_NE(lineage->FindModel("DAILY"), nullptr) << "names are compared without case";
}

TEST(Lineage, AnEdgeIsTheUnionOfItsReferences) {
  auto lineage = Lineage::Make(
      {DailySource("daily")},
      {ModelOf("rolling", {Ref("daily", Trailing(6), "window 7 days"),
                           Ref("Daily", PartitionMapping::Identity(kDay), "same day"),
                           Ref("daily", PartitionMapping::Identity(kDay), "same day")})});
  ASSERT_TRUE(lineage) << lineage.error().ToString();
  ASSERT_EQ(lineage->edges().size(), 1u);
  const Edge& edge = lineage->edges()[0];
  EXPECT_EQ(edge.Why(), "window 7 days, same day");
  EXPECT_EQ(edge.columns.size(), 2u);
  auto changed = PartitionSet::OfTimes(kDay, TimeRuns::Of(100, 102));
  EXPECT_EQ(edge.Affected(changed), PartitionSet::OfTimes(kDay, TimeRuns::Of(100, 108)));
  EXPECT_EQ(edge.Required(changed), PartitionSet::OfTimes(kDay, TimeRuns::Of(94, 102)));
}

TEST(Lineage, ACycleIsNamedMemberByMember) {
  auto day = PartitionMapping::Identity(kDay);
  Status status = StatusOf(
      {}, {ModelOf("c", {Ref("b", day, "")}), ModelOf("a", {Ref("c", day, "")}),
           ModelOf("b", {Ref("a", day, "")}), ModelOf("behind", {Ref("a", day, "")})});
  EXPECT_EQ(status.code(), StatusCode::kInvalid);
  EXPECT_EQ(status.message(),
            "models read each other in a circle: a reads c reads b reads a");
  status = StatusOf({}, {ModelOf("self", {Ref("self", day, "")})});
  EXPECT_EQ(status.message(), "model 'self' reads itself");
}

TEST(Lineage, RefusesTwoTablesOfOneName) {
  Status status = StatusOf({DailySource("daily")}, {ModelOf("Daily", {})});
  EXPECT_EQ(status.code(), StatusCode::kInvalid);
  EXPECT_EQ(status.message(),
            "the table 'Daily' is defined twice, first in amend.yaml:4");
  EXPECT_EQ(status.place().file, "models/Daily.sql");
}

TEST(Lineage, AnUnknownInputGetsTheNearestName) {
  auto day = PartitionMapping::Identity(kDay);
  Status status =
      StatusOf({DailySource("flights")}, {ModelOf("m", {Ref("flihgts", day, "")})});
  EXPECT_EQ(status.message(),
            "model 'm' reads 'flihgts', which is neither a source nor a model");
  EXPECT_EQ(status.hint(), "did you mean 'flights'?");
  EXPECT_EQ(status.place().file, "models/m.sql");
}

TEST(Lineage, AMappingOfOtherShapesStopsHereNotInThePlanner) {
  Status status =
      StatusOf({DailySource("s")}, {ModelOf("m", {Ref("s", DayToMonth(), "")})});
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("from 's' to 'm' goes from day"));
  BoundModelEntry entry = ModelOf("m", {Ref("s", PartitionMapping::Identity(kDay), "")});
  entry.bound.extents = {{0}};
  EXPECT_EQ(StatusOf({DailySource("s")}, {entry}).code(), StatusCode::kInternal);
  entry.bound.inputs[0].extent = PartitionMapping::Identity(kDay);
  EXPECT_TRUE(StatusOf({DailySource("s")}, {entry}).ok());
  entry.bound.extents = {{1}};
  EXPECT_EQ(StatusOf({DailySource("s")}, {entry}).code(), StatusCode::kInternal);
}

/// Case B41: a declared mapping that is narrower than what was inferred bounds what rows
/// may come to be; the rest are strays, not rows to be dropped in silence.
TEST(PossiblePartitions, LieWhereExtentAndMappingBothReach) {
  BoundModel bound;
  InputRef ref;
  ref.table = "src";
  partition::TimeMapping reach;
  reach.all = false;
  reach.back = partition::Reach::Of(1, Grain::kDay);  // day d feeds d and d + 1
  ref.mapping = *PartitionMapping::Make(kDay, kDay, reach);
  ref.extent = ref.mapping;
  bound.inputs = {ref};
  bound.extents = {{0}};
  auto live = [](const std::string&) {
    return partition::PartitionSet::OfTimes(kDay, partition::TimeRuns::Of(5, 6));
  };
  EXPECT_EQ(PossiblePartitions(bound, kDay, live).Count(), 2);
  bound.inputs[0].mapping = PartitionMapping::Identity(kDay);
  EXPECT_EQ(PossiblePartitions(bound, kDay, live), live(""));
}

TEST(TopologicalOrder, SourcesMayBeAmongTheTables) {
  auto order = TopologicalOrder({{"b", {"src", "a"}}, {"a", {"src"}}, {"c", {}}});
  ASSERT_TRUE(order);
  EXPECT_THAT(*order, ElementsAre("a", "b", "c"));
}

BoundModel Bound(std::vector<OutputColumn> columns, std::string rows = "r") {
  BoundModel bound;
  bound.columns = std::move(columns);
  bound.rows_fingerprint = std::move(rows);
  return bound;
}

OutputColumn Out(std::string name, std::string fingerprint,
                 std::string type = "INTEGER") {
  OutputColumn column;
  column.name = std::move(name);
  column.fingerprint = std::move(fingerprint);
  column.type = std::move(type);
  return column;
}

TEST(Compare, SaysTheLeastThatIsProved) {
  const BoundModel before = Bound({Out("a", "1"), Out("b", "2")});
  using Kind = CodeChange::Kind;
  EXPECT_EQ(Compare(before, before), (CodeChange{Kind::kNone, {}}));
  EXPECT_EQ(Compare(before, Bound({Out("b", "2"), Out("a", "1")})),
            (CodeChange{Kind::kNone, {}}))
      << "B88: columns are matched by name";
  EXPECT_EQ(Compare(before, Bound({Out("a", "1"), Out("b", "2"), Out("c", "3")})),
            (CodeChange{Kind::kColumnsAdded, {"c"}}));
  EXPECT_EQ(Compare(before, Bound({Out("a", "2"), Out("b", "1")})),
            (CodeChange{Kind::kColumns, {"a", "b"}}))
      << "B88: a swap of two columns is a change of both";
  EXPECT_EQ(Compare(before, Bound({Out("a", "1"), Out("b", "9"), Out("c", "3")})),
            (CodeChange{Kind::kColumns, {"b", "c"}}));
  EXPECT_EQ(Compare(before, Bound({Out("a", "1", "BIGINT"), Out("b", "2")})),
            (CodeChange{Kind::kColumns, {"a"}}));
  EXPECT_EQ(Compare(before, Bound({Out("a", "1")})).kind, Kind::kRows) << "removed";
  EXPECT_EQ(Compare(before, Bound({Out("a", "1"), Out("x", "2")})).kind, Kind::kRows)
      << "renamed";
  EXPECT_EQ(Compare(before, Bound({Out("a", "1"), Out("b", "2")}, "other")).kind,
            Kind::kRows);
  BoundModel reads_more = before;
  reads_more.row_reads = {{"t", "x"}};
  EXPECT_EQ(Compare(before, reads_more).kind, Kind::kRows);
  EXPECT_EQ(Compare(before, Bound({Out("a", "1"), Out("A", "1"), Out("b", "2")})).kind,
            Kind::kRows)
      << "a repeated name proves nothing";
}

TEST(IdOf, CoversWhatChangesRowsAndNothingElse) {
  Model model;
  model.name = "m";
  model.space = PartitionSpace::OfTime("d", Grain::kDay);
  const BoundModel bound = Bound({Out("a", "1"), Out("b", "2")});
  const DefinitionId id = IdOf(model, bound);
  EXPECT_EQ(id.size(), 64u);

  Model judged = model;
  judged.key = {"a"};
  judged.contracts.emplace_back().name = "a";
  judged.owner = "finance";
  judged.replay.code = Replay::kNone;
  judged.sql = "SELECT  1";
  EXPECT_EQ(IdOf(judged, bound), id);
  EXPECT_EQ(IdOf(model, Bound({Out("b", "2"), Out("a", "1")})), id);

  std::set<DefinitionId> ids = {id};
  Model other = model;
  other.name = "n";
  ids.insert(IdOf(other, bound));
  other = model;
  other.space = PartitionSpace::OfTime("d", Grain::kMonth);
  ids.insert(IdOf(other, bound));
  other = model;
  other.inputs.push_back({"s", Trailing(6), {}});
  ids.insert(IdOf(other, bound));
  other.inputs[0].mapping = Trailing(7);
  ids.insert(IdOf(other, bound));
  ids.insert(IdOf(model, Bound({Out("a", "1"), Out("b", "2")}, "other")));
  ids.insert(IdOf(model, Bound({Out("a", "2"), Out("b", "1")})));
  ids.insert(IdOf(model, Bound({Out("a", "1"), Out("b", "2", "BIGINT")})));
  ids.insert(IdOf(model, Bound({Out("a", "1"), Out("c", "2")})));
  EXPECT_EQ(ids.size(), 9u) << "each of these changes rows";
}

}  // namespace
}  // namespace amend::lineage

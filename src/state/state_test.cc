#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "state/definition_record.h"
#include "state/encode.h"
#include "state/facts.h"
#include "state/hold.h"
#include "state/plan.h"
#include "state/table_state.h"
#include "state/verdict.h"
#include "state/write_set.h"

namespace amend::state {
namespace {

using partition::Dimension;
using partition::Grain;
using partition::Partition;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Shape;
using partition::TimeRuns;
using partition::ValueTuple;
using partition::ValueType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Shape kDay = PartitionSpace::OfTime("d", Grain::kDay).shape();

Shape RegionByDay() {
  return PartitionSpace::Make({Dimension::OfValue("region", ValueType::kString),
                               Dimension::Time("ts", Grain::kDay)})
      ->shape();
}

std::vector<PartitionSet> SomeSets() {
  const Shape both = RegionByDay();
  const TimeRuns march = TimeRuns::Of(11'386, 11'400);
  return {PartitionSet(),
          PartitionSet::All(Shape()),
          PartitionSet(kDay),
          PartitionSet::All(kDay),
          PartitionSet::OfTimes(kDay, march),
          PartitionSet::OfTimes(kDay, TimeRuns::Null()),
          PartitionSet::OfTimes(kDay, TimeRuns::Of(-5, partition::kPlusInfinity)),
          PartitionSet::OfTimes(kDay, TimeRuns::Of(partition::kMinusInfinity, 3)),
          PartitionSet::OfTimes(kDay, march).Complement(),
          PartitionSet::All(both),
          PartitionSet::Of(both, TimeRuns::Point(7),
                           {{{std::string("EU")}, march},
                            {{partition::Value()}, TimeRuns()},
                            {{std::string("NULL")}, TimeRuns::Null()}}),
          PartitionSet::Of(Shape{std::nullopt, 2}, TimeRuns(),
                           {{{std::int64_t{INT64_MIN}, true}, TimeRuns::Point(0)}})};
}

Plan SomePlan() {
  Plan plan;
  plan.pins["flights"] = {.table = "flights",
                          .snapshot_id = 7'381'222'110'000'000'123,
                          .version = 4,
                          .schema_id = 1,
                          .metadata_location = "file:///w/flights/metadata/4.json"};
  ModelPlan model;
  model.model = "daily";
  model.definition = "abc";
  model.partitions = PartitionSet::OfTimes(kDay, TimeRuns::Of(11'386, 11'400));
  model.because = {{ReasonKind::kSource, "flights", "landing #7", model.partitions}};
  model.changed_columns = {"delay", "n"};
  model.estimate = {Origin::kMeasured, 120'000, 3'000'000, 1'000'000, 0.1};
  plan.models = {model};
  plan.skipped = {{"rank", "it reads no changed column"}};
  plan.held = {{"daily", PartitionSet::OfTimes(kDay, TimeRuns::Point(3)), "rollback #9",
                "flights changes"}};
  plan.warnings = {{"open", "today is not over"}};
  plan.classes["daily"] = {.held = 1, .stale = 14, .current = 167};
  plan.request.select = {"daily"};
  plan.request.partitions["daily"] = model.partitions;
  plan.reason = "DEN delays were 7 min off; «quoted» \"text\"";
  plan.ticket = "OPS-4711";
  plan.author = "ana";
  plan.created_micros = 984'000'000'000'000;
  plan.id = PlanIdOf(plan);
  return plan;
}

WriteSet SomeWriteSet() {
  WriteSet set;
  set.name = "w123";
  set.model = "daily";
  set.partitions = PartitionSet::OfTimes(kDay, TimeRuns::Of(0, 2));
  Partition day{0, {}};
  Partition none{std::nullopt, {}};
  set.staged = {{none, {"rows 1", 0, 0, 0}, std::nullopt},
                {day, {"rows 1", 2, UINT64_MAX, 1}, Digest{"rows 1", 2, 5, 6}}};
  set.files = {{"/w/a.parquet", day, 2, 812, 0, Json{{"lower", {{"1", "a"}}}}}};
  set.cpu_micros = 1'234;
  set.bytes_read = 99;
  return set;
}

/// Every cut and a flip of every byte of `text` must be refused, or leave the value as it
/// was (the flip of 'e' in a number, say). Never another value, never an abort.
void ExpectDamageIsSeen(const std::string& text,
                        const std::function<bool(const Json&)>& refused_or_equal) {
  auto survives = [&refused_or_equal](const std::string& damaged) {
    auto json = ParseJson(damaged, "it");
    return !json || refused_or_equal(*json);
  };
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    ASSERT_TRUE(survives(text.substr(0, cut))) << "cut at " << cut;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    // Digit to digit, and one bit that walks through the byte.
    for (int mask : {1, 2 << (at % 7)}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ mask);
      ASSERT_TRUE(survives(flipped)) << "mask " << mask << " of byte " << at;
    }
  }
}

TEST(Encode, EverySetComesBackEqual) {
  for (const PartitionSet& set : SomeSets()) {
    auto json = ParseJson(SetToJson(set).dump(), "set");
    ASSERT_TRUE(json);
    auto back = SetFromJson(*json);
    ASSERT_TRUE(back) << back.error().ToString();
    EXPECT_EQ(*back, set);
  }
}

TEST(Encode, NullTheTextNullAndZeroAreThreePartitions) {
  for (const Partition& point :
       {Partition{std::nullopt, {}}, Partition{0, {partition::Value()}},
        Partition{0, {std::string("NULL")}}, Partition{0, {std::int64_t{0}}},
        Partition{0, {false}}, Partition{-1, {std::string()}}}) {
    auto back = PartitionFromJson(*ParseJson(PartitionToJson(point).dump(), "point"));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, point);
  }
}

TEST(Encode, ASetThatNobodyWroteIsRefusedNotAborted) {
  for (
      const char* text :
      {"[]", "{}", R"({"shape":{"grain":"day","values":0},"rest":[[5,5]],"named":[]})",
       R"({"shape":{"grain":"day","values":0},"rest":[[5,4]],"named":[]})",
       R"({"shape":{"grain":"day","values":0},"rest":[[1,2],[2,3]],"named":[]})",
       R"({"shape":{"grain":"day","values":0},"rest":[[1,2],null],"named":[]})",
       R"({"shape":{"grain":"day","values":0},"rest":[[1,2.5]],"named":[]})",
       R"({"shape":{"grain":"fortnight","values":0},"rest":[],"named":[]})",
       R"({"shape":{"grain":"","values":0},"rest":[[1,2]],"named":[]})",
       R"({"shape":{"grain":"","values":0},"rest":[null],"named":[]})",
       R"({"shape":{"grain":"day","values":-1},"rest":[],"named":[]})",
       R"({"shape":{"grain":"day","values":1},"rest":[],"named":[[[],[[1,2]]]]})",
       R"({"shape":{"grain":"day","values":1},"rest":[],"named":[[["a"],[]],[["a"],[]]]})",
       R"({"shape":{"grain":"day","values":1},"rest":[],"named":[[[1.5],[[1,2]]]]})"}) {
    auto set = SetFromJson(*ParseJson(text, "set"));
    ASSERT_FALSE(set) << text;
    EXPECT_EQ(set.error().code(), StatusCode::kDamaged) << text;
  }
}

TEST(Plan, ComesBackEqual) {
  const Plan plan = SomePlan();
  auto back = PlanFromJson(*ParseJson(CanonicalJson(PlanToJson(plan)), "plan"));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, plan);
  Plan empty;
  empty.id = PlanIdOf(empty);
  EXPECT_EQ(*PlanFromJson(PlanToJson(empty)), empty);
  EXPECT_TRUE(empty.nothing_to_do());
}

TEST(Plan, AnyDamageOfStoredTextIsSeen) {
  const Plan plan = SomePlan();
  ExpectDamageIsSeen(CanonicalJson(PlanToJson(plan)), [&plan](const Json& json) {
    auto back = PlanFromJson(json);
    return !back || *back == plan;
  });
}

TEST(Plan, AnotherFormatIsNamed) {
  Json json = PlanToJson(SomePlan());
  json.erase("seal");
  auto back = PlanFromJson(Seal(json, 2));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(back.error().message(),
            "the stored plan has format 2, this program reads format 1");
}

TEST(Plan, ASealedPlanWithAForeignIdIsRefused) {
  Plan plan = SomePlan();
  plan.id = "p000000000000";
  auto back = PlanFromJson(PlanToJson(plan));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code(), StatusCode::kDamaged);
}

TEST(Plan, TheIdCoversTheWorkAndNotItsReasons) {
  const Plan plan = SomePlan();
  EXPECT_EQ(plan.id.size(), 13u);
  Plan same = plan;
  same.reason = "another";
  same.ticket.clear();
  same.author = "bo";
  same.created_micros = 1;
  same.models[0].estimate = {};
  same.models[0].because[0].text = "landing #8";
  same.warnings.clear();
  EXPECT_EQ(PlanIdOf(same), plan.id);

  const std::function<void(Plan&)> changes[] = {
      [](Plan& p) { p.pins["flights"].version = 5; },
      [](Plan& p) { p.pins.clear(); },
      [](Plan& p) { p.models[0].definition = "abd"; },
      [](Plan& p) { p.models[0].partitions = PartitionSet::All(kDay); },
      [](Plan& p) { p.models[0].changed_columns->erase("n"); },
      [](Plan& p) { p.models[0].changed_columns.reset(); },
      [](Plan& p) { p.models[0].last_entry = 9; },
      [](Plan& p) { p.models[0].because[0].standing = false; },
      [](Plan& p) { p.models.push_back(p.models[0]); },
      [](Plan& p) { p.request.full = true; }};
  for (const auto& change : changes) {
    Plan other = plan;
    change(other);
    EXPECT_NE(PlanIdOf(other), plan.id);
  }
}

/// What an earlier version wrote: no cause of its own is told, so all is computed.
TEST(Plan, AReasonThatDoesNotSayWhetherItStandsIsComputed) {
  Json json = PlanToJson(SomePlan());
  Json& reason = json["models"][0]["because"][0];
  reason["kind"] = "upstream";
  reason.erase("standing");
  json.erase("seal");
  auto read = PlanFromJson(Seal(std::move(json), 1));
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(OwnCause(read->models[0]), read->models[0].partitions);
}

TEST(WriteSet, ComesBackEqualAndAnyDamageIsSeen) {
  const WriteSet set = SomeWriteSet();
  const std::string text = CanonicalJson(WriteSetToJson(set));
  auto back = WriteSetFromJson(*ParseJson(text, "write set"));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, set);
  ExpectDamageIsSeen(text, [&set](const Json& json) {
    auto read = WriteSetFromJson(json);
    return !read || *read == set;
  });
}

TEST(Verdict, ComesBackEqualAndAnUnknownOutcomeIsNeverPass) {
  Verdict verdict;
  verdict.model = "daily";
  verdict.check = "key";
  verdict.partition = "2001-03-05";
  verdict.write_set = "w123";
  verdict.check_text = "key (id) is unique";
  verdict.outcome = Outcome::kFail;
  verdict.offending_rows = 2;
  verdict.text = "1 key occurs twice";
  verdict.samples = {Json{{"id", 7}, {"count", 2}}};
  Json json = VerdictToJson(verdict);
  EXPECT_EQ(*VerdictFromJson(*ParseJson(json.dump(), "verdict")), verdict);
  json["outcome"] = "passed";
  EXPECT_EQ(VerdictFromJson(json).error().code(), StatusCode::kDamaged);
  json.erase("outcome");
  EXPECT_FALSE(VerdictFromJson(json));
  EXPECT_EQ(Verdict().outcome, Outcome::kNotRun) << "absent is never pass";
}

TEST(Names, AreThoseOfTheContract) {
  std::vector<std::string> kinds;
  for (ReasonKind kind :
       {ReasonKind::kSource, ReasonKind::kUpstream, ReasonKind::kCode,
        ReasonKind::kMissing, ReasonKind::kDrifted, ReasonKind::kRequested}) {
    kinds.emplace_back(ReasonKindName(kind));
  }
  EXPECT_EQ(Join(kinds, " "), "source upstream code missing drifted requested");
  EXPECT_EQ(OutcomeName(Outcome::kNotRun), "not_run");
  EXPECT_EQ(OriginName(Origin::kFileMetadata), "file_metadata");
}

TEST(Change, AppliesToWhoeverVerifiedAVersionInside) {
  Change change;
  change.after = 3;
  change.before = 5;
  EXPECT_FALSE(change.AppliesTo(2));
  EXPECT_TRUE(change.AppliesTo(3));
  EXPECT_TRUE(change.AppliesTo(4));
  EXPECT_FALSE(change.AppliesTo(5));
}

/// Whether every member of `json`, taken away or made another type, is refused as damage.
template <typename Decode>
void ExpectDamageIsSeen(const Json& json, Decode decode) {
  for (const auto& [member, value] : json.items()) {
    Json without = json;
    without.erase(member);
    EXPECT_EQ(decode(without), StatusCode::kDamaged) << "without " << member;
    Json odd = json;
    odd[member] = value.is_object() ? Json::array() : Json::object();
    EXPECT_EQ(decode(odd), StatusCode::kDamaged) << "odd " << member;
  }
  for (const Json& odd : {Json(), Json(1), Json("x"), Json::array()}) {
    EXPECT_EQ(decode(odd), StatusCode::kDamaged) << odd.dump();
  }
}

TEST(Hold, ComesBackEqualAndAnyDamageIsSeen) {
  const PartitionSpace days = PartitionSpace::OfTime("d", Grain::kDay);
  Hold hold;
  hold.id = 3;
  hold.table = "daily";
  hold.partitions = PartitionSet::OfTimes(kDay, TimeRuns::Of(11'386, 11'400));
  hold.by = "rollback #7";
  hold.reason = "wrong";
  hold.definition = "def";
  hold.input_versions = {{"src", 4}, {"dim", -1}};
  hold.input_tables = {{"src", "u-1"}};
  const Json json = HoldToJson(days, hold);
  auto back = HoldFromJson(days, 3, "daily", json);
  ASSERT_TRUE(back.has_value()) << back.error().ToString();
  EXPECT_EQ(HoldToJson(days, *back), json);
  EXPECT_EQ(back->partitions, hold.partitions);
  auto decode = [&](const Json& damaged) {
    auto read = HoldFromJson(days, 3, "daily", damaged);
    return read ? StatusCode::kOk : read.error().code();
  };
  Json without_uuids = json;
  without_uuids.erase("input_tables");
  EXPECT_EQ(decode(without_uuids), StatusCode::kOk) << "holds of before uuids were kept";
  ExpectDamageIsSeen(without_uuids, decode);
  Json odd = json;
  odd["input_versions"]["src"] = "4";
  EXPECT_EQ(decode(odd), StatusCode::kDamaged);
  // Of another space: held is everything, never too little.
  const PartitionSpace months = PartitionSpace::OfTime("d", Grain::kMonth);
  EXPECT_EQ(HoldFromJson(months, 3, "daily", json)->partitions,
            PartitionSet::All(months));
}

TEST(DefinitionRecord, ComesBackEqualAndAnyDamageIsSeen) {
  DefinitionRecord record;
  record.sql = "SELECT 1";
  record.settings = Json{{"clock", 0}};
  record.inputs["src"] = {{"a", "INTEGER", true}, {"b", "VARCHAR", true}};
  const Json json = ToJson(record);
  auto back = DefinitionRecordFromJson(json);
  ASSERT_TRUE(back.has_value()) << back.error().ToString();
  EXPECT_EQ(ToJson(*back), json);
  EXPECT_EQ(back->inputs, record.inputs);
  auto decode = [](const Json& damaged) {
    auto read = DefinitionRecordFromJson(damaged);
    return read ? StatusCode::kOk : read.error().code();
  };
  ExpectDamageIsSeen(json, decode);
  Json odd = json;
  odd["inputs"]["src"][1].erase("type");
  EXPECT_EQ(decode(odd), StatusCode::kDamaged);
  odd["inputs"]["src"] = "a";
  EXPECT_EQ(decode(odd), StatusCode::kDamaged);
}

// A day that is corrected a hundred times has one record, and the others have theirs.
TEST(Facts, RecordsThatNoPartitionHasAnyMoreAreForgotten) {
  FactsInForce facts(kDay);
  auto fact = [](std::int64_t day, Version version) {
    PartitionFact made;
    made.partition.time = day;
    made.record.definition = "def";
    made.record.publication = version;
    made.record.verified_at = {{"src", version}};
    return made;
  };
  facts.Apply({{fact(1, 1), fact(2, 1), fact(3, 1)}, {}});
  for (Version version = 2; version <= 100; ++version)
    facts.Apply({{fact(2, version)}, {}});
  PartitionFact removed = fact(3, 0);
  removed.kind = FactKind::kRemoved;
  facts.Apply({{removed}, {}});
  facts.DropUnusedRecords();
  ASSERT_EQ(facts.records.size(), 2U);
  for (std::int64_t day : {1, 2}) {
    Partition at;
    at.time = day;
    ASSERT_NE(facts.built.Find(at), nullptr);
    EXPECT_EQ(facts.records[*facts.built.Find(at)].publication, day == 1 ? 1 : 100);
  }
  EXPECT_EQ(facts.built.Domain(), PartitionSet::OfTimes(kDay, TimeRuns::Of(1, 3)));
}

TEST(FactsInForce, KnowOfPartitionsWithoutEndThatTheyHaveNoRows) {
  FactsInForce facts(kDay);
  PartitionFact point;
  point.partition.time = 5;
  point.digest.rows = 3;
  point.record.publication = 1;
  RestFact rest{PartitionSet::All(kDay), FactKind::kBuilt, {"def", 1, {}, {}}};
  facts.Apply({{point}, {rest}});
  EXPECT_TRUE(facts.built.Domain().is_all());
  EXPECT_EQ(facts.Rest(), PartitionSet::All(kDay).Difference(
                              PartitionSet::OfTimes(kDay, TimeRuns::Of(5, 6))));
  EXPECT_EQ(facts.Of({5, {}})->digest.rows, 3);
  EXPECT_EQ(facts.Of({6, {}})->digest.rows, 0);
  EXPECT_EQ(facts.Of({6, {}})->record.definition, "def");
  // A later one that speaks of a point by the rest alone says that its rows are gone.
  rest.record.publication = 2;
  facts.Apply({{}, {rest}});
  EXPECT_EQ(facts.Of({5, {}})->digest.rows, 0);
  rest.kind = FactKind::kRemoved;
  facts.Apply({{}, {rest}});
  EXPECT_FALSE(facts.Of({5, {}}).has_value());
  EXPECT_TRUE(facts.Rest().empty());
}

TEST(BuildRecords, GiveBackWhatWasPut) {
  const std::vector<BuildRecord> put = {{"a", 1, {{"x", 3}}},
                                        {"b", 2, {{"x", 4}, {"y", 0}}},
                                        {"a", 3, {}},
                                        {"c", 4, {{"z", 9}}}};
  BuildRecords records(put);
  ASSERT_EQ(records.size(), put.size());
  for (std::size_t i = 0; i < put.size(); ++i) EXPECT_EQ(records[i], put[i]) << i;
  constexpr Version kNever = BuildRecords::kNever;
  EXPECT_THAT(*records.VerifiedAt("x"), ElementsAre(3, 4, kNever, kNever));
  EXPECT_THAT(*records.VerifiedAt("z"), ElementsAre(kNever, kNever, kNever, 9));
  EXPECT_EQ(records.VerifiedAt("w"), nullptr);
  EXPECT_THAT(records.definitions(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(records.definition_at(2), 0u);
}

std::vector<Change> SomeChanges() {
  const Shape both = RegionByDay();
  const ValueTuple eu{std::string("EU")};
  auto days = [&](std::int64_t first, std::int64_t end) {
    return PartitionSet::OfTimes(both, TimeRuns::Of(first, end));
  };
  return {{0, 4, days(1, 3), std::nullopt, "publication #4"},
          {0, 3, days(2, 9), {{"a", "b"}}, "publication #3"},
          {2, 5, PartitionSet::Of(both, TimeRuns(), {{eu, TimeRuns::Point(2)}}), {}, "c"},
          {0, 2, PartitionSet::OfTimes(both, TimeRuns::Null()), {{"a"}}, "d"},
          {0, 9, PartitionSet(both), std::nullopt, "of nothing"},
          {0, 1, days(-5, -3).Union(days(4, 6)), {{"a", "b"}}, "e"}};
}

TEST(ChangeLog, GivesBackWhatWasPut) {
  std::vector<Change> put = SomeChanges();
  ChangeLog log(RegionByDay(), put);
  ASSERT_EQ(log.size(), put.size());
  for (std::size_t i = 0; i < put.size(); ++i) {
    Change back = log[i];
    EXPECT_EQ(back.after, put[i].after) << i;
    EXPECT_EQ(back.before, put[i].before) << i;
    EXPECT_EQ(back.partitions, put[i].partitions) << i;
    EXPECT_EQ(back.columns, put[i].columns) << i;
    EXPECT_EQ(back.cause.text(), put[i].cause.text()) << i;
  }
}

TEST(ChangeLog, KnowsTheLatestChangeOfEachPeriodInWhateverOrderTheyCame) {
  std::vector<Change> changes = SomeChanges();
  for (int turn = 0; turn < 2; ++turn) {
    auto latest = ChangeLog(RegionByDay(), changes).LatestTimes();
    for (std::int64_t day = -6; day < 12; ++day) {
      Version expected = 0;
      for (const Change& change : changes) {
        PartitionSet on_day = PartitionSet::OfTimes(RegionByDay(), TimeRuns::Point(day));
        if (change.partitions.Intersects(on_day)) {
          expected = std::max(expected, change.before);
        }
      }
      const Version* found = latest.Find(day);
      EXPECT_EQ(found == nullptr ? 0 : *found, expected) << day;
    }
    EXPECT_EQ(latest.null(), std::optional<Version>(2));
    std::reverse(changes.begin(), changes.end());
  }
}

}  // namespace
}  // namespace amend::state

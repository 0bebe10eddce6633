#include "iceberg/table_metadata.h"

#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "iceberg/metadata_builder.h"

namespace amend::iceberg {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kNow = 1'700'000'000'000;

Field Column(int id, std::string name, TypeId type) {
  return {.id = id,
          .name = std::move(name),
          .required = false,
          .type = Type{.id = type},
          .doc = ""};
}

NewTable Flights() {
  NewTable table;
  table.location = "file:///lake/db/flights";
  table.schema.fields = {Column(1, "day", TypeId::kDate), Column(2, "n", TypeId::kInt)};
  table.spec.fields = {
      {.source_id = 1, .field_id = 1000, .name = "day", .transform = {}}};
  table.properties = {{"owner", "ops"}};
  return table;
}

MetadataBuilder NewBuilder() {
  return *MetadataBuilder::Create(Flights(), "11111111-2222-4333-8444-555555555555",
                                  kNow);
}

Snapshot MakeSnapshot(std::int64_t id, std::int64_t sequence,
                      std::optional<std::int64_t> parent = std::nullopt) {
  Snapshot snapshot;
  snapshot.id = id;
  snapshot.parent_id = parent;
  snapshot.sequence_number = sequence;
  snapshot.timestamp_ms = kNow;
  snapshot.manifest_list = "file:///lake/db/flights/metadata/snap-" + std::to_string(id);
  snapshot.summary = {{"added-records", "3"}, {"operation", "append"}};
  return snapshot;
}

TableMetadata WithTwoSnapshots() {
  MetadataBuilder builder = NewBuilder();
  EXPECT_TRUE(builder.AddSnapshot(MakeSnapshot(9007199254740993, 1)).ok());
  EXPECT_TRUE(builder.AddSnapshot(MakeSnapshot(8, 2, 9007199254740993)).ok());
  EXPECT_TRUE(builder
                  .SetRef("amend_before_1", {.snapshot_id = 9007199254740993,
                                             .is_tag = true,
                                             .max_ref_age_ms = 86'400'000})
                  .ok());
  return *builder.Build();
}

/// The document after `change`, read again.
Result<TableMetadata> Reread(const std::function<void(Json&)>& change) {
  Json document = *ParseJson(WithTwoSnapshots().ToJson(), "test");
  change(document);
  return TableMetadata::FromJson(document.dump(), "flights");
}

TEST(TableMetadata, FirstVersionIsWrittenExactlySo) {
  EXPECT_EQ(NewBuilder().Build()->ToJson(),
            R"({"format-version":2,"table-uuid":"11111111-2222-4333-8444-555555555555",)"
            R"("location":"file:///lake/db/flights","last-sequence-number":0,)"
            R"("last-updated-ms":1700000000000,"last-column-id":2,"current-schema-id":0,)"
            R"("schemas":[{"type":"struct","schema-id":0,"fields":[)"
            R"({"id":1,"name":"day","required":false,"type":"date"},)"
            R"({"id":2,"name":"n","required":false,"type":"int"}]}],)"
            R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[)"
            R"({"source-id":1,"field-id":1000,"name":"day","transform":"identity"}]}],)"
            R"("last-partition-id":1000,"default-sort-order-id":0,)"
            R"("sort-orders":[{"order-id":0,"fields":[]}],"properties":{"owner":"ops"},)"
            R"("current-snapshot-id":-1,"refs":{},"snapshots":[],"statistics":[],)"
            R"("partition-statistics":[],"snapshot-log":[],"metadata-log":[]})");
}

TEST(TableMetadata, SnapshotsRefsAndLogsAreWrittenExactlySo) {
  Json document = *ParseJson(WithTwoSnapshots().ToJson(), "test");
  EXPECT_EQ(
      document["snapshots"].dump(),
      R"([{"sequence-number":1,"snapshot-id":9007199254740993,)"
      R"("timestamp-ms":1700000000000,)"
      R"("summary":{"operation":"append","added-records":"3"},)"
      R"("manifest-list":"file:///lake/db/flights/metadata/snap-9007199254740993",)"
      R"("schema-id":0},{"sequence-number":2,"snapshot-id":8,)"
      R"("parent-snapshot-id":9007199254740993,"timestamp-ms":1700000000000,)"
      R"("summary":{"operation":"append","added-records":"3"},)"
      R"("manifest-list":"file:///lake/db/flights/metadata/snap-8","schema-id":0}])");
  EXPECT_EQ(document["refs"].dump(),
            R"({"main":{"snapshot-id":8,"type":"branch"},)"
            R"("amend_before_1":{"snapshot-id":9007199254740993,"type":"tag",)"
            R"("max-ref-age-ms":86400000}})");
  EXPECT_EQ(document["snapshot-log"].dump(),
            R"([{"timestamp-ms":1700000000000,"snapshot-id":9007199254740993},)"
            R"({"timestamp-ms":1700000000000,"snapshot-id":8}])");
  EXPECT_EQ(document["last-sequence-number"], 2);
}

TEST(TableMetadata, ReadingWhatWasWrittenGivesTheSameBytes) {
  TableMetadata table = WithTwoSnapshots();
  auto again = TableMetadata::FromJson(table.ToJson(), "flights");
  ASSERT_TRUE(again.has_value()) << again.error().ToString();
  EXPECT_EQ(again->ToJson(), table.ToJson());
  EXPECT_EQ(again->current_snapshot()->id, 8);
  EXPECT_EQ(again->current_snapshot()->parent_id, 9007199254740993);
  EXPECT_EQ(again->schema(), table.schema());
}

TEST(TableMetadata, UnknownMembersSurviveTheNextVersionAtEveryDepth) {
  auto foreign = Reread([](Json& d) {
    d["next-row-id"] = 9007199254740993;
    d["statistics"] = Json::array({{{"snapshot-id", 8}, {"blob-metadata", "x"}}});
    d["snapshots"][0]["key-id"] = "k1";
    d["schemas"][0]["fields"][0]["doc"] = "UTC";
    d["refs"]["main"]["min-snapshots-to-keep"] = 7;
    d["refs"]["main"]["note"] = "theirs";
  });
  ASSERT_TRUE(foreign.has_value()) << foreign.error().ToString();
  MetadataBuilder builder(*foreign, "file:/lake/db/flights/metadata/00004-x", kNow + 5);
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(77, 3, 8)).ok());
  Json next = *ParseJson(builder.Build()->ToJson(), "test");
  EXPECT_EQ(next["next-row-id"], 9007199254740993);
  EXPECT_EQ(next["statistics"][0]["blob-metadata"], "x");
  EXPECT_EQ(next["snapshots"][0]["key-id"], "k1");
  EXPECT_EQ(next["schemas"][0]["fields"][0]["doc"], "UTC");
  EXPECT_EQ(next["refs"]["main"]["note"], "theirs");
  EXPECT_EQ(next["refs"]["main"]["min-snapshots-to-keep"], 7);
  EXPECT_EQ(next["metadata-log"].dump(),
            R"([{"timestamp-ms":1700000000000,)"
            R"("metadata-file":"file:/lake/db/flights/metadata/00004-x"}])");
}

TEST(TableMetadata, LeavesOutWhatOlderWritersLeaveOut) {
  auto table = Reread([](Json& d) {
    for (const char* member :
         {"refs", "statistics", "snapshot-log", "metadata-log", "properties"}) {
      d.erase(member);
    }
    d["snapshots"][0].erase("schema-id");
    d["snapshots"][0].erase("summary");
    d["location"] = "file:///lake/db/flights/";
  });
  ASSERT_TRUE(table.has_value()) << table.error().ToString();
  EXPECT_EQ(table->refs().at("main").snapshot_id, 8);
  EXPECT_EQ(table->snapshots()[0].summary.at("operation"), "overwrite");
  EXPECT_EQ(table->location(), "file:///lake/db/flights");
  EXPECT_EQ(table->metadata_folder(), "file:///lake/db/flights/metadata");
}

TEST(TableMetadata, ReadsTablesWhoseOldSnapshotsWereExpired) {
  auto table = Reread([](Json& d) {
    d["snapshots"].erase(0);
    d["refs"].erase("amend_before_1");
  });
  ASSERT_TRUE(table.has_value()) << table.error().ToString();
  EXPECT_EQ(table->current_snapshot()->parent_id, 9007199254740993);
  EXPECT_EQ(table->FindSnapshot(9007199254740993), nullptr);
}

struct Damage {
  std::string name;
  std::function<void(Json&)> change;
  StatusCode code = StatusCode::kDamaged;
  std::string says;
};

class DamagedMetadata : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedMetadata, IsRefusedByName) {
  auto table = Reread(GetParam().change);
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().code(), GetParam().code) << table.error().ToString();
  EXPECT_THAT(table.error().ToString(), HasSubstr("flights"));
  EXPECT_THAT(table.error().ToString(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Each, DamagedMetadata,
    ::testing::Values(
        Damage{"Version3", [](Json& d) { d["format-version"] = 3; },
               StatusCode::kUnsupported, "format version 3"},
        Damage{"Encrypted", [](Json& d) { d["encryption-keys"] = Json::array({"k"}); },
               StatusCode::kUnsupported, "encrypted"},
        Damage{"NoUuid", [](Json& d) { d.erase("table-uuid"); }, StatusCode::kDamaged,
               "table-uuid"},
        Damage{"NoSchema", [](Json& d) { d["current-schema-id"] = 4; },
               StatusCode::kDamaged, "no schema 4"},
        Damage{"NoSpec", [](Json& d) { d["default-spec-id"] = 4; }, StatusCode::kDamaged,
               "no partition spec 4"},
        Damage{"MainElsewhere",
               [](Json& d) { d["refs"]["main"]["snapshot-id"] = 9007199254740993; },
               StatusCode::kDamaged, "main branch"},
        Damage{"MainMissing", [](Json& d) { d["refs"].erase("main"); },
               StatusCode::kDamaged, "main branch"},
        Damage{"RefNowhere",
               [](Json& d) { d["refs"]["amend_before_1"]["snapshot-id"] = 5; },
               StatusCode::kDamaged, "amend_before_1"},
        Damage{"SequenceBeyond", [](Json& d) { d["last-sequence-number"] = 1; },
               StatusCode::kDamaged, "sequence number 2"},
        Damage{"SnapshotTwice",
               [](Json& d) { d["snapshots"].push_back(d["snapshots"][1]); },
               StatusCode::kDamaged, "twice"},
        Damage{"ColumnBeyond", [](Json& d) { d["last-column-id"] = 1; },
               StatusCode::kDamaged, "column id 2"},
        Damage{"PartitionBeyond", [](Json& d) { d["last-partition-id"] = 999; },
               StatusCode::kDamaged, "1000"},
        Damage{"ClockBack", [](Json& d) { d["last-updated-ms"] = kNow - 60'001; },
               StatusCode::kDamaged, "backwards"},
        Damage{"NumberAsText", [](Json& d) { d["last-updated-ms"] = "1"; },
               StatusCode::kDamaged, "last-updated-ms"}),
    [](const auto& each) { return each.param.name; });

TEST(TableMetadata, EveryTruncationIsRefused) {
  std::string text = WithTwoSnapshots().ToJson();
  for (std::size_t size = 0; size < text.size(); ++size) {
    ASSERT_FALSE(TableMetadata::FromJson(text.substr(0, size), "flights").has_value())
        << size;
  }
}

TEST(TableMetadata, WhatParsesAfterAFlippedBitIsWrittenBackTheSame) {
  std::string text = WithTwoSnapshots().ToJson();
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    auto table = TableMetadata::FromJson(flipped, "flights");
    if (!table) continue;
    auto again = TableMetadata::FromJson(table->ToJson(), "flights");
    ASSERT_TRUE(again.has_value()) << at << ": " << again.error().ToString();
    EXPECT_EQ(again->ToJson(), table->ToJson()) << at;
  }
}

}  // namespace
}  // namespace amend::iceberg

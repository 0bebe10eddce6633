#include "iceberg/metadata_builder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::iceberg {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kNow = 1'700'000'000'000;
constexpr const char* kUuid = "11111111-2222-4333-8444-555555555555";

Field Column(int id, std::string name, TypeId type, bool required = false) {
  return {.id = id,
          .name = std::move(name),
          .required = required,
          .type = Type{.id = type},
          .doc = ""};
}

NewTable Orders() {
  NewTable table;
  table.location = "file:///lake/db/orders";
  table.schema.fields = {Column(1, "ts", TypeId::kTimestamp),
                         Column(2, "amount", TypeId::kInt)};
  table.spec.fields = {{.source_id = 1,
                        .field_id = 1000,
                        .name = "ts_day",
                        .transform = Transform::Parse("day")}};
  return table;
}

TableMetadata NewOrders() {
  return *MetadataBuilder::Create(Orders(), kUuid, kNow)->Build();
}

Snapshot MakeSnapshot(const MetadataBuilder& builder, std::int64_t id) {
  Snapshot snapshot;
  snapshot.id = id;
  snapshot.sequence_number = builder.next_sequence_number();
  snapshot.timestamp_ms = builder.now_ms();
  snapshot.manifest_list = "file:///lake/list.avro";
  snapshot.summary = {{"operation", "append"}};
  return snapshot;
}

TEST(MetadataBuilder, FreshIdsCountDepthFirst) {
  Schema schema;
  Field list = Column(0, "tags", TypeId::kList);
  list.type.children = {Column(0, "element", TypeId::kString)};
  schema.fields = {Column(0, "a", TypeId::kInt), list, Column(0, "z", TypeId::kInt)};
  schema = AssignFreshIds(schema);
  EXPECT_EQ(schema.fields[1].id, 2);
  EXPECT_EQ(schema.fields[1].type.children[0].id, 3);
  EXPECT_EQ(schema.fields[2].id, 4);
}

TEST(MetadataBuilder, NextFileCountsFromTheBaseFile) {
  TableMetadata table = NewOrders();
  auto next = [&table](std::string_view base) {
    return NextMetadataFile(table, base, "u");
  };
  EXPECT_EQ(next(""), "file:///lake/db/orders/metadata/00000-u.metadata.json");
  EXPECT_EQ(next("file:/lake/db/orders/metadata/00041-x.metadata.json"),
            "file:///lake/db/orders/metadata/00042-u.metadata.json");
  EXPECT_EQ(next("99999-x.metadata.json"),
            "file:///lake/db/orders/metadata/100000-u.metadata.json");
  EXPECT_EQ(next("/lake/v7.metadata.json"),
            "file:///lake/db/orders/metadata/00000-u.metadata.json");
  MetadataBuilder builder(table, "", kNow);
  builder.SetProperty("write.metadata.path", "file:///elsewhere/");
  EXPECT_EQ(NextMetadataFile(*builder.Build(), "", "u"),
            "file:///elsewhere/00000-u.metadata.json");
}

TEST(MetadataBuilder, UnpartitionedTablesReserveNoPartitionId) {
  NewTable table = Orders();
  table.spec.fields.clear();
  EXPECT_EQ(MetadataBuilder::Create(table, kUuid, kNow)->Build()->last_partition_id(),
            999);
}

TEST(MetadataBuilder, RefusesTablesThatReadersWouldRefuse) {
  auto says = [](const std::function<void(NewTable&)>& change) {
    NewTable table = Orders();
    change(table);
    auto made = MetadataBuilder::Create(table, kUuid, kNow);
    return made ? std::string("accepted") : made.error().ToString();
  };
  EXPECT_THAT(says([](NewTable& t) { t.location += "/"; }), HasSubstr("slash"));
  EXPECT_THAT(says([](NewTable& t) { t.schema.fields[1].name = "ts"; }),
              HasSubstr("'ts' is used twice"));
  EXPECT_THAT(says([](NewTable& t) { t.schema.fields[1].id = 1; }), HasSubstr("taken"));
  EXPECT_THAT(says([](NewTable& t) { t.schema.fields.clear(); }),
              HasSubstr("at least one column"));
  EXPECT_THAT(says([](NewTable& t) { t.spec.fields[0].name = "amount"; }),
              HasSubstr("name of a column"));
  EXPECT_THAT(says([](NewTable& t) { t.spec.fields[0].name = "ts day"; }),
              HasSubstr("letters"));
  EXPECT_THAT(says([](NewTable& t) { t.spec.fields[0].source_id = 9; }),
              HasSubstr("source column 9"));
  EXPECT_THAT(says([](NewTable& t) { t.spec.fields[0].field_id = 9; }),
              HasSubstr("from 1000"));
  EXPECT_THAT(
      says([](NewTable& t) { t.spec.fields[0].transform = Transform::Parse("zorder"); }),
      HasSubstr("zorder"));
  EXPECT_THAT(says([](NewTable& t) { t.schema.identifier_field_ids = {2}; }),
              HasSubstr("identifier"));
}

TEST(MetadataBuilder, TimeNeverRunsBackwards) {
  MetadataBuilder builder(NewOrders(), "base", kNow - 5'000'000);
  EXPECT_EQ(builder.now_ms(), kNow);
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(builder, 5)).ok());
  EXPECT_EQ(builder.Build()->last_updated_ms(), kNow);
}

TEST(MetadataBuilder, MetadataLogIsTrimmedToThePropertyOfTheTable) {
  NewTable orders = Orders();
  orders.properties["write.metadata.previous-versions-max"] = "3";
  TableMetadata table = *MetadataBuilder::Create(orders, kUuid, kNow)->Build();
  for (int version = 0; version < 6; ++version) {
    table =
        *MetadataBuilder(table, "f" + std::to_string(version), kNow + version).Build();
  }
  ASSERT_EQ(table.metadata_log().size(), 3U);
  EXPECT_EQ(table.metadata_log()[0].file, "f3");
  EXPECT_EQ(table.metadata_log()[2].file, "f5");
  EXPECT_EQ(table.metadata_log()[2].timestamp_ms, kNow + 4);
}

TEST(MetadataBuilder, SnapshotsMustFollowTheTable) {
  MetadataBuilder builder(NewOrders(), "", kNow);
  Snapshot snapshot = MakeSnapshot(builder, 5);
  snapshot.sequence_number = 2;
  EXPECT_THAT(builder.AddSnapshot(snapshot).ToString(), HasSubstr("the next is 1"));
  snapshot.sequence_number = 1;
  snapshot.parent_id = 4;
  EXPECT_THAT(builder.AddSnapshot(snapshot).ToString(), HasSubstr("parent 4"));
  snapshot.parent_id.reset();
  ASSERT_TRUE(builder.AddSnapshot(snapshot).ok());
  snapshot.sequence_number = 2;
  EXPECT_THAT(builder.AddSnapshot(snapshot).ToString(), HasSubstr("taken"));
}

TEST(MetadataBuilder, SnapshotsOnABranchLeaveMainAlone) {
  MetadataBuilder builder(NewOrders(), "", kNow);
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(builder, 5)).ok());
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(builder, 6), "audit").ok());
  TableMetadata table = *builder.Build();
  EXPECT_EQ(table.current_snapshot()->id, 5);
  EXPECT_EQ(table.snapshot_log().size(), 1U);
  EXPECT_EQ(table.refs().at("audit").snapshot_id, 6);
  EXPECT_EQ(table.last_sequence_number(), 2);
}

TEST(MetadataBuilder, TagsDoNotMoveAndMainStays) {
  MetadataBuilder builder(NewOrders(), "", kNow);
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(builder, 5)).ok());
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(builder, 6)).ok());
  ASSERT_TRUE(builder.SetRef("t", {.snapshot_id = 5, .is_tag = true}).ok());
  EXPECT_TRUE(builder.SetRef("t", {.snapshot_id = 5, .is_tag = true}).ok());
  EXPECT_THAT(builder.SetRef("t", {.snapshot_id = 6, .is_tag = true}).ToString(),
              HasSubstr("do not move"));
  EXPECT_THAT(builder.AddSnapshot(MakeSnapshot(builder, 7), "t").ToString(),
              HasSubstr("is a tag"));
  EXPECT_EQ(builder.SetRef("u", {.snapshot_id = 9}).code(), StatusCode::kNotFound);
  EXPECT_EQ(builder.SetRef("main", {.snapshot_id = 5, .is_tag = true}).code(),
            StatusCode::kInvalid);
  EXPECT_EQ(builder.RemoveRef("main").code(), StatusCode::kInvalid);
  EXPECT_TRUE(builder.RemoveRef("t").ok());
  EXPECT_EQ(builder.RemoveRef("t").code(), StatusCode::kNotFound);
  ASSERT_TRUE(builder.SetRef("main", {.snapshot_id = 5}).ok());
  TableMetadata table = *builder.Build();
  EXPECT_EQ(table.current_snapshot()->id, 5);
  EXPECT_EQ(table.snapshot_log().back().snapshot_id, 5);
}

TEST(MetadataBuilder, AddedColumnsAreOptionalAndNewIdsAreNeverReused) {
  MetadataBuilder add(NewOrders(), "", kNow);
  EXPECT_EQ(*add.AddColumn(Column(0, "note", TypeId::kString, true)), 3);
  TableMetadata with_note = *add.Build();
  EXPECT_EQ(with_note.schema().id, 1);
  EXPECT_FALSE(with_note.schema().FindByName("note")->required);
  EXPECT_EQ(with_note.last_column_id(), 3);

  MetadataBuilder drop(with_note, "", kNow);
  Schema without = with_note.schema();
  without.fields.pop_back();
  EXPECT_EQ(*drop.SetSchema(without), 0) << "the first schema again";
  EXPECT_EQ(*drop.AddColumn(Column(0, "other", TypeId::kInt)), 4);
  EXPECT_EQ(drop.Build()->schema().id, 2);
}

TEST(MetadataBuilder, ColumnsChangeOnlyAsOldFilesCanBeRead) {
  auto says = [](const std::function<void(Schema&)>& change) {
    MetadataBuilder builder(NewOrders(), "", kNow);
    Schema schema = NewOrders().schema();
    change(schema);
    auto set = builder.SetSchema(schema);
    return set ? std::string("accepted") : set.error().ToString();
  };
  EXPECT_EQ(says([](Schema& s) { s.fields[1].type.id = TypeId::kLong; }), "accepted");
  EXPECT_EQ(says([](Schema& s) { s.fields[1].name = "renamed"; }), "accepted");
  EXPECT_EQ(says([](Schema& s) { s.fields.pop_back(); }), "accepted");
  EXPECT_THAT(says([](Schema& s) { s.fields[1].type.id = TypeId::kString; }),
              HasSubstr("cannot change from int to string"));
  EXPECT_THAT(says([](Schema& s) { s.fields[1].required = true; }),
              HasSubstr("cannot become required"));
  EXPECT_THAT(says([](Schema& s) { s.fields.erase(s.fields.begin()); }),
              HasSubstr("source column"));
  EXPECT_THAT(
      says([](Schema& s) { s.fields.push_back(Column(3, "x", TypeId::kInt, true)); }),
      HasSubstr("must be optional"));
}

TEST(MetadataBuilder, TwinKeepsColumnsAndHeadAndNothingOfTheHistory) {
  MetadataBuilder builder(NewOrders(), "", kNow);
  ASSERT_TRUE(builder.AddSnapshot(MakeSnapshot(builder, 5)).ok());
  Snapshot second = MakeSnapshot(builder, 6);
  second.parent_id = 5;
  ASSERT_TRUE(builder.AddSnapshot(second).ok());
  builder.SetProperty("write.data.path", "file:///live/data");
  TableMetadata live = *builder.Build();

  TableMetadata twin =
      *MetadataBuilder::Twin(live, "file:///lake/twin", "other", kNow + 1).Build();
  EXPECT_EQ(twin.uuid(), "other");
  EXPECT_EQ(twin.location(), "file:///lake/twin");
  ASSERT_EQ(twin.snapshots().size(), 1U);
  EXPECT_EQ(twin.current_snapshot()->id, 6);
  EXPECT_FALSE(twin.current_snapshot()->parent_id.has_value());
  EXPECT_EQ(twin.last_sequence_number(), 2);
  EXPECT_EQ(twin.schema(), live.schema());
  EXPECT_FALSE(twin.properties().contains("write.data.path"));
  EXPECT_TRUE(twin.metadata_log().empty());
}

}  // namespace
}  // namespace amend::iceberg

#include "iceberg/manifest.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "iceberg/avro.h"
#include "iceberg/decimal.h"

namespace amend::iceberg {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSnapshot = 77;
constexpr std::int64_t kSequence = 5;
constexpr const char* kPath = "file:///w/t/metadata/c-m0.avro";

Type Named(std::string_view text) { return ParsePrimitive(text).value(); }

Field Column(int id, std::string name, std::string_view type) {
  return {.id = id, .name = std::move(name), .required = false, .type = Named(type)};
}

ManifestHeader Header() {
  Schema schema{.id = 1,
                .fields = {Column(1, "id", "long"), Column(2, "ts", "timestamp"),
                           Column(3, "region", "string")}};
  PartitionSpec spec{.id = 0,
                     .fields = {{2, 1000, "ts_day", Transform::Parse("day")},
                                {3, 1001, "region", Transform::Parse("identity")}}};
  return {.schema = schema,
          .spec = spec,
          .is_deletes = false,
          .snapshot_id = kSnapshot,
          .sequence_number = kSequence};
}

DataFile File(const std::string& name, PartitionTuple partition) {
  DataFile file;
  file.path = "file:///w/t/data/" + name;
  file.partition = std::move(partition);
  file.record_count = 10;
  file.file_size = 1000;
  return file;
}

ManifestEntry Added(DataFile file) {
  ManifestEntry entry;
  entry.status = EntryStatus::kAdded;
  entry.file = std::move(file);
  return entry;
}

ManifestEntry Old(EntryStatus status, DataFile file) {
  return {.status = status,
          .snapshot_id = 33,
          .sequence_number = 2,
          .file_sequence_number = 3,
          .file = std::move(file)};
}

std::vector<ManifestEntry> SomeEntries() {
  DataFile rich = File("a.parquet", {std::int64_t{-1}, "eu"});
  rich.column_sizes = {{1, 40}, {2, 50}};
  rich.value_counts = {{1, 10}, {2, 10}};
  rich.null_counts = {{1, 0}, {2, 3}};
  rich.nan_counts = {{1, 0}};
  rich.lower_bounds = {{1, std::string(8, '\0')}, {3, "a"}};
  rich.upper_bounds = {{1, std::string(8, '\1')}, {3, "z"}};
  rich.split_offsets = {4, 400};
  rich.sort_order_id = 0;
  return {Added(rich), Added(File("b.parquet", {Value(), Value()})),
          Old(EntryStatus::kExisting, File("c.parquet", {std::int64_t{19000}, "us"})),
          Old(EntryStatus::kDeleted, File("d.parquet", {std::int64_t{11386}, "ap"}))};
}

EncodedManifest MustEncode(const ManifestHeader& header,
                           const std::vector<ManifestEntry>& entries) {
  auto encoded = EncodeManifest(kPath, header, entries);
  EXPECT_TRUE(encoded.has_value()) << encoded.error().ToString();
  return encoded.value_or(EncodedManifest());
}

Snapshot SnapshotOf(const std::string& list) {
  Snapshot snapshot;
  snapshot.id = kSnapshot;
  snapshot.sequence_number = kSequence;
  snapshot.manifest_list = list;
  return snapshot;
}

TEST(Manifest, EntriesRoundTripWithInheritance) {
  ManifestHeader header = Header();
  EncodedManifest encoded = MustEncode(header, SomeEntries());
  auto entries = DecodeManifest(encoded.bytes, encoded.file, header.spec);
  ASSERT_TRUE(entries.has_value()) << entries.error().ToString();
  ASSERT_EQ(entries->size(), 4U);
  const ManifestEntry& first = entries->at(0);
  EXPECT_EQ(first.snapshot_id, kSnapshot);
  EXPECT_EQ(first.sequence_number, kSequence);
  EXPECT_EQ(first.file_sequence_number, kSequence);
  DataFile expected = SomeEntries()[0].file;
  EXPECT_EQ(first.file.path, expected.path);
  EXPECT_EQ(first.file.partition, expected.partition);
  EXPECT_EQ(first.file.column_sizes, expected.column_sizes);
  EXPECT_EQ(first.file.value_counts, expected.value_counts);
  EXPECT_EQ(first.file.null_counts, expected.null_counts);
  EXPECT_EQ(first.file.nan_counts, expected.nan_counts);
  EXPECT_EQ(first.file.lower_bounds, expected.lower_bounds);
  EXPECT_EQ(first.file.upper_bounds, expected.upper_bounds);
  EXPECT_EQ(first.file.split_offsets, expected.split_offsets);
  EXPECT_EQ(first.file.sort_order_id, 0);
  EXPECT_TRUE(IsNull(entries->at(1).file.partition[0]));
  EXPECT_EQ(entries->at(2).snapshot_id, 33);
  EXPECT_EQ(entries->at(2).sequence_number, 2);
  EXPECT_EQ(entries->at(2).file_sequence_number, 3);
  EXPECT_EQ(entries->at(3).status, EntryStatus::kDeleted);
}

TEST(Manifest, MetricsOfLeanFilesStayUnreadAndNothingElse) {
  ManifestHeader header = Header();
  EncodedManifest encoded = MustEncode(header, SomeEntries());
  std::vector<PartitionTuple> asked;
  auto lean = [&asked](const DataFile& file) {
    asked.push_back(file.partition);
    return file.path.ends_with("a.parquet");
  };
  auto read = DecodeManifest(encoded.bytes, encoded.file, header.spec, lean);
  ASSERT_TRUE(read.has_value()) << read.error().ToString();
  EXPECT_EQ(asked.size(), 4U);
  EXPECT_EQ(asked[0], SomeEntries()[0].file.partition);
  DataFile expected = SomeEntries()[0].file;
  const DataFile& file = read->at(0).file;
  EXPECT_TRUE(file.column_sizes.empty() && file.value_counts.empty() &&
              file.null_counts.empty() && file.nan_counts.empty() &&
              file.lower_bounds.empty() && file.upper_bounds.empty());
  EXPECT_EQ(file.record_count, expected.record_count);
  EXPECT_EQ(file.file_size, expected.file_size);
  EXPECT_EQ(file.split_offsets, expected.split_offsets);
  EXPECT_EQ(read->at(1).file.path, File("b.parquet", {}).path);
}

TEST(Manifest, AddedEntriesTakeTheirNumberFromTheList) {
  ManifestHeader header = Header();
  EncodedManifest encoded = MustEncode(header, {SomeEntries()[0]});
  encoded.file.sequence_number = 9;  // the commit was retried on a newer head
  auto entries = DecodeManifest(encoded.bytes, encoded.file, header.spec);
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ(entries->at(0).sequence_number, 9);
}

TEST(Manifest, ItsLineSumsItUp) {
  EncodedManifest encoded = MustEncode(Header(), SomeEntries());
  const ManifestFile& file = encoded.file;
  EXPECT_EQ(file.path, kPath);
  EXPECT_EQ(file.length, static_cast<std::int64_t>(encoded.bytes.size()));
  EXPECT_EQ(file.added_files, 2);
  EXPECT_EQ(file.existing_files, 1);
  EXPECT_EQ(file.deleted_files, 1);
  EXPECT_EQ(file.added_rows, 20);
  EXPECT_EQ(file.sequence_number, kSequence);
  EXPECT_EQ(file.min_sequence_number, 2) << "over live entries";
  EXPECT_EQ(file.added_snapshot_id, kSnapshot);
  ASSERT_EQ(file.partitions.size(), 2U);
  EXPECT_TRUE(file.partitions[0].contains_null);
  EXPECT_EQ(file.partitions[0].lower_bound, std::string(4, '\xff')) << "day -1";
  EXPECT_EQ(file.partitions[1].lower_bound, "ap") << "deleted entries count too";
  EXPECT_EQ(file.partitions[1].upper_bound, "us");
  EncodedManifest empty = MustEncode(Header(), {Added(File("n", {Value(), Value()}))});
  EXPECT_EQ(empty.file.partitions[0].lower_bound, std::nullopt);
}

TEST(Manifest, EveryPartitionTypeRoundTrips) {
  const std::pair<const char*, Value> kValues[] = {
      {"boolean", true},
      {"int", std::int64_t{-3}},
      {"long", std::int64_t{1} << 40},
      {"float", 0.5},
      {"double", -0.25},
      {"date", std::int64_t{-1}},
      {"time", std::int64_t{5}},
      {"timestamp", std::int64_t{-5}},
      {"timestamptz", std::int64_t{5}},
      {"string", std::string("é")},
      {"uuid", std::string(16, '\x80')},
      {"fixed[3]", std::string("abc")},
      {"binary", std::string("\0\xff", 2)},
      {"decimal(9, 2)", DecimalToBytes(-1420)},
      {"decimal(9, 2)", DecimalToBytes(300)},
      {"uuid", std::string(16, '\x01')},
  };
  ManifestHeader header = Header();
  header.schema.fields.clear();
  header.spec.fields.clear();
  PartitionTuple tuple;
  for (const auto& [type, value] : kValues) {
    int id = static_cast<int>(tuple.size()) + 1;
    std::string name = "c" + std::to_string(id);
    header.schema.fields.push_back(Column(id, name, type));
    header.spec.fields.push_back({id, 999 + id, name, Transform::Parse("identity")});
    tuple.push_back(value);
  }
  EncodedManifest encoded = MustEncode(header, {Added(File("a", tuple))});
  auto entries = DecodeManifest(encoded.bytes, encoded.file, header.spec);
  ASSERT_TRUE(entries.has_value()) << entries.error().ToString();
  EXPECT_EQ(entries->at(0).file.partition, tuple);
}

TEST(Manifest, SchemaCarriesWhatOtherEnginesInsistOn) {
  ManifestHeader header = Header();
  header.spec.fields[1].name = "1st région";
  EncodedManifest encoded = MustEncode(header, SomeEntries());
  auto reader = AvroReader::Open(encoded.bytes, "m");
  ASSERT_TRUE(reader.has_value());
  std::string schema = *reader->FindHeader("avro.schema");
  for (const char* text :
       {R"("name":"manifest_entry")", R"("name":"r2")", R"("name":"r102")",
        R"("name":"k126_v127")", R"("logicalType":"map")", R"("element-id":133)",
        R"("default":null,"field-id":143)", R"({"type":"int","logicalType":"date"})",
        R"("name":"_1st_x20r_xC3_xA9gion")", R"("iceberg-field-name":"1st région")"}) {
    EXPECT_THAT(schema, HasSubstr(text));
  }
  EXPECT_THAT(*reader->FindHeader("schema"), HasSubstr(R"("schema-id":1)"));
  EXPECT_EQ(reader->FindHeader("partition-spec")->front(), '[');
  EXPECT_EQ(*reader->FindHeader("content"), "data");
}

TEST(Manifest, ImpossibleEntriesAreNotWritten) {
  ManifestHeader header = Header();
  auto code = [&header](const ManifestEntry& entry) {
    auto encoded = EncodeManifest(kPath, header, {entry});
    return encoded ? StatusCode::kOk : encoded.error().code();
  };
  ManifestEntry entry = SomeEntries()[2];
  entry.sequence_number.reset();
  EXPECT_EQ(code(entry), StatusCode::kInternal);
  EXPECT_EQ(code(Added(File("a", {Value()}))), StatusCode::kInternal);
  EXPECT_EQ(code(Added(File("a", {Value(), std::int64_t{1}}))), StatusCode::kInvalid);
  header.spec.fields[1].transform = Transform::Parse("zorder");
  EXPECT_EQ(code(Added(File("a", {Value(), Value()}))), StatusCode::kUnsupported);
  header.spec.fields[1] = {9, 1001, "gone", Transform::Parse("identity")};
  EXPECT_EQ(code(Added(File("a", {Value(), Value()}))), StatusCode::kUnsupported);
}

/// Reads the manifest after a change to its bytes or its line.
Status ReadAfter(const std::function<void(EncodedManifest&)>& change,
                 std::vector<ManifestEntry> entries = SomeEntries()) {
  ManifestHeader header = Header();
  EncodedManifest encoded = MustEncode(header, entries);
  change(encoded);
  auto read = DecodeManifest(encoded.bytes, encoded.file, header.spec);
  return read ? Status() : read.error();
}

TEST(Manifest, SequenceNumbersThatCannotBeAreDamage) {
  Status older = ReadAfter([](EncodedManifest& m) { m.file.sequence_number = 1; });
  EXPECT_EQ(older.code(), StatusCode::kDamaged);
  EXPECT_THAT(older.message(), HasSubstr("c.parquet has sequence number 2"));
  EXPECT_EQ(ReadAfter([](EncodedManifest& m) { m.file.is_deletes = true; }).code(),
            StatusCode::kDamaged);
}

/// A manifest written field by field, for what our writer refuses to write.
std::string RawManifest(std::int64_t status, std::optional<std::int64_t> sequence,
                        std::string_view format, std::string_view version = "2") {
  constexpr std::string_view kSchema = R"({"type":"record","name":"manifest_entry",
    "fields":[{"name":"status","type":"int","field-id":0},
    {"name":"sequence_number","type":["null","long"],"field-id":3},
    {"name":"file_sequence_number","type":["null","long"],"field-id":4},
    {"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[
      {"name":"file_path","type":"string","field-id":100},
      {"name":"file_format","type":"string","field-id":101},
      {"name":"record_count","type":"long","field-id":103},
      {"name":"file_size_in_bytes","type":"long","field-id":104}]}}]})";
  AvroWriter writer(std::string(kSchema), {{"format-version", std::string(version)}});
  AvroEncoder& out = writer.record();
  out.Long(status);
  for (int i = 0; i < 2; ++i) {
    out.Present(sequence.has_value());
    if (sequence) out.Long(*sequence);
  }
  out.Sized("file:///w/x");
  out.Sized(format);
  out.Long(1);
  out.Long(1);
  writer.EndRecord();
  return std::move(writer).Finish();
}

TEST(Manifest, RefusesWhatItWouldMisread) {
  ManifestFile line;
  line.path = kPath;
  line.sequence_number = kSequence;
  auto code = [&line](const std::string& bytes) {
    auto read = DecodeManifest(bytes, line, PartitionSpec());
    return read ? StatusCode::kOk : read.error().code();
  };
  EXPECT_EQ(code(RawManifest(1, std::nullopt, "parquet")), StatusCode::kOk);
  EXPECT_EQ(code(RawManifest(0, std::nullopt, "PARQUET")), StatusCode::kDamaged)
      << "existing without sequence number";
  EXPECT_EQ(code(RawManifest(0, 6, "PARQUET")), StatusCode::kDamaged)
      << "newer than its manifest";
  EXPECT_EQ(code(RawManifest(3, 1, "PARQUET")), StatusCode::kDamaged);
  EXPECT_EQ(code(RawManifest(1, 1, "ORC")), StatusCode::kUnsupported);
  EXPECT_EQ(code(RawManifest(1, 1, "PUFFIN")), StatusCode::kUnsupported);
  EXPECT_EQ(code(RawManifest(2, 1, "ORC")), StatusCode::kOk)
      << "deleted: nobody reads it";
  EXPECT_EQ(code(RawManifest(1, 1, "PARQUET", "3")), StatusCode::kUnsupported);
  line.sequence_number = 0;
  EXPECT_EQ(code(RawManifest(0, std::nullopt, "PARQUET")), StatusCode::kOk)
      << "written before sequence numbers";
  PartitionSpec spec{.id = 0, .fields = {{1, 1000, "p", Transform::Parse("identity")}}};
  EXPECT_FALSE(DecodeManifest(RawManifest(1, 0, "PARQUET"), line, spec).has_value())
      << "the partition is missing";
}

TEST(Manifest, NanIsNoPartition) {
  ManifestHeader header = Header();
  header.schema.fields[2].type = Named("double");
  auto encoded =
      EncodeManifest(kPath, header, {Added(File("a", {Value(), std::nan("")}))});
  EXPECT_FALSE(encoded.has_value());
}

std::vector<ManifestFile> SomeManifests() {
  ManifestFile first = MustEncode(Header(), SomeEntries()).file;
  ManifestFile second = first;
  second.path = "file:///w/t/metadata/c-m1.avro";
  second.is_deletes = true;
  second.partitions[0].contains_nan.reset();
  second.partitions[1].lower_bound.reset();
  return {first, second};
}

void ExpectEqual(const ManifestFile& a, const ManifestFile& b) {
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.length, b.length);
  EXPECT_EQ(a.spec_id, b.spec_id);
  EXPECT_EQ(a.is_deletes, b.is_deletes);
  EXPECT_EQ(a.sequence_number, b.sequence_number);
  EXPECT_EQ(a.min_sequence_number, b.min_sequence_number);
  EXPECT_EQ(a.added_snapshot_id, b.added_snapshot_id);
  EXPECT_EQ(a.added_files, b.added_files);
  EXPECT_EQ(a.existing_files, b.existing_files);
  EXPECT_EQ(a.deleted_files, b.deleted_files);
  EXPECT_EQ(a.added_rows, b.added_rows);
  EXPECT_EQ(a.existing_rows, b.existing_rows);
  EXPECT_EQ(a.deleted_rows, b.deleted_rows);
  ASSERT_EQ(a.partitions.size(), b.partitions.size());
  for (std::size_t i = 0; i < a.partitions.size(); ++i) {
    EXPECT_EQ(a.partitions[i].contains_null, b.partitions[i].contains_null);
    EXPECT_EQ(a.partitions[i].contains_nan, b.partitions[i].contains_nan);
    EXPECT_EQ(a.partitions[i].lower_bound, b.partitions[i].lower_bound);
    EXPECT_EQ(a.partitions[i].upper_bound, b.partitions[i].upper_bound);
  }
}

ManifestListHeader ListHeader() {
  return {.snapshot_id = kSnapshot,
          .parent_snapshot_id = std::nullopt,
          .sequence_number = kSequence};
}

TEST(ManifestList, LinesRoundTrip) {
  auto bytes = EncodeManifestList(ListHeader(), SomeManifests());
  ASSERT_TRUE(bytes.has_value()) << bytes.error().ToString();
  auto manifests = DecodeManifestList(*bytes, SnapshotOf("file:///w/l.avro"));
  ASSERT_TRUE(manifests.has_value()) << manifests.error().ToString();
  ASSERT_EQ(manifests->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) ExpectEqual(manifests->at(i), SomeManifests()[i]);
  auto reader = AvroReader::Open(*bytes, "list");
  EXPECT_EQ(*reader->FindHeader("parent-snapshot-id"), "null");
  EXPECT_THAT(*reader->FindHeader("avro.schema"), HasSubstr(R"("element-id":508)"));
}

TEST(ManifestList, RefusesWhatCannotBe) {
  auto message = [](const std::function<void(ManifestFile&, Snapshot&)>& change) {
    auto manifests = SomeManifests();
    Snapshot snapshot = SnapshotOf("file:///w/l.avro");
    change(manifests[1], snapshot);
    auto bytes = EncodeManifestList(ListHeader(), manifests);
    if (!bytes) return bytes.error().message();
    auto read = DecodeManifestList(*bytes, snapshot);
    return read ? std::string("accepted") : read.error().message();
  };
  EXPECT_THAT(message([](auto&, auto& s) { s.id = 78; }), HasSubstr("of snapshot 77"));
  EXPECT_THAT(message([](auto&, auto& s) { s.sequence_number = 4; }),
              HasSubstr("sequence numbers"));
  EXPECT_THAT(message([](auto& m, auto&) { m.min_sequence_number = 6; }),
              HasSubstr("sequence numbers"));
  EXPECT_THAT(message([](auto& m, auto&) { m.path = kPath; }), HasSubstr("twice"));
  EXPECT_THAT(message([](auto& m, auto&) { m.length = -1; }), HasSubstr("no manifest"));
  EXPECT_THAT(message([](auto& m, auto&) { m.key_metadata = "k"; }),
              HasSubstr("encrypted"));
  EXPECT_THAT(message([](auto& m, auto&) { m.added_files.reset(); }),
              HasSubstr("does not state its counts"));
}

TEST(ManifestList, OlderListsLackSomeFields) {
  constexpr std::string_view kOld = R"({"type":"record","name":"manifest_file","fields":[
    {"name":"manifest_path","type":"string","field-id":500},
    {"name":"manifest_length","type":"long","field-id":501},
    {"name":"partition_spec_id","type":"int","field-id":502},
    {"name":"added_snapshot_id","type":["null","long"],"field-id":503},
    {"name":"added_data_files_count","type":["null","int"],"field-id":504}]})";
  AvroWriter writer{std::string(kOld), {}};
  writer.record().Sized("file:///w/m.avro");
  writer.record().Long(100);
  writer.record().Long(0);
  writer.record().Present(true);
  writer.record().Long(4);
  writer.record().Present(false);
  writer.EndRecord();
  auto read = DecodeManifestList(std::move(writer).Finish(), SnapshotOf("l"));
  ASSERT_TRUE(read.has_value()) << read.error().ToString();
  EXPECT_EQ(read->at(0).sequence_number, 0);
  EXPECT_FALSE(read->at(0).is_deletes);
  EXPECT_EQ(read->at(0).added_files, std::nullopt);
  EXPECT_TRUE(read->at(0).HasLiveFiles()) << "unknown counts as some";
}

TEST(Manifest, DamageNeverCrashesAndMostlyShows) {
  ManifestHeader header = Header();
  EncodedManifest encoded = MustEncode(header, SomeEntries());
  std::string list = EncodeManifestList(ListHeader(), SomeManifests()).value();
  Snapshot snapshot = SnapshotOf("l");
  auto both_read = [&](const std::string& bytes, bool is_list) {
    return is_list ? DecodeManifestList(bytes, snapshot).has_value()
                   : DecodeManifest(bytes, encoded.file, header.spec).has_value();
  };
  std::mt19937 random(5);
  for (bool is_list : {false, true}) {
    const std::string& whole = is_list ? list : encoded.bytes;
    int read = 0;
    for (std::size_t size = 0; size < whole.size(); size += 3) {
      if (both_read(whole.substr(0, size), is_list)) ++read;
    }
    EXPECT_LE(read, 1) << "only the cut at a block's end, which the length tells";
    for (int i = 0; i < 500; ++i) {
      std::string damaged = whole;
      for (auto flips = random() % 3 + 1; flips > 0; --flips) {
        std::size_t bit = random() % (damaged.size() * 8);
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      }
      both_read(damaged, is_list);
    }
  }
}

class ManifestFileTest : public ::testing::Test {
 protected:
  ManifestFileTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("amend_manifest_" + Env::Real().NewUuid())) {}
  ~ManifestFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Uri(const std::string& name) const {
    return "file://" + (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

TEST_F(ManifestFileTest, WritesOnceAndComparesTheLength) {
  Env& env = Env::Real();
  ManifestHeader header = Header();
  auto file = WriteManifest(env, Uri("m.avro"), header, SomeEntries());
  ASSERT_TRUE(file.has_value()) << file.error().ToString();
  EXPECT_FALSE(WriteManifest(env, Uri("m.avro"), header, SomeEntries()).has_value());
  EXPECT_EQ(ReadManifest(env, *file, header.spec).value().size(), 4U);
  ++file->length;
  auto read = ReadManifest(env, *file, header.spec);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), StatusCode::kDamaged);
  EXPECT_THAT(read.error().message(), HasSubstr("its list says"));

  Snapshot snapshot = SnapshotOf(Uri("l.avro"));
  ASSERT_TRUE(WriteManifestList(env, snapshot.manifest_list, ListHeader(), {*file}).ok());
  EXPECT_EQ(ReadManifestList(env, snapshot).value().size(), 1U);
  snapshot.manifest_list = Uri("gone.avro");
  EXPECT_EQ(ReadManifestList(env, snapshot).error().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace amend::iceberg

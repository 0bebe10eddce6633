#include "iceberg/avro.h"

#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::iceberg {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kSchema = R"({"type":"record","name":"row","fields":[
  {"name":"id","type":"long","field-id":1},
  {"name":"name","type":["null","string"],"default":null,"field-id":2},
  {"name":"parts","type":{"type":"array","items":"int","element-id":4},"field-id":3}]})";

struct Row {
  std::int64_t id = 0;
  std::optional<std::string> name;
  std::vector<std::int64_t> parts;
  friend bool operator==(const Row&, const Row&) = default;
};

std::string Encode(const std::vector<Row>& rows, AvroCodec codec) {
  AvroWriter writer(std::string(kSchema), {{"content", "data"}}, codec);
  for (const Row& row : rows) {
    AvroEncoder& out = writer.record();
    out.Long(row.id);
    out.Present(row.name.has_value());
    if (row.name) out.Sized(*row.name);
    out.BeginItems(row.parts.size());
    for (std::int64_t part : row.parts) out.Long(part);
    out.EndItems();
    writer.EndRecord();
  }
  return std::move(writer).Finish();
}

Result<std::vector<Row>> Decode(std::string_view bytes) {
  AMEND_ASSIGN(AvroReader reader, AvroReader::Open(bytes, "test.avro"));
  std::vector<Row> rows;
  Status status = reader.ForEach([&](AvroDecoder& decoder, const AvroType& type) {
    Row row;
    decoder.Fields(type, [&](const AvroField& field) {
      if (field.id == 1) row.id = decoder.Integer(*field.type);
      if (field.id == 2) {
        const AvroType& name = decoder.Resolve(*field.type);
        if (name.kind == AvroKind::kString) row.name = decoder.Bytes(name);
      }
      if (field.id == 3) {
        decoder.Items(*field.type, [&](const AvroType& item) {
          row.parts.push_back(decoder.Integer(item));
        });
      }
      return field.id >= 1 && field.id <= 3;
    });
    rows.push_back(row);
    return Status();
  });
  AMEND_FAIL_IF_ERROR(status);
  return rows;
}

std::vector<Row> ManyRows(int count) {
  std::mt19937_64 random(3);
  std::vector<Row> rows;
  for (int i = 0; i < count; ++i) {
    Row row{.id = static_cast<std::int64_t>(random()), .name = std::nullopt, .parts = {}};
    if (i % 3 != 0) row.name = "row " + std::to_string(i);
    for (int k = 0; k < i % 4; ++k) row.parts.push_back(static_cast<int>(random()));
    rows.push_back(row);
  }
  rows.push_back(
      {.id = std::numeric_limits<std::int64_t>::min(), .name = "", .parts = {}});
  rows.push_back(
      {.id = std::numeric_limits<std::int64_t>::max(), .name = "", .parts = {}});
  return rows;
}

TEST(Avro, RowsRoundTripOverManyBlocks) {
  std::vector<Row> rows = ManyRows(8'000);
  for (AvroCodec codec : {AvroCodec::kNull, AvroCodec::kDeflate}) {
    std::string bytes = Encode(rows, codec);
    EXPECT_EQ(Encode(rows, codec), bytes) << "equal input gives equal bytes";
    auto read = Decode(bytes);
    ASSERT_TRUE(read.has_value()) << read.error().ToString();
    EXPECT_TRUE(*read == rows);
  }
  EXPECT_EQ(Decode(Encode({}, AvroCodec::kDeflate)).value().size(), 0U);
}

TEST(Avro, KeepsTheSchemaTextAndHeader) {
  std::string bytes = Encode({}, AvroCodec::kDeflate);
  auto reader = AvroReader::Open(bytes, "test.avro");
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(*reader->FindHeader("avro.schema"), kSchema);
  EXPECT_EQ(*reader->FindHeader("content"), "data");
  EXPECT_EQ(reader->FindHeader("none"), nullptr);
}

/// A file of one block with `payload` in it, compressed as `codec` says.
std::string FileWith(std::int64_t count, std::string_view payload,
                     std::string_view schema = kSchema, std::string_view codec = "null") {
  AvroEncoder file;
  file.Raw(std::string_view("Obj\1", 4));
  file.BeginItems(2);
  file.Sized("avro.schema");
  file.Sized(schema);
  file.Sized("avro.codec");
  file.Sized(codec);
  file.EndItems();
  std::string sync(16, 's');
  file.Raw(sync);
  file.Long(count);
  file.Sized(payload);
  file.Raw(sync);
  return std::string(file.bytes());
}

TEST(Avro, ArraysMayComeInBlocksAndWithSizes) {
  AvroEncoder row;
  row.Long(7);
  row.Present(false);
  row.Long(-2);  // two items, and their size in bytes
  row.Long(2);
  row.Long(10);
  row.Long(11);
  row.Long(1);
  row.Long(12);
  row.Long(0);
  auto rows = Decode(FileWith(1, row.bytes()));
  ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
  EXPECT_EQ(rows->at(0).parts, (std::vector<std::int64_t>{10, 11, 12}));
}

TEST(Avro, BlocksThatTellTheirSizeAreSkippedUnread) {
  constexpr std::string_view kTwoLists = R"({"type":"record","name":"row","fields":[
    {"name":"unknown","type":{"type":"array","items":"int"}},
    {"name":"id","type":"long","field-id":1},
    {"name":"parts","type":{"type":"array","items":"int"},"field-id":3}]})";
  auto row_with = [](std::string_view unknown) {
    AvroEncoder row;
    row.SizedItems(3, [&](AvroEncoder& items) { items.Raw(unknown); });
    row.Long(42);
    row.SizedItems(2, [](AvroEncoder& items) {
      items.Long(-1);
      items.Long(1'000'000);
    });
    return std::string(row.bytes());
  };
  for (std::string_view unknown : {"\2\4\6", "\xff\xff\xff"}) {  // the second are no ints
    auto rows = Decode(FileWith(1, row_with(unknown), kTwoLists));
    ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
    EXPECT_EQ(rows->at(0).id, 42);
    EXPECT_EQ(rows->at(0).parts, (std::vector<std::int64_t>{-1, 1'000'000}));
  }
  AvroEncoder long_block;
  long_block.Long(-3);
  long_block.Long(1'000);
  auto cut = Decode(FileWith(1, long_block.bytes(), kTwoLists));
  ASSERT_FALSE(cut.has_value());
  EXPECT_THAT(cut.error().ToString(), HasSubstr("ends within a value"));
}

TEST(Avro, SkipsWhatTheReaderDoesNotKnow) {
  constexpr std::string_view kWide = R"({"type":"record","name":"row","fields":[
    {"name":"a","type":"boolean"},
    {"name":"b","type":{"type":"map","values":["null","double"]}},
    {"name":"c","type":{"type":"fixed","name":"six","size":6}},
    {"name":"d","type":{"type":"enum","name":"e","symbols":["x","y"]}},
    {"name":"e","type":{"type":"record","name":"in","fields":[
       {"name":"f","type":"float"},{"name":"g","type":"six"},{"name":"h","type":"bytes"}]}},
    {"name":"id","type":"long","field-id":1}]})";
  AvroEncoder row;
  row.Boolean(true);
  row.Long(1);
  row.Sized("key");
  row.Long(1);
  row.Double(0.5);
  row.Long(0);
  row.Raw("sixsix");
  row.Long(1);
  row.Float(0.5F);
  row.Raw("sixsix");
  row.Sized("bytes");
  row.Long(42);
  auto rows = Decode(FileWith(1, row.bytes(), kWide));
  ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
  EXPECT_EQ(rows->at(0).id, 42);
}

TEST(Avro, HostileCountsAllocateNothing) {
  auto error = [](std::string_view bytes) {
    auto rows = Decode(bytes);
    return rows ? std::string("accepted") : rows.error().message();
  };
  AvroEncoder huge;
  huge.Long(7);
  huge.Present(false);
  huge.Long(std::int64_t{1} << 60);
  EXPECT_THAT(error(FileWith(1, huge.bytes())), HasSubstr("a count exceeds"));
  AvroEncoder least;
  least.Long(7);
  least.Present(false);
  least.Long(std::numeric_limits<std::int64_t>::min());
  least.Long(1);
  EXPECT_THAT(error(FileWith(1, least.bytes())), HasSubstr("a count is out of range"));
  EXPECT_THAT(error(FileWith(std::int64_t{1} << 60, "x")),
              HasSubstr("impossible number"));
  EXPECT_THAT(error(FileWith(-1, "x")), HasSubstr("impossible number"));
  AvroEncoder text;
  text.Long(7);
  text.Present(true);
  text.Long(1 << 30);
  EXPECT_THAT(error(FileWith(1, text.bytes())), HasSubstr("ends within a value"));
  AvroEncoder branch;
  branch.Long(7);
  branch.Long(5);
  EXPECT_THAT(error(FileWith(1, branch.bytes())), HasSubstr("no such branch"));
  EXPECT_THAT(error(FileWith(1, std::string(11, '\xff'))), HasSubstr("64 bits"));
}

TEST(Avro, BlocksEndWithTheirRecords) {
  AvroEncoder row;
  row.Long(7);
  row.Present(false);
  row.EndItems();
  EXPECT_TRUE(Decode(FileWith(1, row.bytes())).has_value());
  EXPECT_FALSE(Decode(FileWith(1, std::string(row.bytes()) + "x")).has_value());
  EXPECT_FALSE(Decode(FileWith(2, row.bytes())).has_value());
  EXPECT_FALSE(Decode(FileWith(0, row.bytes())).has_value());
}

TEST(Avro, DeflatedBlocksMayEndWithPartOfAChecksum) {
  AvroEncoder row;
  row.Long(7);
  row.Present(false);
  row.EndItems();
  auto size = static_cast<char>(row.bytes().size());
  std::string stored = {'\1', size, '\0', static_cast<char>(~size), '\xff'};
  stored += row.bytes();
  auto reads = [&stored](const std::string& after) {
    return Decode(FileWith(1, stored + after, kSchema, "deflate")).has_value();
  };
  EXPECT_TRUE(reads(""));
  EXPECT_TRUE(reads("abc")) << "as PyIceberg leaves them";
  EXPECT_FALSE(reads("abcd"));
}

TEST(Avro, OtherCodecsAreRefusedByName) {
  AvroWriter writer(std::string(kSchema), {}, AvroCodec::kNull);
  std::string bytes = std::move(writer).Finish();
  bytes.replace(bytes.rfind("null", bytes.find("avro.codec") + 20), 4, "zstd");
  auto reader = AvroReader::Open(bytes, "test.avro");
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(reader.error().message(), HasSubstr("'zstd'"));
}

TEST(Avro, RefusesWhatIsNoSchema) {
  for (std::string_view text :
       {"", "5", "\"uuid\"", "{}", R"({"type":"record","name":"a"})",
        R"({"type":"array"})", R"({"type":"fixed","name":"f","size":-1})",
        R"({"type":"record","name":"a","fields":[{"name":"x"}]})"}) {
    auto schema = AvroSchema::Parse(text);
    ASSERT_FALSE(schema.has_value()) << text;
    EXPECT_EQ(schema.error().code(), StatusCode::kDamaged) << text;
  }
  auto recursive = AvroSchema::Parse(
      R"({"type":"record","name":"a","fields":[{"name":"x","type":["null","a"]}]})");
  ASSERT_FALSE(recursive.has_value());
  EXPECT_EQ(recursive.error().code(), StatusCode::kUnsupported);
}

TEST(Avro, EveryTruncationIsTold) {
  std::string bytes = Encode(ManyRows(40), AvroCodec::kDeflate);
  std::size_t whole = Encode({}, AvroCodec::kDeflate).size();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto rows = Decode(std::string_view(bytes).substr(0, size));
    // Without any block it is a whole file of no rows; nothing in the format tells.
    if (size == whole) continue;
    ASSERT_FALSE(rows.has_value()) << size;
    EXPECT_EQ(rows.error().code(), StatusCode::kDamaged);
  }
}

TEST(Avro, FlippedBitsNeverCrash) {
  for (AvroCodec codec : {AvroCodec::kNull, AvroCodec::kDeflate}) {
    std::string bytes = Encode(ManyRows(12), codec);
    int told = 0;
    for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 5) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      if (!Decode(damaged).has_value()) ++told;
    }
    EXPECT_GT(told, static_cast<int>(bytes.size() / 2)) << "much of the damage shows";
  }
}

}  // namespace
}  // namespace amend::iceberg

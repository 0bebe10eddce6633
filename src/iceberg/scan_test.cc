#include "iceberg/scan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "base/civil.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "iceberg/decimal.h"
#include "iceberg/manifest.h"

namespace amend::iceberg {
namespace {

using ::testing::HasSubstr;

/// A row as its values of columns 1 to 5.
using Row = std::vector<Value>;

constexpr int kColumns = 5;

Schema MakeSchema() {
  const char* kTypes[kColumns] = {"long", "timestamp", "string", "double",
                                  "decimal(9, 2)"};
  Schema schema;
  for (int i = 0; i < kColumns; ++i) {
    schema.fields.push_back({.id = i + 1,
                             .name = "c" + std::to_string(i + 1),
                             .required = false,
                             .type = ParsePrimitive(kTypes[i]).value()});
  }
  return schema;
}

const Schema& TestSchema() {
  static const Schema kSchema = MakeSchema();
  return kSchema;
}

std::vector<PartitionSpec> TestSpecs() {
  auto field = [](int source, int id, const char* transform) {
    return PartitionField{source, id, "p" + std::to_string(id),
                          Transform::Parse(transform)};
  };
  return {{.id = 0, .fields = {field(2, 1000, "day"), field(3, 1001, "identity")}},
          {.id = 1, .fields = {field(2, 1002, "month")}},
          {.id = 2, .fields = {field(1, 1003, "bucket[4]"), field(4, 1004, "void")}},
          {.id = 3, .fields = {field(3, 1005, "truncate[1]"), field(2, 1006, "hour")}},
          {.id = 4, .fields = {field(5, 1007, "truncate[100]"), field(2, 1008, "year")}},
          {.id = 5, .fields = {}}};
}

PartitionTuple TupleOf(const PartitionSpec& spec, const Row& row) {
  PartitionTuple tuple;
  for (const PartitionField& field : spec.fields) {
    auto at = static_cast<std::size_t>(field.source_id - 1);
    tuple.push_back(field.transform.Apply(TestSchema().fields[at].type, row[at]).value());
  }
  return tuple;
}

/// A table in a folder of its own: snapshots, their manifests, no data.
class TableTest : public ::testing::Test {
 protected:
  TableTest()
      : folder_((std::filesystem::temp_directory_path() /
                 ("amend_scan_" + Env::Real().NewUuid()))
                    .string()) {}
  ~TableTest() override { std::filesystem::remove_all(folder_); }

  std::string Uri(const std::string& name) const {
    return "file://" + folder_ + "/" + name;
  }

  DataFile File(int spec_id, PartitionTuple tuple, const std::string& name = "") {
    DataFile file;
    file.path = Uri("data/" + (name.empty() ? std::to_string(++names_) : name));
    file.spec_id = spec_id;
    file.partition = std::move(tuple);
    file.record_count = 1;
    file.file_size = 1;
    return file;
  }

  /// Writes a manifest of one spec that snapshot `snapshot` adds.
  ManifestFile Manifest(std::int64_t snapshot, int spec_id,
                        std::vector<ManifestEntry> entries) {
    ManifestHeader header{
        .schema = TestSchema(),
        .spec = TestSpecs()[static_cast<std::size_t>(spec_id)],
        .is_deletes = !entries.empty() && entries[0].file.content != FileContent::kData,
        .snapshot_id = snapshot,
        .sequence_number = snapshot};
    auto path = Uri(fmt::format("metadata/{}-m{}.avro", snapshot, ++names_));
    auto file = WriteManifest(Env::Real(), path, header, entries);
    EXPECT_TRUE(file.has_value()) << file.error().ToString();
    return file.value_or(ManifestFile());
  }

  ManifestFile Added(std::int64_t snapshot, int spec_id, std::vector<DataFile> files) {
    std::vector<ManifestEntry> entries;
    for (DataFile& file : files) {
      entries.emplace_back();
      entries.back().file = std::move(file);
    }
    return Manifest(snapshot, spec_id, std::move(entries));
  }

  static ManifestEntry Old(EntryStatus status, DataFile file) {
    return {.status = status,
            .snapshot_id = 1,
            .sequence_number = 1,
            .file_sequence_number = 1,
            .file = std::move(file)};
  }

  Snapshot MakeSnapshot(std::int64_t id, const std::vector<ManifestFile>& manifests) {
    Snapshot snapshot;
    snapshot.id = snapshot.sequence_number = id;
    snapshot.timestamp_ms = 1000 * id;
    snapshot.manifest_list = Uri(fmt::format("metadata/snap-{}.avro", id));
    snapshot.summary = {{"operation", "append"}};
    snapshot.schema_id = 0;
    Status status = WriteManifestList(
        Env::Real(), snapshot.manifest_list,
        {.snapshot_id = id, .parent_snapshot_id = std::nullopt, .sequence_number = id},
        manifests);
    EXPECT_TRUE(status.ok()) << status.ToString();
    snapshots_.push_back(snapshot);
    return snapshot;
  }

  TableMetadata Metadata() const {
    Json specs = Json::array();
    for (const PartitionSpec& spec : TestSpecs()) specs.push_back(SpecToJson(spec));
    Json json = {{"format-version", 2},
                 {"table-uuid", "6f1c2f0e-4f0f-4d44-9a35-1c1a53a3a001"},
                 {"location", "file://" + folder_},
                 {"last-sequence-number", 100},
                 {"last-updated-ms", 1'000'000},
                 {"last-column-id", kColumns},
                 {"schemas", Json::array({SchemaToJson(TestSchema())})},
                 {"current-schema-id", 0},
                 {"partition-specs", specs},
                 {"default-spec-id", 0},
                 {"last-partition-id", 1008},
                 {"sort-orders", {{{"order-id", 0}, {"fields", Json::array()}}}},
                 {"default-sort-order-id", 0},
                 {"properties", Json::object()},
                 {"current-snapshot-id", -1},
                 {"refs", Json::object()},
                 {"snapshots", Json::array()}};
    auto metadata = TableMetadata::FromJson(json.dump(), "test");
    EXPECT_TRUE(metadata.has_value()) << metadata.error().ToString();
    return std::move(*metadata);
  }

  Result<std::vector<LiveFile>> Live(const Snapshot& snapshot,
                                     const Filter& filter = {}) {
    return LiveFiles(Env::Real(), Metadata(), snapshot, filter);
  }

  std::vector<std::string> Paths(const Snapshot& snapshot, const Filter& filter = {}) {
    auto files = Live(snapshot, filter);
    EXPECT_TRUE(files.has_value()) << files.error().ToString();
    std::vector<std::string> paths;
    if (files) {
      for (const LiveFile& live : *files) paths.push_back(live.file.path);
    }
    return paths;
  }

  Result<Changes> Compare(const Snapshot* before, const Snapshot* after) {
    TableMetadata metadata = Metadata();
    return CompareState(Env::Real(), {metadata, before}, {metadata, after});
  }

  std::string folder_;
  int names_ = 0;
  std::vector<Snapshot> snapshots_;
};

PartitionTuple Day(std::string_view day, const char* region) {
  return {*ParseDay(day), std::string(region)};
}

TEST_F(TableTest, DeletedEntriesAreNotLive) {
  DataFile gone = File(0, Day("2001-03-05", "eu"));
  DataFile kept = File(0, Day("2001-03-05", "eu"));
  Snapshot snapshot = MakeSnapshot(
      2, {Manifest(2, 0,
                   {Old(EntryStatus::kDeleted, gone), Old(EntryStatus::kExisting, kept)}),
          Manifest(2, 0, {Old(EntryStatus::kDeleted, gone)})});
  auto files = Live(snapshot);
  ASSERT_TRUE(files.has_value()) << files.error().ToString();
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->at(0).file.path, kept.path);
  EXPECT_EQ(files->at(0).sequence_number, 1);
}

TEST_F(TableTest, APathTwiceIsDamage) {
  DataFile file = File(0, Day("2001-03-05", "eu"));
  Snapshot snapshot = MakeSnapshot(2, {Added(2, 0, {file}), Added(2, 0, {file})});
  auto files = Live(snapshot);
  ASSERT_FALSE(files.has_value());
  EXPECT_EQ(files.error().code(), StatusCode::kDamaged);
  EXPECT_THAT(files.error().message(), HasSubstr(file.path));
}

TEST_F(TableTest, DeleteFilesAreRefusedByName) {
  DataFile deletes = File(0, Day("2001-03-05", "eu"), "deletes.parquet");
  deletes.content = FileContent::kPositionDeletes;
  ManifestFile data = Added(2, 0, {File(0, Day("2001-03-05", "eu"))});
  ManifestFile manifest = Added(2, 0, {deletes});
  Snapshot snapshot = MakeSnapshot(2, {data, manifest});
  // Also where the filter is elsewhere, and where both states have the same deletes.
  Filter elsewhere = {
      {.field_id = 3, .op = CompareOp::kEqual, .literals = {std::string("us")}}};
  auto files = Live(snapshot, elsewhere);
  ASSERT_FALSE(files.has_value());
  EXPECT_EQ(files.error().code(), StatusCode::kUnsupported);
  EXPECT_THAT(files.error().message(), HasSubstr("deletes.parquet"));
  EXPECT_THAT(files.error().message(), HasSubstr(folder_));
  auto changes = Compare(&snapshot, &snapshot);
  ASSERT_FALSE(changes.has_value());
  EXPECT_EQ(changes.error().code(), StatusCode::kUnsupported);

  ManifestFile removed = Manifest(3, 0, {Old(EntryStatus::kDeleted, deletes)});
  EXPECT_EQ(Paths(MakeSnapshot(3, {data, removed})).size(), 1U)
      << "deletes that are gone again do not matter";
}

TEST_F(TableTest, ManifestsAreNotReadInVain) {
  ManifestFile near = Added(2, 0, {File(0, Day("2001-03-05", "eu"))});
  ManifestFile far = Added(2, 0, {File(0, Day("2001-04-01", "eu"))});
  Snapshot snapshot = MakeSnapshot(2, {near, far});
  std::filesystem::remove(far.path.substr(7));
  Filter march = {{.field_id = 2,
                   .op = CompareOp::kLess,
                   .literals = {*ParseMicros("2001-04-01T00:00:00")}}};
  EXPECT_EQ(Paths(snapshot, march).size(), 1U);
  EXPECT_EQ(Live(snapshot).error().code(), StatusCode::kNotFound);
}

TEST_F(TableTest, OldJavaMayHaveRoundedUpBeforeTheEpoch) {
  Snapshot snapshot = MakeSnapshot(2, {Added(2, 0,
                                             {File(0, {std::int64_t{-1}, Value()}),
                                              File(0, {std::int64_t{0}, Value()}),
                                              File(0, {std::int64_t{1}, Value()})})});
  Filter last_day_before = {
      {.field_id = 2, .op = CompareOp::kEqual, .literals = {std::int64_t{-1}}}};
  EXPECT_EQ(Paths(snapshot, last_day_before).size(), 2U);
  Filter first_day = {
      {.field_id = 2, .op = CompareOp::kEqual, .literals = {std::int64_t{1}}}};
  EXPECT_EQ(Paths(snapshot, first_day).size(), 1U);
}

TEST_F(TableTest, FiltersThatCannotBeAreInvalid) {
  Snapshot snapshot = MakeSnapshot(2, {});
  for (const Condition& condition :
       {Condition{.field_id = 9, .op = CompareOp::kIsNull},
        Condition{.field_id = 1, .op = CompareOp::kEqual, .literals = {"text"}},
        Condition{.field_id = 1, .op = CompareOp::kEqual, .literals = {Value()}},
        Condition{.field_id = 1, .op = CompareOp::kLess},
        Condition{
            .field_id = 1, .op = CompareOp::kIsNull, .literals = {std::int64_t{1}}}}) {
    auto files = Live(snapshot, {condition});
    ASSERT_FALSE(files.has_value());
    EXPECT_EQ(files.error().code(), StatusCode::kInvalid);
  }
}

TEST_F(TableTest, StateIsComparedByPartition) {
  DataFile kept = File(0, Day("2001-03-05", "eu"));
  DataFile replaced = File(0, Day("2001-03-06", "eu"));
  DataFile dropped = File(0, {Value(), Value()});
  DataFile fresh = File(0, Day("2001-03-06", "eu"));
  DataFile other_spec = File(5, {});
  ManifestFile shared = Added(1, 0, {File(0, Day("2001-03-07", "us"))});
  ManifestFile first = Added(1, 0, {kept, replaced, dropped});
  ManifestFile rewritten =
      Manifest(2, 0,
               {Old(EntryStatus::kExisting, kept), Old(EntryStatus::kDeleted, replaced),
                Old(EntryStatus::kDeleted, dropped)});
  Snapshot before = MakeSnapshot(1, {shared, first});
  Snapshot after = MakeSnapshot(
      2, {shared, rewritten, Added(2, 0, {fresh}), Added(2, 5, {other_spec})});
  std::filesystem::remove(shared.path.substr(7));  // must not be read

  auto changes = Compare(&before, &after);
  ASSERT_TRUE(changes.has_value()) << changes.error().ToString();
  ASSERT_EQ(changes->size(), 3U);
  const PartitionDelta& sixth = changes->at({0, Day("2001-03-06", "eu")});
  ASSERT_EQ(sixth.removed.size(), 1U);
  EXPECT_EQ(sixth.removed[0].file.path, replaced.path);
  ASSERT_EQ(sixth.added.size(), 1U);
  EXPECT_EQ(sixth.added[0].file.path, fresh.path);
  EXPECT_EQ(changes->at({0, {Value(), Value()}}).removed.size(), 1U) << "NULL is a point";
  EXPECT_EQ(changes->at({5, {}}).added.size(), 1U);

  auto back = Compare(&after, &before);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->at({0, Day("2001-03-06", "eu")}).added[0].file.path, replaced.path);
  EXPECT_TRUE(Compare(&before, &before)->empty());
  EXPECT_TRUE(Compare(nullptr, nullptr)->empty());
}

TEST_F(TableTest, AnEmptyTableDiffersByEverything) {
  Snapshot snapshot = MakeSnapshot(1, {Added(1, 0, {File(0, Day("2001-03-05", "eu"))})});
  EXPECT_EQ(Compare(nullptr, &snapshot)->begin()->second.added.size(), 1U);
  EXPECT_EQ(Compare(&snapshot, nullptr)->begin()->second.removed.size(), 1U);
}

/// Random rows, files and filters over few values, so that they often meet.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  Value Cell(std::size_t column) {
    switch (column) {
      case 0:
        return std::int64_t{Below(40) - 20};
      case 1:
        return (Below(60) - 30) * kMicrosPerHour * 13 + Below(3) - 1;
      case 2: {
        const char* kTexts[] = {"aa",
                                "ab",
                                "b",
                                "éa",
                                "éb",
                                "",
                                "a text of many letters x",
                                "a text of many letters y"};
        return std::string(kTexts[Below(8)]);
      }
      case 3: {
        const double kNumbers[] = {-1, -0.0, 0.0, 1, 2.5, std::nan("")};
        return kNumbers[Below(6)];
      }
      default:
        return DecimalToBytes((Below(7) - 3) * 90);
    }
  }

  Row MakeRow() {
    Row row;
    for (std::size_t i = 0; i < kColumns; ++i) {
      row.push_back(Below(6) == 0 ? Value() : Cell(i));
    }
    return row;
  }

  /// Rows of one partition of `spec`.
  std::vector<Row> MakeRows(const PartitionSpec& spec) {
    std::vector<Row> rows = {MakeRow()};
    PartitionTuple tuple = TupleOf(spec, rows[0]);
    for (int i = 0; i < 8; ++i) {
      Row row = Below(2) == 0 ? MakeRow() : rows[0];
      for (std::size_t k = 0; k < kColumns; ++k) {
        if (Below(3) == 0) row[k] = Cell(k);
      }
      if (TupleOf(spec, row) == tuple) rows.push_back(row);
    }
    return rows;
  }

  Filter MakeFilter() {
    Filter filter;
    for (int i = Below(2); i >= 0; --i) {
      Condition condition;
      condition.field_id = Below(kColumns) + 1;
      condition.op = static_cast<CompareOp>(Below(9));
      int literals = condition.op == CompareOp::kIn ? Below(4) : 1;
      if (condition.op >= CompareOp::kIsNull) literals = 0;
      for (int k = 0; k < literals; ++k) {
        condition.literals.push_back(
            Cell(static_cast<std::size_t>(condition.field_id - 1)));
      }
      filter.push_back(std::move(condition));
    }
    return filter;
  }

 private:
  std::mt19937 random_;
};

/// Metrics of rows as a careful writer makes them; now and then one is left out.
void Measure(const std::vector<Row>& rows, Generator& random, DataFile& file) {
  const Schema& schema = TestSchema();
  for (std::size_t i = 0; i < kColumns; ++i) {
    int id = static_cast<int>(i) + 1;
    const Type& type = schema.fields[i].type;
    std::int64_t nulls = 0;
    std::int64_t nans = 0;
    Value least;
    Value most;
    for (const Row& row : rows) {
      const auto* number = std::get_if<double>(&row[i]);
      if (IsNull(row[i])) {
        ++nulls;
      } else if (number != nullptr && std::isnan(*number)) {
        ++nans;
      } else {
        if (IsNull(least) || CompareValues(type, row[i], least) < 0) least = row[i];
        if (IsNull(most) || CompareValues(type, row[i], most) > 0) most = row[i];
      }
    }
    auto lower = MakeBound(type, least, false);
    auto upper = MakeBound(type, most, true);
    if (random.Below(8) != 0) file.null_counts[id] = nulls;
    if (random.Below(8) != 0) file.value_counts[id] = static_cast<int>(rows.size());
    if (random.Below(8) != 0) file.nan_counts[id] = nans;
    if (lower && random.Below(8) != 0) file.lower_bounds[id] = *lower;
    if (upper && random.Below(8) != 0) file.upper_bounds[id] = *upper;
  }
}

/// Three-way comparison as SQL engines see it: NaN equals itself and is above all.
int SqlCompare(const Type& type, const Value& a, const Value& b) {
  auto is_nan = [](const Value& value) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr && std::isnan(*number);
  };
  if (is_nan(a) || is_nan(b)) return int{is_nan(a)} - int{is_nan(b)};
  auto order = CompareValues(type, a, b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

bool Satisfies(const Row& row, const Condition& condition) {
  auto at = static_cast<std::size_t>(condition.field_id - 1);
  const Value& value = row[at];
  if (condition.op == CompareOp::kIsNull) return IsNull(value);
  if (IsNull(value)) return false;
  if (condition.op == CompareOp::kNotNull) return true;
  auto order = [&](const Value& literal) {
    return SqlCompare(TestSchema().fields[at].type, value, literal);
  };
  switch (condition.op) {
    case CompareOp::kEqual:
      return order(condition.literals[0]) == 0;
    case CompareOp::kNotEqual:
      return order(condition.literals[0]) != 0;
    case CompareOp::kLess:
      return order(condition.literals[0]) < 0;
    case CompareOp::kLessOrEqual:
      return order(condition.literals[0]) <= 0;
    case CompareOp::kGreater:
      return order(condition.literals[0]) > 0;
    case CompareOp::kGreaterOrEqual:
      return order(condition.literals[0]) >= 0;
    default:
      return std::any_of(condition.literals.begin(), condition.literals.end(),
                         [&](const Value& literal) { return order(literal) == 0; });
  }
}

bool Satisfies(const Row& row, const Filter& filter) {
  return std::all_of(filter.begin(), filter.end(), [&row](const Condition& condition) {
    return Satisfies(row, condition);
  });
}

TEST_F(TableTest, PrunedScanEqualsFilteredScan) {
  constexpr unsigned kSeed = 20261130;
  Generator random(kSeed);
  std::map<std::string, std::vector<Row>> rows_of;
  std::vector<ManifestFile> manifests;
  for (const PartitionSpec& spec : TestSpecs()) {
    std::vector<DataFile> files;
    for (int f = 0; f < 12; ++f) {
      std::vector<Row> rows = random.MakeRows(spec);
      files.push_back(File(spec.id, TupleOf(spec, rows[0])));
      files.back().record_count = static_cast<int>(rows.size());
      Measure(rows, random, files.back());
      rows_of[files.back().path] = std::move(rows);
    }
    manifests.push_back(Added(2, spec.id, std::move(files)));
  }
  Snapshot snapshot = MakeSnapshot(2, manifests);
  ASSERT_EQ(Paths(snapshot).size(), rows_of.size());
  std::size_t pruned = 0;
  std::size_t needless = 0;
  constexpr int kFilters = 150;
  for (int i = 0; i < kFilters; ++i) {
    Filter filter = random.MakeFilter();
    std::vector<std::string> kept = Paths(snapshot, filter);
    pruned += rows_of.size() - kept.size();
    for (const auto& [path, rows] : rows_of) {
      bool matches = std::any_of(rows.begin(), rows.end(), [&filter](const Row& row) {
        return Satisfies(row, filter);
      });
      bool is_kept = std::binary_search(kept.begin(), kept.end(), path);
      ASSERT_TRUE(is_kept || !matches)
          << "seed " << kSeed << ", filter " << i << " on column " << filter[0].field_id
          << " op " << static_cast<int>(filter[0].op) << " lost " << path;
      needless += is_kept && !matches ? 1 : 0;
    }
  }
  EXPECT_GT(pruned, needless) << "pruning that keeps everything is not pruning";
}

}  // namespace
}  // namespace amend::iceberg

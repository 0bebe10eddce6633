#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "base/civil.h"
#include "base/env.h"
#include "base/json.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "iceberg/scan.h"

namespace amend::iceberg {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_NE(value, nullptr) << name << " is set by ctest";
  return value == nullptr ? "" : value;
}

std::string Hex(const std::string& bytes) {
  std::string text;
  for (char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

template <typename T, typename Convert>
Json ById(const FlatMap<int, T>& map, Convert convert) {
  Json json = Json::object();
  for (const auto& [id, value] : map) json[std::to_string(id)] = convert(value);
  return json;
}

/// A file as the peer describes it.
Json Describe(const DataFile& file) {
  Json partition = Json::array();
  for (const Value& value : file.partition) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      partition.push_back(*number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      partition.push_back(*text);
    } else {
      partition.push_back(nullptr);
    }
  }
  auto same = [](std::int64_t count) { return count; };
  return {{"path", file.path},
          {"partition", partition},
          {"record_count", file.record_count},
          {"file_size", file.file_size},
          {"null_counts", ById(file.null_counts, same)},
          {"lower", ById(file.lower_bounds, Hex)},
          {"upper", ById(file.upper_bounds, Hex)}};
}

/// Runs PyIceberg beside us; see testing/peers/iceberg_peer.py.
class PyIcebergTest : public ::testing::Test {
 protected:
  PyIcebergTest()
      : folder_((std::filesystem::temp_directory_path() /
                 ("amend_peer_" + Env::Real().NewUuid()))
                    .string()) {
    std::filesystem::create_directories(folder_);
  }
  ~PyIcebergTest() override { std::filesystem::remove_all(folder_); }

  Json Ask(const std::string& command, const std::string& argument) {
    std::string output = fmt::format("{}/{}.json", folder_, command);
    std::string line = fmt::format(
        "'{}/venv/bin/python' '{}/testing/peers/iceberg_peer.py' {} '{}' > '{}'",
        Variable("AMEND_DEPS_DIR"), Variable("AMEND_SOURCE_DIR"), command, argument,
        output);
    EXPECT_EQ(std::system(line.c_str()), 0) << line;
    auto text = Env::Real().ReadFile(output);
    EXPECT_TRUE(text.has_value());
    auto json = ParseJson(text.value_or("null"), "what the peer says");
    EXPECT_TRUE(json.has_value()) << *text;
    return json.value_or(Json());
  }

  static TableMetadata Load(const std::string& location) {
    auto text = Env::Real().ReadFile(ToLocalPath(location).value());
    auto metadata = TableMetadata::FromJson(text.value_or(""), location);
    EXPECT_TRUE(metadata.has_value()) << metadata.error().ToString();
    return std::move(*metadata);
  }

  std::string folder_;
};

std::set<std::string> PathsOf(const Json& files) {
  std::set<std::string> paths;
  for (const Json& file : files) paths.insert(file["path"].get<std::string>());
  return paths;
}

std::map<std::string, Filter> Filters() {
  Condition region{.field_id = 3, .op = CompareOp::kEqual, .literals = {"eu"}};
  Condition no_region{.field_id = 3, .op = CompareOp::kIsNull};
  Condition no_time{.field_id = 2, .op = CompareOp::kIsNull};
  Condition early{.field_id = 2, .op = CompareOp::kLess, .literals = {std::int64_t{0}}};
  Condition late{.field_id = 2,
                 .op = CompareOp::kGreaterOrEqual,
                 .literals = {*ParseMicros("2001-03-06T00:00:00")}};
  return {{"eu", {region}},
          {"no_region", {no_region}},
          {"no_time", {no_time}},
          {"before_epoch", {early}},
          {"late", {late}}};
}

TEST_F(PyIcebergTest, WeReadWhatPyIcebergWrites) {
  Env& env = Env::Real();
  Json told = Ask("write", folder_);
  TableMetadata metadata = Load(told["metadata"].get<std::string>());
  const Json& snapshots = told["snapshots"];
  ASSERT_GE(snapshots.size(), 6U) << "appends, an overwrite, a delete";
  for (const Json& expected : snapshots) {
    const Snapshot* snapshot = metadata.FindSnapshot(expected["id"].get<std::int64_t>());
    ASSERT_NE(snapshot, nullptr);
    auto files = LiveFiles(env, metadata, *snapshot);
    ASSERT_TRUE(files.has_value()) << files.error().ToString();
    Json ours = Json::array();
    for (const LiveFile& live : *files) ours.push_back(Describe(live.file));
    EXPECT_EQ(CanonicalJson(ours), CanonicalJson(expected["files"]));
  }
  for (const auto& [name, filter] : Filters()) {
    auto files = LiveFiles(env, metadata, *metadata.current_snapshot(), filter);
    ASSERT_TRUE(files.has_value()) << files.error().ToString();
    Json ours = Json::array();
    for (const LiveFile& live : *files) ours.push_back(live.file.path);
    EXPECT_EQ(ours.dump(), told["filters"][name].dump()) << name;
  }
}

TEST_F(PyIcebergTest, StateComparisonAgreesWithPyIcebergsFileLists) {
  Json told = Ask("write", folder_);
  TableMetadata metadata = Load(told["metadata"].get<std::string>());
  const Json& snapshots = told["snapshots"];
  for (std::size_t from = 0; from < snapshots.size(); ++from) {
    for (std::size_t to = 0; to < snapshots.size(); ++to) {
      TableState before{metadata, metadata.FindSnapshot(snapshots[from]["id"])};
      TableState after{metadata, metadata.FindSnapshot(snapshots[to]["id"])};
      auto changes = CompareState(Env::Real(), before, after);
      ASSERT_TRUE(changes.has_value()) << changes.error().ToString();
      std::set<std::string> state = PathsOf(snapshots[from]["files"]);
      for (const auto& [key, delta] : *changes) {
        for (const LiveFile& live : delta.removed)
          EXPECT_EQ(state.erase(live.file.path), 1);
        for (const LiveFile& live : delta.added) {
          EXPECT_TRUE(state.insert(live.file.path).second);
          EXPECT_EQ(live.file.partition, key.tuple);
        }
      }
      EXPECT_EQ(state, PathsOf(snapshots[to]["files"])) << from << " to " << to;
    }
  }
}

TEST_F(PyIcebergTest, PyIcebergReadsTheManifestsWeWrite) {
  Env& env = Env::Real();
  TableMetadata metadata = Load(Ask("write", folder_)["metadata"].get<std::string>());
  const Snapshot& snapshot = *metadata.current_snapshot();
  std::vector<ManifestFile> written;
  Json expected = Json::array();
  auto manifests = ReadManifestList(env, snapshot);
  ASSERT_TRUE(manifests.has_value()) << manifests.error().ToString();
  for (const ManifestFile& manifest : *manifests) {
    auto entries = ReadManifest(env, manifest, metadata.spec());
    ASSERT_TRUE(entries.has_value()) << entries.error().ToString();
    ManifestHeader header{.schema = metadata.schema(),
                          .spec = metadata.spec(),
                          .is_deletes = false,
                          .snapshot_id = snapshot.id,
                          .sequence_number = snapshot.sequence_number};
    auto path = fmt::format("file://{}/ours-m{}.avro", folder_, written.size());
    auto file = WriteManifest(env, path, header, *entries);
    ASSERT_TRUE(file.has_value()) << file.error().ToString();
    Json lines = Json::array();
    for (const ManifestEntry& entry : *entries) {
      lines.push_back({{"status", static_cast<int>(entry.status)},
                       {"snapshot_id", *entry.snapshot_id},
                       {"sequence_number", *entry.sequence_number},
                       {"file_sequence_number", *entry.file_sequence_number},
                       {"file", Describe(entry.file)}});
    }
    Json nulls = Json::array();
    for (const auto& summary : file->partitions) nulls.push_back(summary.contains_null);
    expected.push_back(
        {{"path", path},
         {"sequence_number", file->sequence_number},
         {"min_sequence_number", file->min_sequence_number},
         {"counts", {*file->added_files, *file->existing_files, *file->deleted_files}},
         {"contains_null", nulls},
         {"entries", lines}});
    written.push_back(std::move(*file));
  }
  ASSERT_GE(written.size(), 3U);
  std::string list = fmt::format("file://{}/ours-list.avro", folder_);
  ASSERT_TRUE(WriteManifestList(env, list,
                                {.snapshot_id = snapshot.id,
                                 .parent_snapshot_id = snapshot.parent_id,
                                 .sequence_number = snapshot.sequence_number},
                                written)
                  .ok());
  EXPECT_EQ(CanonicalJson(Ask("manifests", list)), CanonicalJson(expected));
}

}  // namespace
}  // namespace amend::iceberg

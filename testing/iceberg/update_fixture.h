#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "gtest/gtest.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "iceberg/update.h"
#include "testing/fakes/forwarding_env.h"

namespace amend::iceberg {

/// The real environment with a clock turned by hand that records what is made durable.
/// For tests only.
class RecordingEnv : public testing::ForwardingEnv {
 public:
  RecordingEnv() : ForwardingEnv(Env::Real()) {}

  std::set<std::string> written;
  std::set<std::string> synced;
  std::vector<std::string> read;
  std::int64_t now_micros = 1'700'000'000'000'000;

  Result<std::string> ReadFile(const std::string& path) override {
    read.push_back(path);
    return ForwardingEnv::ReadFile(path);
  }
  Status WriteNewFile(const std::string& path, std::string_view bytes) override {
    written.insert(path);
    return ForwardingEnv::WriteNewFile(path, bytes);
  }
  Status Sync(const std::string& path) override {
    synced.insert(path);
    return {};
  }
  Status SyncFolder(const std::string& path) override {
    synced.insert(path);
    return {};
  }
  std::int64_t NowMicros() override { return now_micros; }
  std::string UserName() override { return "test"; }
};

/// A table `db.flights` (day date, origin string, n int) partitioned by day in a folder
/// of its own. Its data files exist in name only: updates never open them.
class UpdateTest : public ::testing::Test {
 protected:
  using Live = std::map<PartitionTuple, std::map<std::string, std::int64_t>>;

  UpdateTest()
      : root_((std::filesystem::temp_directory_path() / ("amend-" + env_.NewUuid()))
                  .string()) {
    std::filesystem::create_directories(root_);
  }
  ~UpdateTest() override { std::filesystem::remove_all(root_); }

  static Field Column(int id, std::string name, TypeId type) {
    return {.id = id,
            .name = std::move(name),
            .required = false,
            .type = Type{.id = type},
            .doc = ""};
  }

  NewTable Flights() const {
    NewTable table;
    table.location = ToUri(root_ + "/db/flights");
    table.schema.fields = {Column(1, "day", TypeId::kDate),
                           Column(2, "origin", TypeId::kString),
                           Column(3, "n", TypeId::kInt)};
    table.spec.fields = {
        {.source_id = 1, .field_id = 1000, .name = "day", .transform = {}}};
    return table;
  }

  static PartitionTuple Day(std::int64_t day) { return {Value(day)}; }

  DataFile File(std::int64_t day, const std::string& name) const {
    DataFile file;
    file.path = ToUri(root_ + "/db/flights/data/" + name + ".parquet");
    file.partition = Day(day);
    file.record_count = 10;
    file.file_size = 1'000;
    return file;
  }

  std::string Path(const std::string& name) const { return File(0, name).path; }

  /// Makes the table with one file on each of `days`, named d<day>.
  LoadedTable Create(const std::vector<std::int64_t>& days) {
    SnapshotUpdate update(env_);
    for (std::int64_t day : days) update.Add({File(day, "d" + std::to_string(day))});
    return Publish(StageNewTable(env_, ref_, Flights(), update));
  }

  /// What a swap of the pointer makes of a staged commit.
  LoadedTable Publish(Result<StagedCommit> commit) {
    AMEND_CHECK(commit.has_value() || Print(commit.error()));
    auto table = LoadTable(env_, commit->ref, commit->new_location);
    AMEND_CHECK(table.has_value() || Print(table.error()));
    EXPECT_EQ(table->metadata.ToJson(), commit->metadata.ToJson());
    return *std::move(table);
  }

  std::vector<ManifestFile> Manifests(const LoadedTable& table) {
    const Snapshot* snapshot = table.metadata.current_snapshot();
    return snapshot == nullptr ? std::vector<ManifestFile>() : ManifestsOf(*snapshot);
  }

  std::vector<ManifestFile> ManifestsOf(const Snapshot& snapshot) {
    auto list = ReadManifestList(env_, snapshot);
    AMEND_CHECK(list.has_value() || Print(list.error()));
    return *std::move(list);
  }

  std::vector<ManifestEntry> EntriesAt(const LoadedTable& table,
                                       const Snapshot& snapshot) {
    std::vector<ManifestEntry> all;
    for (const ManifestFile& manifest : ManifestsOf(snapshot)) {
      // Manifests never change; what their entries inherit comes with the list.
      auto key = std::pair(manifest.path, manifest.sequence_number);
      if (!manifests_read_.contains(key)) {
        auto entries =
            ReadManifest(env_, manifest, *table.metadata.FindSpec(manifest.spec_id));
        AMEND_CHECK(entries.has_value() || Print(entries.error()));
        manifests_read_[key] = *std::move(entries);
      }
      const auto& entries = manifests_read_[key];
      all.insert(all.end(), entries.begin(), entries.end());
    }
    return all;
  }

  std::vector<ManifestEntry> Entries(const LoadedTable& table) {
    const Snapshot* snapshot = table.metadata.current_snapshot();
    return snapshot == nullptr ? std::vector<ManifestEntry>()
                               : EntriesAt(table, *snapshot);
  }

  /// Live files by partition, with their data sequence numbers, by a plain walk over all
  /// manifests; a path that is live twice fails the test.
  Live LiveAt(const LoadedTable& table, const Snapshot& snapshot) {
    Live live;
    for (const ManifestEntry& entry : EntriesAt(table, snapshot)) {
      if (entry.status == EntryStatus::kDeleted) continue;
      bool is_new = live[entry.file.partition]
                        .emplace(entry.file.path, *entry.sequence_number)
                        .second;
      EXPECT_TRUE(is_new) << entry.file.path;
    }
    return live;
  }

  Live LiveOf(const LoadedTable& table) {
    const Snapshot* snapshot = table.metadata.current_snapshot();
    return snapshot == nullptr ? Live() : LiveAt(table, *snapshot);
  }

  /// Names of live files, sorted.
  std::set<std::string> LiveNames(const LoadedTable& table) {
    std::set<std::string> names;
    for (const auto& [tuple, files] : LiveOf(table)) {
      for (const auto& [path, sequence] : files) {
        names.insert(std::filesystem::path(path).stem().string());
      }
    }
    return names;
  }

  RecordingEnv env_;
  std::string root_;
  TableRef ref_{"db", "flights"};

 private:
  std::map<std::pair<std::string, std::int64_t>, std::vector<ManifestEntry>>
      manifests_read_;

  static bool Print(const Status& status) {
    ADD_FAILURE() << status.ToString();
    return false;
  }
};

}  // namespace amend::iceberg

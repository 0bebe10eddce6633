// Independent readers and writers on what updates make: PyIceberg and DuckDB's extension.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "iceberg/twin.h"
#include "iceberg/update.h"
#include "testing/iceberg/update_fixture.h"

namespace amend::iceberg {
namespace {

class PeerTest : public UpdateTest {
 protected:
  /// Runs the peer; its one JSON document.
  Json Peer(const std::vector<std::string>& arguments) {
    std::string out = root_ + "/peer.json";
    std::string command =
        Quoted(std::string(std::getenv("AMEND_DEPS_DIR")) + "/venv/bin/python") + " " +
        Quoted(std::string(std::getenv("AMEND_SOURCE_DIR")) +
               "/testing/peers/iceberg_tables.py");
    for (const std::string& argument : arguments) command += " " + Quoted(argument);
    command += " > " + Quoted(out);
    AMEND_CHECK(std::system(command.c_str()) == 0);
    std::ifstream file(out);
    std::stringstream text;
    text << file.rdbuf();
    return *ParseJson(text.str(), "the peer's answer");
  }

  static std::string Quoted(const std::string& text) { return "'" + text + "'"; }

  /// Real Parquet files, one for each name: rows [day, "DEN", n] for n below `rows`.
  void WriteFiles(const std::map<std::string, std::pair<std::int64_t, int>>& files) {
    Json spec = Json::object();
    for (const auto& [name, file] : files) {
      auto [day, rows] = file;
      Json& columns = spec[name];
      for (int n = 0; n < rows; ++n) {
        columns["day"].push_back(day);
        columns["origin"].push_back("DEN");
        columns["n"].push_back(n);
      }
    }
    Json sizes = Peer({"write", root_ + "/db/flights/data", spec.dump()});
    for (const auto& [name, file] : files) {
      DataFile written = File(file.first, name);
      written.record_count = file.second;
      written.file_size = sizes[name].get<std::int64_t>();
      made_[name] = written;
    }
  }

  static std::string NameOf(const Json& file) {
    return std::filesystem::path(file[0].get<std::string>()).stem().string();
  }

  static const Json& SnapshotOf(const Json& answer, std::int64_t id) {
    for (const Json& snapshot : answer["snapshots"]) {
      if (snapshot["id"] == id) return snapshot;
    }
    AMEND_CHECK(false);
  }

  /// Both readers see the files and rows that we see in every snapshot of every table.
  /// Returns what the peer told of each.
  Json ExpectReadersAgree(const std::vector<LoadedTable>& tables) {
    std::vector<std::string> arguments = {"read"};
    for (const LoadedTable& table : tables) {
      arguments.push_back(table.metadata_location);
    }
    Json answers = Peer(arguments);
    for (std::size_t i = 0; i < tables.size(); ++i) ExpectAgrees(tables[i], answers[i]);
    return answers;
  }

  void ExpectAgrees(const LoadedTable& table, const Json& answer) {
    EXPECT_EQ(answer["snapshots"].size(), table.metadata.snapshots().size());
    for (const Snapshot& ours : table.metadata.snapshots()) {
      const Json& theirs = SnapshotOf(answer, ours.id);
      EXPECT_EQ(theirs["operation"], ours.summary.at("operation"));
      EXPECT_EQ(theirs["rows"], theirs["duckdb_rows"]) << ours.id;
      EXPECT_EQ(theirs["rows"].size(), theirs["total_records"]) << ours.id;
      std::map<std::string, std::int64_t> files;
      for (const ManifestEntry& entry : EntriesAt(table, ours)) {
        if (entry.status == EntryStatus::kDeleted) continue;
        files[entry.file.path] = entry.file.record_count;
      }
      EXPECT_EQ(theirs["files"].size(), files.size());
      for (const Json& file : theirs["files"]) {
        EXPECT_EQ(files[file[0].get<std::string>()], file[2]);
      }
    }
    for (const auto& [name, ref] : table.metadata.refs()) {
      EXPECT_EQ(answer["refs"][name][0], ref.snapshot_id) << name;
      EXPECT_EQ(answer["refs"][name][1], ref.is_tag ? "tag" : "branch");
    }
  }

  std::map<std::string, DataFile> made_;
};

TEST_F(PeerTest, EveryVersionIsReadByPyIcebergAndDuckDbAndAppendedToByPyIceberg) {
  WriteFiles({{"d1", {1, 3}},
              {"d2", {2, 4}},
              {"old", {-400, 2}},
              {"fixed1", {1, 5}},
              {"late2", {2, 1}},
              {"staged2", {2, 6}}});
  SnapshotUpdate create(env_);
  create.Add({made_["d1"], made_["d2"], made_["old"]});
  LoadedTable first = Publish(StageNewTable(env_, ref_, Flights(), create));
  SnapshotUpdate append(env_);
  append.Add({made_["late2"]});
  LoadedTable table = Publish(append.Stage(first));
  SnapshotUpdate fix(env_);
  fix.Replace({Day(1), Day(-400)})
      .Add({made_["fixed1"]})
      .TagParent({"amend_before_1", 86'400'000});
  table = Publish(fix.Stage(table));
  SnapshotUpdate back(env_);
  back.Replace({Day(1)}).Restore({{made_["d1"], 1}});
  table = Publish(back.Stage(table));

  Json appended = Peer({"append", table.metadata_location,
                        R"({"day":[2,9,null],"origin":["DEN",null,"ORD"],"n":[7,8,9]})"});
  auto theirs = LoadTable(env_, ref_, appended["metadata"].get<std::string>());
  ASSERT_TRUE(theirs.has_value()) << theirs.error().ToString();
  EXPECT_EQ(LiveOf(*theirs).size(), 4U) << "days 1, 2, 9 and null";
  EXPECT_EQ(theirs->metadata.metadata_log().back().file, table.metadata_location);
  SnapshotUpdate ours(env_);
  ours.Replace({Day(9), PartitionTuple{Value()}});
  LoadedTable after = Publish(ours.Stage(*theirs));
  SnapshotUpdate stage(env_);
  stage.Replace({Day(2)}).Add({made_["staged2"]});
  TwinTarget target{.ref = {"db__stage", "flights"},
                    .location = ToUri(root_ + "/db__stage/flights"),
                    .properties = {}};
  LoadedTable twin = Publish(StageTwin(env_, after, target, stage));

  Json answers = ExpectReadersAgree({first, table, after, twin});
  EXPECT_EQ(answers[1]["refs"]["amend_before_1"][2], 86'400'000);
  EXPECT_EQ(answers[1]["partitions"].dump(), "[[1,1,3],[2,2,5]]");
  EXPECT_EQ(SnapshotOf(answers[2], ours.snapshot_id())["rows"].size(), 9U)
      << "3 + 4 + 1 of ours and the one of theirs on day 2";
  EXPECT_EQ(answers[3]["partitions"].dump(), "[[1,1,3],[2,1,6]]");
}

}  // namespace
}  // namespace amend::iceberg

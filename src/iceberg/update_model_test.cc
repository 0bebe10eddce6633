// Random histories against a plain map of partition -> files: the slow twin of updates.
#include <random>

#include "gmock/gmock.h"
#include "iceberg/scan.h"
#include "iceberg/update.h"
#include "testing/iceberg/update_fixture.h"

namespace amend::iceberg {
namespace {

class UpdateModel : public UpdateTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  static constexpr std::int64_t kDays = 7;

  std::size_t Below(std::size_t n) { return random_() % n; }

  /// A day, or the null partition.
  PartitionTuple RandomPartition() {
    std::int64_t day = static_cast<std::int64_t>(Below(kDays + 1));
    return day == kDays ? PartitionTuple{Value()} : Day(day - 3);
  }

  std::set<PartitionTuple> RandomPartitions() {
    std::set<PartitionTuple> partitions;
    for (std::size_t n = Below(4) + 1; n > 0; --n) partitions.insert(RandomPartition());
    return partitions;
  }

  DataFile NewFile(const PartitionTuple& partition) {
    DataFile file = File(0, "f" + std::to_string(++files_made_));
    file.partition = partition;
    return file;
  }

  std::int64_t NextSequence() const { return table_.metadata.last_sequence_number() + 1; }

  void Append(SnapshotUpdate& update) {
    for (std::size_t n = Below(3) + 1; n > 0; --n) {
      DataFile file = NewFile(RandomPartition());
      model_[file.partition][file.path] = NextSequence();
      update.Add({file});
    }
  }

  void Replace(SnapshotUpdate& update) {
    std::set<PartitionTuple> partitions = RandomPartitions();
    update.Replace(partitions);
    for (const PartitionTuple& partition : partitions) {
      model_.erase(partition);
      for (std::size_t n = Below(3); n > 0; --n) {
        DataFile file = NewFile(partition);
        model_[partition][file.path] = NextSequence();
        update.Add({file});
      }
    }
  }

  /// Some partitions as they were at some earlier time.
  void Restore(SnapshotUpdate& update) {
    auto then =
        std::next(history_.begin(), static_cast<std::ptrdiff_t>(Below(history_.size())));
    std::set<PartitionTuple> partitions = RandomPartitions();
    update.Replace(partitions);
    for (const PartitionTuple& partition : partitions) {
      model_.erase(partition);
      auto files = then->second.find(partition);
      if (files == then->second.end()) continue;
      for (const auto& [path, sequence] : files->second) {
        DataFile file = File(0, "");
        file.path = path;
        file.partition = partition;
        update.Restore({{file, sequence}});
        model_[partition][path] = sequence;
      }
    }
  }

  Live LiveByScan() {
    auto files = LiveFiles(env_, table_.metadata, *table_.metadata.current_snapshot());
    AMEND_CHECK(files.has_value());
    Live live;
    for (const LiveFile& file : *files) {
      live[file.file.partition][file.file.path] = file.sequence_number;
    }
    return live;
  }

  void Step() {
    SnapshotUpdate update(env_);
    std::size_t kind = Below(5);
    if (kind < 2) Append(update);
    if (kind == 2 || kind == 3) Replace(update);
    if (kind == 4) Restore(update);
    env_.now_micros += static_cast<std::int64_t>(Below(3'000'000)) - 1'000'000;
    table_ = Publish(update.Stage(table_));
    ASSERT_EQ(LiveOf(table_), model_);
    ASSERT_EQ(LiveByScan(), model_);
    std::size_t files = 0;
    for (const auto& [partition, paths] : model_) files += paths.size();
    const auto& summary = table_.metadata.current_snapshot()->summary;
    ASSERT_EQ(summary.at("total-data-files"), std::to_string(files));
    ASSERT_EQ(summary.at("total-records"), std::to_string(files * 10));
    ASSERT_EQ(summary.at("total-files-size"), std::to_string(files * 1'000));
    history_[table_.metadata.current_snapshot()->id] = model_;
  }

  std::mt19937 random_{GetParam()};
  std::size_t files_made_ = 0;
  LoadedTable table_ = Create({});
  Live model_;
  std::map<std::int64_t, Live> history_ = {{0, {}}};
};

TEST_P(UpdateModel, TableHoldsWhatTheModelHoldsAfterEveryStep) {
  for (int step = 0; step < 70; ++step) {
    SCOPED_TRACE(step);
    ASSERT_NO_FATAL_FAILURE(Step());
  }
  for (const Snapshot& snapshot : table_.metadata.snapshots()) {
    EXPECT_EQ(LiveAt(table_, snapshot), history_.at(snapshot.id)) << "as it was then";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, UpdateModel, ::testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace amend::iceberg

#include "table/contents.h"

#include <algorithm>
#include <tuple>

#include "iceberg/location.h"
#include "table/spaces.h"

namespace amend::table {
namespace {

using iceberg::LoadedTable;
using iceberg::Snapshot;
using partition::Partition;
using partition::PartitionSet;
using partition::PartitionSpace;

Result<Partition> PointIn(const PartitionSpace& space, const LoadedTable& table,
                          int spec_id, const iceberg::PartitionTuple& tuple) {
  const iceberg::PartitionSpec* spec = table.metadata.FindSpec(spec_id);
  if (spec == nullptr ||
      (!space.unpartitioned() && !SpecFits(space, *spec, table.metadata.schema()))) {
    return Fail(Unsupported("some files are partitioned by another specification than " +
                            space.ToString())
                    .Table(table.ref.ToString())
                    .Hint("Rewrite the table to one partition specification first."));
  }
  return PointOf(space, tuple);
}

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Contents::Contents(PartitionSpace space, std::vector<TableFile> files)
    : space_(std::move(space)), files_(std::move(files)), live_(space_.shape()) {
  auto order = [](const TableFile& file) {
    return std::tuple(file.point, file.sequence_number, NameOf(file.file.path),
                      file.file.path);
  };
  std::sort(files_.begin(), files_.end(),
            [&](const TableFile& a, const TableFile& b) { return order(a) < order(b); });
  std::vector<Partition> points;
  for (const TableFile& file : files_) {
    if (points.empty() || points.back() != file.point) points.push_back(file.point);
    rows_ += file.file.record_count;
    bytes_ += file.file.file_size;
  }
  live_ = PartitionSet::Of(space_.shape(), points);
}

Result<std::vector<std::string>> Contents::PathsIn(const PartitionSet& set) const {
  std::vector<std::string> paths;
  for (const TableFile& file : files_) {
    if (!set.Contains(file.point)) continue;
    AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file.file.path));
    paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<TableFile> Contents::FilesIn(const PartitionSet& set) const {
  std::vector<TableFile> files;
  for (const TableFile& file : files_) {
    if (set.Contains(file.point)) files.push_back(file);
  }
  return files;
}

std::vector<state::SizeRun> Contents::Sizes() const {
  std::vector<state::SizeRun> sizes;
  const Partition* last = nullptr;
  for (const TableFile& file : files_) {
    if (last == nullptr || *last != file.point) {
      sizes.push_back({PartitionSet::Of(space_.shape(), file.point), 0, 0, 0});
    }
    last = &file.point;
    sizes.back().rows += file.file.record_count;
    sizes.back().bytes += file.file.file_size;
    ++sizes.back().files;
  }
  return sizes;
}

Result<Contents> ReadContents(Env& env, const LoadedTable& table,
                              std::int64_t snapshot_id, const PartitionSpace& space) {
  if (snapshot_id == 0) return Contents(space, {});
  const Snapshot* snapshot = table.metadata.FindSnapshot(snapshot_id);
  if (snapshot == nullptr) {
    return Fail(NotFound("snapshot " + std::to_string(snapshot_id) + " has expired")
                    .Table(table.ref.ToString())
                    .Hint("Plan again: the pinned version can no longer be read."));
  }
  AMEND_ASSIGN(std::vector<iceberg::LiveFile> live,
               iceberg::LiveFiles(env, table.metadata, *snapshot));
  std::vector<TableFile> files;
  files.reserve(live.size());
  for (iceberg::LiveFile& file : live) {
    AMEND_ASSIGN(Partition point,
                 PointIn(space, table, file.file.spec_id, file.file.partition));
    files.push_back({std::move(file.file), file.sequence_number, std::move(point)});
  }
  return Contents(space, std::move(files));
}

Result<PartitionSet> ChangedBetween(Env& env, const LoadedTable& before,
                                    std::int64_t before_snapshot,
                                    const LoadedTable& after, std::int64_t after_snapshot,
                                    const PartitionSpace& space) {
  if (before_snapshot == after_snapshot) return PartitionSet(space.shape());
  const Snapshot* from = before.metadata.FindSnapshot(before_snapshot);
  const Snapshot* to = after.metadata.FindSnapshot(after_snapshot);
  if ((from == nullptr && before_snapshot != 0) ||
      (to == nullptr && after_snapshot != 0)) {
    return PartitionSet::All(space);
  }
  AMEND_ASSIGN(iceberg::Changes changes,
               iceberg::CompareState(env, {before.metadata, from}, {after.metadata, to}));
  std::vector<Partition> points;
  for (const auto& [key, delta] : changes) {
    auto point = PointIn(space, after, key.spec_id, key.tuple);
    if (!point) return PartitionSet::All(space);
    points.push_back(*std::move(point));
  }
  return PartitionSet::Of(space.shape(), points);
}

state::Pin PinOf(const LoadedTable& table) {
  state::Pin pin;
  pin.table = table.ref.name;
  pin.metadata_location = table.metadata_location;
  pin.schema_id = table.metadata.schema().id;
  pin.uuid = table.metadata.uuid();
  if (const Snapshot* snapshot = table.metadata.current_snapshot()) {
    pin.snapshot_id = snapshot->id;
    pin.version = snapshot->sequence_number;
  }
  return pin;
}

}  // namespace amend::table

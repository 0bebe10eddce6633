#include "table/contents.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/env.h"
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

}  // namespace

Contents::Contents(PartitionSpace space, std::vector<TableFile> files)
    : space_(std::move(space)), files_(std::move(files)), live_(space_.shape()) {
  std::sort(files_.begin(), files_.end(), [](const TableFile& a, const TableFile& b) {
    if (auto by_point = a.point <=> b.point; by_point != 0) return by_point < 0;
    return std::tuple(a.sequence_number, FileNameOf(a.file.path),
                      std::string_view(a.file.path)) <
           std::tuple(b.sequence_number, FileNameOf(b.file.path),
                      std::string_view(b.file.path));
  });
  std::vector<Partition> points;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const TableFile& file = files_[i];
    if (points.empty() || points.back() != file.point) {
      points.push_back(file.point);
      slots_[file.point.values].push_back({file.point.time, i, i});
    }
    ++slots_.find(file.point.values)->second.back().end;
    rows_ += file.file.record_count;
    bytes_ += file.file.file_size;
  }
  live_ = PartitionSet::Of(space_.shape(), points);
}

std::vector<const TableFile*> Contents::FilesIn(const PartitionSet& set) const {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  auto add = [&](const std::vector<Slot>& slots, const partition::TimeRuns& times) {
    if (times.has_null() && !slots.empty() && !slots.front().time) {
      ranges.emplace_back(slots.front().first, slots.front().end);
    }
    for (const partition::Run& run : times.runs()) {
      auto slot = std::lower_bound(
          slots.begin(), slots.end(), std::optional(run.first),
          [](const Slot& s, const std::optional<std::int64_t>& t) { return s.time < t; });
      for (; slot != slots.end() && *slot->time < run.end; ++slot) {
        ranges.emplace_back(slot->first, slot->end);
      }
    }
  };
  if (set.rest().empty()) {
    for (const auto& [values, times] : set.named()) {
      if (auto at = slots_.find(values); at != slots_.end()) add(at->second, times);
    }
  } else {
    for (const auto& [values, slots] : slots_) add(slots, set.At(values));
  }
  // Tuples came one after the other; canonical order has time first.
  std::sort(ranges.begin(), ranges.end());
  std::vector<const TableFile*> files;
  for (const auto& [first, end] : ranges) {
    for (std::size_t i = first; i < end; ++i) files.push_back(&files_[i]);
  }
  return files;
}

Result<std::vector<std::string>> Contents::PathsIn(const PartitionSet& set) const {
  std::vector<std::string> paths;
  for (const TableFile* file : FilesIn(set)) {
    AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file->file.path));
    paths.push_back(std::move(path));
  }
  return paths;
}

partition::PartitionMap<state::PartitionSize> Contents::Sizes() const {
  partition::PartitionMap<state::PartitionSize> sizes(space_.shape());
  for (const auto& [values, slots] : slots_) {
    for (const Slot& slot : slots) {
      state::PartitionSize size;
      for (std::size_t i = slot.first; i < slot.end; ++i) {
        size.rows += files_[i].file.record_count;
        size.bytes += files_[i].file.file_size;
      }
      sizes.Set(PartitionSet::Of(space_.shape(), Partition{slot.time, values}), size);
    }
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

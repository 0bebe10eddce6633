#include "iceberg/scan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "iceberg/manifest.h"
#include "iceberg/prune.h"

namespace amend::iceberg {
namespace {

bool ByPath(const LiveFile& a, const LiveFile& b) { return a.file.path < b.file.path; }

/// Sorts by path. Damaged where a path is there twice.
Status SortUnique(std::vector<LiveFile>& files, const TableMetadata& metadata) {
  std::sort(files.begin(), files.end(), ByPath);
  auto twice = std::adjacent_find(
      files.begin(), files.end(),
      [](const LiveFile& a, const LiveFile& b) { return a.file.path == b.file.path; });
  if (twice == files.end()) return {};
  return Damaged(fmt::format("table {} lists the data file {} twice, so its rows would "
                             "count twice",
                             metadata.location(), twice->file.path))
      .Hint("return the table to the snapshot before the commit that added it again");
}

Result<const PartitionSpec*> SpecOf(const TableMetadata& metadata,
                                    const ManifestFile& manifest) {
  const PartitionSpec* spec = metadata.FindSpec(manifest.spec_id);
  if (spec == nullptr) {
    return Fail(
        Damaged(fmt::format("manifest {} is of partition spec {}, which table {} "
                            "does not have",
                            manifest.path, manifest.spec_id, metadata.location())));
  }
  return spec;
}

/// Ok for a manifest of deletes that holds none any more.
Status RefuseDeletes(Env& env, const TableMetadata& metadata,
                     const ManifestFile& manifest) {
  if (!manifest.HasLiveFiles()) return {};
  AMEND_ASSIGN_OR_RETURN(const PartitionSpec* spec, SpecOf(metadata, manifest));
  AMEND_ASSIGN_OR_RETURN(auto entries, ReadManifest(env, manifest, *spec));
  for (const ManifestEntry& entry : entries) {
    if (entry.status == EntryStatus::kDeleted) continue;
    return Unsupported(fmt::format("table {} has the delete file {}; read without it, "
                                   "the table would show rows that were deleted",
                                   metadata.location(), entry.file.path))
        .Hint(
            "let the engine that wrote it rewrite the table's data files, then try "
            "again");
  }
  return {};
}

/// Appends the live files of one data manifest that `pruner` keeps.
Status AddLiveFiles(Env& env, const TableMetadata& metadata, const ManifestFile& manifest,
                    Pruner& pruner, std::vector<LiveFile>& files) {
  if (!manifest.HasLiveFiles()) return {};
  AMEND_ASSIGN_OR_RETURN(const PartitionSpec* spec, SpecOf(metadata, manifest));
  if (!pruner.MayMatch(manifest, *spec)) return {};
  AMEND_ASSIGN_OR_RETURN(auto entries, ReadManifest(env, manifest, *spec));
  for (ManifestEntry& entry : entries) {
    if (entry.status == EntryStatus::kDeleted) continue;
    if (!pruner.MayMatch(entry.file, *spec)) continue;
    files.push_back({std::move(entry.file), *entry.snapshot_id, *entry.sequence_number,
                     *entry.file_sequence_number});
  }
  return {};
}

Result<std::vector<ManifestFile>> ManifestsOf(Env& env, const TableState& state) {
  if (state.snapshot == nullptr) return std::vector<ManifestFile>();
  return ReadManifestList(env, *state.snapshot);
}

std::set<std::string> PathsOf(const std::vector<ManifestFile>& manifests) {
  std::set<std::string> paths;
  for (const ManifestFile& manifest : manifests) paths.insert(manifest.path);
  return paths;
}

/// The live files of the manifests that are not in `shared`, sorted by path.
Result<std::vector<LiveFile>> OwnFiles(Env& env, const TableMetadata& metadata,
                                       const std::vector<ManifestFile>& manifests,
                                       const std::set<std::string>& shared) {
  AMEND_ASSIGN(Pruner keep_all, Pruner::Create(metadata, {}));
  std::vector<LiveFile> files;
  for (const ManifestFile& manifest : manifests) {
    if (manifest.is_deletes) {
      AMEND_FAIL_IF_ERROR(RefuseDeletes(env, metadata, manifest));
    } else if (!shared.contains(manifest.path)) {
      AMEND_FAIL_IF_ERROR(AddLiveFiles(env, metadata, manifest, keep_all, files));
    }
  }
  AMEND_FAIL_IF_ERROR(SortUnique(files, metadata));
  return files;
}

bool SameFile(const LiveFile& a, const LiveFile& b) {
  return a.file.path == b.file.path && a.file.spec_id == b.file.spec_id &&
         a.file.partition == b.file.partition;
}

PartitionDelta& DeltaOf(Changes& changes, const LiveFile& live) {
  return changes[{live.file.spec_id, live.file.partition}];
}

/// Both sides sorted by path.
Changes Difference(const std::vector<LiveFile>& before,
                   const std::vector<LiveFile>& after) {
  Changes changes;
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (a != before.end() && b != after.end() && SameFile(*a, *b)) {
      ++a;
      ++b;
    } else if (b == after.end() || (a != before.end() && !ByPath(*b, *a))) {
      DeltaOf(changes, *a).removed.push_back(*a);
      ++a;
    } else {
      DeltaOf(changes, *b).added.push_back(*b);
      ++b;
    }
  }
  return changes;
}

}  // namespace

Result<std::vector<LiveFile>> LiveFiles(Env& env, const TableMetadata& metadata,
                                        const Snapshot& snapshot, const Filter& filter) {
  AMEND_ASSIGN(Pruner pruner, Pruner::Create(metadata, filter));
  AMEND_ASSIGN(std::vector<ManifestFile> manifests, ReadManifestList(env, snapshot));
  std::vector<LiveFile> files;
  for (const ManifestFile& manifest : manifests) {
    AMEND_FAIL_IF_ERROR(manifest.is_deletes
                            ? RefuseDeletes(env, metadata, manifest)
                            : AddLiveFiles(env, metadata, manifest, pruner, files));
  }
  AMEND_FAIL_IF_ERROR(SortUnique(files, metadata));
  return files;
}

Result<Changes> CompareState(Env& env, const TableState& before,
                             const TableState& after) {
  AMEND_ASSIGN(std::vector<ManifestFile> old_manifests, ManifestsOf(env, before));
  AMEND_ASSIGN(std::vector<ManifestFile> new_manifests, ManifestsOf(env, after));
  std::set<std::string> old_paths = PathsOf(old_manifests);
  std::set<std::string> new_paths = PathsOf(new_manifests);
  AMEND_ASSIGN(auto removed, OwnFiles(env, before.metadata, old_manifests, new_paths));
  AMEND_ASSIGN(auto added, OwnFiles(env, after.metadata, new_manifests, old_paths));
  return Difference(removed, added);
}

}  // namespace amend::iceberg

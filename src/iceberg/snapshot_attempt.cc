#include "iceberg/snapshot_attempt.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"

namespace amend::iceberg {
namespace {

/// About 8 MiB of a manifest for tables of some dozens of columns.
constexpr std::size_t kEntriesPerManifest = 10'000;

/// Summary keys that this room computes, besides everything starting with "total-".
constexpr std::array<std::string_view, 10> kOwnKeys = {
    "operation",          "added-data-files",        "deleted-data-files",
    "added-records",      "deleted-records",         "added-files-size",
    "removed-files-size", "changed-partition-count", "replace-partitions",
    "added-delete-files"};

std::string TupleText(const PartitionTuple& tuple, const TableMetadata& table) {
  std::vector<std::optional<Type>> types = PartitionTypes(table, table.spec());
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < tuple.size() && i < types.size(); ++i) {
    parts.push_back(table.spec().fields[i].name + "=" +
                    (types[i] ? ValueToString(*types[i], tuple[i]) : "?"));
  }
  return Join(parts, ",");
}

/// `types` are PartitionTypes of the table's spec: the same for thousands of tuples.
Status CheckTuple(const PartitionTuple& tuple, const TableMetadata& table,
                  const std::vector<std::optional<Type>>& types) {
  const PartitionSpec& spec = table.spec();
  if (tuple.size() != spec.fields.size()) {
    return Invalid(
        fmt::format("a partition of {} values does not fit the {} fields of "
                    "partition spec {}",
                    tuple.size(), spec.fields.size(), spec.id));
  }
  for (std::size_t i = 0; i < tuple.size(); ++i) {
    if (!types[i]) {
      return Unsupported(
          fmt::format("partition field '{}' has transform {}, which Amend does not write",
                      spec.fields[i].name, spec.fields[i].transform.ToString()));
    }
    if (IsNull(tuple[i])) continue;
    if (auto bytes = EncodeSingleValue(*types[i], tuple[i]); !bytes) {
      return bytes.error().Annotate("partition field '" + spec.fields[i].name + "'");
    }
  }
  return {};
}

Status CheckFile(const DataFile& file, const SnapshotPlan& plan,
                 const TableMetadata& table,
                 const std::vector<std::optional<Type>>& types) {
  if (file.content != FileContent::kData) {
    return Unsupported("delete files are not written: " + file.path);
  }
  if (file.record_count <= 0 || file.file_size <= 0) {
    return Invalid(
        fmt::format("file {} has {} rows in {} bytes: empty files are not listed",
                    file.path, file.record_count, file.file_size));
  }
  if (file.spec_id != table.spec().id) {
    return Invalid(fmt::format("file {} is of partition spec {}, the table's is {}",
                               file.path, file.spec_id, table.spec().id));
  }
  if (auto local = ToLocalPath(file.path); !local) return std::move(local).error();
  if (Status fits = CheckTuple(file.partition, table, types); !fits.ok()) {
    return std::move(fits).Annotate(file.path);
  }
  if (plan.replaced && !plan.replaced->contains(file.partition)) {
    return Invalid("file " + file.path + " lies outside the replaced partitions")
        .Partition(TupleText(file.partition, table));
  }
  return {};
}

std::set<PartitionTuple> TouchedPartitions(const SnapshotPlan& plan) {
  if (plan.replaced) return *plan.replaced;
  std::set<PartitionTuple> tuples;
  for (const DataFile* file : plan.added) tuples.insert(file->partition);
  for (const RestoredFile* file : plan.restored) tuples.insert(file->file.partition);
  return tuples;
}

bool CountsKnown(const ManifestFile& manifest) {
  return manifest.added_files && manifest.existing_files && manifest.deleted_files &&
         manifest.added_rows && manifest.existing_rows && manifest.deleted_rows;
}

FileTotals LiveOf(const ManifestFile& manifest) {
  return {.files = manifest.added_files.value_or(0) + manifest.existing_files.value_or(0),
          .rows = manifest.added_rows.value_or(0) + manifest.existing_rows.value_or(0)};
}

/// Entries of a partition beside each other, so that later commits touch few manifests.
void SortEntries(std::vector<EntryRef>& entries) {
  std::sort(entries.begin(), entries.end(), [](const EntryRef& a, const EntryRef& b) {
    return std::tie(a.file->partition, a.file->path) <
           std::tie(b.file->partition, b.file->path);
  });
}

}  // namespace

Status CheckPlan(const SnapshotPlan& plan, const TableMetadata& table) {
  if (plan.replaced && plan.replaced->empty()) {
    return Invalid("a replacement needs at least one partition");
  }
  std::vector<std::optional<Type>> types = PartitionTypes(table, table.spec());
  if (plan.replaced) {
    for (const PartitionTuple& tuple : *plan.replaced) {
      AMEND_RETURN_IF_ERROR(CheckTuple(tuple, table, types));
    }
  }
  std::unordered_set<std::string_view> paths;
  auto check = [&](const DataFile& file) -> Status {
    AMEND_RETURN_IF_ERROR(CheckFile(file, plan, table, types));
    if (paths.insert(file.path).second) return {};
    return Invalid("file " + file.path + " is added twice");
  };
  for (const DataFile* file : plan.added) AMEND_RETURN_IF_ERROR(check(*file));
  for (const RestoredFile* restored : plan.restored) {
    AMEND_RETURN_IF_ERROR(check(restored->file));
    if (restored->sequence_number < 0 ||
        restored->sequence_number > table.last_sequence_number()) {
      return Invalid(fmt::format(
          "restored file {} has sequence number {}, the table's "
          "last is {}",
          restored->file.path, restored->sequence_number, table.last_sequence_number()));
    }
  }
  for (const auto& [key, value] : plan.summary) {
    bool own = std::find(kOwnKeys.begin(), kOwnKeys.end(), key) != kOwnKeys.end();
    if (key.empty() || own || key.starts_with("total-")) {
      return Invalid("snapshot summary key '" + key + "' belongs to Iceberg");
    }
  }
  return {};
}

SnapshotAttempt::SnapshotAttempt(Env& env, const SnapshotPlan& plan,
                                 const AttemptIdentity& identity,
                                 const TableMetadata& table, std::int64_t sequence_number,
                                 int& manifest_counter, std::vector<std::string>& files)
    : env_(env),
      plan_(plan),
      identity_(identity),
      table_(table),
      parent_(table.current_snapshot()),
      sequence_number_(sequence_number),
      manifest_counter_(manifest_counter),
      files_(files),
      touched_(table, table.spec(), TouchedPartitions(plan)) {
  for (const DataFile* file : plan.added) incoming_paths_.insert(file->path);
  for (const RestoredFile* restored : plan.restored) {
    incoming_paths_.insert(restored->file.path);
  }
}

Result<Snapshot> SnapshotAttempt::Write(std::int64_t timestamp_ms,
                                        std::optional<AddedManifests>& reusable) {
  AMEND_FAIL_IF_ERROR(RewriteParent());
  AMEND_FAIL_IF_ERROR(AddFiles(reusable));
  AMEND_FAIL_IF_ERROR(Recount());

  Snapshot snapshot;
  snapshot.id = identity_.snapshot_id;
  if (parent_ != nullptr) snapshot.parent_id = parent_->id;
  snapshot.sequence_number = sequence_number_;
  snapshot.timestamp_ms = timestamp_ms;
  snapshot.schema_id = table_.schema().id;
  AMEND_ASSIGN(snapshot.summary, Summary());
  snapshot.manifest_list =
      fmt::format("{}/snap-{}-{}-{}.avro", table_.metadata_folder(),
                  identity_.snapshot_id, identity_.attempt, identity_.commit_uuid);
  std::vector<ManifestFile> manifests = added_manifests_;
  manifests.insert(manifests.end(), kept_manifests_.begin(), kept_manifests_.end());
  ManifestListHeader header{.snapshot_id = snapshot.id,
                            .parent_snapshot_id = snapshot.parent_id,
                            .sequence_number = sequence_number_};
  AMEND_FAIL_IF_ERROR(WriteManifestList(env_, snapshot.manifest_list, header, manifests));
  AMEND_FAIL_IF_ERROR(NoteWritten(snapshot.manifest_list));
  return snapshot;
}

Status SnapshotAttempt::NoteWritten(const std::string& uri) {
  AMEND_ASSIGN_OR_RETURN(std::string path, ToLocalPath(uri));
  files_.push_back(std::move(path));
  return {};
}

std::string SnapshotAttempt::NextManifestPath() {
  return fmt::format("{}/{}-m{}.avro", table_.metadata_folder(), identity_.commit_uuid,
                     manifest_counter_++);
}

Status SnapshotAttempt::RewriteParent() {
  if (parent_ == nullptr) return {};
  if (parent_->manifest_list.empty()) {
    return Unsupported(fmt::format(
        "snapshot {} lists its manifests in the metadata file, as format version 1 did",
        parent_->id));
  }
  AMEND_ASSIGN_OR_RETURN(parent_manifests_, ReadManifestList(env_, *parent_));
  for (const ManifestFile& manifest : parent_manifests_) {
    AMEND_RETURN_IF_ERROR(TakeManifest(manifest));
  }
  return {};
}

/// Whether the plan takes this live file out. One that the plan brings is left as it is:
/// an entry that deletes a live file would make the expiry of some engines remove it.
bool SnapshotAttempt::Removes(const DataFile& file) const {
  return plan_.replaced && touched_.Contains(file.partition) &&
         !incoming_paths_.contains(file.path);
}

/// Decides what becomes of one manifest of the parent: dropped, relisted or rewritten.
Status SnapshotAttempt::TakeManifest(ManifestFile manifest) {
  // Manifests of deleted entries alone would pile up and be counted again.
  if (!manifest.HasLiveFiles()) return {};
  if (manifest.is_deletes) {
    return Unsupported("the table has delete files: " + manifest.path)
        .Hint("Let its owner compact it (rewrite its data files), then run again.");
  }
  const PartitionSpec* spec = table_.FindSpec(manifest.spec_id);
  if (spec == nullptr) {
    return Damaged(
        fmt::format("manifest {} is of partition spec {}, which the table does "
                    "not have",
                    manifest.path, manifest.spec_id));
  }
  bool other_spec = manifest.spec_id != table_.spec().id;
  if (other_spec && plan_.replaced) {
    return Unsupported(fmt::format("manifest {} is of partition spec {}, the table's is "
                                   "{}: its partitions cannot be replaced one by one",
                                   manifest.path, manifest.spec_id, table_.spec().id))
        .Hint("Rewrite the older files under the current spec, then run again.");
  }
  bool may_touch = !other_spec && touched_.MayHold(manifest);
  if (CountsKnown(manifest) && !may_touch) {
    FileTotals live = LiveOf(manifest);
    before_.files += live.files;
    before_.rows += live.rows;
    kept_manifests_.push_back(std::move(manifest));
    return {};
  }
  // The entry of a deleted file needs no metrics: readers skip it, cleanup asks for its
  // path alone, and to say nothing of a column is always legal.
  auto goes_out = [&](const DataFile& file) { return !other_spec && Removes(file); };
  AMEND_ASSIGN_OR_RETURN(std::vector<ManifestEntry> entries,
                         ReadManifest(env_, manifest, *spec, goes_out));
  AMEND_RETURN_IF_ERROR(FillCounts(manifest, entries));
  std::erase_if(entries, [](const ManifestEntry& entry) {
    return entry.status == EntryStatus::kDeleted;
  });
  if (entries.empty()) return {};
  bool hit = false;
  for (ManifestEntry& entry : entries) {
    before_.files += 1;
    before_.rows += entry.file.record_count;
    entry.status = EntryStatus::kExisting;
    if (goes_out(entry.file)) {
      entry.status = EntryStatus::kDeleted;
      hit = true;
      continue;
    }
    if (other_spec || !touched_.Contains(entry.file.partition)) continue;
    if (!live_paths_.insert(entry.file.path).second) {
      return Damaged("file " + entry.file.path + " is live twice");
    }
  }
  if (hit) return RewriteManifest(manifest, std::move(entries));
  kept_manifests_.push_back(std::move(manifest));
  return {};
}

/// Sets counts that older writers left out; Damaged where a stated count is wrong, since
/// readers answer from it without opening the manifest.
Status SnapshotAttempt::FillCounts(ManifestFile& manifest,
                                   const std::vector<ManifestEntry>& entries) {
  std::array<int, 3> files{};
  std::array<std::int64_t, 3> rows{};
  for (const ManifestEntry& entry : entries) {
    auto status = static_cast<std::size_t>(entry.status);
    files[status] += 1;
    rows[status] += entry.file.record_count;
  }
  bool agrees = true;
  auto fill = [&agrees](auto& stated, auto counted) {
    agrees = agrees && stated.value_or(counted) == counted;
    stated = counted;
  };
  fill(manifest.existing_files, files[0]);
  fill(manifest.added_files, files[1]);
  fill(manifest.deleted_files, files[2]);
  fill(manifest.existing_rows, rows[0]);
  fill(manifest.added_rows, rows[1]);
  fill(manifest.deleted_rows, rows[2]);
  if (agrees) return {};
  return Damaged("the manifest list counts other files or rows than manifest " +
                 manifest.path + " holds");
}

/// `live` are its live entries, those that go marked as deleted.
Status SnapshotAttempt::RewriteManifest(const ManifestFile& manifest,
                                        std::vector<ManifestEntry> live) {
  for (ManifestEntry& entry : live) {
    if (entry.status != EntryStatus::kDeleted) continue;
    entry.snapshot_id = identity_.snapshot_id;
    removed_.Add(entry.file);
    changed_.insert(changed_.end(), entry.file.partition);
  }
  auto written = WriteOne(RefsOf(live));
  if (!written) return written.error().Annotate("rewriting " + manifest.path);
  kept_manifests_.push_back(*std::move(written));
  return {};
}

Result<ManifestFile> SnapshotAttempt::WriteOne(const std::vector<EntryRef>& entries) {
  ManifestHeader header{.schema = table_.schema(),
                        .spec = table_.spec(),
                        .is_deletes = false,
                        .snapshot_id = identity_.snapshot_id,
                        .sequence_number = sequence_number_};
  AMEND_ASSIGN(ManifestFile manifest,
               WriteManifest(env_, NextManifestPath(), header, entries));
  AMEND_FAIL_IF_ERROR(NoteWritten(manifest.path));
  manifest.sequence_number = sequence_number_;
  manifest.min_sequence_number = sequence_number_;
  for (const EntryRef& entry : entries) {
    if (entry.status == EntryStatus::kDeleted || !entry.sequence_number) continue;
    manifest.min_sequence_number =
        std::min(manifest.min_sequence_number, *entry.sequence_number);
  }
  return manifest;
}

/// Leaves out files that are live already: where partitions are replaced they just stay.
Status SnapshotAttempt::AddFiles(std::optional<AddedManifests>& reusable) {
  AddedManifests wanted{
      table_.metadata_folder(), table_.spec().id, table_.schema().id, {}, {}};
  auto add = [&](const DataFile& file) -> Status {
    if (!live_paths_.contains(file.path)) {
      added_.Add(file);
      changed_.insert(changed_.end(), file.partition);
    } else if (plan_.replaced) {
      wanted.left_out.insert(file.path);
    } else {
      return Invalid("file " + file.path + " is live in the table already")
          .Partition(TupleText(file.partition, table_));
    }
    return {};
  };
  for (const DataFile* file : plan_.added) AMEND_RETURN_IF_ERROR(add(*file));
  for (const RestoredFile* restored : plan_.restored) {
    AMEND_RETURN_IF_ERROR(add(restored->file));
  }
  AMEND_ASSIGN_OR_RETURN(bool reuse, CanReuse(reusable, wanted));
  if (!reuse) {
    AMEND_ASSIGN_OR_RETURN(wanted.manifests, WriteAdded(wanted.left_out));
    reusable = std::move(wanted);
    added_manifests_ = reusable->manifests;
    return {};
  }
  for (ManifestFile& manifest : reusable->manifests) {
    // Restored entries state their own, lower number; the others take the manifest's.
    bool restores = manifest.min_sequence_number < manifest.sequence_number;
    manifest.sequence_number = sequence_number_;
    if (!restores) manifest.min_sequence_number = sequence_number_;
    AMEND_RETURN_IF_ERROR(NoteWritten(manifest.path));
  }
  added_manifests_ = reusable->manifests;
  return {};
}

Result<bool> SnapshotAttempt::CanReuse(const std::optional<AddedManifests>& reusable,
                                       const AddedManifests& wanted) {
  bool fits = reusable && reusable->folder == wanted.folder &&
              reusable->spec_id == wanted.spec_id &&
              reusable->schema_id == wanted.schema_id &&
              reusable->left_out == wanted.left_out;
  for (std::size_t i = 0; fits && i < reusable->manifests.size(); ++i) {
    // The caller may have removed the files of the attempt that lost.
    AMEND_ASSIGN(std::string path, ToLocalPath(reusable->manifests[i].path));
    fits = env_.Exists(path);
  }
  return fits;
}

Result<std::vector<ManifestFile>> SnapshotAttempt::WriteAdded(
    const std::set<std::string>& left_out) {
  std::vector<ManifestFile> manifests;
  auto write = [&](std::vector<EntryRef>& entries) -> Status {
    SortEntries(entries);
    for (std::size_t from = 0; from < entries.size(); from += kEntriesPerManifest) {
      auto first = entries.begin() + static_cast<std::ptrdiff_t>(from);
      auto last = entries.begin() + static_cast<std::ptrdiff_t>(std::min(
                                        entries.size(), from + kEntriesPerManifest));
      AMEND_ASSIGN_OR_RETURN(ManifestFile manifest, WriteOne({first, last}));
      manifests.push_back(std::move(manifest));
    }
    return {};
  };
  EntryRef entry;
  entry.status = EntryStatus::kAdded;
  entry.snapshot_id = identity_.snapshot_id;
  std::vector<EntryRef> entries;
  for (const DataFile* file : plan_.added) {
    if (left_out.contains(file->path)) continue;
    entry.file = file;
    entries.push_back(entry);
  }
  AMEND_FAIL_IF_ERROR(write(entries));
  entries.clear();
  for (const RestoredFile* restored : plan_.restored) {
    if (left_out.contains(restored->file.path)) continue;
    entry.file = &restored->file;
    entry.sequence_number = restored->sequence_number;
    entries.push_back(entry);
  }
  AMEND_FAIL_IF_ERROR(write(entries));
  return manifests;
}

/// INV-U1: what the new list holds is what was live, less what the plan takes, and what
/// it brings.
Status SnapshotAttempt::Recount() const {
  FileTotals after;
  for (const auto* manifests : {&added_manifests_, &kept_manifests_}) {
    for (const ManifestFile& manifest : *manifests) {
      FileTotals live = LiveOf(manifest);
      after.files += live.files;
      after.rows += live.rows;
    }
  }
  std::int64_t files = before_.files - removed_.files + added_.files;
  std::int64_t rows = before_.rows - removed_.rows + added_.rows;
  if (after.files == files && after.rows == rows) return {};
  return Internal(
      fmt::format("the new manifest list holds {} files and {} rows, but {} "
                  "and {} should be live; nothing was committed",
                  after.files, after.rows, files, rows));
}

/// Bytes are in no manifest list: the parent's summary tells them, else its manifests.
Result<std::int64_t> SnapshotAttempt::LiveBytesBefore() const {
  if (parent_ == nullptr) return 0;
  if (auto it = parent_->summary.find("total-files-size"); it != parent_->summary.end()) {
    if (auto bytes = ParseInt(it->second); bytes && *bytes >= 0) return *bytes;
  }
  std::int64_t bytes = 0;
  for (const ManifestFile& manifest : parent_manifests_) {
    const PartitionSpec* spec = table_.FindSpec(manifest.spec_id);
    if (!manifest.HasLiveFiles() || spec == nullptr) continue;
    AMEND_ASSIGN(std::vector<ManifestEntry> entries, ReadManifest(env_, manifest, *spec));
    for (const ManifestEntry& entry : entries) {
      if (entry.status != EntryStatus::kDeleted) bytes += entry.file.file_size;
    }
  }
  return bytes;
}

Result<std::map<std::string, std::string>> SnapshotAttempt::Summary() const {
  AMEND_ASSIGN(std::int64_t bytes_before, LiveBytesBefore());
  std::map<std::string, std::string> summary = plan_.summary;
  bool removes = removed_.files > 0;
  summary["operation"] = !removes ? "append" : added_.files > 0 ? "overwrite" : "delete";
  auto positive = [&summary](const char* key, std::int64_t value) {
    if (value > 0) summary[key] = std::to_string(value);
  };
  positive("added-data-files", added_.files);
  positive("added-records", added_.rows);
  positive("added-files-size", added_.bytes);
  positive("deleted-data-files", removed_.files);
  positive("deleted-records", removed_.rows);
  positive("removed-files-size", removed_.bytes);
  positive("changed-partition-count", static_cast<std::int64_t>(changed_.size()));
  if (removes) summary["replace-partitions"] = "true";
  auto total = [&summary](const char* key, std::int64_t value) {
    summary[key] = std::to_string(value);
  };
  total("total-data-files", before_.files - removed_.files + added_.files);
  total("total-records", before_.rows - removed_.rows + added_.rows);
  total("total-files-size",
        std::max<std::int64_t>(0, bytes_before - removed_.bytes + added_.bytes));
  total("total-delete-files", 0);
  total("total-position-deletes", 0);
  total("total-equality-deletes", 0);
  return summary;
}

}  // namespace amend::iceberg

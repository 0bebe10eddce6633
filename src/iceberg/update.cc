#include "iceberg/update.h"

#include <utility>

#include "iceberg/location.h"
#include "iceberg/snapshot_attempt.h"

namespace amend::iceberg {
namespace {

std::int64_t NowMs(Env& env) { return env.NowMicros() / 1'000; }

std::string ParentFolder(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// The schema of the plan, if the head's columns are still those it was made from.
Status ApplySchema(const SnapshotPlan& plan, const TableMetadata& head,
                   MetadataBuilder& builder) {
  if (!plan.schema) return {};
  Schema wanted = *plan.schema;
  wanted.id = head.schema().id;
  if (wanted == head.schema()) return {};
  if (head.last_column_id() != plan.schema_base_last_column_id) {
    return Conflict("another writer changed the table's columns since they were planned");
  }
  auto id = builder.SetSchema(*plan.schema);
  return id ? Status() : std::move(id).error();
}

Status ApplyTags(const SnapshotPlan& plan, const TableMetadata& head,
                 MetadataBuilder& builder) {
  for (const std::string& name : plan.dropped_tags) {
    Status removed = builder.RemoveRef(name);
    if (!removed.ok() && removed.code() != StatusCode::kNotFound) return removed;
  }
  for (const auto& [tag, snapshot_id] : plan.kept_snapshots) {
    AMEND_RETURN_IF_ERROR(
        builder.SetRef(tag, {.snapshot_id = snapshot_id, .is_tag = true}));
  }
  const Snapshot* parent = head.current_snapshot();
  if (parent == nullptr) return {};
  for (const ParentTag& tag : plan.tags) {
    AMEND_RETURN_IF_ERROR(
        builder.SetRef(tag.name, {.snapshot_id = parent->id,
                                  .is_tag = true,
                                  .max_ref_age_ms = tag.max_ref_age_ms}));
  }
  return {};
}

/// INV-U4: up to where folders must be synced, asked before anything is written. Those of
/// a table that has a pointer are durable. A new table's may come into being now with
/// their parents, or were left unsynced by a process that died: at least table and
/// namespace are done, and all that does not exist yet.
Result<std::string> SyncRoot(Env& env, const TableMetadata& table, bool is_new) {
  AMEND_ASSIGN(std::string folder, ToLocalPath(table.metadata_folder()));
  if (!is_new) return folder;
  AMEND_ASSIGN(std::string root, ToLocalPath(table.location()));
  root = ParentFolder(ParentFolder(root));
  while (folder != "/" && !env.Exists(folder)) folder = ParentFolder(folder);
  return folder.size() < root.size() ? folder : root;
}

}  // namespace

Result<LoadedTable> LoadTable(Env& env, TableRef ref, std::string metadata_location) {
  if (metadata_location.ends_with(".gz.metadata.json")) {
    return Fail(Unsupported("compressed metadata is not read: " + metadata_location)
                    .Table(ref.ToString())
                    .Hint("Set write.metadata.compression-codec to none."));
  }
  AMEND_ASSIGN(std::string path, ToLocalPath(metadata_location));
  auto bytes = env.ReadFile(path);
  if (!bytes && bytes.error().code() == StatusCode::kNotFound) {
    // The catalog points to it, so it was there: more than a wrong name.
    return Fail(Damaged("the metadata file of " + ref.ToString() +
                        " is gone: " + metadata_location));
  }
  if (!bytes) return Fail(std::move(bytes).error());
  AMEND_ASSIGN(TableMetadata metadata,
               TableMetadata::FromJson(*bytes, ref.ToString() + " (" + path + ")"));
  return LoadedTable{std::move(ref), std::move(metadata_location), std::move(metadata)};
}

SnapshotUpdate::SnapshotUpdate(Env& env)
    : env_(env),
      // Positive, as every engine takes it.
      snapshot_id_(static_cast<std::int64_t>(env.Random64() >> 1 | 1)),
      commit_uuid_(env.NewUuid()) {}

SnapshotUpdate::SnapshotUpdate(Env& env, std::string file_uuid) : SnapshotUpdate(env) {
  commit_uuid_ = std::move(file_uuid);
  names_metadata_ = true;
}

SnapshotUpdate& SnapshotUpdate::Add(std::vector<DataFile> files) {
  return AddBorrowed(kept_added_.emplace_back(std::move(files)));
}

SnapshotUpdate& SnapshotUpdate::AddBorrowed(const std::vector<DataFile>& files) {
  for (const DataFile& file : files) plan_.added.push_back(&file);
  reusable_.reset();
  return *this;
}

SnapshotUpdate& SnapshotUpdate::Replace(std::set<PartitionTuple> partitions) {
  if (!plan_.replaced) plan_.replaced.emplace();
  plan_.replaced->merge(partitions);
  return *this;
}

SnapshotUpdate& SnapshotUpdate::Restore(std::vector<RestoredFile> files) {
  return RestoreBorrowed(kept_restored_.emplace_back(std::move(files)));
}

SnapshotUpdate& SnapshotUpdate::RestoreBorrowed(const std::vector<RestoredFile>& files) {
  for (const RestoredFile& file : files) plan_.restored.push_back(&file);
  reusable_.reset();
  return *this;
}

SnapshotUpdate& SnapshotUpdate::KeepSnapshot(std::string tag, std::int64_t snapshot_id) {
  plan_.kept_snapshots[std::move(tag)] = snapshot_id;
  return *this;
}

SnapshotUpdate& SnapshotUpdate::SetSummary(std::map<std::string, std::string> keys) {
  for (auto& [key, value] : keys) plan_.summary[key] = std::move(value);
  return *this;
}

SnapshotUpdate& SnapshotUpdate::TagParent(ParentTag tag) {
  plan_.tags.push_back(std::move(tag));
  return *this;
}

SnapshotUpdate& SnapshotUpdate::DropTags(std::vector<std::string> names) {
  for (std::string& name : names) plan_.dropped_tags.push_back(std::move(name));
  return *this;
}

SnapshotUpdate& SnapshotUpdate::SetSchema(Schema schema, int base_last_column_id) {
  plan_.schema = std::move(schema);
  plan_.schema_base_last_column_id = base_last_column_id;
  return *this;
}

Result<StagedCommit> SnapshotUpdate::Stage(const LoadedTable& head) {
  bool nothing = !plan_.touches_files() && !plan_.schema && plan_.tags.empty() &&
                 plan_.kept_snapshots.empty() && plan_.dropped_tags.empty();
  if (nothing) {
    return Fail(Invalid("there is nothing to commit").Table(head.ref.ToString()));
  }
  return StageOn(head.ref, head.metadata, head.metadata_location);
}

Result<StagedCommit> SnapshotUpdate::StageFirst(const TableRef& ref,
                                                const TableMetadata& unborn) {
  return StageOn(ref, unborn, std::nullopt);
}

Result<StagedCommit> SnapshotUpdate::StageOn(const TableRef& ref,
                                             const TableMetadata& base,
                                             std::optional<std::string> base_location) {
  auto named = [&ref](Status status) {
    return Fail(std::move(status).Table(ref.ToString()));
  };
  AMEND_ASSIGN(std::string sync_root, SyncRoot(env_, base, !base_location.has_value()));
  MetadataBuilder builder(base, base_location.value_or(""), NowMs(env_));
  if (Status s = ApplySchema(plan_, base, builder); !s.ok()) return named(std::move(s));
  if (Status s = ApplyTags(plan_, base, builder); !s.ok()) return named(std::move(s));

  StagedCommit commit{.ref = ref,
                      .base_location = std::move(base_location),
                      .new_location = "",
                      .metadata = base,
                      .snapshot_id = base.current_snapshot() != nullptr
                                         ? base.current_snapshot()->id
                                         : kNoSnapshot,
                      .files = {}};
  if (plan_.touches_files()) {
    TableMetadata table = base;
    if (plan_.schema) {
      AMEND_ASSIGN(table, builder.Build());
    }
    if (Status s = CheckPlan(plan_, table); !s.ok()) return named(std::move(s));
    AttemptIdentity identity{snapshot_id_, commit_uuid_, ++attempts_};
    SnapshotAttempt attempt(env_, plan_, identity, table, builder.next_sequence_number(),
                            manifests_written_, commit.files);
    auto snapshot = attempt.Write(builder.now_ms(), reusable_);
    if (!snapshot) return named(std::move(snapshot).error());
    if (Status s = builder.AddSnapshot(*snapshot); !s.ok()) return named(std::move(s));
    commit.snapshot_id = snapshot->id;
  }
  AMEND_ASSIGN(commit.metadata, builder.Build());
  commit.new_location =
      NextMetadataFile(commit.metadata, commit.base_location.value_or(""),
                       names_metadata_ ? commit_uuid_ : env_.NewUuid());
  AMEND_ASSIGN(std::string path, ToLocalPath(commit.new_location));
  AMEND_FAIL_IF_ERROR(env_.WriteNewFile(path, commit.metadata.ToJson()));
  commit.files.push_back(std::move(path));
  AMEND_FAIL_IF_ERROR(SyncAll(env_, commit.files, sync_root));
  return commit;
}

Result<StagedCommit> StageNewTable(Env& env, const TableRef& ref, const NewTable& table,
                                   SnapshotUpdate& first) {
  auto builder = MetadataBuilder::Create(table, env.NewUuid(), NowMs(env));
  if (!builder) return Fail(std::move(builder).error().Table(ref.ToString()));
  AMEND_ASSIGN(TableMetadata unborn, builder->Build());
  return first.StageFirst(ref, unborn);
}

}  // namespace amend::iceberg

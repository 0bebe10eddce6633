#include "land/landing.h"

#include "base/env.h"
#include "base/hash.h"
#include "table/data_files.h"
#include "table/types.h"

namespace amend::land {
namespace {

// Above this size the stream is sorted by partition (spilling), so that few writers are
// open at a time. Unsorted, 150 MB of Parquet over 180 days took 310 MB of writers and,
// with DuckDB's limit of 100 open files, came out as 591 files in twice the time; sorting
// cost a fifth more CPU.
constexpr std::int64_t kSortedAboveBytes = 8'000'000;

/// Removes what a refused file left behind.
Status RemoveFiles(Env& env, const std::string& folder, const std::string& prefix) {
  AMEND_ASSIGN_OR_RETURN(std::vector<FileInfo> entries, env.List(folder));
  for (const FileInfo& entry : entries) {
    if (!FileNameOf(entry.path).starts_with(prefix)) continue;
    if (!entry.is_folder) {
      AMEND_RETURN_IF_ERROR(env.RemoveFile(entry.path));
      continue;
    }
    // That of a COPY that did not end: files under the names that it drew.
    AMEND_ASSIGN_OR_RETURN(std::vector<FileInfo> files, env.List(entry.path));
    for (const FileInfo& file : files) {
      AMEND_RETURN_IF_ERROR(env.RemoveFile(file.path));
    }
    AMEND_RETURN_IF_ERROR(env.RemoveEmptyFolder(entry.path));
  }
  return {};
}

/// Columns as the engine finds them, in canonical spelling.
Result<std::vector<lineage::Column>> Describe(engine::Engine& engine,
                                              const LandingFile& file) {
  AMEND_ASSIGN(std::vector<duck::ColumnInfo> found,
               engine.connection().Describe(DescribeSql(file)));
  std::vector<lineage::Column> columns;
  for (const duck::ColumnInfo& column : found) {
    columns.push_back({column.name, column.type, true});
  }
  return columns;
}

}  // namespace

std::vector<lineage::Column> RawColumns(const lineage::Source& source) {
  std::vector<lineage::Column> columns = source.columns;
  columns.push_back({lineage::kFileColumn, "VARCHAR", true});
  columns.push_back({lineage::kRowColumn, "BIGINT", true});
  return columns;
}

Result<std::vector<LandingFile>> ReadFileList(Env& env,
                                              const std::vector<std::string>& paths) {
  std::vector<LandingFile> files;
  for (const std::string& path : paths) {
    LandingFile file;
    file.path = path;
    AMEND_ASSIGN(file.format, FormatOf(path));
    AMEND_ASSIGN(file.digest, Sha256File(env, path));
    files.push_back(std::move(file));
  }
  return files;
}

Result<StagedLanding> StageFile(Env& env, engine::Engine& engine,
                                const lineage::Source& source,
                                const iceberg::Schema& schema, const LandingFile& file,
                                const std::string& folder, const std::string& prefix) {
  AMEND_ASSIGN(std::vector<lineage::Column> found, Describe(engine, file));
  AMEND_FAIL_IF_ERROR(CheckColumns(file.path, file.format, source.columns, found));
  AMEND_ASSIGN(FileInfo info, env.Info(file.path));
  engine::TaskSpec spec;
  spec.name = file.digest;
  spec.model = source.name;
  spec.sql = LandingSql(file, source.columns);
  spec.space = source.space;
  spec.asked = partition::PartitionSet::All(source.space);
  spec.tolerated = spec.asked;
  spec.watched = partition::PartitionSet(source.space.shape());
  spec.streamed = true;
  spec.schema = schema;
  spec.sort_by_partition = info.size > kSortedAboveBytes;
  spec.folder = folder;
  spec.file_prefix = prefix;
  auto result = engine.Run(spec);
  if (!result) {
    AMEND_FAIL_IF_ERROR(RemoveFiles(env, folder, prefix));
    auto misfit = ParseMisfit(file.path, result.error());
    if (misfit) return Fail(*std::move(misfit));
    return Fail(std::move(result).error().Annotate("landing " + file.path));
  }
  std::vector<std::string> paths;
  StagedLanding landing{file, 0, std::move(result->write_set)};
  for (const state::StagedFile& staged : landing.write_set.files) {
    landing.rows += staged.rows;
    paths.push_back(staged.path);
  }
  AMEND_FAIL_IF_ERROR(table::SyncRunFiles(env, paths));
  return landing;
}

}  // namespace amend::land

#include "engine/engine.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

#include "base/text.h"
#include "engine/measure.h"
#include "engine/metrics.h"
#include "engine/partition_columns.h"
#include "engine/sql_text.h"
#include "engine/tallied.h"
#include "fmt/format.h"
#include "table/types.h"

namespace amend::engine {
namespace {

constexpr std::string_view kKeyColumn = "_amend_p";
constexpr std::int64_t kRowGroupRows = 122'880;
/// DuckDB keeps a hundred files of a partitioned COPY open and closes the oldest beyond.
constexpr std::size_t kMostInOneCopy = 100;
constexpr std::int64_t kMostPartitions = 1'000'000;
/// Keys may take up to a sixteenth of the memory while they are tallied: 8 bytes each.
constexpr std::int64_t kMemoryToKeys = 16 * 8;
constexpr std::string_view kRowsTable = "_amend_rows";

/// The model's SELECT with its columns cast to the table's types and matched by name, and
/// rows of partitions that are neither asked for nor impossible left out.
std::string OutputSql(const TaskSpec& spec) {
  std::vector<std::string> columns;
  for (const iceberg::Field& field : spec.schema.fields) {
    std::string name = SqlIdentifier(field.name);
    columns.push_back(
        fmt::format("{0}::{1} AS {0}", name, table::SqlFromType(field.type)));
  }
  partition::PartitionSet kept =
      spec.asked.Union(spec.watched).Union(spec.tolerated.Complement());
  return fmt::format("SELECT * FROM (SELECT {} FROM (\n{}\n) AS amend_model) WHERE {}",
                     Join(columns, ", "), spec.sql, MembershipSql(spec.space, kept));
}

std::string CopySql(const TaskSpec& spec, const std::string& target, bool tallied) {
  bool partitioned = !spec.space.unpartitioned();
  std::string select = OutputSql(spec);
  if (tallied) {
    select = TallySql(spec, select, kKeyColumn);
  } else if (partitioned) {
    select = fmt::format("SELECT *, {} AS {} FROM ({})", PartitionKeySql(spec.space),
                         kKeyColumn, select);
  }
  if (partitioned && spec.sort_by_partition) {
    select += fmt::format(" ORDER BY {}", kKeyColumn);
  }
  // Without hive folders no partition value stands in a path, and no folder is made for
  // each file only to be removed. Bloom filters would be 5 % of the bytes: off, as in
  // Iceberg, whose readers prune by the bounds in manifests.
  return fmt::format(
      "COPY ({}) TO {} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {}, "
      "WRITE_BLOOM_FILTER false, FIELD_IDS {}, RETURN_STATS{})",
      select, SqlLiteral(target), kRowGroupRows, FieldIdsSql(spec.schema),
      partitioned ? fmt::format(", PARTITION_BY ({}), HIVE_FILE_PATTERN false, "
                                "FILENAME_PATTERN '{{uuid}}'",
                                kKeyColumn)
                  : "");
}

/// The partition key of a file that COPY reported; "" where it was not asked to part.
std::string KeyOf(const duck::Row& row) {
  const auto* keys = std::get_if<Json>(&row[5]);
  if (keys == nullptr || !keys->is_array() || keys->empty()) return "";
  const Json& value = keys->front().at("value");
  return value.is_string() ? value.get<std::string>() : "";
}

/// A file as COPY reported it, after it got its final name.
Result<iceberg::DataFile> DescribeFile(const TaskSpec& spec, const duck::Row& row,
                                       const std::string& path) {
  iceberg::DataFile file;
  file.path = "file://" + path;
  file.record_count = CountOf(row[1]);
  file.file_size = CountOf(row[2]);
  AMEND_FAIL_IF_ERROR(FillMetrics(spec.schema, std::get<Json>(row[4]), &file));
  return file;
}

/// Gives what COPY wrote flat names in the order of their keys. Files of one key, which
/// only streams have, stay in the order in which they were begun.
Result<std::vector<WrittenFile>> NameFiles(Env& env, const TaskSpec& spec,
                                           duck::Rows written) {
  std::stable_sort(
      written.rows.begin(), written.rows.end(),
      [](const duck::Row& a, const duck::Row& b) { return KeyOf(a) < KeyOf(b); });
  std::vector<WrittenFile> files;
  for (const duck::Row& row : written.rows) {
    const std::string& from = std::get<std::string>(row[0]);
    if (CountOf(row[1]) == 0) {  // a COPY of no rows leaves a file
      AMEND_FAIL_IF_ERROR(env.RemoveFile(from));
      continue;
    }
    std::string to =
        fmt::format("{}/{}-{:05}.parquet", spec.folder, spec.file_prefix, files.size());
    if (from != to) AMEND_FAIL_IF_ERROR(env.Rename(from, to));
    AMEND_ASSIGN(iceberg::DataFile file, DescribeFile(spec, row, to));
    files.push_back({std::move(file), KeyOf(row)});
  }
  return files;
}

/// One entry for each asked partition, also for those that got no rows.
std::map<partition::Partition, state::StagedPartition> EmptyStaged(
    const TaskSpec& spec, const std::vector<partition::Partition>& points) {
  state::StagedPartition entry;
  entry.digest.formula = DigestFormula(spec.schema, ContentColumns(spec.schema));
  if (spec.old_columns) {
    entry.old_columns.emplace();
    entry.old_columns->formula = DigestFormula(spec.schema, *spec.old_columns);
  }
  std::map<partition::Partition, state::StagedPartition> staged;
  for (const partition::Partition& point : points) {
    entry.partition = point;
    staged.emplace(point, entry);
  }
  return staged;
}

void AddDigest(const state::Digest& from, state::Digest* to) {
  to->rows += from.rows;
  to->low += from.low;  // modulo 2^64 by definition
  to->high += from.high;
}

/// A partition's measure. DuckDB closes the oldest of many open files and goes on under
/// another name, so a landing may have two of one partition; it asks about rows alone,
/// and those add up; they come one after the other (NameFiles). Keys are counted file by
/// file: there a second file would hide a duplicate.
Status AddMeasure(const TaskSpec& spec, PartitionMeasure measure,
                  std::vector<PartitionMeasure>* measures) {
  if (measures->empty() || measures->back().partition != measure.partition) {
    measures->push_back(std::move(measure));
    return {};
  }
  if (!spec.streamed) {
    return Internal("a partition was written as two files")
        .Partition(spec.space.Format(measure.partition));
  }
  measures->back().rows += measure.rows;
  return {};
}

/// The result of one COPY: its files by partition, strays apart and removed.
Result<TaskResult> Collect(Env& env, const TaskSpec& spec,
                           const std::vector<partition::Partition>& points,
                           const std::vector<WrittenFile>& files,
                           std::vector<MeasuredFile> measured) {
  TaskResult result;
  std::map<partition::Partition, state::StagedPartition> staged =
      EmptyStaged(spec, points);
  for (std::size_t i = 0; i < files.size(); ++i) {
    MeasuredFile& file = measured[i];
    auto entry = staged.find(file.measure.partition);
    if (entry == staged.end() && spec.streamed &&
        spec.asked.Contains(file.measure.partition)) {
      staged.merge(EmptyStaged(spec, {file.measure.partition}));
      entry = staged.find(file.measure.partition);
    }
    if (entry == staged.end()) {
      result.strays.push_back(
          {file.measure.partition, file.measure.rows, std::move(file.samples)});
      AMEND_FAIL_IF_ERROR(env.RemoveFile(files[i].file.path.substr(7)));
      continue;
    }
    AddDigest(file.digest, &entry->second.digest);
    if (file.old_columns) AddDigest(*file.old_columns, &*entry->second.old_columns);
    result.write_set.files.push_back(
        ToStagedFile(files[i].file, file.measure.partition,
                     static_cast<int>(result.write_set.files.size())));
    AMEND_FAIL_IF_ERROR(AddMeasure(spec, std::move(file.measure), &result.measures));
  }
  result.write_set.name = spec.name;
  result.write_set.model = spec.model;
  result.write_set.partitions = spec.asked;
  if (spec.streamed) {
    std::vector<partition::Partition> met;
    for (const auto& [point, entry] : staged) met.push_back(point);
    result.write_set.partitions = partition::PartitionSet::Of(spec.space.shape(), met);
  }
  for (auto& [point, entry] : staged) {
    result.write_set.staged.push_back(std::move(entry));
  }
  return result;
}

/// Adds the result of one part to that of the whole task.
void Append(TaskResult part, TaskResult* whole) {
  auto append = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
  };
  for (state::StagedFile& file : part.write_set.files) {
    file.ordinal = static_cast<int>(whole->write_set.files.size());
    whole->write_set.files.push_back(std::move(file));
  }
  append(part.write_set.staged, whole->write_set.staged);
  append(part.measures, whole->measures);
  append(part.strays, whole->strays);
}

}  // namespace

Engine::Engine(Env& env, duck::Database database, duck::Connection connection,
               std::shared_ptr<duck::Tally> tally)
    : env_(&env),
      database_(std::move(database)),
      connection_(std::make_unique<duck::Connection>(std::move(connection))),
      tally_(std::move(tally)) {}

Result<Engine> Engine::Open(Env& env, const EngineOptions& options) {
  // DuckDB makes the folder when it spills, but not the ones above it.
  std::string above = FolderOf(options.temp_directory);
  if (!above.empty()) AMEND_FAIL_IF_ERROR(env.CreateFolders(above));
  duck::DatabaseOptions database_options;
  database_options.threads = 1;
  database_options.memory_limit_bytes = options.memory_bytes;
  database_options.temp_directory = options.temp_directory;
  AMEND_ASSIGN(duck::Database database, duck::Database::Open(database_options));
  AMEND_ASSIGN(duck::Connection connection, database.Connect());
  auto tally = std::make_shared<duck::Tally>(
      static_cast<std::size_t>(options.memory_bytes / kMemoryToKeys));
  AMEND_FAIL_IF_ERROR(connection.AddTally(std::string(kTallyFunction), tally));
  return Engine(env, std::move(database), std::move(connection), std::move(tally));
}

Status Engine::Bind(const std::vector<TaskInput>& inputs) {
  for (const std::string& name : bound_) {
    AMEND_ASSIGN_OR_RETURN(
        auto dropped, connection_->Execute("DROP VIEW IF EXISTS " + SqlIdentifier(name)));
    static_cast<void>(dropped);
  }
  bound_.clear();
  for (const TaskInput& input : inputs) {
    std::string sql =
        fmt::format("CREATE OR REPLACE TEMP VIEW {} AS {}", SqlIdentifier(input.table),
                    ScanSql(input.schema, input.files, input.show_landing_columns));
    AMEND_ASSIGN_OR_RETURN(auto created, connection_->Execute(sql));
    static_cast<void>(created);
    bound_.push_back(input.table);
  }
  return {};
}

Result<duck::Rows> Engine::Query(const std::vector<TaskInput>& inputs,
                                 std::string_view sql) {
  AMEND_FAIL_IF_ERROR(Bind(inputs));
  return connection_->Query(sql);
}

Result<TaskResult> Engine::Run(const TaskSpec& spec) {
  std::int64_t cpu_before = env_->ThreadCpuMicros();
  std::optional<std::int64_t> count = spec.asked.Count();
  bool at_once =
      spec.streamed || (count && *count <= static_cast<std::int64_t>(kMostInOneCopy));
  AMEND_ASSIGN(TaskResult result, at_once ? RunOnce(spec) : RunInParts(spec));
  result.write_set.cpu_micros = env_->ThreadCpuMicros() - cpu_before;
  return result;
}

Result<std::vector<partition::Partition>> Engine::PartitionsWithRows(
    const partition::PartitionSpace& space) {
  AMEND_ASSIGN(duck::Rows rows,
               connection_->Query(fmt::format("SELECT DISTINCT {} FROM {}",
                                              PointColumnsSql(space), kRowsTable)));
  std::vector<partition::Partition> points;
  for (const duck::Row& row : rows.rows) points.push_back(PointOfRow(space, row, 0));
  return points;
}

Status Engine::WriteParts(const TaskSpec& spec,
                          const std::vector<partition::Partition>& points,
                          TaskResult* result) {
  partition::Shape shape = spec.space.shape();
  TaskSpec part = spec;
  part.sql = fmt::format("SELECT * FROM {}", kRowsTable);
  part.inputs.clear();
  part.watched = partition::PartitionSet(shape);
  part.tolerated = spec.asked.Union(spec.watched).Union(spec.tolerated);
  for (std::size_t at = 0; at == 0 || at < points.size(); at += kMostInOneCopy) {
    auto end = points.begin() +
               static_cast<std::ptrdiff_t>(std::min(points.size(), at + kMostInOneCopy));
    part.asked = partition::PartitionSet::Of(
        shape, std::vector(points.begin() + static_cast<std::ptrdiff_t>(at), end));
    part.file_prefix = fmt::format("{}-{}", spec.file_prefix, at / kMostInOneCopy);
    AMEND_ASSIGN_OR_RETURN(TaskResult written, RunOnce(part));
    Append(std::move(written), result);
    part.tolerated = partition::PartitionSet::All(shape);  // strays are told once
  }
  result->write_set.partitions = partition::PartitionSet::Of(shape, points);
  return {};
}

/// Of partitions without end, those with rows and those that had some before are written;
/// the others are known to have none.
Status Engine::WriteWithoutEnd(const TaskSpec& spec, TaskResult* result) {
  AMEND_ASSIGN_OR_RETURN(std::vector<partition::Partition> with_rows,
                         PartitionsWithRows(spec.space));
  partition::Shape shape = spec.space.shape();
  auto set_of = [shape](const std::vector<partition::Partition>& points) {
    return partition::PartitionSet::Of(shape, points);
  };
  partition::PartitionSet had_or_have = set_of(with_rows).Union(set_of(spec.known));
  AMEND_ASSIGN_OR_RETURN(
      std::vector<partition::Partition> points,
      had_or_have.Intersect(spec.asked).Points(std::numeric_limits<std::int64_t>::max()));
  AMEND_RETURN_IF_ERROR(WriteParts(spec, points, result));
  result->write_set.rest = spec.asked.Union(spec.watched).Difference(had_or_have);
  return {};
}

Result<TaskResult> Engine::RunInParts(const TaskSpec& spec) {
  AMEND_FAIL_IF_ERROR(Bind(spec.inputs));
  AMEND_ASSIGN(auto evaluated,
               connection_->Execute(fmt::format("CREATE OR REPLACE TEMP TABLE {} AS {}",
                                                kRowsTable, OutputSql(spec))));
  static_cast<void>(evaluated);
  TaskResult result;
  result.write_set.name = spec.name;
  result.write_set.model = spec.model;
  auto write = [&]() -> Status {
    if (!spec.asked.Count()) return WriteWithoutEnd(spec, &result);
    AMEND_ASSIGN_OR_RETURN(std::vector<partition::Partition> points,
                           spec.asked.Points(kMostPartitions));
    return WriteParts(spec, points, &result);
  };
  Status written = write();
  AMEND_ASSIGN(auto dropped,
               connection_->Execute(fmt::format("DROP TABLE IF EXISTS {}", kRowsTable)));
  static_cast<void>(dropped);
  AMEND_FAIL_IF_ERROR(written);
  return result;
}

Result<TaskResult> Engine::RunOnce(const TaskSpec& spec) {
  std::vector<partition::Partition> points;
  if (!spec.streamed) {
    AMEND_ASSIGN(points, spec.asked.Points(kMostPartitions));
  }
  AMEND_FAIL_IF_ERROR(Bind(spec.inputs));
  AMEND_FAIL_IF_ERROR(env_->CreateFolders(spec.folder));
  std::string target = spec.folder + "/" + spec.file_prefix;
  if (spec.space.unpartitioned()) target += "-00000.parquet";
  bool tallied = CanTally(spec);
  if (tallied) tally_->Start(TallyShape(spec));
  AMEND_ASSIGN(duck::Rows written, connection_->Query(CopySql(spec, target, tallied)));
  AMEND_ASSIGN(std::vector<WrittenFile> files,
               NameFiles(*env_, spec, std::move(written)));
  if (!spec.space.unpartitioned()) {
    AMEND_FAIL_IF_ERROR(env_->RemoveEmptyFolder(target));
  }
  AMEND_ASSIGN(std::vector<MeasuredFile> measured,
               tallied && tally_->lists_complete()
                   ? ReadTally(spec, *tally_, files)
                   : ScanFiles(*connection_, spec, files));
  AMEND_FAIL_IF_ERROR(AddDetails(*connection_, spec, files, &measured));
  return Collect(*env_, spec, points, files, std::move(measured));
}

}  // namespace amend::engine

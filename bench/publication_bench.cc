// publication_bench: how long one publication of many tables takes beside the time that
// the disk takes to make its files durable.
//
//   publication_bench [--tables 20] [--partitions 1000] [--runs 5]
//
// It goes the way of `amend publish` from the intent to the read-back: protocol, Iceberg
// commits, SQLite catalog and ledger, in a temporary folder. One publication makes the
// tables; each run then replaces every partition of every table by one new file with
// metrics of ten columns, so that each manifest is rewritten and as many files leave as
// come. The data files lie as a run lays them, all of a table in one folder, and are
// empty: a publication looks whether they are there, it does not open them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/bench_program.h"
#include "bench/timed_env.h"
#include "db/sqlite.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "iceberg/sql_catalog.h"
#include "iceberg/update.h"
#include "iceberg/value.h"
#include "ledger/ledger.h"
#include "publish/publisher.h"
#include "table/spaces.h"

namespace amend::bench {
namespace {

using iceberg::DataFile;
using iceberg::TypeId;
using iceberg::Value;
using partition::Grain;
using partition::PartitionSet;
using partition::PartitionSpace;

constexpr double kMostSeconds = 0.3;
constexpr int kNumbers = 6;  // columns of each kind, besides the day
constexpr int kTexts = 3;
constexpr const char* kNamespace = "main";

class Folder {
 public:
  explicit Folder(Env& env)
      : path_((std::filesystem::temp_directory_path() /
               ("publication_bench_" + std::to_string(env.Random64())))
                  .string()) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

iceberg::Schema MakeSchema() {
  iceberg::Schema schema;
  int id = 0;
  auto add = [&](std::string name, TypeId type) {
    schema.fields.push_back({.id = ++id, .name = std::move(name), .type = {.id = type}});
  };
  add("day", TypeId::kDate);
  for (int i = 0; i < kNumbers; ++i) {
    add(fmt::format("number_{}", i), i % 2 == 0 ? TypeId::kLong : TypeId::kDouble);
  }
  for (int i = 0; i < kTexts; ++i) add(fmt::format("text_{}", i), TypeId::kString);
  return schema;
}

/// Publishes the same tables again and again.
class Publications {
 public:
  Publications(std::string folder, int tables, int partitions)
      : folder_(std::move(folder)), tables_(tables), partitions_(partitions) {}

  Status Open() {
    AMEND_ASSIGN_OR_RETURN(auto connection, Connect());
    AMEND_ASSIGN_OR_RETURN(auto tx, connection->Begin(db::TransactionMode::kWrite));
    AMEND_ASSIGN_OR_RETURN(iceberg::SqlCatalog catalog,
                           iceberg::SqlCatalog::Open(tx, "amend"));
    AMEND_RETURN_IF_ERROR(catalog.CreateNamespace(tx, kNamespace));
    AMEND_ASSIGN_OR_RETURN(ledger::Ledger ledger, ledger::Ledger::Open(tx));
    AMEND_RETURN_IF_ERROR(tx.Commit());
    AMEND_ASSIGN_OR_RETURN(spec_, table::SpecOf(space_, schema_));
    publisher_ = std::make_unique<publish::Publisher>(
        env_,
        publish::PublisherOptions{.name_space = kNamespace,
                                  .connect = [this] { return Connect(); }},
        catalog, ledger);
    return {};
  }

  /// The next publication as a value: the heads as pins, a new file for each partition.
  Result<publish::Publication> Next() {
    publish::Publication publication;
    publication.intent.id = env_.NewUuid();
    publication.intent.subject = fmt::format("plan {}", round_);
    publication.attempt = publish::NewAttempt(env_);
    publication.tag_age_ms = 14LL * 24 * 3600 * 1000;
    publication.entry.author = "bench";
    publication.entry.reason = "to see how long it takes";
    for (int i = 0; i < tables_; ++i) {
      AMEND_FAIL_IF_ERROR(AddTable(fmt::format("table_{:03}", i), &publication));
    }
    ++round_;
    return publication;
  }

  Status Publish(const publish::Publication& publication) {
    AMEND_ASSIGN_OR_RETURN(publish::Published published,
                           publisher_->Publish(publication));
    if (published.ending != publish::Ending::kConfirmed) {
      return Internal("the publication was not confirmed");
    }
    for (const publish::Swap& swap : published.swaps) heads_[swap.table] = swap;
    return {};
  }

  TimedEnv& env() { return env_; }

 private:
  Result<std::unique_ptr<db::Connection>> Connect() {
    return db::OpenSqlite({.path = folder_ + "/catalog.sqlite", .create = true});
  }

  Status AddTable(const std::string& name, publish::Publication* publication) {
    publish::TableChange change;
    change.ref = {kNamespace, name};
    change.space = space_;
    std::string location = "file://" + folder_ + "/lake/" + name;
    std::string pin;
    if (auto head = heads_.find(change.ref.ToString()); head == heads_.end()) {
      change.create = iceberg::NewTable{location, schema_, spec_, {}};
    } else {
      pin = head->second.to;
      change.pinned_snapshot = head->second.snapshot;
      AMEND_ASSIGN_OR_RETURN(change.pinned, iceberg::LoadTable(env_, change.ref, pin));
    }
    change.replaced =
        PartitionSet::OfTimes(space_.shape(), partition::TimeRuns::Of(0, partitions_));
    change.guarded = change.replaced;
    AMEND_ASSIGN_OR_RETURN(change.added, MakeFiles(location));
    publication->intent.tables.push_back({change.ref.ToString(), pin});
    publication->intent.folders.push_back(folder_ + "/lake/" + name + "/metadata");
    publication->entry.tables.push_back({.table = name, .changed = Json::array()});
    publication->changes.push_back(std::move(change));
    return {};
  }

  Result<std::vector<DataFile>> MakeFiles(const std::string& location) {
    std::vector<DataFile> files;
    for (int day = 0; day < partitions_; ++day) {
      DataFile file;
      file.path = fmt::format("{}/data/_amend/run-{:04}/00000-1-{:05}.parquet", location,
                              round_, day);
      file.partition = {Value(std::int64_t{day})};
      file.spec_id = spec_.id;
      file.record_count = 3'000 + day % 17;
      file.file_size = 60'000 + day * 7 % 1'000;
      for (const iceberg::Field& field : schema_.fields) FillMetrics(field, day, &file);
      AMEND_ASSIGN(std::string path, iceberg::ToLocalPath(file.path));
      AMEND_FAIL_IF_ERROR(env_.WriteNewFile(path, ""));
      files.push_back(std::move(file));
    }
    return files;
  }

  static void FillMetrics(const iceberg::Field& field, int day, DataFile* file) {
    file->column_sizes[field.id] = 4'000 + day % 100 + field.id;
    file->value_counts[field.id] = file->record_count;
    file->null_counts[field.id] = day % 3;
    auto bounds = [&](const Value& least, const Value& most) {
      if (auto b = iceberg::MakeBound(field.type, least, false)) {
        file->lower_bounds[field.id] = *b;
      }
      if (auto b = iceberg::MakeBound(field.type, most, true)) {
        file->upper_bounds[field.id] = *b;
      }
    };
    switch (field.type.id) {
      case TypeId::kDate:
        return bounds(std::int64_t{day}, std::int64_t{day});
      case TypeId::kLong:
        return bounds(std::int64_t{day} * field.id, std::int64_t{day} * 1'000'003);
      case TypeId::kDouble:
        file->nan_counts[field.id] = 0;
        return bounds(day * 0.37, day * 1234.5 + field.id);
      default:
        return bounds(fmt::format("aa-{}", day * 31), fmt::format("zz-{}", day * 77));
    }
  }

  TimedEnv env_;
  std::string folder_;
  int tables_;
  int partitions_;
  int round_ = 0;
  PartitionSpace space_ = PartitionSpace::OfTime("day", Grain::kDay);
  iceberg::Schema schema_ = MakeSchema();
  iceberg::PartitionSpec spec_;
  std::unique_ptr<publish::Publisher> publisher_;
  std::map<std::string, publish::Swap> heads_;  ///< by full name
};

Status Run(int tables, int partitions, int runs) {
  Folder folder(Env::Real());
  Publications publications(folder.path(), tables, partitions);
  AMEND_RETURN_IF_ERROR(publications.Open());
  AMEND_ASSIGN_OR_RETURN(publish::Publication first, publications.Next());
  AMEND_RETURN_IF_ERROR(publications.Publish(first));
  TimedEnv& env = publications.env();
  std::vector<std::int64_t> wall, synced, beside, cpu;
  std::int64_t syncs = 0;
  for (int i = 0; i < runs; ++i) {
    AMEND_ASSIGN_OR_RETURN(publish::Publication publication, publications.Next());
    env.Reset();
    std::int64_t cpu_before = env.CpuMicros();
    std::int64_t before = env.SteadyMicros();
    AMEND_RETURN_IF_ERROR(publications.Publish(publication));
    wall.push_back(env.SteadyMicros() - before);
    cpu.push_back(env.CpuMicros() - cpu_before);
    synced.push_back(env.sync_micros());
    beside.push_back(wall.back() - synced.back());
    syncs = env.syncs();
  }
  auto seconds = [](const std::vector<std::int64_t>& micros) {
    return static_cast<double>(Median(micros)) / 1e6;
  };
  Print({{"publication.beside_fsync", seconds(beside), "s", kMostSeconds},
         {"publication.wall", seconds(wall), "s", {}},
         {"publication.fsync", seconds(synced), "s", {}},
         {"publication.fsyncs", static_cast<double>(syncs), "calls", {}},
         {"publication.cpu", seconds(cpu), "s", {}},
         {"publication.peak_memory",
          static_cast<double>(env.PeakMemoryBytes()),
          "bytes",
          {}}});
  return {};
}

}  // namespace
}  // namespace amend::bench

int main(int count, char** words) {
  return amend::bench::Main(
      count, words, {{"tables", 20}, {"partitions", 1000}, {"runs", 5}},
      [](const std::map<std::string, int>& sizes) {
        return amend::bench::Run(sizes.at("tables"), sizes.at("partitions"),
                                 sizes.at("runs"));
      });
}

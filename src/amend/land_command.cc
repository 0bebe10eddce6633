#include <algorithm>
#include <set>

#include "amend/commands.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "land/history.h"
#include "land/landing.h"
#include "table/data_files.h"
#include "table/spaces.h"
#include "table/types.h"

namespace amend {
namespace {

using partition::PartitionSet;

/// One landing from its files to its publication.
class Landing {
 public:
  Landing(Workspace& w, const lineage::Source& source, const LandOptions& options)
      : w_(w), source_(source), options_(options) {}

  Result<Answer> Run();

 private:
  Status ReadTable();
  Status StageFiles(const std::vector<land::LandingFile>& files);
  Status AddChange(publish::Publication* publication);
  Result<publish::Publication> Prepare();
  const land::PastLanding* FindDone(const std::vector<land::LandingFile>& files) const;
  std::vector<land::LandingFile> NewFiles(std::vector<land::LandingFile> files) const;
  Answer NoOp(const land::PastLanding& done) const;
  Json FilesJson() const;

  Workspace& w_;
  const lineage::Source& source_;
  const LandOptions& options_;
  std::vector<land::PastLanding> landings_;      // in force
  const iceberg::LoadedTable* table_ = nullptr;  // null: not made yet
  table::Contents contents_;
  iceberg::Schema schema_;
  std::string run_;
  std::vector<land::StagedLanding> staged_;
};

Status Landing::ReadTable() {
  std::map<std::string, state::Pin> heads;
  AMEND_RETURN_IF_ERROR(
      w_.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(heads, w_.store().Heads(tx, {source_.name}));
        AMEND_ASSIGN_OR_RETURN(std::vector<ledger::Entry> entries,
                               w_.ledger().Entries(tx));
        AMEND_ASSIGN_OR_RETURN(landings_, land::LandingsOf(entries, source_.name));
        return Status();
      }));
  contents_ = table::Contents(source_.space, {});
  auto head = heads.find(source_.name);
  if (head == heads.end()) {
    AMEND_ASSIGN_OR_RETURN(schema_,
                           table::ContinueSchema({}, 0, land::RawColumns(source_)));
    return {};
  }
  AMEND_ASSIGN_OR_RETURN(table_, w_.store().Load(head->second));
  AMEND_ASSIGN_OR_RETURN(contents_, w_.store().ReadPinned(head->second, source_.space));
  AMEND_ASSIGN_OR_RETURN(schema_, table::ContinueSchema(table_->metadata.schema(),
                                                        table_->metadata.last_column_id(),
                                                        land::RawColumns(source_)));
  return {};
}

/// The landing that did what is asked: the same bytes are never appended twice, and a
/// replacement that would leave the same rows is none.
const land::PastLanding* Landing::FindDone(
    const std::vector<land::LandingFile>& files) const {
  std::set<std::string> digests;
  for (const land::LandingFile& file : files) digests.insert(file.digest);
  if (options_.replace_partitions) return land::FindExact(landings_, digests, contents_);
  const land::PastLanding* latest = nullptr;
  for (const std::string& digest : digests) {
    const land::PastLanding* landing = land::FindLanded(landings_, digest);
    if (landing == nullptr) return nullptr;
    if (latest == nullptr || latest->number < landing->number) latest = landing;
  }
  return latest;
}

/// Without bytes given twice, or landed before where they are appended.
std::vector<land::LandingFile> Landing::NewFiles(
    std::vector<land::LandingFile> files) const {
  std::set<std::string> seen;
  std::erase_if(files, [&](const land::LandingFile& file) {
    bool landed = !options_.replace_partitions &&
                  land::FindLanded(landings_, file.digest) != nullptr;
    return landed || !seen.insert(file.digest).second;
  });
  return files;
}

Status Landing::StageFiles(const std::vector<land::LandingFile>& files) {
  run_ = "l" + w_.env().NewUuid().substr(0, 13);
  std::string folder = table::RunFolder(w_.LocationOf(source_.name), run_);
  AMEND_RETURN_IF_ERROR(w_.InTransaction(
      db::TransactionMode::kWrite,
      [&](db::Transaction& tx) { return w_.ledger().RegisterPath(tx, folder, run_); }));
  AMEND_ASSIGN_OR_RETURN(
      engine::Engine engine,
      engine::Engine::Open(w_.env(), {w_.project().limits.memory_bytes / 2,
                                      w_.TempFolder() + "/" + run_}));
  for (std::size_t i = 0; i < files.size(); ++i) {
    AMEND_ASSIGN_OR_RETURN(land::StagedLanding staged,
                           land::StageFile(w_.env(), engine, source_, schema_, files[i],
                                           folder, fmt::format("{:05}-1", i)));
    staged_.push_back(std::move(staged));
  }
  return {};
}

Json Landing::FilesJson() const {
  Json files = Json::array();
  for (const land::StagedLanding& staged : staged_) {
    Json file = Json::object();
    file["file"] = FileNameOf(staged.file.path);
    file["digest"] = staged.file.digest;
    file["rows"] = staged.rows;
    files.push_back(std::move(file));
  }
  return files;
}

Status Landing::AddChange(publish::Publication* publication) {
  publish::TableChange change;
  change.ref = w_.store().RefOf(source_.name);
  change.space = source_.space;
  PartitionSet landed(source_.space.shape());
  int spec_id = table_ == nullptr ? 0 : table_->metadata.spec().id;
  for (const land::StagedLanding& staged : staged_) {
    landed = landed.Union(staged.write_set.partitions);
    for (const state::StagedFile& file : staged.write_set.files) {
      AMEND_ASSIGN_OR_RETURN(iceberg::DataFile data,
                             table::MetricsFromJson(file.metrics));
      data.path = iceberg::ToUri(file.path);
      data.partition = table::TupleOf(source_.space, file.partition);
      data.spec_id = spec_id;
      change.added.push_back(std::move(data));
    }
  }
  change.replaced =
      options_.replace_partitions ? landed : PartitionSet(source_.space.shape());
  // An append minds nobody; a replacement minds who wrote what it replaces.
  change.guarded = change.replaced;
  std::string pin;
  if (table_ == nullptr) {
    iceberg::NewTable create;
    create.location = iceberg::ToUri(w_.LocationOf(source_.name));
    create.schema = schema_;
    AMEND_ASSIGN_OR_RETURN(create.spec, table::SpecOf(source_.space, schema_));
    create.properties = {{"write.parquet.compression-codec", "zstd"}};
    change.create = std::move(create);
  } else {
    change.pinned = *table_;
    change.pinned_snapshot = table::PinOf(*table_).snapshot_id;
    pin = table_->metadata_location;
    if (!(schema_.fields == table_->metadata.schema().fields)) {
      change.schema = schema_;
      change.schema_base_last_column_id = table_->metadata.last_column_id();
    }
  }
  ledger::EntryTable entry;
  entry.table = source_.name;
  entry.changed = RangesToJson(source_.space, landed);
  publication->entry.tables.push_back(std::move(entry));
  // Bytes without a row are on record, so that they are known; no table moves.
  publication->entry.no_op = change.added.empty();
  if (change.added.empty()) return {};
  publication->intent.tables.push_back({change.ref.ToString(), pin});
  publication->intent.folders.push_back(w_.LocationOf(source_.name) + "/metadata");
  publication->changes.push_back(std::move(change));
  return {};
}

Result<publish::Publication> Landing::Prepare() {
  publish::Publication publication;
  publication.attempt = publish::NewAttempt(w_.env());
  publication.intent.id = w_.env().NewUuid();
  publication.intent.kind = publish::Kind::kLand;
  publication.intent.subject = run_;
  publication.tag_age_ms = w_.project().tag_days * std::int64_t{86'400'000};
  publication.entry.run = run_;
  publication.entry.author = w_.env().UserName();
  publication.entry.reason = options_.reason;
  publication.entry.ticket = options_.ticket;
  publication.entry.body["files"] = FilesJson();
  publication.entry.body["replace_partitions"] = options_.replace_partitions;
  publication.summary = {{"amend.run", run_}};
  AMEND_FAIL_IF_ERROR(AddChange(&publication));
  return publication;
}

Answer Landing::NoOp(const land::PastLanding& done) const {
  Answer answer;
  answer.json["landing"] = done.number;
  answer.json["no_op"] = true;
  answer.json["source"] = source_.name;
  answer.json["files"] = done.listed;
  answer.json["partitions_appended"] = Json::array();
  answer.json["partitions_replaced"] = Json::array();
  answer.text = fmt::format("Nothing to do: #{} already landed these bytes in {}.\n",
                            done.number, source_.name);
  return answer;
}

Result<Answer> Landing::Run() {
  AMEND_ASSIGN(std::vector<land::LandingFile> files,
               land::ReadFileList(w_.env(), options_.files));
  AMEND_FAIL_IF_ERROR(ReadTable());
  if (const land::PastLanding* done = FindDone(files)) return NoOp(*done);
  files = NewFiles(std::move(files));
  AMEND_FAIL_IF_ERROR(StageFiles(files));
  AMEND_ASSIGN(publish::Publication publication, Prepare());
  AMEND_ASSIGN(Answer published, RunPublication(w_, publication));
  PartitionSet landed(source_.space.shape());
  std::int64_t rows = 0;
  for (const land::StagedLanding& staged : staged_) {
    landed = landed.Union(staged.write_set.partitions);
    rows += staged.rows;
  }
  PartitionSet replaced = options_.replace_partitions
                              ? landed.Intersect(contents_.live())
                              : PartitionSet(source_.space.shape());
  Answer answer;
  answer.json["landing"] = published.json["publication"];
  answer.json["no_op"] = false;
  answer.json["source"] = source_.name;
  answer.json["files"] = FilesJson();
  answer.json["partitions_appended"] =
      RangesToJson(source_.space, landed.Difference(replaced));
  answer.json["partitions_replaced"] = RangesToJson(source_.space, replaced);
  answer.text = fmt::format(
      "land #{} confirmed: {} rows of {} files in {}, partitions {}{}\n",
      published.json["publication"].get<std::int64_t>(), rows, staged_.size(),
      source_.name, Describe(source_.space, landed),
      replaced.empty() ? "" : ", replaced " + Describe(source_.space, replaced));
  return answer;
}

}  // namespace

Result<Answer> Amend::Land(const LandOptions& options) {
  AMEND_ASSIGN(auto lock, BeginWriting(*workspace_));
  const lineage::Source* source = workspace_->lineage().FindSource(options.source);
  if (source == nullptr || source->kind != lineage::SourceKind::kRaw) {
    std::vector<std::string> names;
    for (const auto& s : workspace_->lineage().sources()) names.push_back(s.name);
    return Fail(NotFound("there is no raw source " + options.source)
                    .Table(options.source)
                    .Hint(project::Suggest(options.source, names)));
  }
  if (options.files.empty()) {
    return Fail(Invalid("no file to land").Hint("amend land SOURCE FILE…"));
  }
  return Landing(*workspace_, *source, options).Run();
}

}  // namespace amend

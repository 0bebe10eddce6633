#include "testing/equal/story.h"

#include <algorithm>
#include <filesystem>

#include "amend/commands.h"
#include "db/sqlite.h"
#include "fmt/format.h"

namespace amend::equal {
namespace {

/// Of one model when the story begins.
constexpr std::int64_t kMostPartitions = 40;

Status Wrong(std::string text) { return Internal(std::move(text)); }

PlanOptions BecauseOfTest() {
  PlanOptions options;
  options.reason = "test";
  return options;
}

Result<std::vector<ledger::Entry>> EntriesOf(Workspace& workspace) {
  std::vector<ledger::Entry> entries;
  AMEND_FAIL_IF_ERROR(
      workspace.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(entries, workspace.ledger().Entries(tx));
        return Status();
      }));
  return entries;
}

bool Writes(const ledger::Entry& entry, const std::string& table) {
  return std::any_of(entry.tables.begin(), entry.tables.end(),
                     [&](const ledger::EntryTable& t) { return t.table == table; });
}

std::int64_t CountPartitions(const Json& plan) {
  std::int64_t count = 0;
  for (const Json& model : plan["models"]) count += model["count"].get<std::int64_t>();
  return count;
}

std::string TextOf(const db::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* blob = std::get_if<db::Blob>(&value)) return blob->bytes;
  return "NULL";
}

/// Every row of every table, catalog and ledger.
Status AddRows(const std::string& path, std::vector<std::string>* lines) {
  db::SqliteOptions options;
  options.path = path;
  options.read_only = true;
  AMEND_ASSIGN_OR_RETURN(auto connection, db::OpenSqlite(options));
  AMEND_ASSIGN_OR_RETURN(db::Transaction tx,
                         connection->Begin(db::TransactionMode::kRead));
  AMEND_ASSIGN_OR_RETURN(
      db::Rows tables,
      tx.Query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"));
  for (const db::Row& table : tables) {
    AMEND_ASSIGN_OR_RETURN(std::string name, table.Text(0));
    AMEND_ASSIGN_OR_RETURN(db::Rows rows, tx.Query("SELECT * FROM \"" + name + "\""));
    for (const db::Row& row : rows) {
      std::string line = name;
      for (std::size_t i = 0; i < row.size(); ++i) line += " | " + TextOf(row.at(i));
      lines->push_back(std::move(line));
    }
  }
  return tx.Rollback();
}

/// A line that only one of two sorted states has.
std::string FirstDifference(const std::vector<std::string>& before,
                            const std::vector<std::string>& after) {
  std::vector<std::string> lines;
  std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
                                std::back_inserter(lines));
  return lines.empty() ? "" : lines.front();
}

}  // namespace

Story::Story(RandomProject project, std::string folder, Oracle* oracle,
             Statistics* statistics)
    : project_(std::move(project)),
      folder_(std::move(folder)),
      oracle_(oracle),
      statistics_(statistics) {}

Status Story::Run() {
  ++statistics_->projects;
  for (const File& file : project_.Files()) AMEND_RETURN_IF_ERROR(Write(file));
  for (const Landing& landing : project_.FirstLandings()) {
    AMEND_RETURN_IF_ERROR(Land(landing));
  }
  AMEND_RETURN_IF_ERROR(CutByLess());
  AMEND_RETURN_IF_ERROR(Settle());
  for (int i = project_.corrections(); i > 0; --i) {
    AMEND_RETURN_IF_ERROR(Apply(project_.NextCorrection()));
    AMEND_RETURN_IF_ERROR(Settle());
  }
  if (narrow_) ++statistics_->projects_narrow;
  return {};
}

std::string Story::Describe() const {
  std::string text;
  for (const std::string& step : steps_) text += step + "\n";
  return text;
}

Result<Amend*> Story::OpenProject() {
  if (!amend_ || open_always_) {
    amend_.reset();
    AMEND_ASSIGN(amend_, Amend::Open(Env::Real(), folder_));
  }
  return amend_.get();
}

Status Story::Write(const File& file) {
  amend_.reset();
  return WriteText(file);
}

Status Story::WriteText(const File& file) {
  steps_.push_back(fmt::format("── {}\n{}", file.path, file.text));
  const std::string path = folder_ + "/" + file.path;
  AMEND_RETURN_IF_ERROR(Env::Real().CreateFolders(path.substr(0, path.rfind('/'))));
  return Env::Real().ReplaceFile(path, file.text);
}

Status Story::Land(const Landing& landing) {
  LandOptions options;
  options.source = landing.source;
  options.replace_partitions = landing.replace;
  for (const File& file : landing.files) {
    AMEND_RETURN_IF_ERROR(WriteText(file));
    options.files.push_back(folder_ + "/" + file.path);
  }
  steps_.push_back(fmt::format("$ amend land {}{}", landing.source,
                               landing.replace ? " --replace-partitions" : ""));
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  AMEND_ASSIGN_OR_RETURN(Answer answer, amend->Land(options));
  steps_.push_back(answer.text);
  return {};
}

Status Story::CutByLess() {
  for (;;) {
    AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
    AMEND_ASSIGN_OR_RETURN(
        Gathered gathered,
        GatherWorld(amend->workspace(), {}, amend->workspace().env().NowMicros()));
    auto standings = plan::SurveyModels(gathered.world);
    std::optional<File> file;
    for (const RandomProject::NamedSql& model : project_.Models()) {
      const auto count = standings.at(model.name).known.Count();
      if (file || (count && *count <= kMostPartitions)) continue;
      file = built_   ? project_.UndoChange()
             : !count ? project_.DropDimension(model.name)
                      : project_.Coarsen(model.name);
    }
    if (!file) return {};
    AMEND_RETURN_IF_ERROR(Write(*file));
  }
}

Status Story::Apply(const Correction& correction) {
  steps_.push_back("# " + correction.text);
  AMEND_RETURN_IF_ERROR(ApplyKind(correction));
  if (!correction.selected.empty()) AMEND_RETURN_IF_ERROR(BuildSelected(correction));
  return correction.collect_garbage ? CollectGarbage() : Status();
}

Status Story::ApplyKind(const Correction& correction) {
  switch (correction.kind) {
    case Correction::Kind::kCode:
      for (const File& file : correction.files) AMEND_RETURN_IF_ERROR(Write(file));
      return CutByLess();
    case Correction::Kind::kLand:
      for (const Landing& landing : correction.landings) {
        AMEND_RETURN_IF_ERROR(Land(landing));
      }
      return {};
    case Correction::Kind::kRollback:
      return RollBackPublication();
    case Correction::Kind::kUnland:
      return TakeLandingBack(correction.landings_ago);
    case Correction::Kind::kRelease:
      return ReleaseAll();
    case Correction::Kind::kOvertake:
      return Overtake(correction);
  }
  return {};
}

Status Story::RollBackPublication() {
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  AMEND_ASSIGN_OR_RETURN(std::vector<ledger::Entry> entries,
                         EntriesOf(amend->workspace()));
  std::size_t at = entries.size();
  while (at > 0 && entries[at - 1].kind != ledger::EntryKind::kPublish) --at;
  AMEND_CHECK(at > 0);
  AMEND_RETURN_IF_ERROR(RollBack(*amend, entries, at - 1));
  ++statistics_->rollbacks;
  expect_nothing_ = at == entries.size();
  return {};
}

Status Story::TakeLandingBack(int landings_ago) {
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  AMEND_ASSIGN_OR_RETURN(std::vector<ledger::Entry> entries,
                         EntriesOf(amend->workspace()));
  std::vector<std::size_t> landings;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    bool taken_back = std::any_of(entries.begin(), entries.end(), [&](const auto& e) {
      return e.rolls_back == entries[i].number;
    });
    const bool ours = entries[i].kind == ledger::EntryKind::kLand;
    if (ours && !taken_back) landings.push_back(i);
  }
  if (landings.empty()) return {};
  const auto ago = std::min(static_cast<std::size_t>(landings_ago), landings.size() - 1);
  Status done = RollBack(*amend, entries, landings[landings.size() - 1 - ago]);
  // A later landing may have changed the same partitions.
  if (done.code() == StatusCode::kConflict) {
    steps_.push_back("$ amend rollback\n" + done.ToString());
    return {};
  }
  if (done.ok()) ++statistics_->unlanded;
  return done;
}

Status Story::RollBack(Amend& amend, const std::vector<ledger::Entry>& entries,
                       std::size_t at) {
  const std::int64_t number = entries[at].number;
  Json before = Json::object();
  if (number > 1) {
    AMEND_ASSIGN_OR_RETURN(Answer pins, amend.Pins(number - 1));
    before = pins.json["tables"];
  }
  RollbackOptions options;
  options.number = number;
  options.reason = "test";
  AMEND_ASSIGN_OR_RETURN(Answer answer, amend.Rollback(options));
  steps_.push_back(fmt::format("$ amend rollback {}\n{}", number, answer.text));
  AMEND_ASSIGN_OR_RETURN(Answer after, amend.Pins(std::nullopt));
  for (const ledger::EntryTable& table : entries[at].tables) {
    const std::string& name = table.table;
    const bool written_later =
        std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(at) + 1, entries.end(),
                    [&](const ledger::Entry& entry) { return Writes(entry, name); });
    if (written_later || !before.contains(name)) continue;
    auto load = [&](const std::string& as, const Json& tables) {
      return oracle_->Load(Env::Real(), as,
                           tables[name]["metadata_location"].get<std::string>());
    };
    AMEND_RETURN_IF_ERROR(load("table_before", before));
    AMEND_RETURN_IF_ERROR(load("table_after", after.json["tables"]));
    AMEND_ASSIGN_OR_RETURN(std::int64_t rows,
                           oracle_->CountDifferences("table_before", "table_after"));
    if (rows != 0) {
      return Wrong(fmt::format("{} differs in {} rows from what it was before #{}", name,
                               rows, number));
    }
  }
  return {};
}

Status Story::BuildSelected(const Correction& correction) {
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  PlanOptions options = BecauseOfTest();
  options.select = {correction.selected};
  options.full = correction.full;
  AMEND_ASSIGN_OR_RETURN(Answer answer, amend->Backfill(
                                            options, [](const run::RunProgress&) {},
                                            [](const std::string&) { return true; }));
  steps_.push_back(fmt::format("$ amend backfill --select {}{}\n{}", correction.selected,
                               correction.full ? " --full" : "", answer.text));
  if (answer.exit_code != 0) return Wrong("the backfill did not end well");
  planned_ += CountPartitions(answer.json["plan"]);
  ++statistics_->selected;
  return {};
}

Status Story::ReleaseAll() {
  for (const RandomProject::NamedSql& model : project_.Models()) {
    AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
    AMEND_ASSIGN_OR_RETURN(Answer answer, amend->Release(model.name, {}, "test"));
    steps_.push_back(fmt::format("$ amend release {}\n{}", model.name, answer.text));
  }
  return {};
}

Status Story::Overtake(const Correction& correction) {
  AMEND_RETURN_IF_ERROR(Land(correction.landings.front()));
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  AMEND_ASSIGN_OR_RETURN(Answer plan, amend->Plan(BecauseOfTest()));
  steps_.push_back("$ amend plan\n" + plan.text);
  const bool work = !plan.json["nothing_to_do"].get<bool>();
  std::string id;
  if (work) {
    id = plan.json["plan"].get<std::string>();
    AMEND_ASSIGN_OR_RETURN(Answer stage, amend->Stage(id, {}));
    steps_.push_back("$ amend stage\n" + stage.text);
  }
  AMEND_RETURN_IF_ERROR(Land(correction.landings.back()));
  if (!work) return {};
  AMEND_ASSIGN_OR_RETURN(Amend * later, OpenProject());
  auto published = later->Publish(id);
  ++statistics_->overtaken;
  if (published) {
    steps_.push_back("$ amend publish\n" + published->text);
    planned_ += CountPartitions(plan.json);
    return {};
  }
  steps_.push_back("$ amend publish\n" + published.error().ToString());
  ++statistics_->overtaken_refused;
  if (published.error().code() == StatusCode::kConflict) return {};
  return published.error().Annotate("publish of an overtaken plan");
}

Status Story::CollectGarbage() {
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  GcOptions options;
  options.yes = true;
  AMEND_ASSIGN_OR_RETURN(Answer answer, amend->Gc(options));
  steps_.push_back("$ amend gc --yes\n" + answer.text);
  return {};
}

Status Story::Settle() {
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  if (built_) {
    auto before = CheckModels(amend->workspace(), false);
    if (!before) return before.error();
  }
  AMEND_ASSIGN_OR_RETURN(Answer answer,
                         amend->Backfill(
                             BecauseOfTest(), [](const run::RunProgress&) {},
                             [](const std::string&) { return true; }));
  steps_.push_back("$ amend backfill\n" + answer.text);
  if (answer.exit_code != 0) return Wrong("the backfill did not end well");
  if (expect_nothing_ && !answer.json["plan"]["nothing_to_do"].get<bool>()) {
    return Wrong("the backfill after a rollback found something to do");
  }
  expect_nothing_ = false;
  AMEND_ASSIGN_OR_RETURN(std::int64_t all, CheckModels(amend->workspace(), true));
  // The first plan is everything by nature.
  planned_ += CountPartitions(answer.json["plan"]);
  if (built_) CountPlan(planned_, all);
  planned_ = 0;
  built_ = true;
  return CheckNothingMoves();
}

void Story::CountPlan(std::int64_t planned, std::int64_t all) {
  ++statistics_->plans;
  if (planned == 0) ++statistics_->plans_empty;
  if (planned > 0 && planned < all) {
    ++statistics_->plans_narrow;
    narrow_ = true;
  }
}

Result<std::int64_t> Story::CheckModels(Workspace& workspace, bool done) {
  AMEND_ASSIGN(Gathered gathered,
               GatherWorld(workspace, {}, workspace.env().NowMicros()));
  auto standings = plan::SurveyModels(gathered.world);
  for (const auto& [name, table] : gathered.world.tables) {
    if (!table.head) continue;
    AMEND_FAIL_IF_ERROR(
        oracle_->Load(workspace.env(), name, table.head->metadata_location));
  }
  std::int64_t all = 0;
  for (const RandomProject::NamedSql& model : project_.Models()) {
    const partition::PartitionSpace& space = gathered.world.lineage->SpaceOf(model.name);
    const plan::Standing& standing = standings.at(model.name);
    // A model without any partition has no table.
    if (!gathered.world.tables.at(model.name).head) {
      AMEND_FAIL_IF_ERROR(oracle_->LoadEmpty(model.name, model.sql));
    }
    // A hold keeps what a rollback left stale or without a build.
    const partition::PartitionSet undone =
        standing.stale.Union(standing.drifted).Difference(standing.on_hold);
    if (done && !undone.empty()) {
      return Fail(Wrong(fmt::format("after the backfill {} is not done: {}", model.name,
                                    partition::Describe(space, undone))));
    }
    AMEND_FAIL_IF_ERROR(CheckEquality(space, standing, model, done));
    all += standing.counts.total();
    if (!done) continue;
    statistics_->current += standing.counts.current;
    statistics_->other += standing.counts.total() - standing.counts.current;
  }
  return all;
}

Status Story::CheckEquality(const partition::PartitionSpace& space,
                            const plan::Standing& standing,
                            const RandomProject::NamedSql& model, bool done) {
  AMEND_ASSIGN_OR_RETURN(Oracle::Comparison comparison,
                         oracle_->Compare(model.name, model.sql, space));
  for (const auto& [point, row] : comparison.differing) {
    if (!standing.current.Contains(point)) continue;
    return Wrong(fmt::format("{} {} is called current, but {}", model.name,
                             space.Format(point), row));
  }
  for (const partition::Partition& point : comparison.points) {
    if (!standing.known.Contains(point)) {
      return Wrong(fmt::format("{} {} has rows and is in no class", model.name,
                               space.Format(point)));
    }
    // Missing without rows is what waits for a held input.
    if (done && standing.missing.Difference(standing.on_hold).Contains(point)) {
      return Wrong(fmt::format("after the backfill {} {} has rows and is missing",
                               model.name, space.Format(point)));
    }
  }
  return {};
}

Status Story::CheckNothingMoves() {
  AMEND_ASSIGN_OR_RETURN(std::vector<std::string> before, Everything());
  AMEND_ASSIGN_OR_RETURN(Amend * amend, OpenProject());
  AMEND_ASSIGN_OR_RETURN(Answer answer,
                         amend->Backfill(
                             BecauseOfTest(), [](const run::RunProgress&) {},
                             [](const std::string&) { return true; }));
  if (!answer.json["plan"]["nothing_to_do"].get<bool>()) {
    steps_.push_back("$ amend backfill\n" + answer.text);
    return Wrong("the second backfill found something to do");
  }
  AMEND_ASSIGN_OR_RETURN(std::vector<std::string> after, Everything());
  const std::string moved = FirstDifference(before, after);
  if (!moved.empty()) return Wrong("the second backfill moved something: " + moved);
  ++statistics_->no_ops;
  return {};
}

Result<std::vector<std::string>> Story::Everything() const {
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    const std::string path = entry.path().string();
    // What SQLite and the lock keep for themselves; rows are compared below.
    if (path.find("/.amend/catalog.db") != std::string::npos) continue;
    const bool file = entry.is_regular_file();
    lines.push_back(
        fmt::format("{} {} {}", path, file ? entry.file_size() : 0,
                    file ? entry.last_write_time().time_since_epoch().count() : 0));
  }
  AMEND_FAIL_IF_ERROR(AddRows(folder_ + "/.amend/catalog.db", &lines));
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace amend::equal

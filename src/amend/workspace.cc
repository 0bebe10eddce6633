#include "amend/workspace.h"

#include <algorithm>

#include "db/sqlite.h"
#include "engine/facts_file.h"

namespace amend {
namespace {

constexpr std::int64_t kQuestionMemory = 500'000'000;  // bytes, at most
// What the process needs besides the engines' buffer pools: code, metadata, writers of
// open Parquet files. Measured by bench/ as VmHWM minus the pools on the flights build.
constexpr std::int64_t kReserveBytes = 200'000'000;
constexpr std::int64_t kLeastEngineBytes = 64'000'000;
// Partitions of a model whose facts are kept for the next question: some 50 MB.
constexpr std::size_t kMostFactsKept = 100'000;

/// The first error of a project's text, as the status of a command that needs it sound.
Status FirstError(const std::vector<project::Problem>& problems) {
  std::size_t errors = 0;
  const project::Problem* first = nullptr;
  for (const project::Problem& problem : problems) {
    if (problem.severity != project::ProblemSeverity::kError) continue;
    if (first == nullptr) first = &problem;
    ++errors;
  }
  AMEND_CHECK(first != nullptr);
  std::string hint = first->hint;
  if (errors > 1) {
    hint += (hint.empty() ? "" : " ") + std::to_string(errors - 1) +
            " more: amend validate prints them all.";
  }
  return Invalid(first->text)
      .At(first->file, first->line > 0 ? std::optional(first->line) : std::nullopt)
      .Hint(hint);
}

}  // namespace

Workspace::Workspace(Env& env, BoundProject bound, sql::Binder binder,
                     db::StatementObserver* observer)
    : env_(env),
      observer_(observer),
      bound_(std::move(bound)),
      binder_(std::make_unique<sql::Binder>(std::move(binder))) {}

Result<std::unique_ptr<Workspace>> Workspace::Open(Env& env, const std::string& root,
                                                   db::StatementObserver* observer) {
  AMEND_ASSIGN(sql::Binder binder, sql::Binder::Open());
  Binding binding = BindProject(env, root, binder);
  if (!binding.bound) return Fail(FirstError(binding.problems));
  std::unique_ptr<Workspace> workspace(
      new Workspace(env, *std::move(binding.bound), std::move(binder), observer));
  AMEND_FAIL_IF_ERROR(workspace->OpenCatalog());
  return workspace;
}

Result<std::unique_ptr<db::Connection>> Workspace::Connect() const {
  db::SqliteOptions options;
  options.path = project().catalog;
  options.create = true;
  options.observer = observer_;
  return db::OpenSqlite(options);
}

Status Workspace::OpenCatalog() {
  AMEND_RETURN_IF_ERROR(env_.CreateFolders(FolderOf(project().catalog)));
  auto attach = [this](db::Transaction& tx) { return AttachCatalog(tx); };
  // Reading first: a command that only looks waits for no writer. What is missing or old
  // is made by the first command of a project, or of a newer Amend.
  Status attached = InTransaction(db::TransactionMode::kRead, attach);
  bool writing_helps = attached.code() == StatusCode::kNotFound ||
                       attached.code() == StatusCode::kUnsupported;
  if (!writing_helps) return attached;
  return InTransaction(db::TransactionMode::kWrite, attach);
}

Status Workspace::AttachCatalog(db::Transaction& tx) {
  AMEND_ASSIGN_OR_RETURN(iceberg::SqlCatalog catalog,
                         iceberg::SqlCatalog::Open(tx, kCatalogName));
  if (tx.mode() == db::TransactionMode::kWrite) {
    AMEND_RETURN_IF_ERROR(catalog.CreateNamespace(tx, project().name_space));
  } else {
    AMEND_ASSIGN_OR_RETURN(std::vector<std::string> known, catalog.Namespaces(tx));
    if (std::find(known.begin(), known.end(), project().name_space) == known.end()) {
      return NotFound("the catalog has no namespace " + project().name_space);
    }
  }
  AMEND_ASSIGN_OR_RETURN(ledger::Ledger ledger, ledger::Ledger::Open(tx));
  AMEND_RETURN_IF_ERROR(ledger.Claim(tx, project().name_space));
  ledger_ = std::make_unique<ledger::Ledger>(std::move(ledger));
  store_ = std::make_unique<table::Store>(env_, std::move(catalog), project().name_space);
  return {};
}

Status Workspace::InTransaction(db::TransactionMode mode,
                                const std::function<Status(db::Transaction&)>& body) {
  AMEND_ASSIGN_OR_RETURN(auto connection, Connect());
  AMEND_ASSIGN_OR_RETURN(db::Transaction tx, connection->Begin(mode));
  AMEND_RETURN_IF_ERROR(body(tx));
  if (mode == db::TransactionMode::kRead) return tx.Rollback();
  return tx.Commit();
}

Result<engine::Engine*> Workspace::engine() {
  if (!engine_) {
    AMEND_ASSIGN(engine::Engine engine,
                 engine::Engine::Open(env_, {std::min(kQuestionMemory, EngineMemory()),
                                             TempFolder() + "/q"}));
    engine_.emplace(std::move(engine));
  }
  return &*engine_;
}

std::int64_t Workspace::EngineMemory() const {
  return std::max(project().limits.memory_bytes - kReserveBytes, kLeastEngineBytes);
}

publish::Publisher Workspace::MakePublisher() const {
  publish::PublisherOptions options;
  options.name_space = project().name_space;
  options.connect = [this] { return Connect(); };
  return publish::Publisher(env_, std::move(options), store_->catalog(), *ledger_);
}

/// What the publication made of its own inputs is known by now.
void Workspace::Resolve(const ledger::Entry& entry, state::BuildRecord* record) {
  for (auto& [input, version] : record->verified_at) {
    if (version != engine::kThisPublication) continue;
    for (const ledger::EntryTable& made : entry.tables) {
      if (made.table != input) continue;
      version = made.version;
      if (record->verified_in.contains(input)) continue;
      // Made by this publication, so its uuid was not known yet.
      auto loaded = store_->Load(input, made.metadata_location);
      if (loaded) record->verified_in[input] = (*loaded)->metadata.uuid();
    }
  }
  if (record->publication == engine::kThisNumber) record->publication = entry.number;
}

Status Workspace::ApplyFacts(const ledger::Entry& entry, const std::string& model,
                             state::FactsInForce* in_force) {
  const partition::PartitionSpace& space = lineage().SpaceOf(model);
  for (const ledger::EntryTable& table : entry.tables) {
    if (table.table != model || table.facts_path.empty()) continue;
    AMEND_ASSIGN_OR_RETURN(engine::Engine * engine, this->engine());
    AMEND_ASSIGN_OR_RETURN(state::TableFacts facts,
                           engine::ReadFacts(env_, engine->connection(), space,
                                             table.facts_path, table.facts_digest));
    for (state::PartitionFact& fact : facts.points) Resolve(entry, &fact.record);
    for (state::RestFact& fact : facts.rest) Resolve(entry, &fact.record);
    in_force->Apply(facts);
  }
  return {};
}

Result<state::FactsInForce> Workspace::Facts(const std::vector<ledger::Entry>& entries,
                                             const std::string& model) {
  auto read = read_facts_.find(model);
  bool goes_on =
      read != read_facts_.end() && read->second.numbers.size() <= entries.size() &&
      std::equal(read->second.numbers.begin(), read->second.numbers.end(),
                 entries.begin(), [](std::int64_t number, const ledger::Entry& entry) {
                   return number == entry.number;
                 });
  ReadFacts known{{}, state::FactsInForce(lineage().SpaceOf(model).shape())};
  if (goes_on) known = read->second;
  for (std::size_t i = known.numbers.size(); i < entries.size(); ++i) {
    AMEND_FAIL_IF_ERROR(ApplyFacts(entries[i], model, &known.facts));
    known.numbers.push_back(entries[i].number);
  }
  known.facts.DropUnusedRecords();
  if (known.facts.by_partition.size() <= kMostFactsKept) {
    read_facts_.insert_or_assign(model, known);
  }
  return std::move(known.facts);
}

std::string Workspace::JournalFolder() const {
  return FolderOf(project().catalog) + "/journal";
}

std::string Workspace::LockPath() const {
  // One lock however the catalog is spelled.
  return AbsolutePath(project().catalog) + ".lock";
}

Status Workspace::RefuseRepartitioned(const std::vector<std::string>& models) {
  AMEND_ASSIGN_OR_RETURN(std::vector<project::Problem> problems,
                         PartitioningProblems(env_, bound_, models));
  return problems.empty() ? Status() : FirstError(problems);
}

std::string Workspace::LocationOf(const std::string& table) const {
  return project().warehouse + "/" + project().name_space + "/" + table;
}

}  // namespace amend

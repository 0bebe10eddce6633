#include "amend/bound_project.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "db/sqlite.h"
#include "iceberg/sql_catalog.h"
#include "iceberg/update.h"
#include "table/spaces.h"
#include "table/types.h"

namespace amend {
namespace {

using project::Problem;

sql::Statement StatementOf(const lineage::Model& model) {
  return {model.sql, model.at.file, model.sql_line};
}

/// Declared inputs override what was inferred, on every reference to the table.
void ApplyDeclaredInputs(const lineage::Model& model, lineage::BoundModel* bound) {
  for (const lineage::DeclaredInput& declared : model.inputs) {
    for (lineage::InputRef& ref : bound->inputs) {
      if (ToLower(ref.table) != ToLower(declared.table)) continue;
      ref.mapping = declared.mapping;
      ref.why = "declared: " + declared.mapping.ToString();
    }
  }
}

/// Reads of each model, by the names of the project where the text's case differs.
class ModelReads {
 public:
  explicit ModelReads(const lineage::Project& project) {
    for (const auto& source : project.sources) names_[ToLower(source.name)] = source.name;
    for (const auto& model : project.models) names_[ToLower(model.name)] = model.name;
  }

  std::vector<std::string> Known() const {
    std::vector<std::string> names;
    for (const auto& [lower, name] : names_) names.push_back(name);
    return names;
  }

  /// The project's spelling, or nothing for a name that is neither source nor model.
  std::optional<std::string> Resolve(const std::string& name) const {
    auto it = names_.find(ToLower(name));
    if (it == names_.end()) return std::nullopt;
    return it->second;
  }

 private:
  std::map<std::string, std::string> names_;
};

class ProjectBinder {
 public:
  ProjectBinder(sql::Binder& binder, const ForeignTables& foreign, Binding* out)
      : binder_(binder), foreign_(foreign), out_(out) {}

  void Run(lineage::Project project);

 private:
  void AddSources(lineage::Project* project);
  std::map<std::string, std::set<std::string>> FindReads(const lineage::Project& project);
  void BindModel(const lineage::Model& model, const std::set<std::string>& reads);
  void RefuseChance(const lineage::Model& model, const lineage::BoundModel& bound);
  void Report(const Status& status) {
    out_->problems.push_back(project::ProblemFrom(status));
  }

  sql::Binder& binder_;
  const ForeignTables& foreign_;
  Binding* out_;
  std::map<std::string, sql::InputTable> tables_;  // by name; bound so far
  std::vector<lineage::BoundModelEntry> entries_;
};

void ProjectBinder::AddSources(lineage::Project* project) {
  for (lineage::Source& source : project->sources) {
    if (source.kind == lineage::SourceKind::kForeign) {
      auto known = foreign_.find(source.name);
      if (known == foreign_.end()) {
        Report(NotFound("the catalog has no table " + project->name_space + "." +
                        source.name + ", which is declared as a foreign source")
                   .At(source.at.file, source.at.line)
                   .Table(source.name)
                   .Hint("Let its owner create it, or declare it as kind: raw."));
        continue;
      }
      source.columns = known->second.columns;
      source.space = known->second.space;
    }
    tables_[source.name] = AsInput(source);
  }
}

std::map<std::string, std::set<std::string>> ProjectBinder::FindReads(
    const lineage::Project& project) {
  ModelReads names(project);
  std::map<std::string, std::set<std::string>> reads;
  for (const lineage::Model& model : project.models) {
    auto found = binder_.TablesRead(StatementOf(model));
    if (!found) {
      Report(found.error());
      continue;
    }
    std::set<std::string>& of_model = reads[model.name];
    for (const std::string& name : *found) {
      if (auto resolved = names.Resolve(name)) {
        of_model.insert(*resolved);
        continue;
      }
      Report(Invalid("model " + model.name + " reads '" + name +
                     "', which is neither a source nor a model")
                 .At(model.at.file, model.sql_line)
                 .Table(name)
                 .Hint(project::Suggest(name, names.Known())));
    }
  }
  return reads;
}

void ProjectBinder::BindModel(const lineage::Model& model,
                              const std::set<std::string>& reads) {
  std::vector<sql::InputTable> inputs;
  for (const std::string& name : reads) {
    auto table = tables_.find(name);
    if (table == tables_.end()) return;  // its own problem is reported already
    inputs.push_back(table->second);
  }
  auto bound = binder_.Bind(StatementOf(model), inputs, model.space);
  if (!bound) {
    Report(bound.error());
    return;
  }
  RefuseChance(model, *bound);
  ApplyDeclaredInputs(model, &*bound);
  for (Problem& problem : project::ContractProblems(model, *bound)) {
    out_->problems.push_back(std::move(problem));
  }
  tables_[model.name] = AsInput(model, *bound);
  lineage::DefinitionId id = lineage::IdOf(model, *bound);
  entries_.push_back({model, *std::move(bound), std::move(id)});
}

/// Rows that depend on when they are computed are not what a later run would compute.
void ProjectBinder::RefuseChance(const lineage::Model& model,
                                 const lineage::BoundModel& bound) {
  using Kind = lineage::DeterminismFinding::Kind;
  for (const lineage::DeterminismFinding& finding : bound.findings) {
    if (finding.kind != Kind::kClock && finding.kind != Kind::kRandom) continue;
    const bool clock = finding.kind == Kind::kClock;
    Report(Invalid("model " + model.name + " asks " + (clock ? "the clock" : "chance") +
                   ": " + finding.text + "; equal inputs would give other rows each time")
               .At(model.at.file, finding.line > 0 ? finding.line : model.sql_line)
               .Table(model.name)
               .Hint(clock ? "Take the instant from a column of an input, such as "
                             "(SELECT max(d) FROM …), or land it as a source."
                           : "Make it from the row instead, such as hash(id)."));
  }
}

void ProjectBinder::Run(lineage::Project project) {
  AddSources(&project);
  std::map<std::string, std::set<std::string>> reads = FindReads(project);
  auto order = lineage::TopologicalOrder(reads);
  if (!order) {
    Report(order.error());
    return;
  }
  for (const std::string& name : *order) {
    auto model =
        std::find_if(project.models.begin(), project.models.end(),
                     [&name](const lineage::Model& m) { return m.name == name; });
    if (model != project.models.end()) BindModel(*model, reads[name]);
  }
  if (project::HasErrors(out_->problems)) return;
  auto lineage = lineage::Lineage::Make(project.sources, std::move(entries_));
  if (!lineage) {
    Report(lineage.error());
    return;
  }
  out_->bound = BoundProject{std::move(project), *std::move(lineage)};
}

}  // namespace

sql::InputTable AsInput(const lineage::Model& model, const lineage::BoundModel& bound) {
  sql::InputTable table;
  table.name = model.name;
  table.space = model.space;
  for (const lineage::OutputColumn& column : bound.columns) {
    table.columns.push_back({column.name, column.type, true});
  }
  return table;
}

sql::InputTable AsInput(const lineage::Source& source) {
  return {source.name, source.columns, source.space};
}

namespace {

/// The tables among `refs` that the project's catalog has, as their heads are.
Result<std::vector<iceberg::LoadedTable>> LoadHeads(
    Env& env, const lineage::Project& project,
    const std::vector<iceberg::TableRef>& refs) {
  std::vector<iceberg::LoadedTable> tables;
  if (refs.empty() || !env.Exists(project.catalog)) return tables;
  db::SqliteOptions options;
  options.path = project.catalog;
  AMEND_ASSIGN(auto connection, db::OpenSqlite(options));
  AMEND_ASSIGN(db::Transaction tx, connection->Begin(db::TransactionMode::kRead));
  AMEND_ASSIGN(iceberg::SqlCatalog catalog, iceberg::SqlCatalog::Open(tx, kCatalogName));
  AMEND_ASSIGN(auto locations, catalog.LoadAll(tx, refs));
  for (const auto& [ref, location] : locations) {
    AMEND_ASSIGN(iceberg::LoadedTable table, iceberg::LoadTable(env, ref, location));
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

Result<ForeignTables> ReadForeignTables(Env& env, const lineage::Project& project) {
  ForeignTables tables;
  std::vector<iceberg::TableRef> refs;
  for (const lineage::Source& source : project.sources) {
    if (source.kind == lineage::SourceKind::kForeign) {
      refs.push_back({project.name_space, source.name});
    }
  }
  AMEND_ASSIGN(std::vector<iceberg::LoadedTable> heads, LoadHeads(env, project, refs));
  for (const iceberg::LoadedTable& table : heads) {
    sql::InputTable input;
    input.name = table.ref.name;
    input.columns = table::ColumnsOf(table.metadata.schema());
    input.space = table::SpaceOf(table.metadata.spec(), table.metadata.schema());
    tables[table.ref.name] = std::move(input);
  }
  return tables;
}

std::vector<std::string> ModelNames(const lineage::Lineage& lineage) {
  std::vector<std::string> names;
  for (const auto& entry : lineage.models()) names.push_back(entry.model.name);
  return names;
}

Result<std::vector<Problem>> PartitioningProblems(
    Env& env, const BoundProject& bound, const std::vector<std::string>& models) {
  std::vector<iceberg::TableRef> refs;
  for (const std::string& name : models) {
    refs.push_back({bound.project.name_space, name});
  }
  AMEND_ASSIGN(std::vector<iceberg::LoadedTable> heads,
               LoadHeads(env, bound.project, refs));
  std::vector<Problem> problems;
  for (const iceberg::LoadedTable& head : heads) {
    const lineage::Model& model = bound.lineage.FindModel(head.ref.name)->model;
    const iceberg::TableMetadata& metadata = head.metadata;
    if (table::SpecFits(model.space, metadata.spec(), metadata.schema())) continue;
    const std::string was = table::SpaceOf(metadata.spec(), metadata.schema()).ToString();
    problems.push_back(project::ProblemFrom(
        Invalid("model " + model.name + " is to be partitioned by " +
                model.space.ToString() + ", but its table was built by " + was)
            .At(model.at.file, model.at.line)
            .Table(model.name)
            .Hint("Put partition_by back, or give the model another name: it is then "
                  "built as a new table, and the old one stays as it is.")));
  }
  return problems;
}

Binding BindProject(Env& env, const std::string& root, sql::Binder& binder) {
  Binding binding;
  project::Loaded loaded = project::LoadProject(env, root);
  binding.problems = std::move(loaded.problems);
  auto foreign = ReadForeignTables(env, loaded.project);
  if (!foreign) binding.problems.push_back(project::ProblemFrom(foreign.error()));
  ProjectBinder(binder, foreign ? *foreign : ForeignTables(), &binding)
      .Run(std::move(loaded.project));
  project::SortProblems(&binding.problems);
  return binding;
}

}  // namespace amend

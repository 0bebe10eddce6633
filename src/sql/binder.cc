#include "sql/binder.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/civil.h"
#include "base/json.h"
#include "base/text.h"
#include "duck/database.h"
#include "fmt/format.h"
#include "lineage/column_type.h"
#include "sql/bound_plan.h"
#include "sql/determinism.h"
#include "sql/facts.h"
#include "sql/inputs.h"
#include "sql/syntax.h"

namespace amend::sql {
namespace {

/// Operators and expressions nest two levels of JSON each.
constexpr int kMaxDepth = 4'000;

int LineAt(const Statement& statement, std::int64_t byte) {
  auto end = statement.sql.begin() +
             std::clamp<std::int64_t>(byte, 0, std::ssize(statement.sql));
  return statement.first_line +
         static_cast<int>(std::count(statement.sql.begin(), end, '\n'));
}

Status At(const Statement& statement, std::optional<std::int64_t> byte, Status status) {
  std::optional<int> line;
  if (byte && *byte >= 0) line = LineAt(statement, *byte);
  return std::move(status).At(statement.file, line);
}

std::string TextOf(const Json& json, const char* member) {
  auto it = json.find(member);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The engine's refusal, as JSON: {error_type, error_message, position, name,
/// candidates}.
Status Refusal(const Statement& statement, const Json& error,
               const std::vector<std::string>& known_names) {
  std::string type = TextOf(error, "error_type");
  std::string message = FirstLine(TextOf(error, "error_message"));
  if (type == "internal" || type == "fatal") {
    return At(statement, std::nullopt, Internal("the engine cannot bind it: " + message));
  }
  std::string hint;
  std::vector<std::string> candidates = Split(TextOf(error, "candidates"), ',');
  candidates.insert(candidates.end(), known_names.begin(), known_names.end());
  std::string name = TextOf(error, "name");
  if (auto nearest = NearestName(name, candidates); nearest && !name.empty()) {
    hint = "did you mean " + *nearest + "?";
  } else if (TextOf(error, "error_subtype") == "COLUMN_NOT_FOUND") {
    hint = "there are: " + Join(known_names, ", ");
  }
  std::optional<std::int64_t> at = ParseInt(TextOf(error, "position"));
  return At(statement, at, Invalid(message).Hint(hint));
}

const InputTable* FindTable(const std::vector<InputTable>& tables,
                            const std::string& name) {
  for (const InputTable& table : tables) {
    if (ToLower(table.name) == ToLower(name)) return &table;
  }
  return nullptr;
}

std::string CreateTable(const InputTable& table) {
  std::vector<std::string> columns;
  columns.reserve(table.columns.size());
  for (const lineage::Column& column : table.columns) {
    columns.push_back(SqlIdentifier(column.name) + " " + column.type);
  }
  return "CREATE TABLE " + SqlIdentifier(table.name) + " (" + Join(columns, ", ") + ")";
}

/// The projection that makes the output columns, to know where they stand in the text.
const Operator* OutputProjection(const Operator& root) {
  const Operator* op = &root;
  while (!op->is("LOGICAL_PROJECTION")) {
    if (op->is("LOGICAL_MATERIALIZED_CTE") && op->children.size() == 2) {
      op = &op->children[1];
    } else if (op->children.size() == 1) {
      op = &op->children[0];
    } else {
      return nullptr;
    }
  }
  return op;
}

std::optional<std::int64_t> PlaceOfOutput(const Operator& root, std::size_t column) {
  const Operator* projection = OutputProjection(root);
  if (projection == nullptr) return std::nullopt;
  auto expressions = projection->Members("expressions");
  return column < expressions.size() ? expressions[column]->at : std::nullopt;
}

/// Everything known of a statement that binds.
struct BoundStatement {
  Operator root;
  std::vector<duck::ColumnInfo> outputs;
  std::vector<const InputTable*> tables;
};

Result<std::vector<lineage::OutputColumn>> OutputsOf(const Statement& statement,
                                                     const BoundStatement& bound,
                                                     const RelationFacts& facts) {
  std::vector<lineage::OutputColumn> columns;
  std::set<std::string> names;
  for (std::size_t i = 0; i < bound.outputs.size(); ++i) {
    const duck::ColumnInfo& output = bound.outputs[i];
    auto place = PlaceOfOutput(bound.root, i);
    if (!names.insert(ToLower(output.name)).second) {
      return Fail(At(statement, place,
                     Invalid("two output columns are named '" + output.name + "'")
                         .Column(output.name)
                         .Hint("give one of them another name with AS")));
    }
    auto type = lineage::CanonicalType(output.type);
    if (!type) {
      std::string hint = type.error().hint();
      Status status = Invalid("output column '" + output.name +
                              "' cannot be stored: " + type.error().message())
                          .Column(output.name);
      return Fail(
          At(statement, place,
             std::move(status).Hint(hint.empty() ? "cast it in the SELECT" : hint)));
    }
    if (!facts.opaque && i >= facts.columns.size()) {
      return Fail(Internal("the bound plan has fewer columns than the statement"));
    }
    const ColumnFacts& column = facts.at(i);
    columns.push_back({output.name, *type, column.reads, column.print});
  }
  return columns;
}

/// Where the dimensions of the declared space are in the output.
Result<std::vector<std::size_t>> PositionsOf(
    const Statement& statement, const partition::PartitionSpace& space,
    const std::vector<lineage::OutputColumn>& columns) {
  std::vector<std::size_t> positions;
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const auto& column : columns) names.push_back(column.name);
  for (const partition::Dimension& dimension : space.dimensions()) {
    auto it = std::find(names.begin(), names.end(), dimension.column);
    if (it == names.end()) {
      Status status = Invalid(fmt::format("partition_by names {}, but the SELECT has no "
                                          "output column '{}'",
                                          dimension.ToString(), dimension.column))
                          .Column(dimension.column);
      auto nearest = NearestName(dimension.column, names);
      return Fail(
          At(statement, std::nullopt,
             std::move(status).Hint(nearest ? "did you mean " + *nearest + "?"
                                            : "there are: " + Join(names, ", "))));
    }
    auto position = static_cast<std::size_t>(it - names.begin());
    const std::string& type = columns[position].type;
    bool timestamp = type.starts_with("TIMESTAMP");
    bool fits =
        timestamp || (type == "DATE" && dimension.grain != partition::Grain::kHour);
    if (dimension.kind == partition::Dimension::Kind::kTime && !fits) {
      return Fail(At(statement, std::nullopt,
                     Invalid(fmt::format("{} cannot cut column '{}' of type {}",
                                         dimension.ToString(), dimension.column, type))
                         .Column(dimension.column)
                         .Hint("cast it to DATE or TIMESTAMP in the SELECT")));
    }
    positions.push_back(position);
  }
  return positions;
}

/// Tables named by a CTE that nothing refers to are gone from the plan, but the engine
/// binds their names all the same: they stay inputs.
void AddUnread(const BoundStatement& bound, const partition::PartitionSpace& output,
               lineage::BoundModel* model) {
  for (const InputTable* table : bound.tables) {
    bool known = std::any_of(model->inputs.begin(), model->inputs.end(),
                             [&](const auto& ref) { return ref.table == table->name; });
    if (known) continue;
    lineage::InputRef ref;
    ref.table = table->name;
    ref.mapping = partition::PartitionMapping::All(table->space.shape(), output.shape());
    ref.why = "named, but not read";
    model->inputs.push_back(std::move(ref));
  }
}

std::set<lineage::ColumnRef> AllReads(const std::vector<lineage::OutputColumn>& columns,
                                      const RelationFacts& facts) {
  std::set<lineage::ColumnRef> reads = facts.row_reads;
  for (const auto& column : columns) {
    reads.insert(column.reads.begin(), column.reads.end());
  }
  return reads;
}

}  // namespace

struct Binder::Impl {
  Impl(duck::Database opened, duck::Connection connected)
      : database(std::move(opened)), connection(std::move(connected)) {}

  duck::Database database;
  duck::Connection connection;
  Stability stability;

  Status LoadStability();
  Result<Json> Ask(const char* function, const Statement& statement);
  Result<Syntax> Parse(const Statement& statement);
  Result<BoundStatement> BindShadow(const Statement& statement,
                                    const std::vector<InputTable>& tables);
  Result<BoundStatement> PlanOf(const Statement& statement,
                                std::vector<const InputTable*> tables);
  std::optional<Length> ReadInterval(const std::string& text);
};

/// All databases are opened alike, so what one says of its functions holds for the
/// process: asking takes longer than binding a model.
Status Binder::Impl::LoadStability() {
  static std::mutex mutex;
  static Stability known;
  std::lock_guard<std::mutex> guard(mutex);
  if (!known.empty()) {
    stability = known;
    return {};
  }
  AMEND_ASSIGN_OR_RETURN(
      duck::Rows rows,
      connection.Query("SELECT DISTINCT function_name, stability FROM duckdb_functions() "
                       "WHERE function_type = 'scalar' AND stability <> 'CONSISTENT'"));
  for (const duck::Row& row : rows.rows) {
    stability[duck::ToText(row[0])] = duck::ToText(row[1]);
  }
  known = stability;
  return {};
}

Result<Json> Binder::Impl::Ask(const char* function, const Statement& statement) {
  AMEND_ASSIGN(duck::Value answer,
               connection.QueryValue(std::string("SELECT ") + function, {statement.sql}));
  return ParseJson(duck::ToText(answer), "the bound plan", kMaxDepth);
}

Result<Syntax> Binder::Impl::Parse(const Statement& statement) {
  AMEND_ASSIGN(Json tree, Ask("json_serialize_sql($1::VARCHAR)", statement));
  constexpr const char* kHint = "a model is one SELECT over sources and models";
  if (tree.value("error", true)) {
    if (TextOf(tree, "error_type") == "not implemented") {
      return Fail(At(statement, 0, Invalid("this is not a SELECT").Hint(kHint)));
    }
    return Fail(Refusal(statement, tree, {}));
  }
  const Json& statements = tree["statements"];
  if (statements.size() != 1) {
    return Fail(At(
        statement, std::nullopt,
        Invalid(fmt::format("there are {} statements", statements.size())).Hint(kHint)));
  }
  Syntax syntax = ReadSyntax(statements[0]);
  if (!syntax.objections.empty()) {
    Objection& first = syntax.objections.front();
    return Fail(At(statement, first.at, std::move(first.status)));
  }
  return syntax;
}

Result<BoundStatement> Binder::Impl::PlanOf(const Statement& statement,
                                            std::vector<const InputTable*> tables) {
  std::vector<std::string> names;
  for (const InputTable* table : tables) {
    AMEND_FAIL_IF_ERROR([&]() -> Status {
      auto created = connection.Execute(CreateTable(*table));
      return created ? Status() : created.error().Annotate("table " + table->name);
    }());
    for (const lineage::Column& column : table->columns) names.push_back(column.name);
  }
  AMEND_ASSIGN(Json answer,
               Ask("json_serialize_plan($1::VARCHAR, optimize := false)", statement));
  if (answer.value("error", true)) return Fail(Refusal(statement, answer, names));
  const Json& plans = answer["plans"];
  if (plans.size() != 1) return Fail(Internal("the engine made no plan, or several"));
  BoundStatement bound;
  AMEND_ASSIGN(bound.root, ParsePlan(plans[0]));
  AMEND_ASSIGN(bound.outputs, connection.Describe(statement.sql));
  bound.tables = std::move(tables);
  return bound;
}

Result<BoundStatement> Binder::Impl::BindShadow(const Statement& statement,
                                                const std::vector<InputTable>& tables) {
  AMEND_ASSIGN(Syntax syntax, Parse(statement));
  std::vector<const InputTable*> read;
  std::vector<std::string> names;
  names.reserve(tables.size());
  for (const InputTable& table : tables) names.push_back(table.name);
  for (const TableMention& mention : syntax.tables) {
    const InputTable* table = FindTable(tables, mention.name);
    if (table == nullptr) {
      Status status = Invalid("no source or model is named '" + mention.name + "'")
                          .Table(mention.name);
      auto nearest = NearestName(mention.name, names);
      return Fail(
          At(statement, mention.at,
             std::move(status).Hint(nearest ? "did you mean " + *nearest + "?"
                                            : "there are: " + Join(names, ", "))));
    }
    if (std::find(read.begin(), read.end(), table) == read.end()) read.push_back(table);
  }
  // The shadow tables live as long as this transaction.
  AMEND_ASSIGN([[maybe_unused]] auto begun, connection.Execute("BEGIN"));
  auto bound = PlanOf(statement, std::move(read));
  AMEND_ASSIGN([[maybe_unused]] auto ended, connection.Execute("ROLLBACK"));
  return bound;
}

std::optional<Length> Binder::Impl::ReadInterval(const std::string& text) {
  auto value = connection.QueryValue("SELECT TRY_CAST($1 AS INTERVAL)", {text});
  const auto* interval = value ? std::get_if<duck::Interval>(&*value) : nullptr;
  if (interval == nullptr) return std::nullopt;
  return Length{interval->months, interval->micros + interval->days * kMicrosPerDay};
}

Binder::Binder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Binder::Binder(Binder&&) noexcept = default;
Binder& Binder::operator=(Binder&&) noexcept = default;
Binder::~Binder() = default;

Result<Binder> Binder::Open() {
  duck::DatabaseOptions options;
  options.external_access = false;
  AMEND_ASSIGN(duck::Database database, duck::Database::Open(options));
  AMEND_ASSIGN(duck::Connection connection, database.Connect());
  auto impl = std::make_unique<Impl>(std::move(database), std::move(connection));
  AMEND_FAIL_IF_ERROR(impl->LoadStability());
  return Binder(std::move(impl));
}

Result<std::set<std::string>> Binder::TablesRead(const Statement& statement) {
  AMEND_ASSIGN(Syntax syntax, impl_->Parse(statement));
  std::set<std::string> names;
  for (const TableMention& mention : syntax.tables) names.insert(mention.name);
  return names;
}

Result<lineage::BoundModel> Binder::Bind(const Statement& statement,
                                         const std::vector<InputTable>& tables,
                                         const partition::PartitionSpace& output) {
  AMEND_ASSIGN(BoundStatement bound, impl_->BindShadow(statement, tables));
  AMEND_ASSIGN(RelationFacts facts, FactsOf(bound.root));
  lineage::BoundModel model;
  AMEND_ASSIGN(model.columns, OutputsOf(statement, bound, facts));
  model.row_reads = facts.row_reads;
  model.rows_fingerprint = facts.rows;

  FlowRequest request;
  request.root = &bound.root;
  request.output = output;
  AMEND_ASSIGN(request.positions, PositionsOf(statement, output, model.columns));
  for (const InputTable* table : bound.tables) request.spaces[table->name] = table->space;
  request.read = AllReads(model.columns, facts);
  Inputs inputs = InputsOf(
      request, [this](const std::string& text) { return impl_->ReadInterval(text); });
  model.inputs = std::move(inputs.refs);
  model.extents = std::move(inputs.extents);
  AddUnread(bound, output, &model);

  Determinism determinism =
      DeterminismOf(bound.root, impl_->stability,
                    [&statement](std::int64_t byte) { return LineAt(statement, byte); });
  model.findings = std::move(determinism.findings);
  model.order_sensitive = determinism.order_sensitive;
  return model;
}

}  // namespace amend::sql

#include "sql/facts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"
#include "base/json.h"

namespace amend::sql {
namespace {

using Reads = std::set<lineage::ColumnRef>;

/// Bumped when prints are made differently, so that old ones never match new ones.
constexpr std::string_view kPrintVersion = "amend-print-1";

std::string Print(std::initializer_list<std::string_view> fields) {
  Fingerprinter print;
  for (std::string_view field : fields) print.Add(field);
  return print.Hex();
}

std::string PrintAll(std::string_view what, const std::vector<std::string>& fields) {
  Fingerprinter print;
  print.Add(what);
  for (const std::string& field : fields) print.Add(field);
  return print.Hex();
}

std::vector<std::string> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

void Add(const Reads& more, Reads* to) { to->insert(more.begin(), more.end()); }

std::vector<std::string> PrintsOf(const RelationFacts& facts) {
  std::vector<std::string> prints;
  for (const ColumnFacts& column : facts.columns) prints.push_back(column.print);
  return prints;
}

/// Facts of an expression over some input.
Result<ColumnFacts> Over(const RelationFacts& input, const Expression& e) {
  if (e.is_column()) {
    if (!input.opaque && e.column >= input.columns.size()) {
      return Fail(Internal("the bound plan refers to column " + std::to_string(e.column) +
                           " of " + std::to_string(input.columns.size())));
    }
    return input.at(e.column);
  }
  ColumnFacts facts;
  std::vector<std::string> parts = {CanonicalJson(e.shape)};
  for (const Expression& child : e.children) {
    AMEND_ASSIGN(ColumnFacts part, Over(input, child));
    Add(part.reads, &facts.reads);
    parts.push_back(std::move(part.print));
  }
  facts.print = PrintAll("expression", parts);
  return facts;
}

RelationFacts Opaque(const std::vector<RelationFacts>& inputs, std::string rows) {
  RelationFacts facts;
  facts.opaque = true;
  for (const RelationFacts& input : inputs) {
    Add(input.row_reads, &facts.row_reads);
    for (const ColumnFacts& column : input.columns) Add(column.reads, &facts.row_reads);
  }
  facts.rows = std::move(rows);
  facts.columns.push_back({facts.row_reads, facts.rows});
  return facts;
}

/// Padded or otherwise chosen by the operator whose rows these are.
void WrapPrints(std::string_view why, const std::string& rows, std::size_t first,
                std::size_t end, RelationFacts* facts) {
  for (std::size_t i = first; i < end && i < facts->columns.size(); ++i) {
    facts->columns[i].print = Print({why, rows, facts->columns[i].print});
  }
}

class Walker {
 public:
  explicit Walker(const Operator& root) { Count(root); }

  Result<RelationFacts> Facts(const Operator& op) {
    if (op.is("LOGICAL_MATERIALIZED_CTE") && op.children.size() == 2) {
      ctes_[op.Number("table_index")] = &op.children[0];
      return Facts(op.children[1]);
    }
    if (op.is("LOGICAL_CTE_REF")) return OfReference(op);
    if (op.is("LOGICAL_GET") && op.children.empty()) return OfScan(op);
    if (op.is("LOGICAL_DELIM_JOIN") && op.children.size() == 2 && op.arity) {
      return OfDelimJoin(op);
    }
    if (op.is("LOGICAL_DELIM_GET")) return OfDelimGet(op);
    std::vector<RelationFacts> inputs;
    for (const Operator& child : op.children) {
      AMEND_ASSIGN(RelationFacts facts, Facts(child));
      inputs.push_back(std::move(facts));
    }
    return Combine(op, std::move(inputs));
  }

 private:
  void Count(const Operator& op) {
    if (op.is("LOGICAL_CTE_REF")) ++references_[op.Number("cte_index")];
    for (const Operator& child : op.children) Count(child);
  }

  Result<RelationFacts> OfScan(const Operator& op) {
    RelationFacts facts;
    std::string table = ScanTable(op);
    if (table.empty()) {
      facts.rows = OfShape(op);
      for (std::size_t i = 0; i < op.arity.value_or(0); ++i) {
        facts.columns.push_back({{}, Print({facts.rows, std::to_string(i)})});
      }
      return facts;
    }
    // The second scan of a table is another one: a self join has two.
    std::string ordinal = std::to_string(scans_[table]++);
    facts.rows = Print({kPrintVersion, "scan", table, ordinal});
    for (const std::string& column : ScanColumns(op)) {
      ColumnFacts known{{}, Print({facts.rows, column})};
      if (!column.empty()) known.reads.insert({table, column});
      facts.columns.push_back(std::move(known));
    }
    return facts;
  }

  Result<RelationFacts> OfReference(const Operator& op) {
    std::int64_t cte = op.Number("cte_index");
    auto definition = ctes_.find(cte);
    if (definition == ctes_.end()) {  // A recursive CTE that reads itself.
      RelationFacts itself;
      itself.rows = Print({"itself"});
      itself.columns.resize(op.arity.value_or(0));
      for (std::size_t i = 0; i < itself.columns.size(); ++i) {
        itself.columns[i].print = Print({itself.rows, std::to_string(i)});
      }
      return itself;
    }
    RelationFacts facts;
    if (auto known = cte_facts_.find(cte); known != cte_facts_.end()) {
      facts = known->second;
    } else {
      AMEND_ASSIGN(facts, Facts(*definition->second));
      cte_facts_[cte] = facts;
    }
    if (references_[cte] > 1) {  // The two sides of a self join of it differ.
      std::string ordinal = std::to_string(seen_[cte]++);
      facts.rows = Print({"reference", ordinal, facts.rows});
      for (ColumnFacts& column : facts.columns) {
        column.print = Print({"reference", ordinal, column.print});
      }
    }
    return facts;
  }

  Result<RelationFacts> OfDelimJoin(const Operator& op) {
    std::vector<RelationFacts> inputs(2);
    AMEND_ASSIGN(inputs[0], Facts(op.children[0]));
    RelationFacts outer;
    outer.rows = Print({"outer values", inputs[0].rows});
    for (const Expression* column : op.Members("duplicate_eliminated_columns")) {
      AMEND_ASSIGN(ColumnFacts facts, Over(inputs[0], *column));
      outer.columns.push_back(std::move(facts));
    }
    outer_values_.push_back(std::move(outer));
    auto right = Facts(op.children[1]);
    outer_values_.pop_back();
    if (!right) return Fail(right.error());
    inputs[1] = std::move(*right);
    return Combine(op, std::move(inputs));
  }

  Result<RelationFacts> OfDelimGet(const Operator& op) {
    if (!outer_values_.empty() &&
        outer_values_.back().columns.size() == op.arity.value_or(0)) {
      return outer_values_.back();
    }
    return Opaque(outer_values_, OfShape(op));
  }

  std::string OfShape(const Operator& op) {
    // Numbers of tables are arbitrary; what is left decides.
    Json shape = op.shape;
    for (const char* member : {"table_index", "cte_index", "mark_index"}) {
      shape.erase(member);
    }
    return Print({op.type, CanonicalJson(shape)});
  }

  Result<RelationFacts> Combine(const Operator& op, std::vector<RelationFacts> inputs);
  Result<RelationFacts> OfUnknown(const Operator& op, std::vector<RelationFacts> inputs);
  Result<RelationFacts> OfJoin(const Operator& op, std::vector<RelationFacts> inputs);
  Result<RelationFacts> OfGrouping(const Operator& op, const RelationFacts& input);
  Result<RelationFacts> OfSetOperation(const Operator& op,
                                       std::vector<RelationFacts> inputs);
  Result<RelationFacts> OfRowsChosen(const Operator& op, RelationFacts input);
  Result<RelationFacts> OfComputed(const Operator& op, RelationFacts input);

  std::map<std::string, int> scans_;
  std::map<std::int64_t, int> references_;
  std::map<std::int64_t, int> seen_;
  std::map<std::int64_t, const Operator*> ctes_;
  std::map<std::int64_t, RelationFacts> cte_facts_;
  std::vector<RelationFacts> outer_values_;
};

Result<RelationFacts> Walker::Combine(const Operator& op,
                                      std::vector<RelationFacts> inputs) {
  if (IsJoin(op) && op.arity) return OfJoin(op, std::move(inputs));
  if (op.is("LOGICAL_UNION") || op.is("LOGICAL_EXCEPT") || op.is("LOGICAL_INTERSECT")) {
    return OfSetOperation(op, std::move(inputs));
  }
  if (inputs.size() != 1) return OfUnknown(op, std::move(inputs));
  if (op.is("LOGICAL_AGGREGATE_AND_GROUP_BY")) return OfGrouping(op, inputs[0]);
  if (op.is("LOGICAL_PROJECTION") || op.is("LOGICAL_WINDOW") || op.is("LOGICAL_UNNEST")) {
    return OfComputed(op, std::move(inputs[0]));
  }
  if (op.is("LOGICAL_FILTER") || op.is("LOGICAL_DISTINCT") || op.is("LOGICAL_LIMIT") ||
      op.is("LOGICAL_ORDER_BY") || op.is("LOGICAL_SAMPLE")) {
    return OfRowsChosen(op, std::move(inputs[0]));
  }
  return OfUnknown(op, std::move(inputs));
}

/// Also operators without inputs (VALUES).
Result<RelationFacts> Walker::OfUnknown(const Operator& op,
                                        std::vector<RelationFacts> inputs) {
  std::vector<std::string> parts = {OfShape(op)};
  for (const Expression& e : op.expressions) {
    RelationFacts all = Opaque(inputs, "");
    AMEND_ASSIGN(ColumnFacts facts, Over(all, e));
    parts.push_back(std::move(facts.print));
  }
  for (const RelationFacts& input : inputs) {
    parts.push_back(input.rows);
    for (const std::string& print : PrintsOf(input)) parts.push_back(print);
  }
  RelationFacts facts = Opaque(inputs, PrintAll("unknown", parts));
  if (op.arity) {
    ColumnFacts every = facts.columns[0];
    facts.opaque = false;
    facts.columns.assign(*op.arity, every);
    for (std::size_t i = 0; i < *op.arity; ++i) {
      facts.columns[i].print = Print({facts.rows, std::to_string(i)});
    }
  }
  return facts;
}

/// The prints of a join's conditions, in no order, and what they read.
Result<std::string> ConditionPrint(const Operator& op, const RelationFacts& left,
                                   const RelationFacts& right, const RelationFacts& both,
                                   Reads* reads) {
  std::vector<std::string> conditions;
  std::vector<const Expression*> known;
  for (const JoinCondition& condition : JoinConditions(op)) {
    AMEND_ASSIGN(ColumnFacts l, Over(left, *condition.left));
    AMEND_ASSIGN(ColumnFacts r, Over(right, *condition.right));
    Add(l.reads, reads);
    Add(r.reads, reads);
    conditions.push_back(Print({condition.comparison, l.print, r.print}));
    known.insert(known.end(), {condition.left, condition.right});
  }
  for (const char* member : {"condition", "predicate"}) {
    auto it = op.shape.find(member);
    const Expression* e = it == op.shape.end() ? nullptr : op.At(*it);
    if (e == nullptr) continue;
    AMEND_ASSIGN(ColumnFacts facts, Over(both, *e));
    Add(facts.reads, reads);
    conditions.push_back(facts.print);
  }
  return PrintAll(op.type + op.Text("join_type"), Sorted(std::move(conditions)));
}

Result<RelationFacts> Walker::OfJoin(const Operator& op,
                                     std::vector<RelationFacts> inputs) {
  RelationFacts& left = inputs[0];
  RelationFacts& right = inputs[1];
  std::size_t width = left.columns.size();
  RelationFacts both = left;
  both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
  both.opaque = left.opaque || right.opaque;
  Reads reads;
  AMEND_ASSIGN(std::string how, ConditionPrint(op, left, right, both, &reads));
  std::string type = op.Text("join_type");
  std::string rows = Print({"join", how, left.rows, right.rows});
  if (type == "MARK" || type == "SINGLE") {
    // The rows of the left, each with a value looked up on the right.
    Add(right.row_reads, &reads);
    if (type == "MARK") both.columns.resize(width + 1);
    for (std::size_t i = width; i < both.columns.size(); ++i) {
      Add(reads, &both.columns[i].reads);
    }
    WrapPrints("looked up", rows, width, both.columns.size(), &both);
    return both;
  }
  both.rows = rows;
  Add(reads, &both.row_reads);
  Add(right.row_reads, &both.row_reads);
  if (type == "SEMI" || type == "ANTI") {
    both.columns.resize(width);
    return both;
  }
  bool right_may_pad = type != "INNER" && type != "RIGHT";
  bool left_may_pad = type != "INNER" && type != "LEFT";
  if (op.is("LOGICAL_CROSS_PRODUCT")) return both;
  if (right_may_pad || op.is("LOGICAL_ASOF_JOIN")) {
    WrapPrints("right", rows, width, both.columns.size(), &both);
  }
  if (left_may_pad) WrapPrints("left", rows, 0, width, &both);
  return both;
}

Result<RelationFacts> Walker::OfGrouping(const Operator& op, const RelationFacts& input) {
  RelationFacts facts;
  facts.row_reads = input.row_reads;
  std::vector<std::string> groups;
  for (const Expression* group : op.Members("groups")) {
    AMEND_ASSIGN(ColumnFacts column, Over(input, *group));
    Add(column.reads, &facts.row_reads);
    groups.push_back(column.print);
    facts.columns.push_back(std::move(column));
  }
  const Json sets = op.shape.value("grouping_sets", Json::array());
  bool one_set = sets.size() <= 1;
  facts.rows = Print({"group", input.rows, one_set ? "" : CanonicalJson(sets),
                      PrintAll("by", one_set ? Sorted(groups) : groups)});
  if (!one_set) WrapPrints("set", facts.rows, 0, facts.columns.size(), &facts);
  for (const Expression* aggregate : op.Members("expressions")) {
    AMEND_ASSIGN(ColumnFacts column, Over(input, *aggregate));
    facts.columns.push_back(std::move(column));
  }
  for (const Json& grouping : op.shape.value("grouping_functions", Json::array())) {
    facts.columns.push_back({{}, Print({facts.rows, CanonicalJson(grouping)})});
  }
  return facts;
}

Result<RelationFacts> Walker::OfSetOperation(const Operator& op,
                                             std::vector<RelationFacts> inputs) {
  bool keeps_all = op.is("LOGICAL_UNION") && op.shape.value("setop_all", false);
  RelationFacts facts;
  std::vector<std::string> rows = {
      op.type, keeps_all ? "all" : CanonicalJson(op.shape.value("setop_all", Json()))};
  facts.columns.resize(op.arity.value_or(0));
  for (const RelationFacts& input : inputs) {
    if (input.opaque || input.columns.size() < facts.columns.size()) {
      return OfUnknown(op, std::move(inputs));
    }
    rows.push_back(input.rows);
    Add(input.row_reads, &facts.row_reads);
    for (std::size_t i = 0; i < facts.columns.size(); ++i) {
      ColumnFacts& column = facts.columns[i];
      column.print = Print({"united", column.print, input.columns[i].print});
      Add(input.columns[i].reads, &column.reads);
      // Equality of whole rows decides which stay.
      if (!keeps_all) Add(input.columns[i].reads, &facts.row_reads);
    }
  }
  if (!keeps_all) {
    for (const std::string& print : PrintsOf(facts)) rows.push_back(print);
  }
  facts.rows = PrintAll("set operation", rows);
  if (!keeps_all) WrapPrints("set", facts.rows, 0, facts.columns.size(), &facts);
  return facts;
}

/// Filter, distinct, limit, order, sample: the same columns, other rows.
Result<RelationFacts> Walker::OfRowsChosen(const Operator& op, RelationFacts input) {
  std::vector<std::string> parts;
  for (const Expression& e : op.expressions) {
    AMEND_ASSIGN(ColumnFacts facts, Over(input, e));
    Add(facts.reads, &input.row_reads);
    parts.push_back(facts.print);
  }
  bool in_no_order = op.is("LOGICAL_FILTER") || op.Text("distinct_type") == "DISTINCT";
  if (in_no_order) parts = Sorted(std::move(parts));
  // Placeholders count expressions, so the shape is that of the operator alone.
  parts.push_back(in_no_order ? op.type : OfShape(op));
  parts.push_back(input.rows);
  input.rows = PrintAll("rows", parts);
  return input;
}

/// Projection, window, unnest: columns computed beside or instead of those of the input.
Result<RelationFacts> Walker::OfComputed(const Operator& op, RelationFacts input) {
  RelationFacts facts = input;
  if (op.is("LOGICAL_PROJECTION")) facts.columns.clear();
  facts.opaque = input.opaque && !op.is("LOGICAL_PROJECTION");
  for (const Expression* e : op.Members("expressions")) {
    AMEND_ASSIGN(ColumnFacts column, Over(input, *e));
    if (op.is("LOGICAL_WINDOW")) {
      column.print = Print({"window", input.rows, column.print});
    }
    if (op.is("LOGICAL_UNNEST")) {
      facts.rows = Print({"unnest", facts.rows, column.print});
      Add(column.reads, &facts.row_reads);
    }
    facts.columns.push_back(std::move(column));
  }
  return facts;
}

}  // namespace

const ColumnFacts& RelationFacts::at(std::size_t column) const {
  return opaque ? columns.front() : columns[column];
}

Result<RelationFacts> FactsOf(const Operator& root) {
  Walker walker(root);
  // An ORDER BY at the very top orders what no table keeps.
  const Operator* top = &root;
  while (top->is("LOGICAL_ORDER_BY") && top->children.size() == 1) {
    top = &top->children[0];
  }
  return walker.Facts(*top);
}

std::string ScanTable(const Operator& op) {
  if (!op.is("LOGICAL_GET") || op.Text("name") != "seq_scan") return "";
  const Json data = op.shape.value("function_data", Json::object());
  return data.is_object() ? data.value("table", "") : "";
}

std::vector<std::string> ScanColumns(const Operator& scan) {
  const Json names = scan.shape.value("names", Json::array());
  std::vector<std::string> columns;
  for (const Json& read : scan.shape.value("column_indexes", Json::array())) {
    auto index = read.value("index", std::uint64_t{0});
    columns.push_back(index < names.size() ? names[index].get<std::string>() : "");
  }
  return columns;
}

}  // namespace amend::sql

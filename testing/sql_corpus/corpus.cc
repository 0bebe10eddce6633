#include "testing/sql_corpus/corpus.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/env.h"
#include "base/text.h"

namespace amend::testing {
namespace {

using lineage::ColumnRef;
using partition::Dimension;
using partition::PartitionSpace;

constexpr std::string_view kOpen = "/*---\n";
constexpr std::string_view kClose = "---*/\n";

std::string Trimmed(std::string_view text) { return std::string(Trim(text)); }

/// Splits at commas outside parentheses.
std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(Trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!Trim(part).empty()) parts.push_back(Trimmed(part));
  return parts;
}

std::set<ColumnRef> ParseColumns(std::string_view text) {
  std::set<ColumnRef> columns;
  for (const std::string& name : SplitList(text)) {
    auto dot = name.find('.');
    if (dot != std::string::npos) {
      columns.insert({name.substr(0, dot), name.substr(dot + 1)});
    }
  }
  return columns;
}

partition::ValueType ValueTypeOf(const std::string& type) {
  if (type == "VARCHAR") return partition::ValueType::kString;
  if (type == "DATE") return partition::ValueType::kDate;
  if (type == "BOOLEAN") return partition::ValueType::kBoolean;
  return partition::ValueType::kInteger;
}

/// "day(d), region, bucket(4, k)".
Result<PartitionSpace> ParseSpace(std::string_view text,
                                  const std::map<std::string, std::string>& types) {
  std::vector<Dimension> dimensions;
  if (Trim(text) == "all") return PartitionSpace();
  for (const std::string& part : SplitList(text)) {
    auto open = part.find('(');
    std::string function = part.substr(0, open);
    if (open == std::string::npos) {
      auto type = types.find(part);
      std::string known = type == types.end() ? "VARCHAR" : type->second;
      dimensions.push_back(Dimension::OfValue(part, ValueTypeOf(known)));
      continue;
    }
    auto arguments = SplitList(part.substr(open + 1, part.size() - open - 2));
    if (function == "bucket" && arguments.size() == 2) {
      int buckets = static_cast<int>(ParseInt(arguments[0]).value_or(0));
      dimensions.push_back(Dimension::Bucket(arguments[1], buckets));
    } else if (auto grain = partition::ParseGrain(function);
               grain && arguments.size() == 1) {
      dimensions.push_back(Dimension::Time(arguments[0], *grain));
    } else {
      return Fail(Invalid("no dimension: " + part));
    }
  }
  return PartitionSpace::Make(std::move(dimensions));
}

/// "t(d DATE, k INTEGER) by day(d)".
Result<sql::InputTable> ParseTable(const std::string& text) {
  auto open = text.find('(');
  auto by = text.rfind(") by ");
  auto close = by == std::string::npos ? text.rfind(')') : by;
  if (open == std::string::npos || close == std::string::npos) {
    return Fail(Invalid("no table: " + text));
  }
  sql::InputTable table;
  table.name = Trimmed(text.substr(0, open));
  std::map<std::string, std::string> types;
  for (const std::string& column : SplitList(text.substr(open + 1, close - open - 1))) {
    auto blank = column.find(' ');
    if (blank == std::string::npos) return Fail(Invalid("no column: " + column));
    table.columns.push_back({column.substr(0, blank), column.substr(blank + 1), true});
    types[column.substr(0, blank)] = column.substr(blank + 1);
  }
  std::string space = by == std::string::npos ? "all" : text.substr(by + 5);
  AMEND_ASSIGN(table.space, ParseSpace(space, types));
  return table;
}

std::set<std::vector<std::string>> ParseBranches(const std::string& text) {
  std::set<std::vector<std::string>> branches;
  if (text == "any") return branches;
  for (const std::string& branch : Split(text, '|')) {
    std::vector<std::string> tables = SplitList(branch);
    std::sort(tables.begin(), tables.end());
    branches.insert(tables);
  }
  return branches;
}

/// One line of the header: a word, perhaps a name, and what is said of it.
Status ParseLine(const std::string& line, CorpusEntry* entry, std::string* output) {
  auto blank = line.find_first_of(" :");
  std::string word = line.substr(0, blank);
  std::string rest = blank == std::string::npos ? "" : Trimmed(line.substr(blank));
  auto colon = rest.find(':');
  std::string name = colon == std::string::npos ? "" : Trimmed(rest.substr(0, colon));
  std::string value = colon == std::string::npos ? "" : Trimmed(rest.substr(colon + 1));
  if (word == "table") {
    AMEND_ASSIGN_OR_RETURN(sql::InputTable table, ParseTable(rest));
    entry->tables.push_back(std::move(table));
  } else if (word == "output") {
    *output = rest;
  } else if (word == "maps") {
    for (const std::string& text : Split(value, ';')) {
      entry->mappings[name].push_back(Trimmed(text));
    }
    std::sort(entry->mappings[name].begin(), entry->mappings[name].end());
  } else if (word == "reads") {
    entry->reads[name] = ParseColumns(value);
  } else if (word == "rows") {
    entry->rows = ParseColumns(value);
  } else if (word == "exists") {
    entry->exists = ParseBranches(value);
  } else if (word == "findings") {
    for (const std::string& kind : SplitList(value)) entry->findings.insert(kind);
  } else if (word == "order_sensitive") {
    entry->order_sensitive = true;
  } else if (word == "tight") {
    entry->tight = true;
  } else if (word == "no_data") {
    entry->no_data = value;
  } else if (word != "--") {
    return Invalid("no such word: " + word);
  }
  return {};
}

Result<CorpusEntry> ParseEntry(const std::string& name, const std::string& text) {
  CorpusEntry entry;
  entry.name = name;
  auto close = text.find(kClose);
  if (!text.starts_with(kOpen) || close == std::string::npos) {
    return Fail(Invalid("there is no header"));
  }
  std::string header = text.substr(kOpen.size(), close - kOpen.size());
  std::string output;
  for (const std::string& line : Split(header, '\n')) {
    if (Trim(line).empty()) continue;
    AMEND_FAIL_IF_ERROR(ParseLine(Trimmed(line), &entry, &output));
  }
  // Dimensions of the output have the types of the columns of that name, if any.
  std::map<std::string, std::string> types;
  for (const sql::InputTable& table : entry.tables) {
    for (const lineage::Column& column : table.columns) types[column.name] = column.type;
  }
  AMEND_ASSIGN(entry.output, ParseSpace(output, types));
  auto end_of_header = text.begin() + static_cast<std::ptrdiff_t>(close + kClose.size());
  entry.statement.sql = text.substr(close + kClose.size());
  entry.statement.file = name + ".sql";
  entry.statement.first_line =
      1 + static_cast<int>(std::count(text.begin(), end_of_header, '\n'));
  return entry;
}

}  // namespace

Result<std::vector<CorpusEntry>> ReadCorpus() {
  const char* root = std::getenv("AMEND_SOURCE_DIR");
  if (root == nullptr) return Fail(Invalid("AMEND_SOURCE_DIR is not set"));
  AMEND_ASSIGN(auto files, Env::Real().List(std::string(root) + "/testing/sql_corpus"));
  const char* wanted = std::getenv("AMEND_CORPUS");
  std::vector<CorpusEntry> corpus;
  for (const FileInfo& file : files) {
    if (!file.path.ends_with(".sql")) continue;
    if (wanted != nullptr && file.path.find(wanted) == std::string::npos) continue;
    std::string name(FileNameOf(file.path));
    name.resize(name.size() - 4);
    AMEND_ASSIGN(std::string text, Env::Real().ReadFile(file.path));
    auto entry = ParseEntry(name, text);
    if (!entry) return Fail(entry.error().Annotate(name));
    corpus.push_back(std::move(*entry));
  }
  return corpus;
}

std::string MappingText(const partition::PartitionMapping& mapping) {
  std::string text = mapping.ToString();
  const partition::TimeMapping& time = mapping.time();
  if (time.all) return text;
  if (mapping.input().values + mapping.output().values > 0) {
    text += mapping.ToJson()["values"] == "all" ? ", all values" : ", same values";
  }
  if (time.null_to_all) text += ", NULL to every";
  if (time.all_to_null) text += ", every to NULL";
  if (!time.null_to_null) text += ", no NULL";
  return text;
}

}  // namespace amend::testing

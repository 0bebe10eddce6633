#include "sql/syntax.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace amend::sql {
namespace {

using Names = std::set<std::string>;  ///< of CTEs in scope, lower case

const std::set<std::string>& AllowedTableFunctions() {
  static const std::set<std::string> kAllowed = {
      "range", "generate_series", "unnest", "repeat", "json_each", "json_tree"};
  return kAllowed;
}

std::string TextOf(const Json& json, const char* member) {
  auto it = json.find(member);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::int64_t PlaceOf(const Json& json) {
  auto it = json.find("query_location");
  if (it == json.end() || !it->is_number_integer()) return -1;
  // The engine writes "nowhere" as the largest unsigned number.
  return it->get<std::int64_t>();
}

class Reader {
 public:
  void Walk(const Json& json, const Names& scope) {
    if (json.is_array()) {
      for (const Json& element : json) Walk(element, scope);
      return;
    }
    if (!json.is_object()) return;
    Visit(json, scope);
    auto ctes = json.find("cte_map");
    if (ctes == json.end()) {
      WalkMembers(json, scope);
      return;
    }
    WalkMembers(json, WalkCtes(*ctes, scope));
  }

  Syntax Take() {
    std::stable_sort(
        syntax_.tables.begin(), syntax_.tables.end(),
        [](const TableMention& a, const TableMention& b) { return a.at < b.at; });
    return std::move(syntax_);
  }

 private:
  void WalkMembers(const Json& json, const Names& scope) {
    for (const auto& [name, value] : json.items()) {
      if (name != "cte_map") Walk(value, scope);
    }
  }

  /// Each CTE sees the ones before it, and itself only if it is recursive.
  Names WalkCtes(const Json& ctes, Names scope) {
    auto map = ctes.find("map");
    if (map == ctes.end()) return scope;
    for (const Json& entry : *map) {
      std::string name = ToLower(TextOf(entry, "key"));
      auto body = entry.find("value");
      if (body == entry.end()) continue;
      Names inside = scope;
      if (IsRecursive(*body)) inside.insert(name);
      Walk(*body, inside);
      scope.insert(name);
    }
    return scope;
  }

  static bool IsRecursive(const Json& body) {
    auto query = body.find("query");
    if (query == body.end() || !query->is_object()) return false;
    auto node = query->find("node");
    return node != query->end() && TextOf(*node, "type") == "RECURSIVE_CTE_NODE";
  }

  void Object(Status status, const Json& where) {
    syntax_.objections.push_back({std::move(status), PlaceOf(where)});
  }

  void Visit(const Json& json, const Names& scope) {
    std::string type = TextOf(json, "type");
    if (type == "BASE_TABLE") VisitTable(json, scope);
    if (type == "TABLE_FUNCTION") VisitTableFunction(json);
    if (type == "SHOW_REF") {
      Object(Invalid("DESCRIBE, SHOW and SUMMARIZE look into the engine, not into tables")
                 .Hint("a model is one SELECT over sources and models"),
             json);
    }
    if (TextOf(json, "class") == "PARAMETER") {
      Object(Invalid("a model has no parameters")
                 .Hint("write the value, or keep it in a table"),
             json);
    }
  }

  void VisitTable(const Json& json, const Names& scope) {
    std::string name = TextOf(json, "table_name");
    std::string schema = TextOf(json, "schema_name");
    if (!schema.empty() || !TextOf(json, "catalog_name").empty()) {
      Object(Invalid("'" + schema + "." + name + "' is qualified with a schema")
                 .Table(name)
                 .Hint("sources and models are read by their bare names"),
             json);
      return;
    }
    if (json.contains("at_clause") && !json["at_clause"].is_null()) {
      Object(Invalid("'" + name + "' is read AT a version")
                 .Table(name)
                 .Hint("a plan pins the version of every input; leave the clause out"),
             json);
    }
    if (!scope.contains(ToLower(name))) {
      syntax_.tables.push_back({name, PlaceOf(json)});
    }
  }

  void VisitTableFunction(const Json& json) {
    std::string name = TextOf(json.value("function", Json::object()), "function_name");
    if (AllowedTableFunctions().contains(ToLower(name))) return;
    const auto& allowed = AllowedTableFunctions();
    Object(Invalid("a model may not read through " + name + "()")
               .Hint("declare a source and `amend land` its files; allowed in FROM are " +
                     Join({allowed.begin(), allowed.end()}, ", ")),
           json);
  }

  Syntax syntax_;
};

}  // namespace

Syntax ReadSyntax(const Json& statement) {
  Reader reader;
  reader.Walk(statement, {});
  return reader.Take();
}

}  // namespace amend::sql

#include "state/definition_record.h"

#include "state/encode.h"

namespace amend::state {

DefinitionRecord RecordOf(const lineage::Lineage& lineage,
                          const lineage::BoundModelEntry& entry) {
  DefinitionRecord record;
  record.sql = entry.model.sql;
  record.settings = Json::object();
  record.settings["space"] = entry.model.space.ToJson();
  record.settings["inputs"] = Json::object();
  for (const lineage::DeclaredInput& input : entry.model.inputs) {
    record.settings["inputs"][input.table] = input.mapping.ToJson();
  }
  for (const lineage::Edge* edge : lineage.InputsOf(entry.model.name)) {
    std::vector<lineage::Column>& columns = record.inputs[edge->from];
    columns.clear();
    if (const lineage::Source* source = lineage.FindSource(edge->from)) {
      columns = source->columns;
    } else {
      for (const auto& column : lineage.FindModel(edge->from)->bound.columns) {
        columns.push_back({column.name, column.type, true});
      }
    }
  }
  return record;
}

Json ToJson(const DefinitionRecord& record) {
  Json json = Json::object();
  json["sql"] = record.sql;
  json["settings"] = record.settings;
  json["inputs"] = Json::object();
  for (const auto& [table, columns] : record.inputs) {
    json["inputs"][table] = Json::array();
    for (const lineage::Column& column : columns) {
      json["inputs"][table].push_back(Json{{"name", column.name}, {"type", column.type}});
    }
  }
  return json;
}

Result<DefinitionRecord> DefinitionRecordFromJson(const Json& json) {
  JsonReader in(json, "a stored definition");
  DefinitionRecord record;
  record.sql = in.Text("sql");
  record.settings = in.Object("settings");
  const Json& inputs = in.Object("inputs");
  JsonReader tables(inputs, "the inputs of a stored definition");
  for (const auto& [table, columns] : inputs.items()) {
    std::vector<lineage::Column>& into = record.inputs[table];
    tables.Each(table, [&into](JsonReader& column) {
      into.push_back({column.Text("name"), column.Text("type"), true});
    });
  }
  in.Note(tables.status());
  AMEND_FAIL_IF_ERROR(in.status());
  return record;
}

}  // namespace amend::state

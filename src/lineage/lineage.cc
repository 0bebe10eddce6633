#include "lineage/lineage.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace amend::lineage {
namespace {

using ColumnsByName = std::map<std::string, const OutputColumn*>;

/// Nothing where a name repeats: such a SELECT cannot be compared by name.
std::optional<ColumnsByName> ByName(const std::vector<OutputColumn>& columns) {
  ColumnsByName by_name;
  for (const OutputColumn& column : columns) {
    if (!by_name.emplace(ToLower(column.name), &column).second) return std::nullopt;
  }
  return by_name;
}

partition::PartitionSet UnionOf(
    const std::vector<InputRef>& refs, const partition::PartitionSet& set,
    partition::PartitionSet (partition::PartitionMapping::*map)(
        const partition::PartitionSet&) const) {
  AMEND_CHECK(!refs.empty());
  partition::PartitionSet all = (refs.front().mapping.*map)(set);
  for (std::size_t i = 1; i < refs.size(); ++i) {
    all = all.Union((refs[i].mapping.*map)(set));
  }
  return all;
}

std::string ShapeText(const partition::Shape& shape) {
  std::string grain(shape.grain ? partition::GrainName(*shape.grain) : "no time");
  return grain + " and " + std::to_string(shape.values) + " values";
}

Status CheckMapping(const partition::PartitionMapping& mapping, const InputRef& ref,
                    const partition::Shape& input, const Model& model) {
  if (mapping.input() == input && mapping.output() == model.space.shape()) {
    return Status();
  }
  return Internal("the mapping from '" + ref.table + "' to '" + model.name +
                  "' goes from " + ShapeText(mapping.input()) + " to " +
                  ShapeText(mapping.output()) + ", the tables are cut by " +
                  ShapeText(input) + " and " + ShapeText(model.space.shape()))
      .Table(model.name);
}

Status CheckExtents(const BoundModelEntry& entry) {
  for (const std::vector<std::size_t>& branch : entry.bound.extents) {
    for (std::size_t ref : branch) {
      if (ref < entry.bound.inputs.size() && entry.bound.inputs[ref].extent) continue;
      return Internal("an extent of '" + entry.model.name +
                      "' names a reference that has none")
          .Table(entry.model.name);
    }
  }
  return Status();
}

}  // namespace

CodeChange Compare(const BoundModel& before, const BoundModel& after) {
  CodeChange rows{CodeChange::Kind::kRows, {}};
  if (before.rows_fingerprint != after.rows_fingerprint ||
      before.row_reads != after.row_reads) {
    return rows;
  }
  auto old_columns = ByName(before.columns);
  auto new_columns = ByName(after.columns);
  if (!old_columns || !new_columns) return rows;
  CodeChange change;
  for (const auto& [name, column] : *old_columns) {
    auto it = new_columns->find(name);
    if (it == new_columns->end()) return rows;
    if (it->second->type != column->type ||
        it->second->fingerprint != column->fingerprint) {
      change.kind = CodeChange::Kind::kColumns;
      change.columns.insert(it->second->name);
    }
  }
  for (const auto& [name, column] : *new_columns) {
    if (old_columns->contains(name)) continue;
    change.columns.insert(column->name);
    if (change.kind == CodeChange::Kind::kNone) {
      change.kind = CodeChange::Kind::kColumnsAdded;
    }
  }
  return change;
}

DefinitionId IdOf(const Model& model, const BoundModel& bound) {
  Fingerprinter id;
  id.Add("definition 2").Add(model.name).Add(CanonicalJson(model.space.ToJson()));
  std::map<std::string, std::string> declared;
  for (const DeclaredInput& input : model.inputs) {
    declared[ToLower(input.table)] = CanonicalJson(input.mapping.ToJson());
  }
  id.Add(static_cast<std::int64_t>(declared.size()));
  for (const auto& [table, mapping] : declared) id.Add(table).Add(mapping);
  // By name: the order of the columns in the SELECT does not change the table.
  std::map<std::pair<std::string, std::size_t>, const OutputColumn*> columns;
  for (std::size_t i = 0; i < bound.columns.size(); ++i) {
    columns[{bound.columns[i].name, i}] = &bound.columns[i];
  }
  id.Add(bound.rows_fingerprint).Add(static_cast<std::int64_t>(columns.size()));
  for (const auto& [key, column] : columns) {
    id.Add(column->name).Add(column->type).Add(column->fingerprint);
  }
  return id.Hex();
}

partition::PartitionSet Edge::Affected(const partition::PartitionSet& changed) const {
  return UnionOf(refs, changed, &partition::PartitionMapping::Affected);
}

partition::PartitionSet Edge::Required(const partition::PartitionSet& wanted) const {
  return UnionOf(refs, wanted, &partition::PartitionMapping::Required);
}

std::string Edge::Why() const {
  std::vector<std::string> texts;
  for (const InputRef& ref : refs) {
    if (std::find(texts.begin(), texts.end(), ref.why) == texts.end()) {
      texts.push_back(ref.why);
    }
  }
  return Join(texts, ", ");
}

Result<Lineage> Lineage::Make(std::vector<Source> sources,
                              std::vector<BoundModelEntry> models) {
  Lineage lineage;
  lineage.sources_ = std::move(sources);
  std::sort(lineage.sources_.begin(), lineage.sources_.end(),
            [](const Source& a, const Source& b) { return a.name < b.name; });
  std::map<std::string, std::set<std::string>> reads;
  std::map<std::string, std::string> exact;  // lower case → as defined
  for (const BoundModelEntry& entry : models) {
    exact.emplace(ToLower(entry.model.name), entry.model.name);
  }
  for (const BoundModelEntry& entry : models) {
    std::set<std::string>& tables = reads[entry.model.name];
    for (const InputRef& ref : entry.bound.inputs) {
      auto it = exact.find(ToLower(ref.table));
      if (it != exact.end()) tables.insert(it->second);
    }
  }
  AMEND_ASSIGN(std::vector<std::string> order, TopologicalOrder(reads));
  std::map<std::string, std::size_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  std::stable_sort(models.begin(), models.end(),
                   [&rank](const BoundModelEntry& a, const BoundModelEntry& b) {
                     return rank.at(a.model.name) < rank.at(b.model.name);
                   });
  lineage.models_ = std::move(models);
  AMEND_FAIL_IF_ERROR(lineage.AddNames());
  AMEND_FAIL_IF_ERROR(lineage.AddEdges());
  return lineage;
}

Status Lineage::AddNames() {
  std::map<std::string, SourceLocation> seen;
  auto add = [&seen](const std::string& name, const SourceLocation& at) {
    auto [it, is_new] = seen.emplace(ToLower(name), at);
    if (is_new) return Status();
    return Invalid("the table '" + name + "' is defined twice, first in " +
                   it->second.file + ":" + std::to_string(it->second.line))
        .At(at.file, at.line)
        .Table(name)
        .Hint("give one of them another name; names are compared without case");
  };
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    AMEND_RETURN_IF_ERROR(add(sources_[i].name, sources_[i].at));
    source_at_[ToLower(sources_[i].name)] = i;
  }
  for (std::size_t i = 0; i < models_.size(); ++i) {
    AMEND_RETURN_IF_ERROR(add(models_[i].model.name, models_[i].model.at));
    model_at_[ToLower(models_[i].model.name)] = i;
  }
  return Status();
}

Status Lineage::UnknownInput(const Model& model, const std::string& table) const {
  std::vector<std::string> names;
  for (const auto& [name, i] : source_at_) names.push_back(sources_[i].name);
  for (const auto& [name, i] : model_at_) names.push_back(models_[i].model.name);
  auto nearest = NearestName(table, names);
  return Invalid("model '" + model.name + "' reads '" + table +
                 "', which is neither a source nor a model")
      .At(model.at.file, model.sql_line)
      .Table(model.name)
      .Hint(nearest ? "did you mean '" + *nearest + "'?"
                    : "declare it under sources in amend.yaml");
}

Status Lineage::AddEdges() {
  for (BoundModelEntry& entry : models_) {
    AMEND_RETURN_IF_ERROR(CheckExtents(entry));
    std::map<std::string, Edge> edges;
    for (const InputRef& ref : entry.bound.inputs) {
      const Source* source = FindSource(ref.table);
      const BoundModelEntry* model = FindModel(ref.table);
      if (source == nullptr && model == nullptr) {
        return UnknownInput(entry.model, ref.table);
      }
      const std::string& name = source != nullptr ? source->name : model->model.name;
      const partition::Shape input = SpaceOf(name).shape();
      AMEND_RETURN_IF_ERROR(CheckMapping(ref.mapping, ref, input, entry.model));
      if (ref.extent) {
        AMEND_RETURN_IF_ERROR(CheckMapping(*ref.extent, ref, input, entry.model));
      }
      Edge& edge = edges[name];
      edge.from = name;
      edge.to = entry.model.name;
      edge.refs.push_back(ref);
      edge.columns.insert(ref.columns.begin(), ref.columns.end());
    }
    for (auto& [from, edge] : edges) {
      inputs_of_[ToLower(edge.to)].push_back(edges_.size());
      readers_of_[ToLower(from)].push_back(edges_.size());
      edges_.push_back(std::move(edge));
    }
  }
  for (auto& [table, edges] : readers_of_) {
    std::sort(edges.begin(), edges.end(), [this](std::size_t a, std::size_t b) {
      return edges_[a].to < edges_[b].to;
    });
  }
  return Status();
}

const Source* Lineage::FindSource(std::string_view name) const {
  auto it = source_at_.find(ToLower(name));
  return it == source_at_.end() ? nullptr : &sources_[it->second];
}

const BoundModelEntry* Lineage::FindModel(std::string_view name) const {
  auto it = model_at_.find(ToLower(name));
  return it == model_at_.end() ? nullptr : &models_[it->second];
}

const partition::PartitionSpace& Lineage::SpaceOf(std::string_view table) const {
  if (const Source* source = FindSource(table)) return source->space;
  const BoundModelEntry* model = FindModel(table);
  AMEND_CHECK(model != nullptr);
  return model->model.space;
}

namespace {

std::vector<const Edge*> EdgesAt(
    const std::map<std::string, std::vector<std::size_t>>& index,
    const std::vector<Edge>& edges, std::string_view table) {
  std::vector<const Edge*> found;
  auto it = index.find(ToLower(table));
  if (it == index.end()) return found;
  for (std::size_t i : it->second) found.push_back(&edges[i]);
  return found;
}

}  // namespace

std::vector<const Edge*> Lineage::InputsOf(std::string_view model) const {
  return EdgesAt(inputs_of_, edges_, model);
}

std::vector<const Edge*> Lineage::ReadersOf(std::string_view table) const {
  return EdgesAt(readers_of_, edges_, table);
}

}  // namespace amend::lineage

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "lineage/definition.h"

namespace amend::lineage {

/// Name of a definition in force: SHA-256 over the bound plan's fingerprints, the
/// partition space and every setting that changes rows. Equal ids and equal inputs give
/// equal rows.
using DefinitionId = std::string;

/// How two definitions of one model differ; what cannot be proved harmless is kRows.
struct CodeChange {
  enum class Kind {
    kNone,          ///< same columns, same rows
    kColumnsAdded,  ///< rows and old columns are the same; `columns` are new
    kColumns,       ///< rows are the same; the values of `columns` may differ
    kRows,          ///< anything may differ
  };
  Kind kind = Kind::kNone;
  std::set<std::string> columns;
  friend bool operator==(const CodeChange&, const CodeChange&) = default;
};

/// Compares two versions that were bound by the same engine, columns by name: their order
/// means nothing. A removed or renamed column is kRows; a changed type counts as a
/// changed value.
CodeChange Compare(const BoundModel& before, const BoundModel& after);

/// Covers the model's name (two tables never share a write set), its space and
/// declared inputs, and the bound fingerprints. Not keys, contracts, checks or policies:
/// those judge rows and do not change them.
DefinitionId IdOf(const Model& model, const BoundModel& bound);

/// One edge of the graph: everything one model reads of one table, over all references.
struct Edge {
  std::string from;
  std::string to;
  std::vector<InputRef> refs;
  std::set<std::string> columns;  ///< union over the references

  /// Union over the references. REQUIRES: a set of the table's shape.
  partition::PartitionSet Affected(const partition::PartitionSet& changed) const;
  partition::PartitionSet Required(const partition::PartitionSet& wanted) const;
  /// The distinct `why` texts joined by ", ".
  std::string Why() const;
};

struct BoundModelEntry {
  Model model;
  BoundModel bound;
  DefinitionId definition;
};

/// Sources, models and the edges between them: an immutable value, made once per command.
/// Names are compared without case, as SQL does. Invalid on a cycle (all of it is named),
/// a name defined twice, an unknown input; Internal where a reference's mapping or an
/// extent does not fit the spaces. Copies are independent; pointers handed out live as
/// long as the value they came from. Thread-safe for reading.
class Lineage {
 public:
  static Result<Lineage> Make(std::vector<Source> sources,
                              std::vector<BoundModelEntry> models);

  const std::vector<Source>& sources() const { return sources_; }
  /// Every model after all of its inputs; ties by name.
  const std::vector<BoundModelEntry>& models() const { return models_; }
  const std::vector<Edge>& edges() const { return edges_; }

  const Source* FindSource(std::string_view name) const;
  const BoundModelEntry* FindModel(std::string_view name) const;
  /// The space of a source or model. REQUIRES: the table exists.
  const partition::PartitionSpace& SpaceOf(std::string_view table) const;
  /// Edges that end in (start at) a table, by name of the other side; empty for a name
  /// that does not exist.
  std::vector<const Edge*> InputsOf(std::string_view model) const;
  std::vector<const Edge*> ReadersOf(std::string_view table) const;

 private:
  using Index = std::map<std::string, std::size_t>;  // by lower-case name
  Status AddNames();
  Status AddEdges();
  Status UnknownInput(const Model& model, const std::string& table) const;

  std::vector<Source> sources_;
  std::vector<BoundModelEntry> models_;
  std::vector<Edge> edges_;
  Index source_at_;
  Index model_at_;
  std::map<std::string, std::vector<std::size_t>> inputs_of_;   // indexes of edges_
  std::map<std::string, std::vector<std::size_t>> readers_of_;  // indexes of edges_
};

/// Model names in an order where inputs come first, ties by name, from `reads` (model →
/// tables it reads, sources may be among them). Used before anything is bound; names are
/// compared exactly. Invalid on a cycle: "a reads b reads a", starting at its smallest
/// name.
Result<std::vector<std::string>> TopologicalOrder(
    const std::map<std::string, std::set<std::string>>& reads);

}  // namespace amend::lineage

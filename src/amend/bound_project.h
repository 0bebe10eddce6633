#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "lineage/lineage.h"
#include "project/load.h"
#include "sql/binder.h"

namespace amend {

/// Name of our catalog among those that may share a database.
inline constexpr const char* kCatalogName = "amend";

/// A project whose SELECTs are understood: definitions, bound plans and their graph.
struct BoundProject {
  lineage::Project project;
  lineage::Lineage lineage;
};

/// What reading and binding a project gave: every problem found, and the graph where
/// there is no error.
struct Binding {
  std::vector<project::Problem> problems;  ///< by file and line
  std::optional<BoundProject> bound;
};

/// Columns and space of foreign sources, which only the catalog knows. A source without
/// entry is not there; its problem says so.
using ForeignTables = std::map<std::string, sql::InputTable>;

/// Reads the foreign sources' metadata from the project's catalog: those that exist.
Result<ForeignTables> ReadForeignTables(Env& env, const lineage::Project& project);

/// Those of these models whose table is partitioned in another way than the project says.
/// What is known of their partitions is of the table's space and means nothing in the
/// model's, so nothing can be planned before it is one again.
Result<std::vector<project::Problem>> PartitioningProblems(
    Env& env, const BoundProject& bound, const std::vector<std::string>& models);

/// The names of a lineage's models, inputs first.
std::vector<std::string> ModelNames(const lineage::Lineage& lineage);

/// Reads the project at `root`, orders its models, binds each once its inputs are known
/// and collects all problems: those of a model keep its readers from being bound, but not
/// from being read.
Binding BindProject(Env& env, const std::string& root, sql::Binder& binder);

/// What a bound model looks like to its readers.
sql::InputTable AsInput(const lineage::Model& model, const lineage::BoundModel& bound);
sql::InputTable AsInput(const lineage::Source& source);

}  // namespace amend

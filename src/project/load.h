#pragma once

#include <string>
#include <vector>

#include "base/env.h"
#include "lineage/definition.h"
#include "project/problem.h"

namespace amend::project {

/// A project as its files say it, and everything that is wrong with them.
struct Loaded {
  /// Usable only where no problem is an error: what could not be read is left out or at
  /// its default, so that the rest can be checked in the same run.
  lineage::Project project;
  std::vector<Problem> problems;  ///< by file and line
  bool ok() const { return !HasErrors(problems); }
};

/// Reads amend.yaml and every *.sql below models/ of the absolute folder `root`. Finds
/// all problems of the text in one go: syntax, unknown and duplicate keys, types, names
/// defined twice, columns and inputs that do not exist. Does not bind SQL (sql/) nor look
/// into the catalog.
///
/// Links to files are followed; links to folders are refused, since they can lead round
/// in circles and give one model two names. Names that start with '.' are passed over.
Loaded LoadProject(Env& env, const std::string& root);

/// What only binding can tell: keys, contracts, checks and partition columns against the
/// columns that the SELECT really gives.
std::vector<Problem> ContractProblems(const lineage::Model& model,
                                      const lineage::BoundModel& bound);

}  // namespace amend::project

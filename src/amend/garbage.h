#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "amend/workspace.h"

namespace amend {

/// What runs and attempts of ours left and nothing uses.
struct Garbage {
  std::set<std::string> files;       ///< local paths
  std::vector<std::string> folders;  ///< empty once the files are gone, inner ones first
  std::vector<std::string> stale_plans;  ///< their files go, and so their twins do
  std::int64_t bytes = 0;                ///< of the files
};

/// Looks only at what was registered before it was made: folders of runs, and files that
/// are named by an attempt of a closed intent, in the folders of that intent. Of these
/// everything goes but what something reaches:
///   - the head of a table that the project or the ledger names, with every snapshot that
///     it still has (tags are the way back) and its metadata log;
///   - a ledger row: metadata and facts of `--at N`;
///   - a plan whose pins are the heads: it could still be published as it was staged.
///
/// Tables are read as Iceberg alone, not through the project: a model that was taken out
/// of the project keeps its table and its files.
///
/// REQUIRES: the project's lock is held and nothing is left to recover (BeginWriting).
Result<Garbage> FindGarbage(Workspace& workspace);

/// Removes it; killed in the middle, it is found again.
Status RemoveGarbage(Workspace& workspace, const Garbage& garbage);

}  // namespace amend

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "amend/workspace.h"

namespace amend {

/// A table that could not be read. What is under it stays, used or not.
struct UnreadTable {
  std::string table;  ///< "namespace.name"
  std::string why;
};

/// What runs and attempts of ours left and nothing uses.
struct Garbage {
  std::set<std::string> files;       ///< local paths, links in them followed
  std::vector<std::string> folders;  ///< empty once the files are gone, inner ones first
  std::vector<std::string> registered;  ///< rows of the ledger for some of the folders
  std::vector<std::string> twins;       ///< namespaces whose plans have ended
  std::vector<UnreadTable> unread;
  std::int64_t bytes = 0;  ///< of the files
};

/// Looks only at what was registered before it was made: folders of runs, and files that
/// are named by an attempt of a closed intent, in the folders of that intent; and the
/// journals of plans that have ended. Of these everything goes but what something
/// reaches:
///   - any table of the catalog but twins of plans that have ended: its metadata log and
///     every snapshot that it still has (tags are the way back);
///   - a ledger row: metadata and facts of `--at N`;
///   - an open plan: its run's folders, and what its journal names from other runs;
///   - an open intent: the folders of its run.
///
/// INV-G1 Whether a file is used is asked of the catalog, never of the project: a model
///        that left the project, or the namespace that it had before, keeps its files.
/// INV-G2 A table that does not read keeps everything below its folder.
/// INV-G3 Paths are compared with their links followed, so that spelling one place in two
///        ways does not make its files unused.
/// INV-G4 Rows go before the files that they lead to.
///
/// REQUIRES: the catalog's lock is held and nothing is left to recover (BeginWriting).
Result<Garbage> FindGarbage(Workspace& workspace);

/// Removes it; killed in the middle, it is found again.
Status RemoveGarbage(Workspace& workspace, const Garbage& garbage);

}  // namespace amend

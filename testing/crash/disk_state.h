#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/json.h"
#include "base/status.h"
#include "db/connection.h"

namespace amend::testing {

/// Reads the catalog with SQL of its own, so that what it says does not rest on the code
/// under test.
class PointerReader {
 public:
  explicit PointerReader(std::string catalog);
  /// Table → metadata location for the project's tables, and the number of ledger
  /// entries, all in one transaction; nothing while there is no catalog to read.
  std::optional<Json> Look();

 private:
  std::string catalog_;
  std::unique_ptr<db::Connection> connection_;
};

/// Replaces `to` by a copy of the project in `from`: hard links of files that are never
/// changed in place, copies of database, journals and locks.
void CopyProject(const std::string& from, const std::string& to);

/// Every table of the catalog's database as rows. Looks at a copy, so that the log that
/// a killed process left is still there for the next command to recover.
Json DumpCatalog(const std::string& project);

/// One text for the whole durable state of a project: bytes of every file and the rows
/// of the database. Folders count by name.
std::string StateOf(const std::string& project);
/// The same for what must not move in a command with nothing to do: the warehouse, the
/// pointers and the ledger, but not the journals, which note attempts.
std::string PublishedStateOf(const std::string& project);

/// Files and empty folders of the warehouse that nothing leads to, and registered paths
/// where nothing is; what gc must leave none of. Written apart from gc. Things are led to
/// by
///   - each pointer of the catalog, twins' too: its metadata file, the metadata files in
///     that one's metadata log (other engines remove these, by table properties), of all
///     its snapshots manifest lists, manifests and the files of live entries;
///   - each ledger row: facts files and the metadata it published (`pins --at` reads it).
Result<std::vector<std::string>> FindLeftovers(Env& env, const std::string& project,
                                               const std::string& warehouse);

}  // namespace amend::testing

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "ledger/ledger.h"
#include "table/contents.h"

namespace amend::land {

/// One landing in force, as the ledger tells it.
struct PastLanding {
  std::int64_t number = 0;
  std::string run;                            ///< names the folder of its files
  std::map<std::string, std::int64_t> files;  ///< rows by the digest of the landed file
  Json listed;  ///< the same files, as the answer shows them
};

/// Landings of a source that were not taken back, oldest first. Damaged where an entry is
/// not one of ours.
Result<std::vector<PastLanding>> LandingsOf(const std::vector<ledger::Entry>& entries,
                                            const std::string& source);

/// The latest landing that brought these bytes; null if none did.
const PastLanding* FindLanded(const std::vector<PastLanding>& landings,
                              const std::string& digest);

/// The landing to name where the partitions of these files hold exactly their rows, so
/// that replacing them would change nothing; null where other rows are there too, or some
/// are missing. What is live decides, not what was landed: appends of others, partial
/// replacements and rollbacks between need no cases of their own.
const PastLanding* FindExact(const std::vector<PastLanding>& landings,
                             const std::set<std::string>& digests,
                             const table::Contents& live);

}  // namespace amend::land

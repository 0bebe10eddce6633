#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/connection.h"

namespace amend::ledger {

/// One step from a version of the ledger's tables to the next. Steps are never edited
/// once released: databases out there have taken them.
struct Migration {
  std::int64_t version = 0;  ///< that the ledger has afterwards
  std::string name;          ///< what changes, kept in amend_schema
  std::vector<std::string> (*statements)(const db::Dialect& dialect);
};

/// All steps so far, by ascending version from 1.
const std::vector<Migration>& Migrations();

/// Brings the ledger's tables to the version of the last of `migrations`, in the caller's
/// transaction. Unsupported where they are newer than that, or older and the transaction
/// may not write; NotFound where there are none and it may not; Damaged where the table
/// of versions is not what a migration leaves.
Status OpenSchema(db::Transaction& tx, const std::vector<Migration>& migrations);

}  // namespace amend::ledger

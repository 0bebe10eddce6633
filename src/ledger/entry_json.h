#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "ledger/ledger.h"
#include "ledger/store.h"

namespace amend::ledger {

Result<EntryKind> EntryKindNamed(const std::string& name);

/// An entry as its row. The row's canonical text holds all of it, and is what is read
/// back: a ledger must be verifiable by programs that came later, so the very bytes that
/// were hashed are kept, not what some version would make of the columns. The other
/// columns repeat members of it for queries.
/// REQUIRES: previous_hash is set; `hash` is computed.
EntryData RowOfEntry(const Entry& entry);

/// Unsupported for a format that is not ours, Damaged for anything but what RowOfEntry
/// gives.
Result<Entry> EntryFromRow(const EntryData& row);

/// Damaged where the row's bytes do not have its hash, do not follow `previous_hash`, or
/// where its columns or the rows of its tables say something else.
Status VerifyEntry(const EntryData& row, const std::string& previous_hash,
                   const std::vector<EntryTable>& tables);

}  // namespace amend::ledger

#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "db/connection.h"

namespace amend::db {

struct SqliteOptions {
  std::string path;              ///< a file; its folder must exist
  bool create = false;           ///< make the file where there is none
  bool read_only = false;        ///< refuse every write; excludes `create`
  int busy_timeout_ms = 30'000;  ///< how long to wait for another writer, 0 = not at all
  StatementObserver* observer = nullptr;  ///< borrowed, outlives the connection
};

/// Opens an SQLite file as a Connection: foreign keys on, synchronous=FULL.
///
/// A file that this call makes (or finds empty, after a crash while making it) is put
/// into WAL mode at once, because switching later fails while any other engine is
/// connected. A file that others made keeps its journal mode; the contract holds in both,
/// but without WAL a reader delays our COMMIT (Transient). WAL needs a local file system.
///
/// What COMMIT's errors prove, from SQLite 3.40.1's documentation, source and our tests:
///
///   SQLITE_BUSY        not committed, transaction open: Transient, Commit() again. Only
///                      without WAL, while a reader is inside.
///   SQLITE_CONSTRAINT  (deferred foreign key) not committed, transaction open: rolled
///                      back, Internal.
///   anything else      (FULL, IOERR, NOMEM …) kUnknown. SQLite rolls back in memory, but
///                      in WAL mode the commit frame may already be in the log file: if
///                      the process or the power dies before another commit overwrites
///                      it, log recovery finds it and the transaction *comes back*. So
///                      "the row is not there" is final only after a commit by a later
///                      session, which overwrites that frame.
///
/// SQLite pages carry no checksums: lost pages and broken structure are Damaged, a
/// flipped bit inside a value is not noticed here (the ledger's hash chain notices it
/// there).
///
/// NotFound where the file does not exist, Damaged where it is no database.
Result<std::unique_ptr<Connection>> OpenSqlite(const SqliteOptions& options);

}  // namespace amend::db

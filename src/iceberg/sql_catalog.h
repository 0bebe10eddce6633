#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "db/connection.h"
#include "iceberg/table_ref.h"

namespace amend::iceberg {

/// One table's part of a publication.
struct PointerSwap {
  TableRef table;
  /// Text of metadata_location exactly as it was read (other writers spell URIs
  /// differently); absent for a table that must not exist yet.
  std::optional<std::string> expected;
  std::string next;  ///< where the new metadata file is; must exist and be durable
};

/// The standard Iceberg SQL catalog (the JDBC catalog of Iceberg Java, SqlCatalog of
/// PyIceberg), layout V1: which metadata file is current, one row per table.
///
/// It never commits. Every function works in the caller's transaction, so that swaps of
/// many tables and the ledger's row become visible in one instant or not at all.
///
/// INV-C1 A pointer changes only where its row holds exactly the expected text.
/// INV-C2 A transaction in which one swap failed cannot be committed (it is doomed).
/// INV-C3 Rows of other catalogs in the same database and views are never touched.
///
/// A value: the catalog's name. Thread-safe as far as the transactions passed are.
class SqlCatalog {
 public:
  /// Opens the catalog `name`, making the two tables where they are absent and the
  /// transaction may write. NotFound where they are absent and it may not; Unsupported
  /// for the older layout V0, which we do not write.
  static Result<SqlCatalog> Open(db::Transaction& tx, std::string name);

  const std::string& name() const { return name_; }

  /// Ok also where it exists.
  Status CreateNamespace(db::Transaction& tx, const std::string& ns) const;
  /// Conflict while it holds tables or views; ok where it does not exist.
  Status DropNamespace(db::Transaction& tx, const std::string& ns) const;
  /// All that were created or hold a table, sorted.
  Result<std::vector<std::string>> Namespaces(db::Transaction& tx) const;
  /// Tables (not views) of one namespace, sorted by name.
  Result<std::vector<TableRef>> Tables(db::Transaction& tx, const std::string& ns) const;

  /// metadata_location as stored. NotFound names the table; Unsupported for a view.
  Result<std::string> Load(db::Transaction& tx, const TableRef& table) const;
  /// The same for many, all read by one statement and so at one instant. Tables that do
  /// not exist are left out.
  Result<std::map<TableRef, std::string>> LoadAll(
      db::Transaction& tx, const std::vector<TableRef>& tables) const;

  /// Swaps or creates all of them, in order of name so that two publications cannot
  /// deadlock. Conflict on the first whose row is not as expected, saying what it holds;
  /// the transaction is doomed then.
  Status Swap(db::Transaction& tx, std::vector<PointerSwap> swaps) const;

  /// Forgets the table if its row still holds `expected`; Conflict otherwise, and the
  /// transaction is doomed. Files stay: they are the caller's to remove after the commit.
  Status Drop(db::Transaction& tx, const TableRef& table,
              const std::string& expected) const;

 private:
  explicit SqlCatalog(std::string name) : name_(std::move(name)) {}
  Status SwapOne(db::Transaction& tx, const PointerSwap& swap) const;
  Status Lost(db::Transaction& tx, const TableRef& table,
              const std::optional<std::string>& expected) const;

  std::string name_;
};

}  // namespace amend::iceberg

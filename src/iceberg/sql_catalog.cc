// Layout and compare-and-swap follow Iceberg Java's JdbcCatalog (JdbcUtil.java, schema
// version V1): the same tables, the same conditions.
#include "iceberg/sql_catalog.h"

#include <algorithm>
#include <utility>

namespace amend::iceberg {
namespace {

constexpr std::string_view kCreateTables =
    "CREATE TABLE IF NOT EXISTS iceberg_tables("
    "catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, "
    "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5), "
    "PRIMARY KEY (catalog_name, table_namespace, table_name))";
constexpr std::string_view kCreateNamespaces =
    "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties("
    "catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, "
    "property_key VARCHAR(255), property_value VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, namespace, property_key))";

constexpr std::string_view kLoad =
    "SELECT metadata_location, iceberg_type FROM iceberg_tables "
    "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";
// A NULL type was written by a client that knows only tables.
constexpr std::string_view kUpdate =
    "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? "
    "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? "
    "AND metadata_location = ? AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
constexpr std::string_view kInsert =
    "INSERT INTO iceberg_tables(catalog_name, table_namespace, table_name, "
    "metadata_location, previous_metadata_location, iceberg_type) "
    "VALUES(?, ?, ?, ?, NULL, 'TABLE') ON CONFLICT DO NOTHING";
constexpr std::string_view kDelete =
    "DELETE FROM iceberg_tables "
    "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? "
    "AND metadata_location = ? AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";

Result<std::vector<std::string>> FirstColumn(const db::Rows& rows) {
  std::vector<std::string> values;
  values.reserve(rows.size());
  for (const db::Row& row : rows) {
    AMEND_ASSIGN(std::string value, row.Text(0));
    values.push_back(std::move(value));
  }
  return values;
}

std::string Described(const std::optional<std::string>& location) {
  return location ? *location : "no table";
}

}  // namespace

Result<SqlCatalog> SqlCatalog::Open(db::Transaction& tx, std::string name) {
  AMEND_ASSIGN(std::vector<std::string> tables, tx.Columns("iceberg_tables"));
  AMEND_ASSIGN(std::vector<std::string> namespaces,
               tx.Columns("iceberg_namespace_properties"));
  bool has_type = std::find(tables.begin(), tables.end(), "iceberg_type") != tables.end();
  if (!tables.empty() && !has_type) {
    return Fail(
        Unsupported("the catalog's table iceberg_tables has the old layout V0, without "
                    "the column iceberg_type")
            .Hint("Upgrade it once with: ALTER TABLE iceberg_tables ADD COLUMN "
                  "iceberg_type VARCHAR(5). Readers of today understand both layouts."));
  }
  if (!tables.empty() && !namespaces.empty()) return SqlCatalog(std::move(name));
  if (tx.mode() == db::TransactionMode::kRead) {
    return Fail(NotFound("the database holds no Iceberg catalog yet")
                    .Hint("Create the project first: amend init."));
  }
  AMEND_ASSIGN(std::int64_t made, tx.Execute(kCreateTables));
  AMEND_ASSIGN(made, tx.Execute(kCreateNamespaces));
  static_cast<void>(made);
  return SqlCatalog(std::move(name));
}

Status SqlCatalog::CreateNamespace(db::Transaction& tx, const std::string& ns) const {
  // An empty namespace is kept alive by this pair, as other clients do.
  Result<std::int64_t> made = tx.Execute(
      "INSERT INTO iceberg_namespace_properties(catalog_name, namespace, property_key, "
      "property_value) VALUES(?, ?, 'exists', 'true') ON CONFLICT DO NOTHING",
      {name_, ns});
  return made.has_value() ? Status() : std::move(made).error();
}

Status SqlCatalog::DropNamespace(db::Transaction& tx, const std::string& ns) const {
  AMEND_ASSIGN_OR_RETURN(
      db::Rows inside,
      tx.Query("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND "
               "table_namespace = ? ORDER BY table_name LIMIT 1",
               {name_, ns}));
  if (!inside.empty()) {
    AMEND_ASSIGN_OR_RETURN(std::string table, inside.front().Text(0));
    return Conflict("namespace " + ns + " still holds " + table).Table(ns + "." + table);
  }
  Result<std::int64_t> dropped = tx.Execute(
      "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?",
      {name_, ns});
  return dropped.has_value() ? Status() : std::move(dropped).error();
}

Result<std::vector<std::string>> SqlCatalog::Namespaces(db::Transaction& tx) const {
  AMEND_ASSIGN(db::Rows rows,
               tx.Query("SELECT namespace FROM iceberg_namespace_properties "
                        "WHERE catalog_name = ? "
                        "UNION SELECT table_namespace FROM iceberg_tables "
                        "WHERE catalog_name = ? ORDER BY 1",
                        {name_, name_}));
  return FirstColumn(rows);
}

Result<std::vector<TableRef>> SqlCatalog::Tables(db::Transaction& tx,
                                                 const std::string& ns) const {
  AMEND_ASSIGN(db::Rows rows,
               tx.Query("SELECT table_name FROM iceberg_tables WHERE catalog_name = ? "
                        "AND table_namespace = ? AND (iceberg_type = 'TABLE' OR "
                        "iceberg_type IS NULL) ORDER BY table_name",
                        {name_, ns}));
  AMEND_ASSIGN(std::vector<std::string> names, FirstColumn(rows));
  std::vector<TableRef> tables;
  tables.reserve(names.size());
  for (std::string& table : names) tables.push_back({ns, std::move(table)});
  return tables;
}

Result<std::string> SqlCatalog::Load(db::Transaction& tx, const TableRef& table) const {
  AMEND_ASSIGN(db::Rows rows,
               tx.Query(kLoad, {name_, table.table_namespace, table.name}));
  if (rows.empty()) {
    return Fail(NotFound("there is no table " + table.ToString() + " in catalog " + name_)
                    .Table(table.ToString()));
  }
  AMEND_ASSIGN(std::optional<std::string> type, rows.front().OptionalText(1));
  if (type.value_or("TABLE") != "TABLE") {
    return Fail(Unsupported(table.ToString() + " is not a table but a " + *type)
                    .Table(table.ToString()));
  }
  AMEND_ASSIGN(std::optional<std::string> location, rows.front().OptionalText(0));
  if (!location) {
    return Fail(Damaged("the catalog names no metadata file for " + table.ToString())
                    .Table(table.ToString()));
  }
  return *std::move(location);
}

Result<std::map<TableRef, std::string>> SqlCatalog::LoadAll(
    db::Transaction& tx, const std::vector<TableRef>& tables) const {
  std::map<TableRef, std::string> locations;
  if (tables.empty()) return locations;
  std::string sql =
      "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables "
      "WHERE catalog_name = ? AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL) "
      "AND metadata_location IS NOT NULL "
      "AND (table_namespace, table_name) IN (VALUES ";
  std::vector<db::Value> parameters = {name_};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    sql += i == 0 ? "(?, ?)" : ", (?, ?)";
    parameters.insert(parameters.end(), {tables[i].table_namespace, tables[i].name});
  }
  AMEND_ASSIGN(db::Rows rows, tx.Query(sql + ")", parameters));
  for (const db::Row& row : rows) {
    AMEND_ASSIGN(std::string ns, row.Text(0));
    AMEND_ASSIGN(std::string table, row.Text(1));
    AMEND_ASSIGN(std::string location, row.Text(2));
    locations.emplace(TableRef{std::move(ns), std::move(table)}, std::move(location));
  }
  return locations;
}

Status SqlCatalog::Swap(db::Transaction& tx, std::vector<PointerSwap> swaps) const {
  std::sort(swaps.begin(), swaps.end(),
            [](const PointerSwap& a, const PointerSwap& b) { return a.table < b.table; });
  for (std::size_t i = 0; i < swaps.size(); ++i) {
    if (i > 0 && swaps[i - 1].table == swaps[i].table) {
      Status twice =
          Internal("one publication swaps " + swaps[i].table.ToString() + " twice");
      tx.Doom(twice);
      return twice;
    }
    AMEND_RETURN_IF_ERROR(SwapOne(tx, swaps[i]));
  }
  return {};
}

Status SqlCatalog::SwapOne(db::Transaction& tx, const PointerSwap& swap) const {
  const TableRef& table = swap.table;
  Result<std::int64_t> affected =
      swap.expected
          ? tx.Execute(kUpdate, {swap.next, *swap.expected, name_, table.table_namespace,
                                 table.name, *swap.expected})
          : tx.Execute(kInsert, {name_, table.table_namespace, table.name, swap.next});
  if (!affected.has_value()) return std::move(affected).error();
  return *affected == 1 ? Status() : Lost(tx, table, swap.expected);
}

Status SqlCatalog::Drop(db::Transaction& tx, const TableRef& table,
                        const std::string& expected) const {
  AMEND_ASSIGN_OR_RETURN(
      std::int64_t affected,
      tx.Execute(kDelete, {name_, table.table_namespace, table.name, expected}));
  return affected == 1 ? Status() : Lost(tx, table, expected);
}

/// Another writer was first: says what the row holds now, and dooms the transaction.
Status SqlCatalog::Lost(db::Transaction& tx, const TableRef& table,
                        const std::optional<std::string>& expected) const {
  AMEND_ASSIGN_OR_RETURN(db::Rows rows,
                         tx.Query(kLoad, {name_, table.table_namespace, table.name}));
  std::optional<std::string> actual;
  std::string what = "another writer changed ";
  if (!rows.empty()) {
    AMEND_ASSIGN_OR_RETURN(actual, rows.front().OptionalText(0));
    AMEND_ASSIGN_OR_RETURN(std::optional<std::string> type, rows.front().OptionalText(1));
    if (type.value_or("TABLE") != "TABLE") what = "a " + *type + " has the name of ";
  }
  Status status = Conflict(what + table.ToString() + ": expected " + Described(expected) +
                           ", found " + Described(actual))
                      .Table(table.ToString())
                      .Hint("Nothing was published. Plan again, or amend rebase.");
  tx.Doom(status);
  return status;
}

}  // namespace amend::iceberg

#include "ledger/schema.h"

#include "fmt/core.h"

namespace amend::ledger {
namespace {

/// Prefixed tables beside those of the Iceberg catalog, which other engines ignore. JSON
/// is text: people look into it with any SQL client.
std::vector<std::string> FirstVersion(const db::Dialect& dialect) {
  auto table = [&](std::string_view name, std::string_view columns) {
    return fmt::format(
        "CREATE TABLE {}({}){}", name,
        fmt::format(fmt::runtime(columns), fmt::arg("int64", dialect.int64_type)),
        dialect.table_suffix);
  };
  return {
      table("amend_counters", "name TEXT NOT NULL PRIMARY KEY, value {int64} NOT NULL"),
      "INSERT INTO amend_counters(name, value) VALUES('number', 0), ('hold', 0)",
      table("amend_intents",
            "id TEXT NOT NULL PRIMARY KEY, number {int64} NOT NULL UNIQUE, "
            "kind TEXT NOT NULL, status TEXT NOT NULL, epoch {int64} NOT NULL, "
            "record TEXT NOT NULL, context TEXT NOT NULL"),
      // previous_hash UNIQUE: two transactions cannot fork the chain in any database.
      table("amend_entries",
            "number {int64} NOT NULL PRIMARY KEY, intent TEXT NOT NULL UNIQUE, "
            "kind TEXT NOT NULL, plan TEXT NOT NULL, at_micros {int64} NOT NULL, "
            "canonical TEXT NOT NULL, previous_hash TEXT NOT NULL UNIQUE, "
            "hash TEXT NOT NULL"),
      table("amend_entry_tables",
            "number {int64} NOT NULL REFERENCES amend_entries(number), "
            "table_name TEXT NOT NULL, snapshot_id {int64} NOT NULL, "
            "version {int64} NOT NULL, previous_snapshot_id {int64} NOT NULL, "
            "metadata_location TEXT NOT NULL, previous_location TEXT NOT NULL, "
            "facts_path TEXT NOT NULL, facts_digest TEXT NOT NULL, "
            "PRIMARY KEY (number, table_name)"),
      table("amend_plans",
            "id TEXT NOT NULL PRIMARY KEY, state TEXT NOT NULL, "
            "created_micros {int64} NOT NULL, body TEXT NOT NULL, run TEXT NOT NULL, "
            "run_state TEXT NOT NULL"),
      table("amend_holds",
            "id {int64} NOT NULL PRIMARY KEY, table_name TEXT NOT NULL, "
            "body TEXT NOT NULL, created_by {int64} NOT NULL, ended_micros {int64}, "
            "ended_why TEXT NOT NULL"),
      table("amend_definitions",
            "id TEXT NOT NULL PRIMARY KEY, model TEXT NOT NULL, body TEXT NOT NULL"),
      table("amend_paths", "path TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL"),
  };
}

/// Whose numbers, facts and holds these are: one row.
std::vector<std::string> SecondVersion(const db::Dialect& dialect) {
  return {"CREATE TABLE amend_owner(name_space TEXT NOT NULL PRIMARY KEY)" +
          std::string(dialect.table_suffix)};
}

Result<std::int64_t> VersionOf(db::Transaction& tx) {
  AMEND_ASSIGN(db::Rows rows, tx.Query("SELECT MAX(version) FROM amend_schema"));
  AMEND_ASSIGN(std::optional<std::int64_t> version, rows.at(0).OptionalInt(0));
  if (!version) return Fail(Damaged("the ledger's table amend_schema is empty"));
  return *version;
}

Status Apply(db::Transaction& tx, const Migration& migration) {
  for (const std::string& sql : migration.statements(tx.dialect())) {
    if (Result<std::int64_t> done = tx.Execute(sql); !done.has_value()) {
      return std::move(done).error();
    }
  }
  Result<std::int64_t> noted =
      tx.Execute("INSERT INTO amend_schema(version, name) VALUES(?, ?)",
                 {migration.version, migration.name});
  return noted.has_value() ? Status() : std::move(noted).error();
}

/// The version of the tables; 0 where there are none yet.
Result<std::int64_t> FindOrBegin(db::Transaction& tx, bool may_write) {
  AMEND_ASSIGN(std::vector<std::string> columns, tx.Columns("amend_schema"));
  if (!columns.empty()) return VersionOf(tx);
  if (!may_write) {
    return Fail(NotFound("the database holds no ledger yet")
                    .Hint("Create the project first: amend init."));
  }
  AMEND_ASSIGN(
      std::int64_t made,
      tx.Execute(fmt::format("CREATE TABLE amend_schema(version {} NOT NULL "
                             "PRIMARY KEY, name TEXT NOT NULL){}",
                             tx.dialect().int64_type, tx.dialect().table_suffix)));
  static_cast<void>(made);
  return 0;
}

}  // namespace

const std::vector<Migration>& Migrations() {
  static const std::vector<Migration> migrations = {
      {1, "entries, intents, plans, holds, definitions, paths", &FirstVersion},
      {2, "the namespace that owns it", &SecondVersion}};
  return migrations;
}

Status OpenSchema(db::Transaction& tx, const std::vector<Migration>& migrations) {
  bool may_write = tx.mode() == db::TransactionMode::kWrite;
  AMEND_ASSIGN_OR_RETURN(std::int64_t version, FindOrBegin(tx, may_write));
  std::int64_t ours = migrations.back().version;
  if (version > ours) {
    return Unsupported(fmt::format("the ledger has version {} and this Amend knows "
                                   "versions up to {}",
                                   version, ours))
        .Hint("Use the newer Amend that wrote it; nothing was touched.");
  }
  if (version < ours && !may_write) {
    return Unsupported(fmt::format("the ledger has version {} and this Amend reads "
                                   "version {}",
                                   version, ours))
        .Hint("Run any writing command once, e.g. amend plan: it upgrades the ledger.");
  }
  for (const Migration& migration : migrations) {
    if (migration.version > version) AMEND_RETURN_IF_ERROR(Apply(tx, migration));
  }
  return {};
}

}  // namespace amend::ledger

#include "ledger/entry_json.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "fmt/core.h"

namespace amend::ledger {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::array<std::string_view, 3> kKindNames = {"land", "publish", "rollback"};

Json TableToJson(const EntryTable& table) {
  return {{"table", table.table},
          {"snapshot_id", table.snapshot_id},
          {"version", table.version},
          {"previous_snapshot_id", table.previous_snapshot_id},
          {"metadata_location", table.metadata_location},
          {"previous_location", table.previous_location},
          {"facts_path", table.facts_path},
          {"facts_digest", table.facts_digest},
          {"changed", table.changed},
          {"columns", table.columns}};
}

Json ToJson(const Entry& entry) {
  Json tables = Json::array();
  for (const EntryTable& table : entry.tables) tables.push_back(TableToJson(table));
  return {{"format", kFormat},
          {"number", entry.number},
          {"kind", EntryKindName(entry.kind)},
          {"intent", entry.intent},
          {"plan", entry.plan},
          {"run", entry.run},
          {"author", entry.author},
          {"at_micros", entry.at_micros},
          {"reason", entry.reason},
          {"ticket", entry.ticket},
          {"no_op", entry.no_op},
          {"rolls_back", entry.rolls_back ? Json(*entry.rolls_back) : Json()},
          {"body", entry.body},
          {"tables", std::move(tables)},
          {"previous_hash", entry.previous_hash}};
}

/// Members of one stored object; the first failure sticks.
class Reader {
 public:
  Reader(const Json& object, std::string what)
      : object_(object), what_(std::move(what)) {}

  void Get(std::string_view member, std::string& into) {
    Take(JsonString(object_, member, what_), into);
  }
  void Get(std::string_view member, std::int64_t& into) {
    Take(JsonInt(object_, member, what_), into);
  }
  /// Any JSON; must be there.
  void Get(std::string_view member, Json& into) {
    auto found = object_.is_object() ? object_.find(member) : object_.end();
    if (found != object_.end()) {
      into = *found;
    } else if (status.ok()) {
      status = Damaged(fmt::format("{} has no member {}", what_, member));
    }
  }

  Status status;

 private:
  template <typename T>
  void Take(Result<T> value, T& into) {
    if (value.has_value()) {
      into = *std::move(value);
    } else if (status.ok()) {
      status = std::move(value).error();
    }
  }

  const Json& object_;
  std::string what_;
};

Result<EntryTable> TableFromJson(const Json& json, const std::string& what) {
  EntryTable table;
  Reader reader(json, what);
  reader.Get("table", table.table);
  reader.Get("snapshot_id", table.snapshot_id);
  reader.Get("version", table.version);
  reader.Get("previous_snapshot_id", table.previous_snapshot_id);
  reader.Get("metadata_location", table.metadata_location);
  reader.Get("previous_location", table.previous_location);
  reader.Get("facts_path", table.facts_path);
  reader.Get("facts_digest", table.facts_digest);
  reader.Get("changed", table.changed);
  reader.Get("columns", table.columns);
  AMEND_FAIL_IF_ERROR(reader.status);
  return table;
}

Result<Entry> FromJson(const Json& json, const std::string& what) {
  Entry entry;
  Reader reader(json, what);
  std::string kind;
  Json no_op;
  Json rolls_back;
  Json tables;
  reader.Get("number", entry.number);
  reader.Get("kind", kind);
  reader.Get("intent", entry.intent);
  reader.Get("plan", entry.plan);
  reader.Get("run", entry.run);
  reader.Get("author", entry.author);
  reader.Get("at_micros", entry.at_micros);
  reader.Get("reason", entry.reason);
  reader.Get("ticket", entry.ticket);
  reader.Get("no_op", no_op);
  reader.Get("rolls_back", rolls_back);
  reader.Get("body", entry.body);
  reader.Get("tables", tables);
  reader.Get("previous_hash", entry.previous_hash);
  AMEND_FAIL_IF_ERROR(reader.status);
  AMEND_ASSIGN(entry.kind, EntryKindNamed(kind));
  bool odd = !no_op.is_boolean() || !tables.is_array() ||
             !(rolls_back.is_null() || rolls_back.is_number_integer());
  if (odd) return Fail(Damaged(what + " has members of other types than expected"));
  entry.no_op = no_op.get<bool>();
  if (!rolls_back.is_null()) entry.rolls_back = rolls_back.get<std::int64_t>();
  for (const Json& table : tables) {
    AMEND_ASSIGN(EntryTable one, TableFromJson(table, what));
    entry.tables.push_back(std::move(one));
  }
  return entry;
}

std::string Named(const EntryData& row) {
  return fmt::format("entry #{} of the ledger", row.number);
}

/// What the columns of amend_entry_tables hold of a table.
Json IndexedPart(const EntryTable& table) {
  Json json = TableToJson(table);
  json.erase("changed");
  json.erase("columns");
  return json;
}

bool SameTables(const std::vector<EntryTable>& a, const std::vector<EntryTable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const EntryTable& left, const EntryTable& right) {
                      return IndexedPart(left) == IndexedPart(right);
                    });
}

}  // namespace

std::string_view EntryKindName(EntryKind kind) {
  return kKindNames.at(static_cast<std::size_t>(kind));
}

Result<EntryKind> EntryKindNamed(const std::string& name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<EntryKind>(i);
  }
  return Fail(Damaged("the ledger holds an entry of the unknown kind " + name));
}

EntryData RowOfEntry(const Entry& entry) {
  EntryData row;
  row.number = entry.number;
  row.intent = entry.intent;
  row.kind = EntryKindName(entry.kind);
  row.plan = entry.plan;
  row.at_micros = entry.at_micros;
  row.canonical = CanonicalJson(ToJson(entry));
  row.previous_hash = entry.previous_hash;
  row.hash = Sha256Hex(row.canonical);
  return row;
}

Result<Entry> EntryFromRow(const EntryData& row) {
  AMEND_ASSIGN(Json json, ParseJson(row.canonical, Named(row)));
  AMEND_ASSIGN(std::int64_t format, JsonInt(json, "format", Named(row)));
  if (format != kFormat) {
    return Fail(Unsupported(fmt::format("{} has format {} and this Amend reads format {}",
                                        Named(row), format, kFormat))
                    .Hint("Use the newer Amend that wrote it."));
  }
  AMEND_ASSIGN(Entry entry, FromJson(json, Named(row)));
  entry.hash = row.hash;
  return entry;
}

Status VerifyEntry(const EntryData& row, const std::string& previous_hash,
                   const std::vector<EntryTable>& tables) {
  if (Sha256Hex(row.canonical) != row.hash) {
    return Damaged(Named(row) + " was changed: its text does not have its hash");
  }
  AMEND_ASSIGN_OR_RETURN(Entry entry, EntryFromRow(row));
  if (entry.previous_hash != previous_hash) {
    return Damaged(Named(row) + " does not follow the entry before it");
  }
  bool same = entry.number == row.number && entry.intent == row.intent &&
              EntryKindName(entry.kind) == row.kind && entry.plan == row.plan &&
              entry.at_micros == row.at_micros && row.previous_hash == previous_hash;
  if (!same || !SameTables(entry.tables, tables)) {
    return Damaged(Named(row) + " has columns that say something else than its text");
  }
  return {};
}

}  // namespace amend::ledger

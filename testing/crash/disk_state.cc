#include "testing/crash/disk_state.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "db/sqlite.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "iceberg/update.h"
#include "testing/crash/crash_project.h"

namespace amend::testing {
namespace {

namespace fs = std::filesystem;

std::string CatalogOf(const std::string& project) {
  return project + "/.amend/catalog.db";
}

Result<std::unique_ptr<db::Connection>> OpenToRead(const std::string& catalog) {
  db::SqliteOptions options;
  options.path = catalog;
  options.read_only = true;
  return db::OpenSqlite(options);
}

Result<db::Rows> Select(db::Connection& connection, const std::string& sql) {
  AMEND_ASSIGN(db::Transaction tx, connection.Begin(db::TransactionMode::kRead));
  return tx.Query(sql);
}

Json ToJson(const db::Row& row) {
  Json line = Json::array();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const db::Value& value = row.at(i);
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      line.push_back(*number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      line.push_back(*text);
    } else {
      line.push_back(nullptr);
    }
  }
  return line;
}

bool ChangesInPlace(const fs::path& path) {
  std::string name = path.filename().string();
  return name.starts_with("catalog.db") || name.ends_with(".jsonl");
}

Json DumpOpened(const std::string& catalog) {
  Json dump = Json::object();
  auto connection = OpenToRead(catalog);
  if (!connection) return connection.error().ToString();
  auto tables = Select(**connection,
                       "SELECT name FROM sqlite_master WHERE type = "
                       "'table' ORDER BY name");
  if (!tables) return tables.error().ToString();
  for (const db::Row& table : *tables) {
    std::string name = *table.Text(0);
    auto rows = Select(**connection, "SELECT * FROM " + name);
    if (!rows) return rows.error().ToString();
    std::vector<Json> lines;
    for (const db::Row& row : *rows) lines.push_back(ToJson(row));
    std::sort(lines.begin(), lines.end());
    if (!lines.empty()) dump[name] = std::move(lines);
  }
  return dump;
}

/// Appends every path below `folder` with the digest of its bytes.
void AddFiles(const fs::path& folder, std::string* text) {
  std::set<fs::path> paths;
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("catalog.db")) {
      paths.insert(entry.path());
    }
  }
  for (const fs::path& path : paths) {
    *text += path.string();
    if (fs::is_regular_file(path)) {
      auto digest = Sha256File(Env::Real(), path.string());
      *text += " " + (digest ? *digest : "unreadable");
    }
    *text += "\n";
  }
}

/// What one pointer leads to, as local paths.
class Reachable {
 public:
  explicit Reachable(Env& env) : env_(env) {}

  Status AddUri(const std::string& uri) {
    if (uri.empty()) return {};
    AMEND_ASSIGN_OR_RETURN(std::string path, iceberg::ToLocalPath(uri));
    paths_.insert(std::move(path));
    return {};
  }

  Status AddTable(const std::string& location) {
    AMEND_ASSIGN_OR_RETURN(iceberg::LoadedTable table,
                           iceberg::LoadTable(env_, {"ns", "table"}, location));
    AMEND_RETURN_IF_ERROR(AddUri(location));
    for (const iceberg::MetadataLogEntry& entry : table.metadata.metadata_log()) {
      AMEND_RETURN_IF_ERROR(AddUri(entry.file));
    }
    for (const iceberg::Snapshot& snapshot : table.metadata.snapshots()) {
      AMEND_RETURN_IF_ERROR(AddSnapshot(table, snapshot));
    }
    return {};
  }

  bool Contains(const std::string& path) const { return paths_.contains(path); }

 private:
  Status AddSnapshot(const iceberg::LoadedTable& table,
                     const iceberg::Snapshot& snapshot) {
    AMEND_RETURN_IF_ERROR(AddUri(snapshot.manifest_list));
    AMEND_ASSIGN_OR_RETURN(auto manifests, iceberg::ReadManifestList(env_, snapshot));
    for (const iceberg::ManifestFile& manifest : manifests) {
      AMEND_RETURN_IF_ERROR(AddUri(manifest.path));
      const iceberg::PartitionSpec* spec = table.metadata.FindSpec(manifest.spec_id);
      if (spec == nullptr) return Damaged("a manifest of no spec: " + manifest.path);
      AMEND_ASSIGN_OR_RETURN(auto entries, iceberg::ReadManifest(env_, manifest, *spec));
      for (const iceberg::ManifestEntry& entry : entries) {
        if (entry.status == iceberg::EntryStatus::kDeleted) continue;
        AMEND_RETURN_IF_ERROR(AddUri(entry.file.path));
      }
    }
    return {};
  }

  Env& env_;
  std::set<std::string> paths_;
};

}  // namespace

PointerReader::PointerReader(std::string catalog) : catalog_(std::move(catalog)) {}

std::optional<Json> PointerReader::Look() {
  if (connection_ == nullptr || connection_->closed()) {
    auto opened = OpenToRead(catalog_);
    if (!opened) return std::nullopt;
    connection_ = *std::move(opened);
  }
  auto tx = connection_->Begin(db::TransactionMode::kRead);
  if (!tx) return std::nullopt;
  auto rows = tx->Query(
      "SELECT table_name, metadata_location FROM iceberg_tables "
      "WHERE table_namespace = ? ORDER BY table_name",
      {std::string(kNamespace)});
  if (!rows) return std::nullopt;
  auto entries = tx->Query("SELECT count(*) FROM amend_entries");
  if (!entries) return std::nullopt;
  Json pointers = Json::object();
  pointers["entries"] = *entries->front().Int(0);
  for (const db::Row& row : *rows) pointers[*row.Text(0)] = *row.Text(1);
  return pointers;
}

void CopyProject(const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    fs::path target = fs::path(to) / entry.path().lexically_relative(from);
    if (entry.is_directory()) {
      fs::create_directories(target);
    } else if (ChangesInPlace(entry.path())) {
      fs::copy_file(entry.path(), target);
    } else {
      fs::create_hard_link(entry.path(), target);
    }
  }
}

Json DumpCatalog(const std::string& project) {
  fs::path copy = project + "_dump";
  fs::remove_all(copy);
  fs::create_directories(copy);
  for (const char* end : {"", "-wal", "-journal"}) {
    fs::path file = CatalogOf(project) + end;
    if (fs::exists(file)) fs::copy_file(file, copy / file.filename());
  }
  Json dump = DumpOpened((copy / "catalog.db").string());
  fs::remove_all(copy);
  return dump;
}

std::string StateOf(const std::string& project) {
  std::string text = DumpCatalog(project).dump() + "\n";
  AddFiles(project, &text);
  return text;
}

std::string PublishedStateOf(const std::string& project) {
  Json dump = DumpCatalog(project);
  std::string text;
  for (const char* table : {"iceberg_tables", "amend_entries", "amend_entry_tables",
                            "amend_holds", "amend_plans"}) {
    text += std::string(table) + " " + dump[table].dump() + "\n";
  }
  AddFiles(project + "/" + kWarehouse, &text);
  return text;
}

Result<std::vector<std::string>> FindLeftovers(Env& env, const std::string& project,
                                               const std::string& warehouse) {
  Reachable reachable(env);
  Json dump = DumpCatalog(project);
  for (const Json& row : dump["iceberg_tables"]) {
    AMEND_FAIL_IF_ERROR(reachable.AddTable(row[3].get<std::string>()));
  }
  // Columns of amend_entry_tables by their meaning, whatever their order.
  for (const Json& row : dump["amend_entry_tables"]) {
    for (const Json& value : row) {
      if (!value.is_string()) continue;
      const std::string text = value.get<std::string>();
      if (text.starts_with("/") || text.starts_with("file:")) {
        AMEND_FAIL_IF_ERROR(reachable.AddUri(text));
      }
    }
  }
  std::vector<std::string> leftovers;
  for (const auto& entry : fs::recursive_directory_iterator(warehouse)) {
    bool wanted = entry.is_directory() ? !fs::is_empty(entry.path())
                                       : reachable.Contains(entry.path().string());
    if (!wanted) leftovers.push_back(entry.path().string());
  }
  for (const Json& row : dump["amend_paths"]) {
    std::string path = row[0].get<std::string>();
    if (!fs::exists(path)) leftovers.push_back(path + ", which is only registered");
  }
  std::sort(leftovers.begin(), leftovers.end());
  return leftovers;
}

}  // namespace amend::testing

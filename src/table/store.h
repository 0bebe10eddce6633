#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "db/connection.h"
#include "iceberg/sql_catalog.h"
#include "iceberg/update.h"
#include "state/table_state.h"
#include "table/contents.h"

namespace amend::table {

/// The tables of one namespace as a backfill needs them: heads at one instant, pinned
/// versions read again. Metadata files are immutable, so each is read once.
///
/// Not thread-safe; borrows everything.
class Store {
 public:
  Store(Env& env, iceberg::SqlCatalog catalog, std::string name_space)
      : env_(env), catalog_(std::move(catalog)), name_space_(std::move(name_space)) {}

  const iceberg::SqlCatalog& catalog() const { return catalog_; }
  iceberg::TableRef RefOf(const std::string& table) const { return {name_space_, table}; }

  /// The head of each table that exists, all pointers read in one statement.
  Result<std::map<std::string, state::Pin>> Heads(db::Transaction& tx,
                                                  const std::vector<std::string>& names);

  /// The table at a pin's metadata. The pointer stays valid as long as the store.
  Result<const iceberg::LoadedTable*> Load(const std::string& table,
                                           const std::string& metadata_location);
  Result<const iceberg::LoadedTable*> Load(const state::Pin& pin) {
    return Load(pin.table, pin.metadata_location);
  }

  /// Live files of a pin, seen through `space`.
  Result<Contents> ReadPinned(const state::Pin& pin,
                              const partition::PartitionSpace& space);

 private:
  Env& env_;
  iceberg::SqlCatalog catalog_;
  std::string name_space_;
  std::map<std::string, std::unique_ptr<iceberg::LoadedTable>> loaded_;  // by location
};

}  // namespace amend::table

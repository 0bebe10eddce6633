#include "table/store.h"

namespace amend::table {

Result<std::map<std::string, state::Pin>> Store::Heads(
    db::Transaction& tx, const std::vector<std::string>& names) {
  std::vector<iceberg::TableRef> refs;
  refs.reserve(names.size());
  for (const std::string& name : names) refs.push_back(RefOf(name));
  AMEND_ASSIGN(auto locations, catalog_.LoadAll(tx, refs));
  std::map<std::string, state::Pin> pins;
  for (const auto& [ref, location] : locations) {
    AMEND_ASSIGN(const iceberg::LoadedTable* table, Load(ref.name, location));
    pins[ref.name] = PinOf(*table);
  }
  return pins;
}

Result<const iceberg::LoadedTable*> Store::Load(const std::string& table,
                                                const std::string& metadata_location) {
  auto known = loaded_.find(metadata_location);
  if (known != loaded_.end()) return known->second.get();
  auto loaded = iceberg::LoadTable(env_, RefOf(table), metadata_location);
  if (!loaded) return Fail(std::move(loaded).error().Annotate("table " + table));
  auto& slot = loaded_[metadata_location];
  slot = std::make_unique<iceberg::LoadedTable>(*std::move(loaded));
  return slot.get();
}

Result<Contents> Store::ReadPinned(const state::Pin& pin,
                                   const partition::PartitionSpace& space) {
  AMEND_ASSIGN(const iceberg::LoadedTable* table, Load(pin));
  return ReadContents(env_, *table, pin.snapshot_id, space);
}

}  // namespace amend::table

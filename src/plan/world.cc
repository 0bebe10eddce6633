#include "plan/world.h"

namespace amend::plan {
namespace {

Status CheckTable(const std::string& name, const state::TableState& table,
                  partition::Shape shape) {
  auto fits = [&](const partition::PartitionSet& set) { return set.shape() == shape; };
  bool all_fit = fits(table.live) && fits(table.drifted) && fits(table.foreign) &&
                 table.built.shape() == shape;
  all_fit &= table.changes.shape() == shape && table.sizes.shape() == shape;
  for (const state::Hold& hold : table.holds) all_fit &= fits(hold.partitions);
  if (!all_fit) return Internal("state of another partition space").Table(name);
  partition::PartitionSet lost = table.built.Where(
      [&](std::size_t record) { return record >= table.records.size(); });
  if (!lost.empty()) return Internal("partitions without their build record").Table(name);
  return {};
}

}  // namespace

state::TableState EmptyTable(const partition::PartitionSpace& space) {
  state::TableState table;
  table.live = partition::PartitionSet::Empty(space);
  table.changes = state::ChangeLog(space.shape());
  table.sizes = partition::PartitionMap<state::PartitionSize>(space.shape());
  table.built = partition::PartitionMap<std::size_t>(space.shape());
  table.drifted = partition::PartitionSet::Empty(space);
  table.foreign = partition::PartitionSet::Empty(space);
  return table;
}

Status Validate(const World& world) {
  AMEND_CHECK(world.lineage != nullptr);
  for (const auto& [name, table] : world.tables) {
    const lineage::Source* source = world.lineage->FindSource(name);
    const lineage::BoundModelEntry* entry = world.lineage->FindModel(name);
    bool spelled = (source != nullptr && source->name == name) ||
                   (entry != nullptr && entry->model.name == name);
    if (!spelled) return Internal("state of a table that the lineage lacks").Table(name);
    AMEND_RETURN_IF_ERROR(CheckTable(name, table, world.lineage->SpaceOf(name).shape()));
  }
  return {};
}

}  // namespace amend::plan

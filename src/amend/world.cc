#include "amend/world.h"

#include <algorithm>
#include <set>

#include "engine/facts_file.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "state/definition_record.h"
#include "state/hold.h"
#include "table/spaces.h"

namespace amend {
namespace {

using partition::Partition;
using partition::PartitionSet;
using state::Change;
using state::TableState;
using state::Version;

/// Reads the tables of one world, one after the other.
class Gatherer {
 public:
  Gatherer(Workspace& workspace, Gathered* out) : w_(workspace), out_(out) {}

  Status Run();

 private:
  Status ReadCatalog();
  Status AddTable(const std::string& name);
  Status AddModel(const lineage::BoundModelEntry& entry);
  Status AddSourceChanges(const std::string& name);
  Status AddForeignCommits(const lineage::Model& model);
  Status AddCodeChanges(const lineage::BoundModelEntry& entry);
  Status AddHolds();
  void NoteReplaced(const std::map<std::string, std::string>& tables,
                    std::map<std::string, Version>* versions) const;
  void ResolveVersions(std::int64_t number, state::Hold* hold) const;
  state::Cause CauseOf(const ledger::Entry& entry);
  void AddPublishedChanges(const std::string& name, TableState* state);
  std::set<Version> VerifiedVersions(const std::string& input) const;
  bool OnlyOursSince(const std::string& name, Version version) const;
  Result<PartitionSet> ChangedSince(const std::string& name, Version version);
  std::string CauseSince(const std::string& name, Version version) const;
  PartitionSet Foreign(const std::string& name) const;
  Result<lineage::CodeChange> CompareWith(const std::string& id,
                                          const lineage::BoundModelEntry& entry);

  Workspace& w_;
  Gathered* out_;
  std::map<std::string, state::Pin> heads_;
  std::vector<ledger::StoredHold> holds_;
  std::map<std::int64_t, state::Cause> causes_;  ///< by number of the entry
};

Status Gatherer::ReadCatalog() {
  std::vector<std::string> names;
  for (const auto& source : w_.lineage().sources()) names.push_back(source.name);
  for (const auto& entry : w_.lineage().models()) names.push_back(entry.model.name);
  return w_.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
    AMEND_ASSIGN_OR_RETURN(heads_, w_.store().Heads(tx, names));
    AMEND_ASSIGN_OR_RETURN(out_->entries, w_.ledger().Entries(tx));
    AMEND_ASSIGN_OR_RETURN(holds_, w_.ledger().ActiveHolds(tx));
    return Status();
  });
}

Status Gatherer::AddTable(const std::string& name) {
  const partition::PartitionSpace& space = w_.lineage().SpaceOf(name);
  TableState state = plan::EmptyTable(space);
  if (auto head = heads_.find(name); head != heads_.end()) {
    AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* loaded,
                           w_.store().Load(head->second));
    const iceberg::TableMetadata& metadata = loaded->metadata;
    if (w_.lineage().FindModel(name) != nullptr &&
        !table::SpecFits(space, metadata.spec(), metadata.schema())) {
      out_->repartitioned.insert(name);
      out_->world.tables.emplace(name, std::move(state));
      return {};
    }
    state.head = head->second;
    AMEND_ASSIGN_OR_RETURN(table::Contents contents,
                           w_.store().ReadPinned(head->second, space));
    state.live = contents.live();
    state.sizes = contents.Sizes();
    out_->contents.emplace(name, std::move(contents));
  }
  out_->world.tables.emplace(name, std::move(state));
  return {};
}

/// One text for all the tables that an entry changed.
state::Cause Gatherer::CauseOf(const ledger::Entry& entry) {
  auto [at, is_new] = causes_.try_emplace(entry.number);
  if (is_new) {
    bool back = entry.kind == ledger::EntryKind::kRollback;
    at->second = fmt::format("{} #{}", back ? "rollback" : "publication", entry.number);
  }
  return at->second;
}

void Gatherer::AddPublishedChanges(const std::string& name, TableState* state) {
  for (const ledger::Entry& entry : out_->entries) {
    for (const ledger::EntryTable& table : entry.tables) {
      if (table.table != name) continue;
      state->last_entry = entry.number;
      auto changed = partition::RangesFromJson(w_.lineage().SpaceOf(name), table.changed);
      Change change;
      change.before = table.version;
      // Ranges of a space that the model no longer has mean everything.
      change.partitions =
          changed ? *changed : PartitionSet::All(w_.lineage().SpaceOf(name));
      if (table.columns.is_array()) {
        change.columns.emplace();
        for (const Json& column : table.columns) {
          if (column.is_string()) {
            change.columns->insert(column.get<std::string>());
          } else {
            change.columns.reset();  // it cannot be told which: rows
            break;
          }
        }
      }
      change.cause = CauseOf(entry);
      state->changes.push_back(std::move(change));
    }
  }
}

PartitionSet Gatherer::Foreign(const std::string& name) const {
  auto contents = out_->contents.find(name);
  const state::FactsInForce& facts = out_->facts.at(name);
  if (contents != out_->contents.end()) return ForeignPartitions(contents->second, facts);
  return ForeignPartitions(table::Contents(w_.lineage().SpaceOf(name), {}), facts);
}

Status Gatherer::AddModel(const lineage::BoundModelEntry& entry) {
  const std::string& name = entry.model.name;
  TableState& state = out_->world.tables.at(name);
  state::FactsInForce facts(entry.model.space.shape());
  if (!out_->repartitioned.contains(name)) {
    AMEND_ASSIGN_OR_RETURN(facts, w_.Facts(out_->entries, name));
  }
  std::vector<state::BuildRecord> records = facts.records;
  for (state::BuildRecord& record : records) {
    NoteReplaced(record.verified_in, &record.verified_at);
  }
  state.records = state::BuildRecords(records);
  state.built = facts.built;
  out_->facts.emplace(name, std::move(facts));
  AddPublishedChanges(name, &state);
  const bool shared = entry.model.writers == lineage::Writers::kShared;
  (shared ? state.foreign : state.drifted) = Foreign(name);
  return {};
}

/// Versions of a table that was dropped and made again since are of another table.
void Gatherer::NoteReplaced(const std::map<std::string, std::string>& tables,
                            std::map<std::string, Version>* versions) const {
  for (const auto& [input, uuid] : tables) {
    auto head = heads_.find(input);
    if (head == heads_.end() || head->second.uuid == uuid) continue;
    auto version = versions->find(input);
    if (version != versions->end()) version->second = state::kAnotherTable;
  }
}

std::set<Version> Gatherer::VerifiedVersions(const std::string& input) const {
  std::set<Version> versions;
  for (const lineage::Edge* edge : w_.lineage().ReadersOf(input)) {
    const state::BuildRecords& records = out_->world.tables.at(edge->to).records;
    if (const std::vector<Version>* verified = records.VerifiedAt(input)) {
      versions.insert(verified->begin(), verified->end());
    }
    // What a hold saw counts too: a change beyond it ends the hold.
    for (const state::Hold& hold : out_->world.tables.at(edge->to).holds) {
      auto seen = hold.input_versions.find(input);
      if (seen != hold.input_versions.end()) versions.insert(seen->second);
    }
  }
  versions.erase(state::BuildRecords::kNever);
  return versions;
}

/// Exactly what differs between the state at a version and the head.
Result<PartitionSet> Gatherer::ChangedSince(const std::string& name, Version version) {
  const partition::PartitionSpace& space = w_.lineage().SpaceOf(name);
  if (version == state::kAnotherTable) return PartitionSet::All(space);
  const state::Pin& head = heads_.at(name);
  AMEND_ASSIGN(const iceberg::LoadedTable* table, w_.store().Load(head));
  std::int64_t before = 0;
  if (version != 0) {
    const auto& snapshots = table->metadata.snapshots();
    auto at = std::find_if(
        snapshots.begin(), snapshots.end(),
        [version](const iceberg::Snapshot& s) { return s.sequence_number == version; });
    // An expired version cannot be compared with: everything may have changed.
    if (at == snapshots.end()) return PartitionSet::All(space);
    before = at->id;
  }
  return table::ChangedBetween(w_.env(), *table, before, *table, head.snapshot_id, space);
}

std::string Gatherer::CauseSince(const std::string& name, Version version) const {
  if (version == state::kAnotherTable) return "the table was dropped and made again";
  std::vector<std::string> landings;
  Version last = version;
  for (const ledger::Entry& entry : out_->entries) {
    for (const ledger::EntryTable& table : entry.tables) {
      if (table.table != name || table.version <= version) continue;
      landings.push_back(fmt::format(
          "{} #{}", entry.kind == ledger::EntryKind::kRollback ? "rollback" : "landing",
          entry.number));
      last = std::max(last, table.version);
    }
  }
  if (heads_.at(name).version > last) landings.emplace_back("commits by other writers");
  return fmt::format("{}", fmt::join(landings, ", "));
}

Status Gatherer::AddSourceChanges(const std::string& name) {
  auto head = heads_.find(name);
  if (head == heads_.end()) return {};
  TableState& state = out_->world.tables.at(name);
  for (Version version : VerifiedVersions(name)) {
    if (version == head->second.version) continue;
    AMEND_ASSIGN_OR_RETURN(PartitionSet changed, ChangedSince(name, version));
    if (changed.empty()) continue;
    state.changes.push_back({version, version + 1, std::move(changed), std::nullopt,
                             CauseSince(name, version)});
  }
  return {};
}

/// Whether the table went from `version` to its head by entries of ours alone, each made
/// on the snapshot that the one before it left: then they tell all that changed, and
/// nothing has to be read.
bool Gatherer::OnlyOursSince(const std::string& name, Version version) const {
  bool found = version == 0;
  std::int64_t last = 0;
  for (const ledger::Entry& entry : out_->entries) {
    for (const ledger::EntryTable& table : entry.tables) {
      if (table.table != name || table.snapshot_id == 0) continue;
      if (found && table.previous_snapshot_id != last) return false;
      found = found || table.version == version;
      if (found) last = table.snapshot_id;
    }
  }
  return found && heads_.at(name).snapshot_id == last;
}

/// Commits of others to a model: news for its readers, whether they may write it or not,
/// and whether what they wrote is still there or gone again. Entries tell of ours alone.
Status Gatherer::AddForeignCommits(const lineage::Model& model) {
  if (!heads_.contains(model.name)) return {};
  for (Version version : VerifiedVersions(model.name)) {
    if (OnlyOursSince(model.name, version)) continue;
    AMEND_ASSIGN_OR_RETURN(PartitionSet changed, ChangedSince(model.name, version));
    if (changed.empty()) continue;
    out_->world.tables.at(model.name)
        .changes.push_back({version, version + 1, std::move(changed), std::nullopt,
                            version == state::kAnotherTable
                                ? CauseSince(model.name, version)
                                : "commits by other writers"});
  }
  return {};
}

Result<lineage::CodeChange> Gatherer::CompareWith(const std::string& id,
                                                  const lineage::BoundModelEntry& entry) {
  lineage::CodeChange rows;
  rows.kind = lineage::CodeChange::Kind::kRows;
  std::optional<ledger::StoredDefinition> stored;
  AMEND_FAIL_IF_ERROR(
      w_.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(stored, w_.ledger().FindDefinition(tx, id));
        return Status();
      }));
  if (!stored) return rows;
  AMEND_ASSIGN(state::DefinitionRecord then,
               state::DefinitionRecordFromJson(stored->definition));
  // Canonical: the order of members is lost in the store and means nothing.
  if (CanonicalJson(then.settings) !=
      CanonicalJson(state::RecordOf(w_.lineage(), entry).settings)) {
    return rows;
  }
  std::vector<sql::InputTable> inputs;
  for (auto& [name, columns] : then.inputs) {
    if (w_.lineage().FindSource(name) == nullptr &&
        w_.lineage().FindModel(name) == nullptr) {
      return rows;
    }
    sql::InputTable input;
    input.name = name;
    input.space = w_.lineage().SpaceOf(name);
    input.columns = std::move(columns);
    inputs.push_back(std::move(input));
  }
  auto before = w_.binder().Bind({then.sql, "", 1}, inputs, entry.model.space);
  // What today's engine cannot bind any more cannot be compared.
  if (!before) return rows;
  return lineage::Compare(*before, entry.bound);
}

Status Gatherer::AddCodeChanges(const lineage::BoundModelEntry& entry) {
  plan::CodeChanges& changes = out_->world.code_changes[entry.model.name];
  for (const state::BuildRecord& record : out_->facts.at(entry.model.name).records) {
    if (record.definition == entry.definition || changes.contains(record.definition)) {
      continue;
    }
    AMEND_ASSIGN_OR_RETURN(changes[record.definition],
                           CompareWith(record.definition, entry));
  }
  return {};
}

/// Versions that the entry which made the hold gave to the tables it took back.
void Gatherer::ResolveVersions(std::int64_t number, state::Hold* hold) const {
  for (const ledger::Entry& entry : out_->entries) {
    if (entry.number != number) continue;
    for (const ledger::EntryTable& table : entry.tables) {
      auto version = hold->input_versions.find(table.table);
      if (version != hold->input_versions.end() &&
          version->second == engine::kThisPublication) {
        version->second = table.version;
      }
    }
  }
}

Status Gatherer::AddHolds() {
  for (const ledger::StoredHold& stored : holds_) {
    if (w_.lineage().FindModel(stored.table) == nullptr) continue;
    AMEND_ASSIGN_OR_RETURN(state::Hold hold,
                           state::HoldFromJson(w_.lineage().SpaceOf(stored.table),
                                               stored.id, stored.table, stored.hold));
    ResolveVersions(stored.created_by, &hold);
    NoteReplaced(hold.input_tables, &hold.input_versions);
    out_->world.tables.at(stored.table).holds.push_back(std::move(hold));
  }
  return {};
}

Status Gatherer::Run() {
  AMEND_RETURN_IF_ERROR(ReadCatalog());
  for (const auto& source : w_.lineage().sources()) {
    AMEND_RETURN_IF_ERROR(AddTable(source.name));
  }
  for (const auto& entry : w_.lineage().models()) {
    AMEND_RETURN_IF_ERROR(AddTable(entry.model.name));
    AMEND_RETURN_IF_ERROR(AddModel(entry));
  }
  AMEND_RETURN_IF_ERROR(AddHolds());
  for (const auto& source : w_.lineage().sources()) {
    AMEND_RETURN_IF_ERROR(AddSourceChanges(source.name));
  }
  for (const auto& entry : w_.lineage().models()) {
    AMEND_RETURN_IF_ERROR(AddForeignCommits(entry.model));
    AMEND_RETURN_IF_ERROR(AddCodeChanges(entry));
  }
  return {};
}

}  // namespace

PartitionSet ForeignPartitions(const table::Contents& contents,
                               const state::FactsInForce& facts) {
  std::map<Partition, std::vector<std::string>> live;
  for (const table::TableFile& file : contents.files()) {
    live[file.point].push_back(file.file.path);
  }
  std::vector<Partition> foreign;
  for (auto& [point, paths] : live) {
    auto fact = facts.by_partition.find(point);
    std::vector<std::string> ours;
    if (fact != facts.by_partition.end()) {
      for (const std::string& file : fact->second.files) {
        ours.push_back(iceberg::ToUri(file));
      }
    }
    std::sort(ours.begin(), ours.end());
    std::sort(paths.begin(), paths.end());
    if (ours != paths) foreign.push_back(point);
  }
  for (const auto& [point, fact] : facts.by_partition) {
    if (!fact.files.empty() && !live.contains(point)) foreign.push_back(point);
  }
  return PartitionSet::Of(contents.space().shape(), foreign);
}

Result<Gathered> GatherWorld(Workspace& workspace, const state::PlanRequest& request,
                             std::int64_t now_micros) {
  Gathered gathered;
  gathered.world.lineage = &workspace.lineage();
  gathered.world.request = request;
  gathered.world.now_micros = now_micros;
  AMEND_FAIL_IF_ERROR(Gatherer(workspace, &gathered).Run());
  return gathered;
}

}  // namespace amend

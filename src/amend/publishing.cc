#include "amend/publishing.h"

#include <algorithm>
#include <set>

#include "amend/plan_states.h"
#include "amend/same_content.h"
#include "amend/twins.h"
#include "engine/facts_file.h"
#include "fmt/format.h"
#include "iceberg/location.h"
#include "plan/cut_off.h"
#include "state/definition_record.h"
#include "state/hold.h"
#include "table/data_files.h"
#include "table/spaces.h"

namespace amend {
namespace {

using partition::Partition;
using partition::PartitionSet;
using state::PartitionFact;

constexpr std::int64_t kMillisPerDay = 86'400'000;

std::int64_t TagAge(Workspace& w) { return w.project().tag_days * kMillisPerDay; }

/// The skeleton that every publication of ours shares.
publish::Publication NewPublication(Workspace& w, publish::Kind kind,
                                    const std::string& subject, const Author& author) {
  publish::Publication publication;
  publication.attempt = publish::NewAttempt(w.env());
  publication.intent.id = w.env().NewUuid();
  publication.intent.kind = kind;
  publication.intent.subject = subject;
  publication.intent.folders.push_back(w.FactsFolder());
  publication.tag_age_ms = TagAge(w);
  publication.same_content = [&w](const publish::TableChange& change,
                                  const iceberg::LoadedTable& head,
                                  const partition::PartitionSet& partitions) {
    return SameContent(w, change, head, partitions);
  };
  publication.entry.author = author.name;
  publication.entry.reason = author.reason;
  publication.entry.ticket = author.ticket;
  return publication;
}

/// Facts are written before their intent is. A folder that is registered beforehand lets
/// gc find those of a process that died in between.
Status RegisterFactsFolder(Workspace& w) {
  return w.InTransaction(db::TransactionMode::kWrite, [&w](db::Transaction& tx) {
    return w.ledger().RegisterPath(tx, w.FactsFolder(), "facts");
  });
}

void AddTarget(Workspace& w, publish::TableChange change, const std::string& pin_location,
               publish::Publication* publication) {
  publication->intent.tables.push_back({change.ref.ToString(), pin_location});
  publication->intent.folders.push_back(w.LocationOf(change.ref.name) + "/metadata");
  publication->changes.push_back(std::move(change));
}

/// Tables in the order of their names, as an intent wants them.
void SortTables(publish::Publication* publication) {
  auto& tables = publication->intent.tables;
  std::sort(tables.begin(), tables.end(),
            [](const auto& a, const auto& b) { return a.table < b.table; });
  auto& entries = publication->entry.tables;
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.table < b.table; });
}

/// Writes a table's facts and notes path and digest in its entry.
Status WriteTableFacts(Workspace& w, const publish::Publication& publication,
                       const std::string& table, const state::TableFacts& facts,
                       ledger::EntryTable* entry) {
  AMEND_ASSIGN_OR_RETURN(engine::Engine * engine, w.engine());
  entry->facts_path =
      fmt::format("{}/{}-{}.parquet", w.FactsFolder(), publication.attempt, table);
  AMEND_ASSIGN_OR_RETURN(
      entry->facts_digest,
      engine::WriteFacts(w.env(), engine->connection(), w.lineage().SpaceOf(table), facts,
                         entry->facts_path, w.project().warehouse));
  return {};
}

/// Builds the publication of one staged run.
class PublicationBuilder {
 public:
  PublicationBuilder(Workspace& w, const run::RunWorld& world,
                     const run::RunOutcome& outcome, const Gathered& gathered)
      : w_(w), world_(world), outcome_(outcome), gathered_(gathered) {}

  Result<publish::Publication> Build(const Author& author);

 private:
  Status AddModel(const state::ModelPlan& plan, const run::ModelOutcome& outcome);
  state::TableFacts FactsOf(const state::ModelPlan& plan,
                            const run::ModelOutcome& outcome) const;
  void AddVerified(const state::ModelPlan& plan, const run::ModelOutcome& outcome,
                   const state::BuildRecord& record,
                   std::map<Partition, PartitionFact>* facts) const;
  Status AddChange(const state::ModelPlan& plan, const run::ModelOutcome& outcome);
  Result<std::vector<iceberg::DataFile>> FilesOf(const run::ModelOutcome& outcome,
                                                 int spec_id) const;
  PartitionSet GuardedOf(const state::ModelPlan& plan) const;
  state::BuildRecord RecordOf(const state::ModelPlan& plan) const;
  bool OldColumnsAsPublished(const run::ModelOutcome& outcome) const;
  Json ColumnsOf(const state::ModelPlan& plan, const run::ModelOutcome& outcome) const;
  const state::Pin* PinOf(const std::string& table) const;
  std::map<std::string, PartitionSet> Changed() const;
  void AddRows();

  Workspace& w_;
  const run::RunWorld& world_;
  const run::RunOutcome& outcome_;
  const Gathered& gathered_;
  std::set<std::string> changing_;  // models that get a snapshot
  std::map<std::string, plan::Standing> standings_;
  publish::Publication publication_;
};

const state::Pin* PublicationBuilder::PinOf(const std::string& table) const {
  auto it = world_.plan.pins.find(table);
  return it == world_.plan.pins.end() ? nullptr : &it->second;
}

/// What a partition of this model is made from, if it is of this publication.
state::BuildRecord PublicationBuilder::RecordOf(const state::ModelPlan& plan) const {
  state::BuildRecord record;
  record.definition = plan.definition;
  record.publication = engine::kThisNumber;
  for (const lineage::Edge* edge : w_.lineage().InputsOf(plan.model)) {
    const state::Pin* pin = PinOf(edge->from);
    record.verified_at[edge->from] = changing_.contains(edge->from)
                                         ? engine::kThisPublication
                                     : pin == nullptr ? 0
                                                      : pin->version;
    if (pin != nullptr && !pin->uuid.empty()) {
      record.verified_in[edge->from] = pin->uuid;
    }
  }
  return record;
}

/// Facts of partitions whose files stay: computed and found equal, or cut off.
void PublicationBuilder::AddVerified(const state::ModelPlan& plan,
                                     const run::ModelOutcome& outcome,
                                     const state::BuildRecord& record,
                                     std::map<Partition, PartitionFact>* facts) const {
  auto before = gathered_.facts.find(plan.model);
  if (before == gathered_.facts.end()) return;
  const plan::Standing& now = standings_.at(plan.model);
  const PartitionSet verified = outcome.unchanged.Union(outcome.cut_off);
  for (const auto& [point, known] : before->second.by_partition) {
    if (!verified.Contains(point)) continue;
    PartitionFact fact = known;
    fact.kind = state::FactKind::kVerified;
    fact.record = outcome.cut_off.Contains(point)
                      ? plan::CutOffRecord(known.record, point, now, record)
                      : record;
    fact.record.publication = known.record.publication;
    facts->insert_or_assign(point, std::move(fact));
  }
}

state::TableFacts PublicationBuilder::FactsOf(const state::ModelPlan& plan,
                                              const run::ModelOutcome& outcome) const {
  std::map<Partition, PartitionFact> facts;
  state::BuildRecord record = RecordOf(plan);
  for (const state::WriteSet& set : outcome.write_sets) {
    for (const state::StagedPartition& staged : set.staged) {
      if (!outcome.changed.Contains(staged.partition)) continue;
      PartitionFact& fact = facts[staged.partition];
      fact = {
          staged.partition, state::FactKind::kBuilt, staged.digest, record, set.name, {}};
    }
    for (const state::StagedFile& file : set.files) {
      auto fact = facts.find(file.partition);
      if (fact != facts.end()) fact->second.files.push_back(file.path);
    }
  }
  AddVerified(plan, outcome, record, &facts);
  state::TableFacts all;
  for (auto& [point, fact] : facts) all.points.push_back(std::move(fact));
  // What a cut-off leaves of partitions without end keeps its record: it is as true as it
  // was, for no input of theirs changed.
  if (!outcome.rest.empty()) {
    all.rest.push_back({outcome.rest, state::FactKind::kBuilt, record});
  }
  return all;
}

Result<std::vector<iceberg::DataFile>> PublicationBuilder::FilesOf(
    const run::ModelOutcome& outcome, int spec_id) const {
  const partition::PartitionSpace& space = w_.lineage().SpaceOf(outcome.model);
  std::vector<iceberg::DataFile> files;
  for (const state::WriteSet& set : outcome.write_sets) {
    for (const state::StagedFile& staged : set.files) {
      if (!outcome.changed.Contains(staged.partition)) continue;
      AMEND_ASSIGN(iceberg::DataFile file, table::MetricsFromJson(staged.metrics));
      file.path = iceberg::ToUri(staged.path);
      file.partition = table::TupleOf(space, staged.partition);
      file.spec_id = spec_id;
      files.push_back(std::move(file));
    }
  }
  return files;
}

/// Written partitions and those of this table that other planned models read: both must
/// be at the head as they were at the pin.
PartitionSet PublicationBuilder::GuardedOf(const state::ModelPlan& plan) const {
  PartitionSet guarded = plan.partitions;
  for (const state::ModelPlan& reader : world_.plan.models) {
    for (const lineage::Edge* edge : w_.lineage().InputsOf(reader.model)) {
      if (edge->from == plan.model) {
        guarded = guarded.Union(edge->Required(reader.partitions));
      }
    }
  }
  return guarded;
}

bool PublicationBuilder::OldColumnsAsPublished(const run::ModelOutcome& outcome) const {
  const run::RunTable& table = world_.tables.at(outcome.model);
  for (const state::WriteSet& set : outcome.write_sets) {
    for (const state::StagedPartition& staged : set.staged) {
      if (!outcome.changed.Contains(staged.partition)) continue;
      auto published = table.published.find(staged.partition);
      if (published == table.published.end() || !staged.old_columns ||
          published->second != *staged.old_columns) {
        return false;
      }
    }
  }
  return true;
}

/// The columns in which changed partitions may differ; null where rows may. New columns
/// are proved to be all by digests over the others. Where others change, the plan says
/// which: it left out models that read none of them, and they must stay current.
Json PublicationBuilder::ColumnsOf(const state::ModelPlan& plan,
                                   const run::ModelOutcome& outcome) const {
  const run::RunTable& table = world_.tables.at(outcome.model);
  std::set<std::string> added;
  if (table.old_columns) {
    for (const iceberg::Field& field : table.schema.fields) added.insert(field.name);
    for (const std::string& column : *table.old_columns) added.erase(column);
    if (OldColumnsAsPublished(outcome)) return added;
  }
  if (!plan.changed_columns) return nullptr;
  const bool others = std::any_of(
      plan.changed_columns->begin(), plan.changed_columns->end(),
      [&added](const std::string& column) { return !added.contains(column); });
  // That a new column alone came with other values elsewhere is no part of the plan.
  return others ? Json(*plan.changed_columns) : Json();
}

Status PublicationBuilder::AddChange(const state::ModelPlan& plan,
                                     const run::ModelOutcome& outcome) {
  const run::RunTable& table = world_.tables.at(plan.model);
  const state::Pin* pin = PinOf(plan.model);
  publish::TableChange change;
  change.ref = w_.store().RefOf(plan.model);
  change.space = w_.lineage().SpaceOf(plan.model);
  change.guarded = GuardedOf(plan);
  change.replaced = outcome.changed;
  int spec_id = 0;
  if (pin == nullptr) {
    iceberg::NewTable create;
    create.location = iceberg::ToUri(w_.LocationOf(plan.model));
    create.schema = table.schema;
    AMEND_ASSIGN_OR_RETURN(create.spec, table::SpecOf(change.space, table.schema));
    create.properties = {{"write.parquet.compression-codec", "zstd"},
                         {"commit.retry.num-retries", "4"}};
    change.create = std::move(create);
  } else {
    AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* loaded, w_.store().Load(*pin));
    change.pinned = *loaded;
    change.pinned_snapshot = pin->snapshot_id;
    spec_id = loaded->metadata.spec().id;
    if (!(table.schema.fields == loaded->metadata.schema().fields)) {
      change.schema = table.schema;
      change.schema_base_last_column_id = loaded->metadata.last_column_id();
    }
  }
  AMEND_ASSIGN_OR_RETURN(change.added, FilesOf(outcome, spec_id));
  AddTarget(w_, std::move(change), pin == nullptr ? "" : pin->metadata_location,
            &publication_);
  return {};
}

Status PublicationBuilder::AddModel(const state::ModelPlan& plan,
                                    const run::ModelOutcome& outcome) {
  ledger::EntryTable entry;
  entry.table = plan.model;
  entry.changed = RangesToJson(w_.lineage().SpaceOf(plan.model), outcome.changed);
  entry.columns = ColumnsOf(plan, outcome);
  AMEND_RETURN_IF_ERROR(
      WriteTableFacts(w_, publication_, plan.model, FactsOf(plan, outcome), &entry));
  publication_.entry.tables.push_back(std::move(entry));
  if (outcome.changed.empty()) return {};
  return AddChange(plan, outcome);
}

/// Partitions that become others with it, by model.
std::map<std::string, PartitionSet> PublicationBuilder::Changed() const {
  std::map<std::string, PartitionSet> changed;
  for (const run::ModelOutcome& outcome : outcome_.models) {
    changed.emplace(outcome.model, outcome.changed);
  }
  return changed;
}

/// Rows that become true with the publication.
void PublicationBuilder::AddRows() {
  std::vector<ledger::StoredDefinition> definitions;
  for (const state::ModelPlan& plan : world_.plan.models) {
    const lineage::BoundModelEntry& entry = *w_.lineage().FindModel(plan.model);
    definitions.push_back({entry.definition, entry.model.name,
                           state::ToJson(state::RecordOf(w_.lineage(), entry))});
  }
  std::int64_t known = 0;
  for (const ledger::Entry& entry : gathered_.entries) {
    known = std::max(known, entry.number);
  }
  std::set<std::string> tables;
  for (const ledger::EntryTable& table : publication_.entry.tables) {
    tables.insert(table.table);
  }
  ledger::Ledger& ledger = w_.ledger();
  publication_.also = [w = &w_, &ledger, definitions = std::move(definitions),
                       plan = world_.plan, changed = Changed(), known,
                       tables = std::move(tables)](db::Transaction& tx,
                                                   std::int64_t number) -> Status {
    // Facts lie over those of the entries that were known; one in between about the same
    // tables would be overruled without having been looked at.
    AMEND_ASSIGN_OR_RETURN(std::vector<ledger::Entry> entries, ledger.Entries(tx));
    for (const ledger::Entry& entry : entries) {
      if (entry.number <= known || entry.number == number) continue;
      for (const ledger::EntryTable& table : entry.tables) {
        if (tables.contains(table.table)) {
          return Conflict(
              fmt::format("#{} changed {} meanwhile", entry.number, table.table));
        }
      }
    }
    for (const ledger::StoredDefinition& definition : definitions) {
      AMEND_RETURN_IF_ERROR(ledger.SaveDefinition(tx, definition));
    }
    AMEND_RETURN_IF_ERROR(DropTwins(*w, tx, plan.id));
    return EndPlans(*w, tx, plan, changed);
  };
}

Result<publish::Publication> PublicationBuilder::Build(const Author& author) {
  AMEND_FAIL_IF_ERROR(plan::Validate(gathered_.world));
  standings_ = plan::SurveyModels(gathered_.world);
  AMEND_FAIL_IF_ERROR(RegisterFactsFolder(w_));
  publication_ = NewPublication(w_, publish::Kind::kPublish, world_.plan.id, author);
  publication_.entry.plan = world_.plan.id;
  publication_.entry.run = outcome_.run;
  publication_.summary = {{"amend.plan", world_.plan.id}, {"amend.run", outcome_.run}};
  for (const run::ModelOutcome& outcome : outcome_.models) {
    if (!outcome.changed.empty()) changing_.insert(outcome.model);
  }
  publication_.entry.no_op = changing_.empty();
  Json verdicts = Json::array();
  for (std::size_t i = 0; i < world_.plan.models.size(); ++i) {
    AMEND_FAIL_IF_ERROR(AddModel(world_.plan.models[i], outcome_.models[i]));
    for (const state::Verdict& verdict : outcome_.models[i].verdicts) {
      verdicts.push_back(state::VerdictToJson(verdict));
    }
  }
  Json pins = Json::object();
  for (const auto& [table, pin] : world_.plan.pins) pins[table] = pin.snapshot_id;
  publication_.entry.body["pins"] = std::move(pins);
  publication_.entry.body["verdicts"] = std::move(verdicts);
  AddRows();
  SortTables(&publication_);
  return std::move(publication_);
}

/// Builds the publication that takes one entry back.
class RollbackBuilder {
 public:
  RollbackBuilder(Workspace& w, const ledger::Entry& entry,
                  const std::vector<ledger::Entry>& entries)
      : w_(w), entry_(entry), entries_(entries) {}

  Result<publish::Publication> Build(const Author& author);

 private:
  Status AddTable(const ledger::EntryTable& table);
  Status AddFacts(const ledger::EntryTable& table, ledger::EntryTable* entry);
  Status AddHold(const std::string& model, const PartitionSet& partitions);

  Workspace& w_;
  const ledger::Entry& entry_;
  const std::vector<ledger::Entry>& entries_;
  publish::Publication publication_;
  std::vector<ledger::StoredHold> holds_;
};

Status RollbackBuilder::AddTable(const ledger::EntryTable& table) {
  const partition::PartitionSpace& space = w_.lineage().SpaceOf(table.table);
  AMEND_ASSIGN_OR_RETURN(PartitionSet changed, RangesFromJson(space, table.changed));
  AMEND_ASSIGN_OR_RETURN(const iceberg::LoadedTable* published,
                         w_.store().Load(table.table, table.metadata_location));
  publish::TableChange change;
  change.ref = w_.store().RefOf(table.table);
  change.space = space;
  change.pinned = *published;
  change.pinned_snapshot = table.snapshot_id;
  change.guarded = changed;
  change.replaced = changed;
  AMEND_ASSIGN_OR_RETURN(
      table::Contents before,
      table::ReadContents(w_.env(), *published, table.previous_snapshot_id, space));
  for (const table::TableFile* file : before.FilesIn(changed)) {
    change.restored.push_back({file->file, file->sequence_number});
  }
  if (!change.restored.empty()) change.keep_snapshot = table.previous_snapshot_id;
  AddTarget(w_, std::move(change), table.metadata_location, &publication_);
  return {};
}

/// What was known before of partitions of which an entry said that they have no rows.
std::vector<state::RestFact> RestBefore(const state::FactsInForce& before,
                                        const PartitionSet& rest) {
  std::map<std::size_t, PartitionSet> of_record;
  before.built.ForEachRunIn(rest, [&](const PartitionSet& at, std::size_t record) {
    auto known = of_record.try_emplace(record, rest.shape()).first;
    known->second = known->second.Union(at);
  });
  std::vector<state::RestFact> facts;
  for (auto& [record, partitions] : of_record) {
    facts.push_back(
        {std::move(partitions), state::FactKind::kRestored, before.records[record]});
  }
  PartitionSet never = rest.Difference(before.built.Domain());
  if (!never.empty()) {
    facts.push_back({std::move(never), state::FactKind::kRemoved, {}});
  }
  return facts;
}

/// Records as they were before the entry; the partitions are held.
Status RollbackBuilder::AddFacts(const ledger::EntryTable& table,
                                 ledger::EntryTable* entry) {
  std::vector<ledger::Entry> earlier;
  for (const ledger::Entry& e : entries_) {
    if (e.number < entry_.number) earlier.push_back(e);
  }
  AMEND_ASSIGN_OR_RETURN(state::FactsInForce before, w_.Facts(earlier, table.table));
  AMEND_ASSIGN_OR_RETURN(state::FactsInForce taken_back, w_.Facts({entry_}, table.table));
  state::TableFacts facts;
  for (const auto& [point, fact] : taken_back.by_partition) {
    auto known = before.by_partition.find(point);
    PartitionFact restored;
    if (known != before.by_partition.end()) restored = known->second;
    restored.partition = point;
    restored.kind = known == before.by_partition.end() ? state::FactKind::kRemoved
                                                       : state::FactKind::kRestored;
    facts.points.push_back(std::move(restored));
  }
  facts.rest = RestBefore(before, taken_back.Rest());
  AMEND_RETURN_IF_ERROR(WriteTableFacts(w_, publication_, table.table, facts, entry));
  return AddHold(table.table, taken_back.built.Domain());
}

Status RollbackBuilder::AddHold(const std::string& model,
                                const PartitionSet& partitions) {
  if (partitions.empty()) return {};
  state::Hold hold;
  hold.table = model;
  hold.partitions = partitions;
  hold.reason = publication_.entry.reason;
  hold.definition = w_.lineage().FindModel(model)->definition;
  std::vector<std::string> inputs;
  for (const lineage::Edge* edge : w_.lineage().InputsOf(model)) {
    inputs.push_back(edge->from);
  }
  std::map<std::string, state::Pin> heads;
  AMEND_RETURN_IF_ERROR(
      w_.InTransaction(db::TransactionMode::kRead, [&](db::Transaction& tx) {
        AMEND_ASSIGN_OR_RETURN(heads, w_.store().Heads(tx, inputs));
        return Status();
      }));
  for (const std::string& input : inputs) {
    bool taken_back = std::any_of(entry_.tables.begin(), entry_.tables.end(),
                                  [&](const ledger::EntryTable& t) {
                                    return t.table == input && t.snapshot_id != 0;
                                  });
    hold.input_versions[input] =
        taken_back ? engine::kThisPublication : heads[input].version;
    if (!heads[input].uuid.empty()) hold.input_tables[input] = heads[input].uuid;
  }
  ledger::StoredHold stored;
  stored.table = model;
  stored.hold = state::HoldToJson(w_.lineage().SpaceOf(model), hold);
  holds_.push_back(std::move(stored));
  return {};
}

Result<publish::Publication> RollbackBuilder::Build(const Author& author) {
  if (entry_.kind == ledger::EntryKind::kRollback) {
    return Fail(Unsupported(fmt::format("#{} is itself a rollback", entry_.number))
                    .Hint("Release its holds and run amend backfill to get the newer "
                          "data again."));
  }
  AMEND_FAIL_IF_ERROR(RegisterFactsFolder(w_));
  publication_ =
      NewPublication(w_, publish::Kind::kRollback, std::to_string(entry_.number), author);
  publication_.entry.rolls_back = entry_.number;
  publication_.entry.plan = entry_.plan;
  publication_.summary = {{"amend.rolls-back", std::to_string(entry_.number)}};
  for (const ledger::EntryTable& table : entry_.tables) {
    if (w_.lineage().FindModel(table.table) == nullptr &&
        w_.lineage().FindSource(table.table) == nullptr) {
      return Fail(Invalid("the project no longer has the table " + table.table)
                      .Table(table.table)
                      .Hint("Bring its definition back, then roll back."));
    }
    if (w_.lineage().FindModel(table.table) != nullptr) {
      AMEND_FAIL_IF_ERROR(w_.RefuseRepartitioned({table.table}));
    }
    ledger::EntryTable entry;
    entry.table = table.table;
    entry.changed = table.changed;
    // Taking back what differed only in some columns changes those columns again.
    entry.columns = table.columns;
    if (!table.facts_path.empty()) AMEND_FAIL_IF_ERROR(AddFacts(table, &entry));
    publication_.entry.tables.push_back(std::move(entry));
    if (table.snapshot_id != 0) AMEND_FAIL_IF_ERROR(AddTable(table));
  }
  ledger::Ledger& ledger = w_.ledger();
  publication_.also = [&ledger, holds = std::move(holds_)](
                          db::Transaction& tx, std::int64_t number) -> Status {
    for (ledger::StoredHold hold : holds) {
      hold.created_by = number;
      hold.hold["by"] = fmt::format("rollback #{}", number);
      AMEND_RETURN_IF_ERROR(ledger.AddHold(tx, hold));
    }
    return {};
  };
  SortTables(&publication_);
  return std::move(publication_);
}

}  // namespace

Result<publish::Publication> PreparePublication(Workspace& workspace,
                                                const run::RunWorld& world,
                                                const run::RunOutcome& outcome,
                                                const Gathered& gathered,
                                                const Author& author) {
  return PublicationBuilder(workspace, world, outcome, gathered).Build(author);
}

Result<publish::Publication> PrepareRollback(Workspace& workspace,
                                             const ledger::Entry& entry,
                                             const std::vector<ledger::Entry>& entries,
                                             const Author& author) {
  return RollbackBuilder(workspace, entry, entries).Build(author);
}

}  // namespace amend

#include "plan/survey.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"
#include "lineage/extent.h"

namespace amend::plan {
namespace {

using lineage::CodeChange;
using partition::PartitionSet;
using partition::TimeRuns;
using state::Change;
using state::Reason;
using state::ReasonKind;
using state::TableState;
using state::Version;

/// Verified versions of one input, by index of the build record.
struct Verified {
  std::vector<std::optional<Version>> of_record;
  std::vector<Version> distinct;  ///< ascending

  Verified(const TableState& table, const std::string& input) {
    for (const state::BuildRecord& record : table.records) {
      auto at = record.verified_at.find(input);
      if (at == record.verified_at.end()) {
        of_record.push_back(std::nullopt);
      } else {
        of_record.push_back(at->second);
        distinct.push_back(at->second);
      }
    }
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  }

  /// Whether some record lies in the change's range: most changes of a long history are
  /// ruled out here, before any set is touched.
  bool Meets(const Change& change) const {
    auto at = std::lower_bound(distinct.begin(), distinct.end(), change.after);
    return at != distinct.end() && *at < change.before;
  }
};

/// Periods that end after the start of `day`: what `replay: since DATE` lets count.
/// Tables without time have no part that is older, so all of them counts.
PartitionSet Since(const partition::PartitionSpace& space, std::int64_t day) {
  if (!space.has_time()) return PartitionSet::All(space);
  std::int64_t first = partition::PeriodContainingDay(space.time()->grain, day).ordinal();
  return PartitionSet::OfTimes(
      space.shape(), TimeRuns::FromRuns({{first, partition::kPlusInfinity}}, true));
}

std::string CodeText(const CodeChange& change) {
  std::string names = Join({change.columns.begin(), change.columns.end()}, ", ");
  switch (change.kind) {
    case CodeChange::Kind::kColumnsAdded:
      return "new column " + names;
    case CodeChange::Kind::kColumns:
      return "definition of column " + names + " changed";
    case CodeChange::Kind::kNone:
    case CodeChange::Kind::kRows:
      break;
  }
  return "definition changed";
}

/// Points of a class; those of a class without end count where the table has rows.
std::int64_t CountOf(const PartitionSet& set, const PartitionSet& live) {
  if (auto count = set.Count()) return *count;
  return set.Intersect(live).Count().value_or(0);
}

/// Surveys the models one after the other, inputs first.
class Surveyor {
 public:
  explicit Surveyor(const World& world) : world_(world) {
    for (const lineage::Source& source : world.lineage->sources()) {
      known_.emplace(source.name, TableOf(source.name, source.space).live);
    }
  }

  std::map<std::string, Standing> Run() {
    std::map<std::string, Standing> all;
    for (const lineage::BoundModelEntry& entry : world_.lineage->models()) {
      const std::string& name = entry.model.name;
      auto [at, added] = all.emplace(name, SurveyOne(entry));
      known_.emplace(name, at->second.known);
    }
    return all;
  }

 private:
  const TableState& TableOf(const std::string& name,
                            const partition::PartitionSpace& space) {
    auto at = world_.tables.find(name);
    if (at != world_.tables.end()) return at->second;
    return absent_.try_emplace(name, EmptyTable(space)).first->second;
  }

  Standing SurveyOne(const lineage::BoundModelEntry& entry) {
    const lineage::Model& model = entry.model;
    const TableState& table = TableOf(model.name, model.space);
    PartitionSet possible = lineage::PossiblePartitions(
        entry.bound, model.space.shape(),
        [this](const std::string& input) { return known_.at(input); });
    PartitionSet built = table.built.Domain();
    Standing s;
    s.outdated = PartitionSet::Empty(model.space);
    PartitionSet older = FindCodeChanges(entry, table, &s);
    FindInputChanges(entry, table, &s);
    s.unfinished = partition::UnfinishedAt(model.space, world_.now_micros);
    FindHolds(entry, table, &s);
    s.known = built.Union(table.drifted).Union(possible);
    Sort(possible.Difference(built), table.drifted, older, &s);
    Count(table.live, &s);
    return s;
  }

  /// Adds what the code makes stale; returns what the replay policy keeps as older.
  PartitionSet FindCodeChanges(const lineage::BoundModelEntry& entry,
                               const TableState& table, Standing* s) {
    const lineage::ReplayPolicy& replay = entry.model.replay;
    PartitionSet older = PartitionSet::Empty(entry.model.space);
    std::map<lineage::DefinitionId, std::vector<bool>> records_of;
    for (std::size_t i = 0; i < table.records.size(); ++i) {
      const lineage::DefinitionId& definition = table.records[i].definition;
      if (definition == entry.definition) continue;
      auto& flags =
          records_of.try_emplace(definition, table.records.size()).first->second;
      flags[i] = true;
    }
    for (const auto& [definition, flags] : records_of) {
      CodeChange change = ChangeSince(entry.model.name, definition);
      if (change.kind == CodeChange::Kind::kNone) continue;
      PartitionSet built = table.built.Where([&](std::size_t at) { return flags[at]; });
      PartitionSet counts = PartitionSet::Empty(entry.model.space);
      if (replay.code == lineage::Replay::kAll) counts = built;
      if (replay.code == lineage::Replay::kSince) {
        counts =
            built.Intersect(Since(entry.model.space, replay.code_since_day.value_or(0)));
      }
      PartitionSet kept = built.Difference(counts);
      s->asks_replay |= replay.code == lineage::Replay::kAsk && !kept.empty();
      older = older.Union(kept);
      ChangedColumns columns;
      if (change.kind != CodeChange::Kind::kRows) columns = change.columns;
      if (!kept.empty()) {
        std::string text = CodeText(change) + ", taken up with the rebuild";
        s->kept.push_back({{ReasonKind::kCode, "", text, kept, false}, columns, ""});
      }
      AddFinding({ReasonKind::kCode, "", CodeText(change), counts}, columns, s);
    }
    return older;
  }

  CodeChange ChangeSince(const std::string& model,
                         const lineage::DefinitionId& definition) {
    CodeChange rows{CodeChange::Kind::kRows, {}};
    auto changes = world_.code_changes.find(model);
    if (changes == world_.code_changes.end()) return rows;
    auto change = changes->second.find(definition);
    return change == changes->second.end() ? rows : change->second;
  }

  void FindInputChanges(const lineage::BoundModelEntry& entry, const TableState& table,
                        Standing* s) {
    for (const lineage::Edge* edge : world_.lineage->InputsOf(entry.model.name)) {
      Verified verified(table, edge->from);
      FindNeverVerified(entry, table, *edge, verified, s);
      const TableState& input = TableOf(edge->from, world_.lineage->SpaceOf(edge->from));
      for (const Change& change : input.changes) {
        if (!verified.Meets(change)) continue;
        for (const lineage::InputRef& ref : edge->refs) {
          if (!Reads(ref, change.columns)) continue;
          PartitionSet stale = table.built.WhereIn(
              ref.mapping.Affected(change.partitions), [&](std::size_t at) {
                const auto& version = verified.of_record[at];
                return version && change.AppliesTo(*version);
              });
          if (stale.empty()) continue;
          AddFinding(
              {KindOf(edge->from), edge->from, ChangeText(*edge, ref, change), stale},
              ChangedOutputs(entry.bound, edge->from, change.columns), s,
              WideningText(entry.model.space, ref));
        }
      }
    }
  }

  /// A record of the definition in force that says nothing of an input is not believed.
  /// (One of an earlier definition may well have had other inputs.)
  void FindNeverVerified(const lineage::BoundModelEntry& entry, const TableState& table,
                         const lineage::Edge& edge, const Verified& verified,
                         Standing* s) {
    PartitionSet never = table.built.Where([&](std::size_t at) {
      return !verified.of_record[at] && table.records[at].definition == entry.definition;
    });
    AddFinding({KindOf(edge.from), edge.from, "never compared with " + edge.from, never},
               std::nullopt, s);
  }

  ReasonKind KindOf(const std::string& table) const {
    return world_.lineage->FindSource(table) != nullptr ? ReasonKind::kSource
                                                        : ReasonKind::kUpstream;
  }

  std::string ChangeText(const lineage::Edge& edge, const lineage::InputRef& ref,
                         const Change& change) const {
    const partition::PartitionSpace& space = world_.lineage->SpaceOf(edge.from);
    std::string what = partition::Describe(space, change.partitions);
    if (change.columns) {
      what +=
          " in column " + Join({change.columns->begin(), change.columns->end()}, ", ");
    }
    return fmt::format("{} changed {}; {}", change.cause, what, WhyText(ref));
  }

  /// Takes steps of one kind, origin and effect together.
  void AddFinding(Reason reason, const ChangedColumns& columns, Standing* s,
                  const std::string& widening = "") {
    if (reason.partitions.empty()) return;
    s->outdated = s->outdated.Union(reason.partitions);
    for (Finding& finding : s->findings) {
      const Reason& r = finding.reason;
      if (std::tie(r.kind, r.from, r.text, finding.columns) ==
          std::tie(reason.kind, reason.from, reason.text, columns)) {
        finding.reason.partitions = r.partitions.Union(reason.partitions);
        return;
      }
    }
    s->findings.push_back({std::move(reason), columns, widening});
  }

  void FindHolds(const lineage::BoundModelEntry& entry, const TableState& table,
                 Standing* s) {
    s->on_hold = PartitionSet::Empty(entry.model.space);
    for (const state::Hold& hold : table.holds) {
      if (!hold.definition.empty() && hold.definition != entry.definition) continue;
      PartitionSet in_force = hold.partitions.Difference(MovedSince(entry, hold));
      if (in_force.empty()) continue;
      s->on_hold = s->on_hold.Union(in_force);
      s->holds.push_back({&hold, std::move(in_force)});
    }
  }

  /// Partitions that read something that changed beyond the versions of the hold.
  PartitionSet MovedSince(const lineage::BoundModelEntry& entry,
                          const state::Hold& hold) {
    PartitionSet moved = PartitionSet::Empty(entry.model.space);
    for (const lineage::Edge* edge : world_.lineage->InputsOf(entry.model.name)) {
      auto version = hold.input_versions.find(edge->from);
      if (version == hold.input_versions.end()) continue;
      const TableState& input = TableOf(edge->from, world_.lineage->SpaceOf(edge->from));
      for (const Change& change : input.changes) {
        if (!change.AppliesTo(version->second)) continue;
        for (const lineage::InputRef& ref : edge->refs) {
          if (!Reads(ref, change.columns)) continue;
          moved = moved.Union(ref.mapping.Affected(change.partitions));
        }
      }
    }
    return moved;
  }

  /// The first class that applies to each known partition.
  void Sort(const PartitionSet& missing, const PartitionSet& drifted,
            const PartitionSet& older, Standing* s) {
    PartitionSet left = s->known;
    auto take = [&](const PartitionSet& set) {
      PartitionSet taken = left.Intersect(set);
      left = left.Difference(taken);
      return taken;
    };
    s->missing = take(missing);
    s->drifted = take(drifted);
    s->held = take(s->on_hold);
    s->open = take(s->unfinished);
    s->stale = take(s->outdated);
    s->older = take(older);
    s->current = left;
  }

  static void Count(const PartitionSet& live, Standing* s) {
    s->counts = {.missing = CountOf(s->missing, live),
                 .drifted = CountOf(s->drifted, live),
                 .held = CountOf(s->held, live),
                 .open = CountOf(s->open, live),
                 .stale = CountOf(s->stale, live),
                 .older = CountOf(s->older, live),
                 .current = CountOf(s->current, live)};
  }

  const World& world_;
  std::map<std::string, PartitionSet> known_;
  std::map<std::string, TableState> absent_;
};

}  // namespace

std::string WideningText(const partition::PartitionSpace& output,
                         const lineage::InputRef& ref) {
  bool whole_time = ref.mapping.time().all && output.has_time();
  if (!whole_time && !ref.mapping.widened_values()) return "";
  return fmt::format("which partitions {} reaches is not known ({})", ref.table,
                     WhyText(ref));
}

std::string UntilText(const state::Hold& hold) {
  std::string release = "amend release " + hold.table;
  if (hold.input_versions.empty()) return release;
  return "an input of theirs or the definition changes, or " + release;
}

std::map<std::string, Standing> SurveyModels(const World& world) {
  return Surveyor(world).Run();
}

}  // namespace amend::plan

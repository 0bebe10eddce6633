#include "plan/survey.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"
#include "lineage/extent.h"
#include "plan/staleness.h"

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
    std::map<lineage::DefinitionId, std::size_t> places;
    for (std::size_t i = 0; i < table.records.definitions().size(); ++i) {
      const lineage::DefinitionId& definition = table.records.definitions()[i];
      if (definition != entry.definition) places.emplace(definition, i);
    }
    for (const auto& [definition, place] : places) {
      CodeChange change = ChangeSince(entry.model.name, definition);
      if (change.kind == CodeChange::Kind::kNone) continue;
      PartitionSet built = table.built.Where([&, &where = place](std::size_t at) {
        return table.records.definition_at(at) == where;
      });
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
      const std::vector<Version>* verified = table.records.VerifiedAt(edge->from);
      FindNeverVerified(entry, table, *edge, verified, s);
      const TableState& input = TableOf(edge->from, world_.lineage->SpaceOf(edge->from));
      if (verified == nullptr || input.changes.empty()) continue;
      PartitionSet suspects =
          MayBeStale(table.built, *verified, input.changes.LatestTimes(), edge->refs);
      if (!suspects.empty()) {
        FindStale(entry, table, *edge, {*verified, input.changes, suspects}, s);
      }
    }
  }

  /// What is asked of one edge: which of the suspects some change made stale.
  struct Question {
    const std::vector<Version>& verified;  ///< of the input, by build record
    const state::ChangeLog& changes;       ///< of the input
    const PartitionSet& suspects;

    /// Versions that suspects have seen, ascending.
    std::vector<Version> SeenIn(const TableState& table) const {
      std::set<Version> seen;
      table.built.ForEachTimeIn(
          suspects,
          [&](std::int64_t, std::int64_t, std::size_t at) { seen.insert(verified[at]); },
          [&](std::size_t at) { seen.insert(verified[at]); });
      return {seen.begin(), seen.end()};
    }
  };

  void FindStale(const lineage::BoundModelEntry& entry, const TableState& table,
                 const lineage::Edge& edge, const Question& question, Standing* s) {
    std::vector<Version> seen = question.SeenIn(table);
    const state::ChangeLog& changes = question.changes;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      auto first = std::lower_bound(seen.begin(), seen.end(), changes.after(i));
      if (first == seen.end() || *first >= changes.before(i)) continue;
      Change change = changes[i];
      for (const lineage::InputRef& ref : edge.refs) {
        if (!Reads(ref, change.columns)) continue;
        PartitionSet reached =
            ref.mapping.Affected(change.partitions).Intersect(question.suspects);
        PartitionSet stale = table.built.WhereIn(reached, [&](std::size_t at) {
          return change.AppliesTo(question.verified[at]);
        });
        if (stale.empty()) continue;
        AddFinding({KindOf(edge.from), edge.from, ChangeText(edge, ref, change), stale},
                   ChangedOutputs(entry.bound, edge.from, change.columns), s,
                   WideningText(entry.model.space, ref));
      }
    }
  }

  /// A record of the definition in force that says nothing of an input is not believed.
  /// (One of an earlier definition may well have had other inputs.)
  void FindNeverVerified(const lineage::BoundModelEntry& entry, const TableState& table,
                         const lineage::Edge& edge, const std::vector<Version>* verified,
                         Standing* s) {
    constexpr Version kNever = state::BuildRecords::kNever;
    bool all_know = verified != nullptr && std::find(verified->begin(), verified->end(),
                                                     kNever) == verified->end();
    if (all_know) return;
    PartitionSet never = table.built.Where([&](std::size_t at) {
      return (verified == nullptr || (*verified)[at] == kNever) &&
             table.records.definition(at) == entry.definition;
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
    return fmt::format("{} changed {}; {}", change.cause.text(), what, WhyText(ref));
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
      for (std::size_t i = 0; i < input.changes.size(); ++i) {
        if (!input.changes.AppliesTo(i, version->second)) continue;
        for (const lineage::InputRef& ref : edge->refs) {
          if (!Reads(ref, input.changes.columns(i))) continue;
          moved = moved.Union(ref.mapping.Affected(input.changes.partitions(i)));
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

#include "plan/planner.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"
#include "lineage/extent.h"
#include "plan/estimate.h"

namespace amend::plan {
namespace {

using partition::PartitionSet;
using state::Reason;
using state::ReasonKind;

/// What is planned of one model while the walk is under way.
struct Work {
  PartitionSet exists;   ///< partitions that can be written
  PartitionSet allowed;  ///< exists, without what is held or open
  PartitionSet on_hold;  ///< without the holds that planned inputs end
  PartitionSet planned;
  PartitionSet left_open;  ///< would have been planned, but not finished
  std::vector<Reason> because;
  std::map<ChangedColumns, PartitionSet> effects;  ///< what may differ where
  std::vector<std::string> widened;                ///< inputs, as a sentence each
};

class Planner {
 public:
  Planner(const World& world, state::PlanRequest request,
          std::map<std::string, Standing> standings)
      : world_(world), lineage_(*world.lineage), standings_(std::move(standings)) {
    plan_.request = std::move(request);
  }

  state::Plan Run() {
    for (const lineage::Source& source : lineage_.sources()) {
      auto at = world_.tables.find(source.name);
      rows_in_.emplace(source.name, at == world_.tables.end()
                                        ? PartitionSet::Empty(source.space)
                                        : at->second.live);
    }
    for (const lineage::BoundModelEntry& entry : lineage_.models()) PlanModel(entry);
    for (const lineage::BoundModelEntry& entry : lineage_.models()) Report(entry);
    plan_.id = state::PlanIdOf(plan_);
    return std::move(plan_);
  }

 private:
  const state::TableState* TableOf(const std::string& name) const {
    auto at = world_.tables.find(name);
    return at == world_.tables.end() ? nullptr : &at->second;
  }

  bool Selected(const std::string& model) const {
    const state::PlanRequest& request = plan_.request;
    if (request.partitions.contains(model)) return true;
    if (request.select.empty()) return request.partitions.empty();
    return std::find(request.select.begin(), request.select.end(), model) !=
           request.select.end();
  }

  void PlanModel(const lineage::BoundModelEntry& entry) {
    const std::string& name = entry.model.name;
    const Standing& standing = standings_.at(name);
    const state::TableState* table = TableOf(name);
    PartitionSet built =
        table == nullptr ? PartitionSet::Empty(entry.model.space) : table->built.Domain();
    PartitionSet possible = lineage::PossiblePartitions(
        entry.bound, entry.model.space.shape(),
        [this](const std::string& input) { return rows_in_.at(input); });
    Work& work = work_[name];
    work.planned = work.left_open = PartitionSet::Empty(entry.model.space);
    work.exists = built.Union(possible);
    if (table != nullptr) work.exists = work.exists.Union(table->drifted);
    work.allowed = work.exists.Difference(standing.on_hold);
    // Who names partitions means them, finished or not.
    if (plan_.request.partitions.empty()) {
      work.allowed = work.allowed.Difference(standing.unfinished);
    }
    if (Selected(name)) Seed(entry, standing, possible.Difference(built), &work);
    work.on_hold = HoldsLeft(entry, standing);
    work.allowed = work.allowed.Union(
        work.exists.Intersect(standing.on_hold).Difference(work.on_hold));
    if (plan_.request.partitions.empty()) {
      work.allowed = work.allowed.Difference(standing.unfinished);
    }
    Propagate(entry, &work);
    // Whatever put a partition here, its rebuild takes up all that is wrong with it.
    AddCauses(standing, possible.Difference(built), NotRequested(work), &work);
    AddKept(standing, &work);
    PartitionSet rows = built.Union(work.planned);
    if (table != nullptr) rows = rows.Union(table->live);
    rows_in_.emplace(name, std::move(rows));
    planned_.emplace(name, work.planned);
  }

  void Seed(const lineage::BoundModelEntry& entry, const Standing& standing,
            const PartitionSet& missing, Work* work) {
    const std::string& name = entry.model.name;
    auto asked = plan_.request.partitions.find(name);
    if (asked != plan_.request.partitions.end() || plan_.request.full) {
      PartitionSet wanted =
          asked == plan_.request.partitions.end() ? work->exists : asked->second;
      std::string text = plan_.request.full ? "full rebuild requested" : "requested";
      Add({ReasonKind::kRequested, "", text, wanted}, std::nullopt, work);
      return;
    }
    AddCauses(standing, missing, work->exists, work);
    if (standing.asks_replay && IsNamed(name)) {
      Add({ReasonKind::kCode, "", "definition changed, replay was asked for",
           standing.older},
          std::nullopt, work);
    }
  }

  /// Adds what makes partitions `within` not current.
  void AddCauses(const Standing& standing, const PartitionSet& missing,
                 const PartitionSet& within, Work* work) {
    auto add = [&](Reason reason, const ChangedColumns& columns) {
      reason.partitions = reason.partitions.Intersect(within);
      return Add(std::move(reason), columns, work);
    };
    add({ReasonKind::kMissing, "", "never built", missing}, std::nullopt);
    add({ReasonKind::kDrifted, "", "live files are not those that were published",
         standing.drifted},
        std::nullopt);
    for (const Finding& finding : standing.findings) {
      if (add(finding.reason, finding.columns)) NoteWidening(finding.widening, work);
    }
  }

  static PartitionSet NotRequested(const Work& work) {
    PartitionSet planned = work.planned;
    for (const Reason& reason : work.because) {
      if (reason.kind == ReasonKind::kRequested) {
        planned = planned.Difference(reason.partitions);
      }
    }
    return planned;
  }

  /// A rebuild is by the definition in force also where policy kept an earlier one. That
  /// is no cause of its own: what turns out unchanged stays as it is.
  void AddKept(const Standing& standing, Work* work) {
    PartitionSet within = work->planned;
    auto rows = work->effects.find(std::nullopt);
    if (rows != work->effects.end()) within = within.Difference(rows->second);
    for (Finding finding : standing.kept) {
      finding.reason.partitions = finding.reason.partitions.Intersect(within);
      Add(std::move(finding.reason), finding.columns, work);
    }
  }

  /// Selecting a model by name is the answer to `replay: ask`.
  bool IsNamed(const std::string& model) const {
    const auto& select = plan_.request.select;
    return std::find(select.begin(), select.end(), model) != select.end();
  }

  /// What stays on hold after planned inputs ended some; the plan lists it.
  PartitionSet HoldsLeft(const lineage::BoundModelEntry& entry,
                         const Standing& standing) {
    PartitionSet left = PartitionSet::Empty(entry.model.space);
    for (const ActiveHold& active : standing.holds) {
      PartitionSet held = active.partitions;
      for (const lineage::Edge* edge : lineage_.InputsOf(entry.model.name)) {
        auto input = work_.find(edge->from);
        bool names = active.hold->input_versions.contains(edge->from);
        if (input == work_.end() || !names) continue;
        for (const auto& [columns, partitions] : input->second.effects) {
          for (const lineage::InputRef& ref : edge->refs) {
            if (Reads(ref, columns))
              held = held.Difference(ref.mapping.Affected(partitions));
          }
        }
      }
      if (held.empty()) continue;
      left = left.Union(held);
      plan_.held.push_back(
          {entry.model.name, held, active.hold->by, UntilText(*active.hold)});
    }
    return left;
  }

  /// Adds what reads changed columns of planned partitions.
  void Propagate(const lineage::BoundModelEntry& entry, Work* work) {
    for (const lineage::Edge* edge : lineage_.InputsOf(entry.model.name)) {
      auto input = work_.find(edge->from);
      if (input == work_.end()) continue;
      for (const auto& [columns, partitions] : input->second.effects) {
        for (const lineage::InputRef& ref : edge->refs) {
          if (!Reads(ref, columns)) continue;
          bool added = Add({ReasonKind::kUpstream, edge->from, WhyText(ref),
                            ref.mapping.Affected(partitions), /*standing=*/false},
                           ChangedOutputs(entry.bound, edge->from, columns), work);
          if (added) NoteWidening(WideningText(entry.model.space, ref), work);
        }
      }
    }
  }

  /// The one step that puts partitions into the plan, and its reason with them.
  bool Add(Reason reason, const ChangedColumns& columns, Work* work) {
    PartitionSet wanted = reason.partitions.Intersect(work->exists);
    reason.partitions = wanted.Intersect(work->allowed);
    work->left_open = work->left_open.Union(wanted.Difference(reason.partitions));
    if (reason.partitions.empty()) return false;
    work->planned = work->planned.Union(reason.partitions);
    auto effect = work->effects.try_emplace(columns, reason.partitions.shape()).first;
    effect->second = effect->second.Union(reason.partitions);
    for (Reason& known : work->because) {
      if (std::tie(known.kind, known.from, known.text, known.standing) ==
          std::tie(reason.kind, reason.from, reason.text, reason.standing)) {
        known.partitions = known.partitions.Union(reason.partitions);
        return true;
      }
    }
    work->because.push_back(std::move(reason));
    return true;
  }

  static void NoteWidening(const std::string& text, Work* work) {
    auto& texts = work->widened;
    if (text.empty() || std::find(texts.begin(), texts.end(), text) != texts.end())
      return;
    texts.push_back(text);
  }

  // --- What the plan says of a model, after all are planned --------------------------

  void Report(const lineage::BoundModelEntry& entry) {
    const std::string& name = entry.model.name;
    const Standing& standing = standings_.at(name);
    const Work& work = work_.at(name);
    plan_.classes.emplace(name, standing.counts);
    Warn(entry, standing, work);
    if (work.planned.empty()) {
      ReportSkipped(entry);
      return;
    }
    state::ModelPlan model;
    model.model = name;
    model.definition = entry.definition;
    model.partitions = work.planned;
    model.because = work.because;
    model.changed_columns = std::set<std::string>();
    for (const auto& [columns, partitions] : work.effects) {
      model.changed_columns = Merge(model.changed_columns, columns);
    }
    if (const state::TableState* table = TableOf(name)) {
      model.last_entry = table->last_entry;
    }
    model.estimate = EstimateModel(world_, entry, work.planned, planned_);
    plan_.models.push_back(std::move(model));
    Pin(name);
    for (const lineage::Edge* edge : lineage_.InputsOf(name)) Pin(edge->from);
  }

  void Pin(const std::string& name) {
    const state::TableState* table = TableOf(name);
    if (table != nullptr && table->head) plan_.pins.emplace(name, *table->head);
  }

  void AddWarning(std::string code, std::string text) {
    plan_.warnings.push_back({std::move(code), std::move(text)});
  }

  void Warn(const lineage::BoundModelEntry& entry, const Standing& standing,
            const Work& work) {
    const std::string& name = entry.model.name;
    const partition::PartitionSpace& space = entry.model.space;
    PartitionSet open = work.left_open.Difference(standing.on_hold);
    const state::TableState* table = TableOf(name);
    if (!open.Count() && table != nullptr) {
      // All periods to come: those that were evaluated and had no rows are no news.
      open = open.Difference(table->built.Domain().Difference(table->live));
    }
    if (!open.empty()) {
      AddWarning("open", fmt::format("{} {} not planned: not finished at the plan's now",
                                     name, partition::Describe(space, open)));
    }
    if (Selected(name) && standing.asks_replay && !IsNamed(name)) {
      AddWarning(
          "replay_ask",
          fmt::format("{} {} keeps its earlier definition: --select {} rebuilds it", name,
                      partition::Describe(space, standing.older), name));
    }
    auto asked = plan_.request.partitions.find(name);
    if (asked != plan_.request.partitions.end()) {
      PartitionSet nothing = asked->second.Difference(work.exists);
      if (asked->second.Intersect(work.exists).empty()) {
        AddWarning("nothing_there", fmt::format("{} {} has no rows to build from", name,
                                                partition::Describe(space, nothing)));
      }
    }
    if (work.planned.empty()) return;
    if (table != nullptr) WarnOfForeign(name, space, work.planned, table->foreign);
    for (const std::string& text : work.widened) {
      AddWarning("widened", fmt::format("{}: {} planned, because {}", name,
                                        partition::Describe(space, work.planned), text));
    }
    WarnOfInputs(entry, work);
    for (const lineage::DeterminismFinding& finding : entry.bound.findings) {
      AddWarning(
          std::string(CodeOf(finding.kind)),
          fmt::format("{}: {}: equal inputs may give other rows", name, finding.text));
    }
  }

  void WarnOfForeign(const std::string& name, const partition::PartitionSpace& space,
                     const PartitionSet& planned, const PartitionSet& foreign) {
    PartitionSet replaced = planned.Intersect(foreign);
    if (replaced.empty()) return;
    AddWarning("foreign", fmt::format("{} {} holds rows of another writer, which are "
                                      "replaced by what the SELECT gives",
                                      name, partition::Describe(space, replaced)));
  }

  static std::string_view CodeOf(lineage::DeterminismFinding::Kind kind) {
    using Kind = lineage::DeterminismFinding::Kind;
    switch (kind) {
      case Kind::kRandom:
        return "random";
      case Kind::kClock:
        return "clock";
      case Kind::kUnordered:
        return "unordered";
      case Kind::kTies:
        break;
    }
    return "ties";
  }

  /// Inputs that are read as published although they are not current.
  void WarnOfInputs(const lineage::BoundModelEntry& entry, const Work& work) {
    for (const lineage::Edge* edge : lineage_.InputsOf(entry.model.name)) {
      auto at = standings_.find(edge->from);
      if (at == standings_.end()) continue;
      const Standing& input = at->second;
      PartitionSet left = input.missing.Union(input.drifted)
                              .Union(input.outdated)
                              .Difference(work_.at(edge->from).planned)
                              .Intersect(edge->Required(work.planned));
      if (left.empty()) continue;
      std::string why = left.SubsetOf(input.on_hold) ? "held" : "not in this plan";
      AddWarning(
          "stale_upstream",
          fmt::format("{} reads {} {} as published: not current and {}", entry.model.name,
                      edge->from, partition::Describe(lineage_.SpaceOf(edge->from), left),
                      why));
    }
  }

  /// Says why a model that reads something changed is not in the plan.
  void ReportSkipped(const lineage::BoundModelEntry& entry) {
    const std::string& name = entry.model.name;
    std::string indirect;
    for (const lineage::Edge* edge : lineage_.InputsOf(name)) {
      std::string why = WhySkipped(entry, *edge);
      if (!why.empty()) {
        skipped_.insert(name);
        plan_.skipped.push_back({name, std::move(why)});
        return;
      }
      if (indirect.empty() && skipped_.contains(edge->from)) {
        indirect = fmt::format("reads {}, which does not change", edge->from);
      }
    }
    if (indirect.empty()) return;
    skipped_.insert(name);
    plan_.skipped.push_back({name, std::move(indirect)});
  }

  /// Empty where the input is neither planned nor changed.
  std::string WhySkipped(const lineage::BoundModelEntry& entry,
                         const lineage::Edge& edge) {
    auto input = work_.find(edge.from);
    if (input == work_.end()) return WhySourceSkipped(entry, edge);
    if (input->second.planned.empty()) return "";
    bool reads = false;
    PartitionSet reached = PartitionSet::Empty(entry.model.space);
    for (const auto& [columns, partitions] : input->second.effects) {
      for (const lineage::InputRef& ref : edge.refs) {
        if (!Reads(ref, columns)) continue;
        reads = true;
        reached = reached.Union(ref.mapping.Affected(partitions));
      }
    }
    if (!reads) return "reads no changed column of " + edge.from;
    reached = reached.Intersect(work_.at(entry.model.name).exists);
    if (reached.empty())
      return "none of its partitions reads the planned ones of " + edge.from;
    if (reached.SubsetOf(work_.at(entry.model.name).on_hold)) {
      return "what it reads of " + edge.from + " reaches held partitions only";
    }
    return "what it reads of " + edge.from + " reaches partitions that are not finished";
  }

  /// A source whose change reaches nothing that was built from it.
  std::string WhySourceSkipped(const lineage::BoundModelEntry& entry,
                               const lineage::Edge& edge) {
    const state::TableState* source = TableOf(edge.from);
    const state::TableState* table = TableOf(entry.model.name);
    if (source == nullptr || table == nullptr) return "";
    const std::vector<state::Version>* verified = table->records.VerifiedAt(edge.from);
    if (verified == nullptr) return "";
    for (std::size_t i = 0; i < source->changes.size(); ++i) {
      bool unread = std::none_of(
          edge.refs.begin(), edge.refs.end(),
          [&](const auto& ref) { return Reads(ref, source->changes.columns(i)); });
      if (unread && std::any_of(verified->begin(), verified->end(), [&](auto version) {
            return source->changes.AppliesTo(i, version);
          })) {
        return "reads no changed column of " + edge.from;
      }
    }
    return "";
  }

  const World& world_;
  const lineage::Lineage& lineage_;
  std::map<std::string, Standing> standings_;
  std::map<std::string, PartitionSet> rows_in_;  ///< where a table has or will have rows
  std::map<std::string, Work> work_;
  std::map<std::string, PartitionSet> planned_;
  std::set<std::string> skipped_;
  state::Plan plan_;
};

/// The request in the lineage's spelling.
Result<state::PlanRequest> Canonical(const World& world) {
  const lineage::Lineage& lineage = *world.lineage;
  auto find = [&](const std::string& name) -> Result<const lineage::BoundModelEntry*> {
    if (const auto* entry = lineage.FindModel(name)) return entry;
    std::vector<std::string> names;
    for (const auto& entry : lineage.models()) names.push_back(entry.model.name);
    Status error = NotFound("there is no model '" + name + "'");
    if (lineage.FindSource(name) != nullptr) {
      return Fail(
          std::move(error).Table(name).Hint("it is a source: amend land writes it"));
    }
    auto near = NearestName(name, names);
    return Fail(std::move(error).Table(name).Hint(
        near ? "did you mean " + *near + "?" : "amend status lists all models"));
  };
  state::PlanRequest request;
  request.full = world.request.full;
  for (const std::string& name : world.request.select) {
    AMEND_ASSIGN(const lineage::BoundModelEntry* entry, find(name));
    request.select.push_back(entry->model.name);
  }
  std::sort(request.select.begin(), request.select.end());
  request.select.erase(std::unique(request.select.begin(), request.select.end()),
                       request.select.end());
  for (const auto& [name, set] : world.request.partitions) {
    AMEND_ASSIGN(const lineage::BoundModelEntry* entry, find(name));
    if (set.shape() != entry->model.space.shape()) {
      return Fail(Invalid("partitions of another table are requested")
                      .Table(entry->model.name)
                      .Hint("it is partitioned by " + entry->model.space.ToString()));
    }
    auto at = request.partitions.emplace(entry->model.name, set).first;
    at->second = at->second.Union(set);
  }
  return request;
}

}  // namespace

Result<state::Plan> MakePlan(const World& world) {
  AMEND_FAIL_IF_ERROR(Validate(world));
  AMEND_ASSIGN(state::PlanRequest request, Canonical(world));
  return Planner(world, std::move(request), SurveyModels(world)).Run();
}

}  // namespace amend::plan

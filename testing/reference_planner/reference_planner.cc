#include "testing/reference_planner/reference_planner.h"

#include <algorithm>
#include <optional>

namespace amend::reference {
namespace {

using lineage::CodeChange;
using partition::Partition;
using plan::ChangedColumns;
using state::ReasonKind;

/// One partition of a model, with all that was found about it.
struct Point {
  Partition at;
  const state::BuildRecord* record = nullptr;
  bool possible = false;  ///< from what the inputs are known to have
  bool drifted = false;
  std::vector<const state::Hold*> holds;  ///< in force
  bool open = false;
  bool older = false;
  ChangedColumns older_columns;  ///< that a rebuild by the definition in force changes
  std::vector<std::pair<ReasonKind, ChangedColumns>> stale;
  bool has_rows = false;  ///< once this plan is done
  bool planned = false;
  std::set<ChangedColumns> effects;
  std::vector<const state::Change*> changes;  ///< of its table, that touch it

  bool known() const { return possible || drifted || record != nullptr; }
};

class Enumeration {
 public:
  Enumeration(const plan::World& world, const Universe& universe)
      : world_(world), lineage_(*world.lineage), universe_(universe) {}

  std::map<std::string, ReferenceModel> Run() {
    std::map<std::string, ReferenceModel> all;
    for (const auto& source : lineage_.sources()) {
      for (const Partition& at : universe_.at(source.name)) {
        Point point;
        point.at = at;
        auto table = world_.tables.find(source.name);
        point.possible = table != world_.tables.end() && table->second.live.Contains(at);
        point.has_rows = point.possible;
        point.changes = ChangesOf(source.name, at);
        points_[source.name].push_back(point);
      }
    }
    for (const auto& entry : lineage_.models()) {
      all[entry.model.name] = OneModel(entry);
    }
    return all;
  }

 private:
  const state::TableState& TableOf(const std::string& name) {
    auto at = world_.tables.find(name);
    if (at != world_.tables.end()) return at->second;
    return absent_.try_emplace(name, plan::EmptyTable(lineage_.SpaceOf(name)))
        .first->second;
  }

  std::vector<const state::Change*> ChangesOf(const std::string& name,
                                              const Partition& at) {
    std::vector<const state::Change*> changes;
    auto [all, is_new] = changes_.try_emplace(name);
    const state::ChangeLog& log = TableOf(name).changes;
    for (std::size_t i = 0; is_new && i < log.size(); ++i) all->second.push_back(log[i]);
    for (const state::Change& change : all->second) {
      if (change.partitions.Contains(at)) changes.push_back(&change);
    }
    return changes;
  }

  /// Points of one table with the same values.
  struct Group {
    const Point* first;
    const Point* end;
  };

  const std::vector<Group>& GroupsOf(const std::string& name) {
    auto [at, is_new] = groups_.try_emplace(name);
    if (!is_new) return at->second;
    const std::vector<Point>& points = points_.at(name);
    for (const Point* point = points.data(); point != points.data() + points.size();
         ++point) {
      std::vector<Group>& groups = at->second;
      if (groups.empty() || groups.back().first->at.values != point->at.values) {
        groups.push_back({point, point});
      }
      groups.back().end = point + 1;
    }
    return at->second;
  }

  /// Points of the input that `k` needs through one mapping. Asked once for each.
  const std::vector<const Point*>& Needs(const partition::PartitionMapping& mapping,
                                         const std::string& input, const Partition& k) {
    auto [at, is_new] = needs_.try_emplace({&mapping, k});
    if (!is_new) return at->second;
    auto required = mapping.Required(partition::PartitionSet::Of(mapping.output(), k));
    auto by_time = [](const Point& a, std::optional<std::int64_t> b) {
      return a.at.time < b;
    };
    for (const Group& group : GroupsOf(input)) {
      const partition::TimeRuns& times = required.At(group.first->at.values);
      if (times.has_null() && !group.first->at.time) at->second.push_back(group.first);
      for (const partition::Run& run : times.runs()) {
        const Point* point =
            std::lower_bound(group.first, group.end, std::optional(run.first), by_time);
        for (; point != group.end && point->at.time < run.end; ++point) {
          at->second.push_back(point);
        }
      }
    }
    return at->second;
  }

  template <typename Predicate>
  bool Possible(const lineage::BoundModelEntry& entry, const Partition& k,
                Predicate there) {
    auto any = [&](const partition::PartitionMapping& mapping, const std::string& input) {
      for (const Point* point : Needs(mapping, input, k)) {
        if (there(*point)) return true;
      }
      return false;
    };
    for (const auto& branch : entry.bound.extents) {
      bool all = true;
      for (std::size_t index : branch) {
        const auto& ref = entry.bound.inputs[index];
        all = all && any(*ref.extent, ref.table) && any(ref.mapping, ref.table);
      }
      if (all) return true;
    }
    if (!entry.bound.extents.empty()) return false;
    for (const auto& ref : entry.bound.inputs) {
      if (any(ref.mapping, ref.table)) return true;
    }
    return false;
  }

  static bool Sees(const lineage::InputRef& ref, const ChangedColumns& columns) {
    if (!columns) return true;
    for (const std::string& column : *columns) {
      if (ref.columns.contains(column)) return true;
    }
    return false;
  }

  /// What differs in the output when these columns of the input do.
  static ChangedColumns Outputs(const lineage::BoundModel& bound,
                                const std::string& input, const ChangedColumns& columns) {
    if (!columns) return std::nullopt;
    std::set<std::string> outputs;
    for (const std::string& column : *columns) {
      if (bound.row_reads.contains({input, column})) return std::nullopt;
      bool used = false;
      for (const auto& output : bound.columns) {
        if (output.reads.contains({input, column})) {
          outputs.insert(output.name);
          used = true;
        }
      }
      for (const auto& ref : bound.inputs) {
        if (ref.table == input && ref.columns.contains(column) && !used)
          return std::nullopt;
      }
    }
    return outputs;
  }

  void FindCode(const lineage::BoundModelEntry& entry, Point* point) {
    if (point->record == nullptr || point->record->definition == entry.definition) return;
    CodeChange change{CodeChange::Kind::kRows, {}};
    auto changes = world_.code_changes.find(entry.model.name);
    if (changes != world_.code_changes.end() &&
        changes->second.contains(point->record->definition)) {
      change = changes->second.at(point->record->definition);
    }
    if (change.kind == CodeChange::Kind::kNone) return;
    bool counts = entry.model.replay.code == lineage::Replay::kAll;
    if (entry.model.replay.code == lineage::Replay::kSince) {
      const auto& space = entry.model.space;
      counts = !space.has_time() || !point->at.time ||
               partition::EndMicros({space.time()->grain, *point->at.time}) >
                   *entry.model.replay.code_since_day * 86'400'000'000;
    }
    ChangedColumns columns;
    if (change.kind != CodeChange::Kind::kRows) columns = change.columns;
    if (!counts) {
      point->older = true;
      point->older_columns = columns;
      return;
    }
    point->stale.emplace_back(ReasonKind::kCode, columns);
  }

  /// Calls fn(input, ref, change) for each change to something that `k` reads.
  template <typename Fn>
  void ForEachChange(const lineage::BoundModelEntry& entry, const Partition& k, Fn fn) {
    for (const auto& ref : entry.bound.inputs) {
      if (TableOf(ref.table).changes.empty()) continue;
      for (const Point* point : Needs(ref.mapping, ref.table, k)) {
        for (const state::Change* change : point->changes) {
          if (Sees(ref, change->columns)) fn(ref.table, *change);
        }
      }
    }
  }

  ReasonKind KindOf(const std::string& input) const {
    return lineage_.FindSource(input) != nullptr ? ReasonKind::kSource
                                                 : ReasonKind::kUpstream;
  }

  void FindInputs(const lineage::BoundModelEntry& entry, Point* point) {
    if (point->record == nullptr) return;
    const auto& verified = point->record->verified_at;
    for (const auto& ref : entry.bound.inputs) {
      if (!verified.contains(ref.table) &&
          point->record->definition == entry.definition) {
        point->stale.emplace_back(KindOf(ref.table), std::nullopt);
      }
    }
    ForEachChange(entry, point->at, [&](const std::string& input, const auto& change) {
      if (verified.contains(input) && change.AppliesTo(verified.at(input))) {
        point->stale.emplace_back(KindOf(input),
                                  Outputs(entry.bound, input, change.columns));
      }
    });
  }

  std::vector<const state::Hold*> HoldsOn(const lineage::BoundModelEntry& entry,
                                          const Partition& k) {
    std::vector<const state::Hold*> holds;
    for (const auto& hold : TableOf(entry.model.name).holds) {
      bool ours = hold.definition.empty() || hold.definition == entry.definition;
      if (!ours || !hold.partitions.Contains(k)) continue;
      bool moved = false;
      ForEachChange(entry, k, [&](const std::string& input, const auto& change) {
        auto version = hold.input_versions.find(input);
        if (version != hold.input_versions.end() && change.AppliesTo(version->second)) {
          moved = true;
        }
      });
      if (!moved) holds.push_back(&hold);
    }
    return holds;
  }

  bool Open(const partition::PartitionSpace& space, const Partition& k) const {
    return space.has_time() && k.time &&
           partition::EndMicros({space.time()->grain, *k.time}) > world_.now_micros;
  }

  ReferenceModel OneModel(const lineage::BoundModelEntry& entry) {
    const std::string& name = entry.model.name;
    const auto& table = TableOf(name);
    std::vector<Point> points;
    for (const Partition& at : universe_.at(name)) {
      Point point;
      point.at = at;
      const std::size_t* record = table.built.Find(at);
      if (record != nullptr) {
        auto [one, is_new] = records_.try_emplace({name, *record});
        if (is_new) one->second = table.records[*record];
        point.record = &one->second;
      }
      point.possible = Possible(entry, at, [](const Point& p) { return p.known(); });
      point.drifted = table.drifted.Contains(at);
      point.changes = ChangesOf(name, at);
      point.holds = HoldsOn(entry, at);
      point.open = Open(entry.model.space, at);
      FindCode(entry, &point);
      FindInputs(entry, &point);
      points.push_back(point);
    }
    ReferenceModel result;
    for (Point& point : points) {
      Classify(point, &result.classes);
      if (!point.stale.empty()) result.stale.insert(point.at);
      if (point.older) result.older.insert(point.at);
      PlanPoint(entry, &point, &result);
      point.has_rows =
          point.planned || point.record != nullptr || table.live.Contains(point.at);
    }
    points_[name] = std::move(points);
    return result;
  }

  static void Classify(const Point& point, state::ClassCounts* counts) {
    if (!point.known()) return;
    if (point.possible && point.record == nullptr) {
      ++counts->missing;
    } else if (point.drifted) {
      ++counts->drifted;
    } else if (!point.holds.empty()) {
      ++counts->held;
    } else if (point.open) {
      ++counts->open;
    } else if (!point.stale.empty()) {
      ++counts->stale;
    } else if (point.older) {
      ++counts->older;
    } else {
      ++counts->current;
    }
  }

  bool Named(const std::string& model) const {
    const auto& select = world_.request.select;
    return std::find(select.begin(), select.end(), model) != select.end();
  }

  void PlanPoint(const lineage::BoundModelEntry& entry, Point* point,
                 ReferenceModel* result) {
    const auto& request = world_.request;
    bool there = Possible(entry, point->at, [](const Point& p) { return p.has_rows; });
    bool missing = there && point->record == nullptr;
    if (!there && point->record == nullptr && !point->drifted) return;
    if (point->open && request.partitions.empty()) return;
    auto add = [&](ReasonKind kind, const ChangedColumns& columns, bool own = true) {
      if (own) result->own_cause.insert(point->at);
      auto first = result->changed.try_emplace(point->at, columns).first;
      first->second = plan::Merge(first->second, columns);
      point->planned = true;
      point->effects.insert(columns);
      result->planned.insert(point->at);
      result->because[kind].insert(point->at);
      result->changed_columns = plan::Merge(result->changed_columns, columns);
    };
    if (point->holds.empty()) Seed(entry, *point, missing, add);
    // What planned inputs do to it, and which holds that ends.
    std::vector<std::pair<std::string, ChangedColumns>> reaching;
    for (const auto& ref : entry.bound.inputs) {
      if (lineage_.FindModel(ref.table) == nullptr) continue;
      for (const Point* input : Needs(ref.mapping, ref.table, point->at)) {
        for (const ChangedColumns& columns : input->effects) {
          if (Sees(ref, columns)) reaching.emplace_back(ref.table, columns);
        }
      }
    }
    for (const state::Hold* hold : point->holds) {
      bool ends = std::any_of(reaching.begin(), reaching.end(), [&](const auto& effect) {
        return hold->input_versions.contains(effect.first);
      });
      if (!ends) return;
    }
    for (const auto& [input, columns] : reaching) {
      add(ReasonKind::kUpstream, Outputs(entry.bound, input, columns), false);
    }
    // Its rebuild takes up whatever else is wrong with it, selected or not.
    if (!point->planned || Requested(entry.model.name, point->at)) return;
    SeedCauses(*point, missing, add);
    if (point->older && !point->effects.contains(std::nullopt)) {
      add(ReasonKind::kCode, point->older_columns, false);
    }
  }

  bool Requested(const std::string& model, const Partition& at) const {
    const auto& request = world_.request;
    auto asked = request.partitions.find(model);
    if (asked != request.partitions.end()) return asked->second.Contains(at);
    bool everything = request.select.empty() && request.partitions.empty();
    return request.full && (everything || Named(model));
  }

  template <typename Add>
  static void SeedCauses(const Point& point, bool missing, Add add) {
    if (missing) add(ReasonKind::kMissing, std::nullopt);
    if (point.drifted && !(point.possible && point.record == nullptr)) {
      add(ReasonKind::kDrifted, std::nullopt);
    }
    for (const auto& [kind, columns] : point.stale) add(kind, columns);
  }

  template <typename Add>
  void Seed(const lineage::BoundModelEntry& entry, const Point& point, bool missing,
            Add add) {
    const auto& request = world_.request;
    if (Requested(entry.model.name, point.at)) {
      add(ReasonKind::kRequested, std::nullopt);
      return;
    }
    if (request.partitions.contains(entry.model.name)) return;
    bool everything = request.select.empty() && request.partitions.empty();
    if (!everything && !Named(entry.model.name)) return;
    SeedCauses(point, missing, add);
    bool asks = entry.model.replay.code == lineage::Replay::kAsk;
    bool plain = point.stale.empty() && !point.drifted && !point.open;
    if (asks && point.older && plain && Named(entry.model.name)) {
      add(ReasonKind::kCode, std::nullopt);
    }
  }

  const plan::World& world_;
  const lineage::Lineage& lineage_;
  const Universe& universe_;
  std::map<std::string, std::vector<Point>> points_;
  std::map<std::string, std::vector<Group>> groups_;
  std::map<std::string, state::TableState> absent_;
  std::map<std::string, std::vector<state::Change>> changes_;
  std::map<std::pair<std::string, std::size_t>, state::BuildRecord> records_;
  std::map<std::pair<const partition::PartitionMapping*, Partition>,
           std::vector<const Point*>>
      needs_;
};

}  // namespace

std::map<std::string, ReferenceModel> PlanByEnumeration(const plan::World& world,
                                                        const Universe& universe) {
  return Enumeration(world, universe).Run();
}

}  // namespace amend::reference

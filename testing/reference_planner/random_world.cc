#include "testing/reference_planner/random_world.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lineage/extent.h"
#include "plan/cut_off.h"

namespace amend::reference {
namespace {

using lineage::CodeChange;
using partition::Grain;
using partition::PartitionMapping;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Reach;
using partition::Shape;
using partition::TimeMapping;
using partition::TimeRuns;

constexpr std::int64_t kUniverseDays = 150;  // on either side of the epoch
constexpr std::int64_t kLiveDays = 25;
// Most was verified at kHead; every table moved on once more since.
constexpr state::Version kHead = 5;

const partition::ValueTuple kEu = {std::string("EU")};
const partition::ValueTuple kUs = {std::string("US")};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  RandomWorld Make(std::uint64_t seed) {
    RandomWorld result;
    result.seed = seed;
    by_region_ = Chance(25);
    int sources = Int(1, 3);
    for (int i = 0; i < sources; ++i) MakeSource(i);
    int models = Int(1, 6);
    for (int i = 0; i < models; ++i) MakeModel(i);
    auto lineage = lineage::Lineage::Make(sources_, models_);
    AMEND_CHECK(lineage.has_value());
    result.lineage = std::make_shared<const lineage::Lineage>(std::move(*lineage));
    plan::World& world = result.world;
    world.lineage = result.lineage.get();
    world.now_micros = (Chance(60) ? 1'000 : Int(-10, 30)) * std::int64_t{86'400'000'000};
    for (const auto& source : sources_) world.tables[source.name] = SourceState(source);
    for (const auto& entry : world.lineage->models()) {
      world.tables[entry.model.name] = ModelState(entry, &world);
    }
    MakeRequest(&world);
    for (const auto& [name, space] : spaces_) result.universe[name] = PointsOf(space);
    return result;
  }

 private:
  int Int(int low, int high) {  // both included
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool Chance(int percent) { return Int(1, 100) <= percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(Int(0, static_cast<int>(from.size()) - 1))];
  }

  PartitionSpace AnySpace() {
    std::vector<partition::Dimension> dimensions;
    int kind = Int(0, 9);
    if (kind > 0) {
      Grain grain = kind <= 5   ? Grain::kDay
                    : kind == 6 ? Grain::kWeek
                    : kind <= 8 ? Grain::kMonth
                                : Grain::kQuarter;
      dimensions.push_back(partition::Dimension::Time("ts", grain));
    }
    if (by_region_) {
      dimensions.push_back(
          partition::Dimension::OfValue("region", partition::ValueType::kString));
    }
    return PartitionSpace::Make(dimensions).value();
  }

  static std::vector<partition::Partition> PointsOf(const PartitionSpace& space) {
    std::vector<partition::Partition> points;
    std::vector<partition::ValueTuple> tuples = {{}};
    if (space.shape().values == 1) tuples = {kEu, kUs};
    for (const auto& values : tuples) {
      if (!space.has_time()) {
        points.push_back({0, values});
        continue;
      }
      points.push_back({std::nullopt, values});
      Grain grain = space.time()->grain;
      auto first = partition::PeriodContainingDay(grain, -kUniverseDays).ordinal();
      auto last = partition::PeriodContainingDay(grain, kUniverseDays).ordinal();
      for (auto at = first; at <= last; ++at) points.push_back({at, values});
    }
    return points;
  }

  /// A few runs near the epoch, sometimes NULL.
  TimeRuns AnyTimes(Shape shape, int max_runs, int spread = kLiveDays) {
    if (!shape.grain) return Chance(70) ? TimeRuns::Point(0) : TimeRuns();
    std::vector<partition::Run> runs;
    int count = Int(1, max_runs);
    for (int i = 0; i < count; ++i) {
      int from = Int(-spread, spread);
      int to = std::min(spread, from + Int(0, spread));
      runs.push_back({partition::PeriodContainingDay(*shape.grain, from).ordinal(),
                      partition::PeriodContainingDay(*shape.grain, to).ordinal() + 1});
    }
    return TimeRuns::FromRuns(std::move(runs), Chance(20));
  }

  PartitionSet AnySet(Shape shape, int max_runs, int spread = kLiveDays) {
    if (shape.values == 0) {
      return PartitionSet::OfTimes(shape, AnyTimes(shape, max_runs, spread));
    }
    PartitionSet::Named named;
    if (Chance(80)) named.emplace_back(kEu, AnyTimes(shape, max_runs, spread));
    if (Chance(60)) named.emplace_back(kUs, AnyTimes(shape, max_runs, spread));
    return PartitionSet::Of(shape, TimeRuns(), std::move(named));
  }

  void MakeSource(int number) {
    lineage::Source source;
    source.name = "s" + std::to_string(number);
    source.space = AnySpace();
    spaces_[source.name] = source.space;
    columns_[source.name] = {"a", "b", "c"};
    sources_.push_back(source);
  }

  TimeMapping AnyWindow() {
    static const std::vector<std::pair<Reach, Reach>> rules = {
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(3, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(6, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(2, Grain::kDay)},
        {Reach::Of(1, Grain::kDay), Reach::Of(-1, Grain::kDay)},
        {Reach::Of(1, Grain::kMonth), Reach::Of(0, Grain::kDay)}};
    TimeMapping time;
    time.all = false;
    std::tie(time.back, time.ahead) = Pick(rules);
    time.null_to_null = Chance(90);
    time.null_to_all = Chance(5);
    time.all_to_null = Chance(8);
    return time;
  }

  lineage::InputRef AnyRef(const PartitionSpace& output, bool bounded) {
    lineage::InputRef ref;
    std::vector<std::string> tables;
    for (const auto& [name, space] : spaces_) tables.push_back(name);
    ref.table = Pick(tables);
    Shape in = spaces_.at(ref.table).shape();
    Shape out = output.shape();
    TimeMapping time;
    if (in.grain && out.grain && (bounded || !Chance(12))) {
      time = AnyWindow();
      if (!bounded && Chance(8)) time.back = Reach::Unbounded();
      if (bounded) time.null_to_all = false;
    }
    std::vector<std::optional<int>> same(out.values, 0);
    bool carried = bounded || !Chance(15);
    ref.mapping = PartitionMapping::Make(
                      in, out, time, carried ? same : std::vector<std::optional<int>>())
                      .value();
    ref.why = Chance(50) ? "" : "why " + std::to_string(Int(0, 9));
    return ref;
  }

  /// A reference gives rows to its own periods only, within what it may reach.
  static PartitionMapping ExtentOf(const lineage::InputRef& ref) {
    Shape in = ref.mapping.input();
    Shape out = ref.mapping.output();
    TimeMapping time;
    if (in.grain && out.grain) time.all = false;
    return PartitionMapping::Make(in, out, time,
                                  std::vector<std::optional<int>>(out.values, 0))
        .value();
  }

  void MakeModel(int number) {
    lineage::BoundModelEntry entry;
    entry.model.name = "m" + std::to_string(number);
    entry.model.space = AnySpace();
    entry.definition = "now";
    if (Chance(40)) {
      entry.model.replay.code = Pick<lineage::Replay>(
          {lineage::Replay::kNone, lineage::Replay::kAsk, lineage::Replay::kSince});
      entry.model.replay.code_since_day = Int(-20, 20);
    }
    bool unknown_extents = Chance(15);
    int refs = Int(1, 3);
    for (int i = 0; i < refs; ++i) {
      lineage::InputRef ref = AnyRef(entry.model.space, unknown_extents);
      bool timeless_input =
          entry.model.space.has_time() && !spaces_.at(ref.table).has_time();
      // What drives rows must give a bounded set of them.
      bool drives = !unknown_extents && !timeless_input && (i == 0 || Chance(60));
      if (unknown_extents && timeless_input) continue;
      if (drives) {
        ref.extent = ExtentOf(ref);
        if (entry.bound.extents.empty() || Chance(40)) entry.bound.extents.emplace_back();
        entry.bound.extents.back().push_back(entry.bound.inputs.size());
      }
      entry.bound.inputs.push_back(std::move(ref));
    }
    if (entry.bound.inputs.empty() || (!unknown_extents && entry.bound.extents.empty())) {
      return;  // nothing would bound its partitions
    }
    MakeColumns(&entry);
    spaces_[entry.model.name] = entry.model.space;
    models_.push_back(std::move(entry));
  }

  void MakeColumns(lineage::BoundModelEntry* entry) {
    std::vector<std::string> names = {"a", "b", "c"};
    names.resize(static_cast<std::size_t>(Int(1, 3)));
    auto any_ref = [&] {
      const std::string& table = Pick(entry->bound.inputs).table;
      return lineage::ColumnRef{table, Pick(columns_.at(table))};
    };
    for (const std::string& name : names) {
      lineage::OutputColumn column;
      column.name = name;
      for (int i = Int(0, 2); i > 0; --i) column.reads.insert(any_ref());
      entry->bound.columns.push_back(column);
    }
    if (Chance(60)) entry->bound.row_reads.insert(any_ref());
    std::set<lineage::ColumnRef> all = entry->bound.row_reads;
    for (const auto& column : entry->bound.columns) {
      all.insert(column.reads.begin(), column.reads.end());
    }
    if (Chance(10)) all.insert(any_ref());  // read, nobody knows what for
    for (lineage::InputRef& ref : entry->bound.inputs) {
      for (const auto& read : all) {
        if (read.table == ref.table) ref.columns.insert(read.column);
      }
    }
    columns_[entry->model.name] = names;
  }

  std::optional<std::set<std::string>> AnyColumns(const std::string& table) {
    if (Chance(50)) return std::nullopt;
    std::set<std::string> columns = {Pick(columns_.at(table))};
    if (Chance(30)) columns.insert(Pick(columns_.at(table)));
    return columns;
  }

  state::ChangeLog AnyChanges(const std::string& table, Shape shape, bool model) {
    state::ChangeLog changes(shape);
    for (int i = Int(0, 2); i > 0; --i) {
      state::Change change;
      change.after = model ? 0 : Int(0, 3);
      // kHead + 1 counts for everything built, less for what was verified long ago.
      change.before = Chance(30) ? kHead + 1 : Int(1, static_cast<int>(kHead));
      change.partitions = AnySet(shape, 1, 12);
      change.columns = AnyColumns(table);
      change.cause = (model ? "publication #" : "landing #") + std::to_string(Int(1, 9));
      changes.push_back(change);
    }
    return changes;
  }

  state::TableState SourceState(const lineage::Source& source) {
    state::TableState table = plan::EmptyTable(source.space);
    table.head = state::Pin{source.name, 1, kHead + 1, 0, "m"};
    table.live = AnySet(source.space.shape(), 2);
    table.changes = AnyChanges(source.name, source.space.shape(), false);
    known_[source.name] = table.live;
    return table;
  }

  state::TableState ModelState(const lineage::BoundModelEntry& entry,
                               plan::World* world) {
    Shape shape = entry.model.space.shape();
    state::TableState table = plan::EmptyTable(entry.model.space);
    PartitionSet possible = lineage::PossiblePartitions(
        entry.bound, shape, [&](const std::string& input) { return known_.at(input); });
    PartitionSet built = Chance(20) ? PartitionSet(shape) : possible;
    AddRecord(entry, built, true, &table);
    for (int i = Int(0, 3); i > 0; --i) {
      AddRecord(entry, AnySet(shape, 1), false, &table);
    }
    if (Chance(25)) table.built.Erase(AnySet(shape, 1, 8));
    if (Chance(20)) table.drifted = AnySet(shape, 1, 8);
    table.live = table.built.Domain();
    if (!table.live.empty())
      table.head = state::Pin{entry.model.name, 2, kHead + 1, 0, "m"};
    table.changes = AnyChanges(entry.model.name, shape, true);
    for (int i = Chance(25) ? Int(1, 2) : 0; i > 0; --i) {
      table.holds.push_back(AnyHold(entry));
    }
    auto& code = world->code_changes[entry.model.name];
    code["older"] = {
        Pick<CodeChange::Kind>({CodeChange::Kind::kNone, CodeChange::Kind::kColumnsAdded,
                                CodeChange::Kind::kColumns}),
        {Pick(columns_.at(entry.model.name))}};
    known_[entry.model.name] = possible.Union(table.built.Domain()).Union(table.drifted);
    return table;
  }

  void AddRecord(const lineage::BoundModelEntry& entry, const PartitionSet& at,
                 bool fresh, state::TableState* table) {
    state::BuildRecord record;
    record.definition = fresh || Chance(60) ? "now" : Chance(70) ? "older" : "oldest";
    for (const auto& ref : entry.bound.inputs) {
      if (!fresh && Chance(4)) continue;
      record.verified_at[ref.table] = fresh ? kHead : Int(0, static_cast<int>(kHead));
    }
    table->built.Set(at, table->records.size());
    table->records.push_back(record);
  }

  state::Hold AnyHold(const lineage::BoundModelEntry& entry) {
    state::Hold hold;
    hold.table = entry.model.name;
    hold.partitions = AnySet(entry.model.space.shape(), 2);
    hold.by = "rollback #" + std::to_string(Int(1, 9));
    hold.definition = Chance(80) ? "now" : "older";
    for (const auto& ref : entry.bound.inputs) {
      if (!Chance(10)) hold.input_versions[ref.table] = Int(2, static_cast<int>(kHead));
    }
    return hold;
  }

  void MakeRequest(plan::World* world) {
    int kind = Int(0, 9);
    if (models_.empty() || kind < 5) return;
    const auto& entry = Pick(models_);
    if (kind <= 7) world->request.select.push_back(entry.model.name);
    if (kind == 7 || kind == 8) {
      const auto& other = Pick(models_);
      world->request.partitions.emplace(other.model.name,
                                        AnySet(other.model.space.shape(), 1));
    }
    world->request.full = kind == 9;
  }

  std::mt19937_64 random_;
  bool by_region_ = false;
  std::vector<lineage::Source> sources_;
  std::vector<lineage::BoundModelEntry> models_;
  std::map<std::string, PartitionSpace> spaces_;
  std::map<std::string, std::vector<std::string>> columns_;
  std::map<std::string, PartitionSet> known_;
};

}  // namespace

RandomWorld MakeRandomWorld(std::uint64_t seed) { return Generator(seed).Make(seed); }

namespace {

/// One publication, model by model, inputs first.
class Publication {
 public:
  Publication(const plan::World& before, std::uint64_t seed, int equal_percent)
      : world_(before),
        standings_(plan::SurveyModels(before)),
        random_(seed),
        equal_percent_(equal_percent) {}

  void Publish(const state::ModelPlan& plan, const ReferenceModel& reference) {
    const auto& space = world_.lineage->SpaceOf(plan.model);
    auto& table =
        world_.tables.try_emplace(plan.model, plan::EmptyTable(space)).first->second;
    PartitionSet computed = ComputedOf(plan);
    PartitionSet changed = ChangedOf(computed, table, space);
    state::BuildRecord reached{plan.definition, 0, {}, {}};
    for (const lineage::Edge* edge : world_.lineage->InputsOf(plan.model)) {
      reached.verified_at[edge->from] = VersionOf(edge->from);
    }
    CutOff(plan, plan.partitions.Difference(computed), reached, &table);
    table.built.Set(computed, table.records.size());
    table.records.push_back(reached);
    if (!changed.empty()) Commit(plan.model, changed, reference, &table);
    changed_.emplace(plan.model, changed);
    computed_.emplace(plan.model, computed);
  }

  Aftermath Take() { return {std::move(world_), std::move(computed_)}; }

 private:
  state::Version VersionOf(const std::string& name) const {
    auto at = world_.tables.find(name);
    bool exists = at != world_.tables.end() && at->second.head;
    return exists ? at->second.head->version : kHead + 1;
  }

  PartitionSet ComputedOf(const state::ModelPlan& plan) const {
    PartitionSet computed = state::OwnCause(plan);
    for (const lineage::Edge* edge : world_.lineage->InputsOf(plan.model)) {
      auto input = changed_.find(edge->from);
      if (input != changed_.end())
        computed = computed.Union(edge->Affected(input->second));
    }
    return computed.Intersect(plan.partitions);
  }

  /// What had no files of ours before cannot turn out equal to them.
  PartitionSet ChangedOf(const PartitionSet& computed, const state::TableState& table,
                         const PartitionSpace& space) {
    PartitionSet may_be_equal =
        computed.Intersect(table.built.Domain()).Difference(table.drifted);
    std::vector<partition::Partition> equal;
    const auto points = may_be_equal.Points(1'000'000).value();
    for (const auto& at : points) {
      if (static_cast<int>(random_() % 100) < equal_percent_) equal.push_back(at);
    }
    return computed.Difference(PartitionSet::Of(space.shape(), equal));
  }

  void CutOff(const state::ModelPlan& plan, const PartitionSet& cut_off,
              const state::BuildRecord& reached, state::TableState* table) const {
    const auto points = cut_off.Points(1'000'000).value();
    for (const auto& at : points) {
      const std::size_t* record = table->built.Find(at);
      if (record == nullptr) continue;
      state::BuildRecord verified = plan::CutOffRecord(
          table->records[*record], at, standings_.at(plan.model), reached);
      table->built.Set(PartitionSet::Of(cut_off.shape(), at), table->records.size());
      table->records.push_back(std::move(verified));
    }
  }

  void Commit(const std::string& model, const PartitionSet& changed,
              const ReferenceModel& reference, state::TableState* table) {
    state::Pin head = table->head.value_or(state::Pin{model, 0, kHead + 1, 0, "m"});
    ++head.snapshot_id;
    ++head.version;
    table->head = head;
    table->live = table->live.Union(changed);
    table->drifted = table->drifted.Difference(changed);
    std::map<plan::ChangedColumns, std::vector<partition::Partition>> by_columns;
    for (const auto& [at, columns] : reference.changed) {
      if (changed.Contains(at)) by_columns[columns].push_back(at);
    }
    for (const auto& [columns, points] : by_columns) {
      table->changes.push_back({0, head.version,
                                PartitionSet::Of(changed.shape(), points), columns,
                                "publication"});
    }
  }

  plan::World world_;
  std::map<std::string, plan::Standing> standings_;
  std::mt19937_64 random_;
  int equal_percent_;
  std::map<std::string, PartitionSet> changed_;
  std::map<std::string, PartitionSet> computed_;
};

}  // namespace

Aftermath AfterPublishing(const plan::World& world, const state::Plan& plan,
                          const std::map<std::string, ReferenceModel>& changed,
                          std::uint64_t seed, int equal_percent) {
  Publication publication(world, seed, equal_percent);
  for (const state::ModelPlan& planned : plan.models) {
    publication.Publish(planned, changed.at(planned.model));
  }
  return publication.Take();
}

}  // namespace amend::reference

// planner_bench: how long the planner thinks, and in how much memory, with its state
// loaded, over a synthetic project.
//
//   planner_bench [--models 1000] [--days 1000] [--runs 5]
//
// The project: daily sources and a dimension; ten layers of models, mostly by day, some
// by week, by month or unpartitioned, that read one to three tables of lower layers: the
// same day, trailing windows of seven days or a month, the day before. Its history is the
// one that costs most, a tool run every day: each day of each table was built by a
// publication of its own, so no two partitions of a table have the same build record, and
// each table has a change for every day, with some corrections since. Then fourteen days
// of one source in ten are landed anew. The same sizes give the same project.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "bench/bench_program.h"
#include "fmt/format.h"
#include "lineage/lineage.h"
#include "partition/partition_set.h"
#include "plan/planner.h"
#include "plan/world.h"

namespace amend::bench {
namespace {

using partition::Grain;
using partition::PartitionMapping;
using partition::PartitionSet;
using partition::PartitionSpace;
using partition::Reach;
using partition::TimeRuns;
using state::TableState;
using state::Version;

constexpr double kMostSeconds = 0.3;
constexpr double kMostBytes = 200e6;
constexpr int kLayers = 10;
constexpr int kModelsPerSource = 20;
constexpr int kColumns = 20;
constexpr int kCorrectedDays = 14;
constexpr int kEarlierCorrections = 5;
constexpr const char* kDimension = "dim";

/// Makes the project and its state. Day 0 is the epoch; publication n built day n - 1.
class ProjectMaker {
 public:
  ProjectMaker(int models, int days) : models_(models), days_(days) {}

  Result<lineage::Lineage> MakeLineage() {
    MakeSources();
    for (int i = 0; i < models_; ++i) MakeModel(i);
    return lineage::Lineage::Make(sources_, entries_);
  }

  plan::World MakeWorld(const lineage::Lineage& lineage) {
    plan::World world;
    world.lineage = &lineage;
    world.now_micros = partition::EndMicros({Grain::kDay, days_ + 366});
    MakeHistory();
    for (const auto& source : lineage.sources()) {
      world.tables.emplace(source.name, SourceState(source));
    }
    for (const auto& entry : lineage.models()) {
      world.tables.emplace(entry.model.name, NewModelState(entry.model));
    }
    for (const Event& event : events_) Publish(lineage, event, &world);
    return world;
  }

 private:
  /// One publication: the days of the sources that are new or were corrected.
  struct Event {
    Version number;
    std::int64_t first;
    std::int64_t end;
    int corrected;  ///< every tenth source from this one on; -1: a new day of all
    state::Cause cause;
  };

  int Below(int bound) {
    return static_cast<int>(random_() % static_cast<std::uint32_t>(bound));
  }

  void MakeSources() {
    lineage::Source dimension;
    dimension.name = kDimension;
    sources_.push_back(dimension);
    for (int i = 0; i < std::max(1, models_ / kModelsPerSource); ++i) {
      lineage::Source source;
      source.name = fmt::format("source_{:03}", i);
      source.space = PartitionSpace::OfTime("day", Grain::kDay);
      daily_.push_back({source.name});
      sources_.push_back(std::move(source));
    }
    readable_ = daily_;
  }

  PartitionSpace AnySpace(int layer) {
    int kind = Below(100);
    if (layer == 0 || kind < 75) return PartitionSpace::OfTime("day", Grain::kDay);
    if (kind < 80) return PartitionSpace::OfTime("week", Grain::kWeek);
    if (kind < 95) return PartitionSpace::OfTime("month", Grain::kMonth);
    return {};
  }

  lineage::InputRef AnyRef(const std::string& table, const PartitionSpace& from,
                           const PartitionSpace& to) {
    static const std::array<std::pair<Reach, Reach>, 10> kWindows = {{
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(0, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(6, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(6, Grain::kDay), Reach::Of(0, Grain::kDay)},
        {Reach::Of(1, Grain::kDay), Reach::Of(-1, Grain::kDay)},
        {Reach::Of(1, Grain::kMonth), Reach::Of(0, Grain::kDay)},
    }};
    lineage::InputRef ref;
    ref.table = table;
    partition::TimeMapping time;
    if (from.has_time() && to.has_time()) {
      time.all = false;
      std::tie(time.back, time.ahead) =
          kWindows[static_cast<std::size_t>(Below(static_cast<int>(kWindows.size())))];
    }
    ref.mapping = PartitionMapping::Make(from.shape(), to.shape(), time).value();
    for (int i = 0; i < 5; ++i) ref.columns.insert(ColumnName(Below(kColumns)));
    return ref;
  }

  static std::string ColumnName(int i) { return fmt::format("column_{:02}", i); }

  /// Every column of the output is computed from one column of each input; the first of
  /// each input decides rows.
  static void FillColumns(lineage::BoundModel* bound) {
    for (int i = 0; i < kColumns; ++i) {
      lineage::OutputColumn column;
      column.name = ColumnName(i);
      column.type = "DOUBLE";
      column.fingerprint = fmt::format("{:064}", i);
      for (const lineage::InputRef& ref : bound->inputs) {
        auto read = ref.columns.begin();
        std::advance(read, i % static_cast<int>(ref.columns.size()));
        column.reads.insert({ref.table, *read});
      }
      bound->columns.push_back(std::move(column));
    }
    for (const lineage::InputRef& ref : bound->inputs) {
      bound->row_reads.insert({ref.table, *ref.columns.begin()});
    }
  }

  void MakeModel(int number) {
    int layer = number * kLayers / models_;
    lineage::BoundModelEntry entry;
    entry.model.name = fmt::format("layer_{}_model_{:04}", layer, number);
    entry.model.space = AnySpace(layer);
    entry.definition = fmt::format("{:064}", number);
    int refs = layer == 0 ? 1 : 1 + Below(3);
    for (int i = 0; i < refs; ++i) {
      const auto& below = layer == 0 ? daily_ : readable_;
      const auto& from =
          below[static_cast<std::size_t>(Below(static_cast<int>(below.size())))];
      entry.bound.inputs.push_back(AnyRef(from.name, from.space, entry.model.space));
    }
    if (layer == 0) {  // a left join, which gives no rows
      entry.bound.inputs.push_back(
          AnyRef(kDimension, PartitionSpace(), entry.model.space));
    }
    // Rows come from the first reference, period by period.
    lineage::InputRef& driving = entry.bound.inputs.front();
    driving.extent = driving.mapping;
    entry.bound.extents = {{0}};
    FillColumns(&entry.bound);
    if (entry.model.space.has_time()) {
      next_layer_.push_back({entry.model.name, entry.model.space});
    }
    entries_.push_back(std::move(entry));
    if ((number + 1) * kLayers / models_ != layer) {
      readable_.insert(readable_.end(), next_layer_.begin(), next_layer_.end());
      next_layer_.clear();
    }
  }

  /// A publication a day, then corrections of some days each.
  void MakeHistory() {
    for (int day = 0; day < days_; ++day) AddEvent(day, day + 1, -1);
    for (int i = 0; i < kEarlierCorrections; ++i) {
      int first = Below(std::max(1, days_ - kCorrectedDays));
      AddEvent(first, std::min(first + kCorrectedDays, days_), i);
    }
  }

  void AddEvent(std::int64_t first, std::int64_t end, int corrected) {
    auto number = static_cast<Version>(events_.size()) + 1;
    events_.push_back(
        {number, first, end, corrected, fmt::format("publication #{}", number)});
  }

  static PartitionSet Periods(const PartitionSpace& space, std::int64_t first,
                              std::int64_t end) {
    if (!space.has_time()) return PartitionSet::All(space);
    auto period = [&](std::int64_t day) {
      return partition::PeriodContainingDay(space.time()->grain, day).ordinal();
    };
    return PartitionSet::OfTimes(space.shape(),
                                 TimeRuns::Of(period(first), period(end - 1) + 1));
  }

  state::Pin Head(const std::string& table) const {
    state::Pin pin;
    pin.table = table;
    pin.version = events_.back().number;
    pin.snapshot_id = pin.version;
    pin.metadata_location =
        fmt::format("file:///lake/{}/metadata/{}.json", table, pin.version);
    return pin;
  }

  void FillSizes(const PartitionSpace& space, TableState* state) {
    auto points = state->live.Points(1'000'000).value();
    for (const auto& point : points) {
      state->sizes.Set(PartitionSet::Of(space.shape(), point),
                       {10'000 + Below(1'000), 1'000'000 + Below(100'000)});
    }
  }

  /// For each version that a model has seen, what differs since: later days, and today
  /// the days that are corrected.
  TableState SourceState(const lineage::Source& source) {
    TableState state = plan::EmptyTable(source.space);
    state.head = Head(source.name);
    ++state.head->version;
    state.live = Periods(source.space, 0, days_);
    FillSizes(source.space, &state);
    if (source.name == kDimension) return state;
    state::Cause landing = fmt::format("landing #{}", state.head->version);
    bool corrected = corrected_++ % 10 == 0;
    for (const Event& event : events_) {
      PartitionSet since(source.space.shape());
      if (event.number <= days_) since = Periods(source.space, event.end, days_ + 1);
      since = since.Intersect(state.live);
      if (corrected) {
        since = since.Union(Periods(source.space, days_ / 2, days_ / 2 + kCorrectedDays));
      }
      if (since.empty()) continue;
      state.changes.push_back(
          {event.number, event.number + 1, since, std::nullopt, landing});
    }
    return state;
  }

  TableState NewModelState(const lineage::Model& model) {
    TableState state = plan::EmptyTable(model.space);
    state.head = Head(model.name);
    state.live = Periods(model.space, 0, days_);
    FillSizes(model.space, &state);
    state.changes.reserve(events_.size());
    return state;
  }

  /// Builds, as the tool would, every partition that the event's days reach.
  void Publish(const lineage::Lineage& lineage, const Event& event, plan::World* world) {
    std::map<std::string, PartitionSet> changed;
    for (std::size_t i = 0; i < daily_.size(); ++i) {
      bool touched = event.corrected < 0 || static_cast<int>(i % 10) == event.corrected;
      if (!touched) continue;
      changed.emplace(daily_[i].name, Periods(daily_[i].space, event.first, event.end));
    }
    std::int64_t days = event.corrected < 0 ? event.end : days_;
    for (const auto& entry : lineage.models()) {
      PartitionSet built = PartitionSet::Empty(entry.model.space);
      state::BuildRecord record{entry.definition, event.number, {}};
      for (const lineage::Edge* edge : lineage.InputsOf(entry.model.name)) {
        record.verified_at[edge->from] = event.number;
        auto input = changed.find(edge->from);
        if (input != changed.end()) built = built.Union(edge->Affected(input->second));
      }
      built = built.Intersect(Periods(entry.model.space, 0, days));
      if (built.empty()) continue;
      TableState& state = world->tables.at(entry.model.name);
      state.built.Set(built, state.records.size());
      state.records.push_back(record);
      state.changes.push_back({0, event.number, built, std::nullopt, event.cause});
      changed.emplace(entry.model.name, std::move(built));
    }
  }

  struct Table {
    std::string name;
    PartitionSpace space = PartitionSpace::OfTime("day", Grain::kDay);
  };

  int models_;
  int days_;
  int corrected_ = 0;
  std::mt19937 random_{20010305};
  std::vector<lineage::Source> sources_;
  std::vector<lineage::BoundModelEntry> entries_;
  std::vector<Table> daily_;
  std::vector<Table> readable_;    ///< sources and models of the layers below
  std::vector<Table> next_layer_;  ///< of the layer being made
  std::vector<Event> events_;
};

Status Run(int models, int days, int runs) {
  ProjectMaker maker(models, days);
  AMEND_ASSIGN_OR_RETURN(lineage::Lineage lineage, maker.MakeLineage());
  plan::World world = maker.MakeWorld(lineage);
  Env& env = Env::Real();
  auto loaded = static_cast<double>(env.PeakMemoryBytes());
  std::vector<std::int64_t> wall, cpu;
  std::size_t planned_models = 0;
  std::int64_t planned_partitions = 0;
  for (int i = 0; i < runs; ++i) {
    std::int64_t cpu_before = env.ThreadCpuMicros();
    std::int64_t before = env.SteadyMicros();
    AMEND_ASSIGN_OR_RETURN(state::Plan plan, plan::MakePlan(world));
    wall.push_back(env.SteadyMicros() - before);
    cpu.push_back(env.ThreadCpuMicros() - cpu_before);
    planned_models = plan.models.size();
    planned_partitions = 0;
    for (const auto& model : plan.models) {
      planned_partitions += model.partitions.Count().value_or(0);
    }
  }
  auto peak = static_cast<double>(env.PeakMemoryBytes());
  Print({{"planner.wall", static_cast<double>(Median(wall)) / 1e6, "s", kMostSeconds},
         {"planner.cpu", static_cast<double>(Median(cpu)) / 1e6, "s", {}},
         {"planner.peak_memory", peak, "bytes", kMostBytes},
         {"planner.state_memory", loaded, "bytes", {}},
         {"planner.planned_models", static_cast<double>(planned_models), "models", {}},
         {"planner.planned_partitions",
          static_cast<double>(planned_partitions),
          "partitions",
          {}}});
  return {};
}

}  // namespace
}  // namespace amend::bench

int main(int count, char** words) {
  return amend::bench::Main(count, words, {{"models", 1000}, {"days", 1000}, {"runs", 5}},
                            [](const std::map<std::string, int>& sizes) {
                              return amend::bench::Run(
                                  sizes.at("models"), sizes.at("days"), sizes.at("runs"));
                            });
}

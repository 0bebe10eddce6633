#include "testing/simulation/simulation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "testing/simulation/neighbours.h"
#include "testing/simulation/process.h"
#include "testing/simulation/world.h"

namespace amend::simulation {
namespace {

using publish::IntentStatus;
using publish::Kind;

constexpr int kMaxProcesses = 3;
constexpr int kMaxDrainSteps = 20'000;

/// Chances per step, in 1/1000, drawn per seed so that some histories are calm and some
/// are all of one kind of trouble.
struct Weather {
  int neighbour = 0;
  int gc = 0;
  int kill = 0;
  int power = 0;
  int rude = 0;  ///< recovery of an intent whose owner lives
  Faults faults;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Mutant mutant, Totals& totals, bool tracing)
      : world_(seed, mutant, tracing), neighbour_(world_), gc_(world_), totals_(totals) {
    weather_ = DrawWeather();
  }

  void Run() {
    const int steps = 80 + world_.random.Below(120);
    for (int i = 0; i < steps && world_.violation().empty(); ++i) {
      Step();
      world_.Look();
    }
    Drain();
    totals_.steps += steps_;
    ++totals_.seeds;
    for (const auto& [name, count] : world_.counts) totals_.counts[name] += count;
  }

  const World& world() const { return world_; }

 private:
  Weather DrawWeather() {
    auto draw = [this](int likely, int most) {
      return world_.random.PerMille(likely) ? world_.random.Below(most) : 0;
    };
    Weather weather;
    weather.neighbour = draw(700, 300);
    weather.gc = draw(600, 100);
    weather.kill = draw(600, 50);
    weather.power = draw(300, 25);
    weather.rude = draw(300, 400);
    weather.faults = {
        .busy = draw(500, 150), .fatal = draw(300, 30), .lost = draw(600, 150)};
    return weather;
  }

  void Step() {
    ++steps_;
    Random& random = world_.random;
    if (random.PerMille(weather_.power)) return LosePower();
    if (random.PerMille(weather_.kill)) return KillOne();
    if (random.PerMille(weather_.neighbour)) return neighbour_.Tick();
    if (random.PerMille(weather_.gc)) return gc_.Tick();
    if (!world_.in_flight.empty() && random.PerMille(60)) {
      const auto index = static_cast<std::size_t>(
          random.Below(static_cast<int>(world_.in_flight.size())));
      return random.PerMille(700) ? world_.Deliver(index) : world_.Drop(index);
    }
    if (static_cast<int>(processes_.size()) < kMaxProcesses && random.PerMille(120)) {
      return BeginOne();
    }
    TickOne();
  }

  void TickOne() {
    std::erase_if(processes_, [](const auto& process) { return !process->alive(); });
    if (processes_.empty()) return BeginOne();
    const auto index = static_cast<std::size_t>(
        world_.random.Below(static_cast<int>(processes_.size())));
    // Mostly go on with one for a while: deep histories need long runs.
    const int ticks = 1 + world_.random.Below(3);
    for (int i = 0; i < ticks && processes_[index]->alive(); ++i) {
      processes_[index]->Tick(weather_.faults, totals_.states);
      world_.Look();
    }
  }

  void KillOne() {
    std::erase_if(processes_, [](const auto& process) { return !process->alive(); });
    if (processes_.empty()) return;
    processes_[static_cast<std::size_t>(
                   world_.random.Below(static_cast<int>(processes_.size())))]
        ->Kill();
  }

  void LosePower() {
    ++world_.counts["power loss"];
    world_.Trace([] { return std::string("power loss"); });
    for (const auto& process : processes_) {
      if (process->alive()) process->Kill();
    }
    world_.PowerLoss();
    neighbour_.Forget();
    gc_.Forget();
  }

  // ── Beginnings ─────────────────────────────────────────────────────────────────────

  void BeginOne() {
    if (world_.random.PerMille(350) && RecoverOne(weather_.rude)) return;
    Plan* plan = world_.random.PerMille(200) ? OldPlan() : NewPlan();
    if (plan != nullptr) StartIntent(*plan);
  }

  bool Owned(const IntentRow& row) const {
    return std::ranges::any_of(processes_, [&row](const auto& process) {
      return process->alive() &&
             process->state().record.intent.id == row.record.intent.id;
    });
  }

  bool RecoverOne(int rude) {
    std::vector<const IntentRow*> open;
    for (const auto& [id, row] : world_.intents) {
      const bool settled =
          row.status != IntentStatus::kOpen && row.status != IntentStatus::kCommitted;
      if (settled || (Owned(row) && !world_.random.PerMille(rude))) continue;
      open.push_back(&row);
    }
    if (open.empty()) return false;
    const IntentRow& row = *open[static_cast<std::size_t>(
        world_.random.Below(static_cast<int>(open.size())))];
    if (Owned(row)) ++world_.counts["takeover of a living owner"];
    ++world_.counts["recoveries"];
    // The record goes through its stored form, as it will in the product.
    const auto record = publish::FromJson(publish::ToJson(row.record));
    if (!record || *record != row.record)
      world_.Violate("an intent record did not survive");
    Add(publish::Recover{.record = row.record,
                         .epoch = row.epoch,
                         .number = row.number,
                         .attempt = NewAttempt(),
                         .resume = world_.random.PerMille(600)});
    return true;
  }

  void StartIntent(Plan& plan) {
    publish::Intent intent{.id = "i" + std::to_string(++intents_),
                           .kind = plan.kind,
                           .subject = std::to_string(plan.id),
                           .tables = {},
                           .folders = {}};
    for (const PlanTable& target : plan.tables) {
      intent.tables.push_back({World::TableName(target.table), target.pin});
      intent.folders.push_back(World::Folder(target.table));
    }
    ++plan.intents;
    Add(publish::Start{.intent = std::move(intent), .attempt = NewAttempt()});
  }

  void Add(const publish::Event& beginning) {
    processes_.push_back(std::make_unique<Process>(world_, ++last_process_, beginning));
  }

  std::string NewAttempt() {
    const std::string digits = std::to_string(++attempts_);
    return "a" + std::string(7 - digits.size(), '0') + digits;
  }

  // ── Plans ──────────────────────────────────────────────────────────────────────────

  /// One that was tried and not published.
  Plan* OldPlan() {
    for (Plan& plan : world_.plans) {
      if (!plan.published && !plan.retired) return &plan;
    }
    return nullptr;
  }

  Plan* NewPlan() {
    Plan plan;
    plan.id = static_cast<int>(world_.plans.size());
    plan.tip = world_.Tip();
    const int kind = world_.random.Below(100);
    const bool made = kind < 60   ? PlanPublish(plan)
                      : kind < 80 ? PlanRollback(plan)
                                  : PlanLanding(plan);
    if (!made) return nullptr;
    world_.Trace([&plan] {
      std::string text = "plan " + std::to_string(plan.id) + ": " +
                         std::string(publish::Name(plan.kind));
      for (const PlanTable& target : plan.tables) {
        text += " t" + std::to_string(target.table) + "[";
        for (int partition : target.partitions) text += std::to_string(partition);
        if (target.append_to >= 0) text += "+" + std::to_string(target.append_to);
        text += "]@" + target.pin;
      }
      return text;
    });
    world_.plans.push_back(std::move(plan));
    return &world_.plans.back();
  }

  bool PlanPublish(Plan& plan) {
    const bool no_op = world_.random.PerMille(50);  // all was cut off
    for (int table = 0; table < static_cast<int>(world_.pointers.size()) && !no_op;
         ++table) {
      if (world_.random.PerMille(300)) plan.reads.insert(table);
      if (!world_.random.PerMille(600)) continue;
      PlanTable target = Target(table, Pointer(table), "");
      for (int partition = 0; partition < kPartitions; ++partition) {
        if (world_.random.PerMille(450)) Replace(plan, target, partition);
      }
      if (!target.partitions.empty()) plan.tables.push_back(std::move(target));
    }
    return no_op || !plan.tables.empty();
  }

  void Replace(const Plan& plan, PlanTable& target, int partition) {
    target.partitions.push_back(partition);
    target.before[partition] = world_.RowsAt(target.pin, partition);
    target.after[partition] = {};
    target.files[partition] = {};
    if (world_.random.PerMille(100)) return;  // recomputed to nothing
    const Rows rows = {world_.NewRow()};
    target.after[partition] = rows;
    target.files[partition] = {world_.NewDataFile(rows, plan.id)};
  }

  bool PlanLanding(Plan& plan) {
    plan.kind = Kind::kLand;
    const int table = world_.random.Below(static_cast<int>(world_.pointers.size()));
    PlanTable target = Target(table, Pointer(table), "");
    if (target.pin.empty()) return false;
    const int partition = world_.random.Below(kPartitions);
    if (world_.random.PerMille(300)) {
      Replace(plan, target, partition);
    } else {
      const Rows rows = {world_.NewRow()};
      target.append_to = partition;
      target.after[partition] = rows;
      target.files[partition] = {world_.NewDataFile(rows, plan.id)};
    }
    plan.tables.push_back(std::move(target));
    return true;
  }

  bool PlanRollback(Plan& plan) {
    plan.kind = Kind::kRollback;
    if (world_.ledger.empty()) return false;
    const LedgerRow& row = world_.ledger[static_cast<std::size_t>(
        world_.random.Below(static_cast<int>(world_.ledger.size())))];
    const Plan& taken_back = world_.plans[static_cast<std::size_t>(row.plan)];
    plan.rolls_back = row.number;
    for (std::size_t i = 0; i < row.swaps.size(); ++i) {
      const publish::Swap& swap = row.swaps[i];
      const PlanTable& old = taken_back.tables[i];
      const auto published = world_.ReadVersion(swap.to);
      const auto previous = world_.ReadVersion(swap.from);
      if (!published || (!previous && !swap.from.empty())) return false;
      PlanTable target = Target(old.table, swap.to, swap.from);
      target.partitions = old.partitions;
      if (old.append_to >= 0) target.partitions = {old.append_to};
      for (int partition : target.partitions) {
        target.before[partition] = world_.RowsAt(swap.to, partition);
        target.after[partition] = world_.RowsAt(swap.from, partition);
        target.files[partition] = {};
        if (previous && previous->current) {
          target.files[partition] =
              previous->current->live[static_cast<std::size_t>(partition)];
        }
      }
      plan.tables.push_back(std::move(target));
    }
    return !plan.tables.empty();
  }

  static PlanTable Target(int table, std::string pin, std::string from) {
    PlanTable target;
    target.table = table;
    target.pin = std::move(pin);
    target.from = std::move(from);
    return target;
  }

  const std::string& Pointer(int table) const {
    return world_.pointers[static_cast<std::size_t>(table)];
  }

  // ── The end ────────────────────────────────────────────────────────────────────────

  /// No faults any more: what is alive finishes, what was left is recovered, gc cleans.
  void Drain() {
    weather_ = {};
    int budget = kMaxDrainSteps;
    while (world_.violation().empty() && --budget > 0) {
      while (!world_.in_flight.empty()) {
        world_.random.PerMille(500) ? world_.Deliver(0) : world_.Drop(0);
        world_.Look();
      }
      std::erase_if(processes_, [](const auto& process) { return !process->alive(); });
      if (processes_.empty() && !RecoverOne(0)) break;
      TickOne();
      ++steps_;
    }
    if (budget == 0)
      world_.Violate("intents were not settled though all faults had ended");
    for (const auto& [id, row] : world_.intents) {
      if (row.status == IntentStatus::kOpen || row.status == IntentStatus::kCommitted) {
        world_.Violate("intent " + id + " stays " +
                       std::string(publish::Name(row.status)));
      }
      const bool failed = row.status == IntentStatus::kFailed;
      if (failed == (world_.FindLedger(id) != nullptr)) {
        world_.Violate("INV-P2: status of " + id + " and ledger disagree");
      }
    }
    CleanAll();
  }

  void CleanAll() {
    if (!world_.violation().empty()) return;
    gc_.Forget();  // a sweep begun earlier knows less
    do {
      gc_.Tick();
      world_.Look();
    } while (!gc_.idle());
    gc_.JudgeLeftovers();
  }

  World world_;
  Neighbour neighbour_;
  Gc gc_;
  Totals& totals_;
  Weather weather_;
  std::vector<std::unique_ptr<Process>> processes_;
  int intents_ = 0;
  int attempts_ = 0;
  int last_process_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace

std::string RunSeed(std::uint64_t seed, Mutant mutant, Totals& totals,
                    std::vector<std::string>* trace) {
  Simulation simulation(seed, mutant, totals, trace != nullptr);
  simulation.Run();
  if (trace != nullptr) *trace = simulation.world().trace();
  return simulation.world().violation();
}

}  // namespace amend::simulation

// The planner against its slow twin on random worlds, and seeded mutants of the planner
// that the same comparison must catch.
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plan/explain.h"
#include "plan/planner.h"
#include "testing/reference_planner/random_world.h"

namespace amend::reference {
namespace {

using partition::Partition;
using partition::PartitionSet;
using state::Plan;
using state::ReasonKind;

constexpr std::uint64_t kWorlds = 240;

std::set<Partition> PointsIn(const PartitionSet& set, const std::vector<Partition>& of) {
  std::set<Partition> points;
  for (const Partition& at : of) {
    if (set.Contains(at)) points.insert(at);
  }
  return points;
}

std::string Shown(const plan::World& world, const std::string& model,
                  const std::set<Partition>& points) {
  const auto& space = world.lineage->SpaceOf(model);
  std::vector<Partition> list(points.begin(), points.end());
  return Describe(space, PartitionSet::Of(space.shape(), list), 20);
}

/// The first difference between a plan and the twin's, or nothing.
std::string Difference(const plan::World& world, const Universe& universe,
                       const Plan& plan,
                       const std::map<std::string, ReferenceModel>& expected) {
  std::map<std::string, const state::ModelPlan*> planned;
  for (const auto& model : plan.models) planned[model.model] = &model;
  for (const auto& [name, reference] : expected) {
    auto at = planned.find(name);
    std::set<Partition> points;
    std::set<Partition> own;
    std::map<ReasonKind, std::set<Partition>> because;
    plan::ChangedColumns columns = std::set<std::string>();
    if (at != planned.end()) {
      const state::ModelPlan& model = *at->second;
      points = PointsIn(model.partitions, universe.at(name));
      if (static_cast<std::int64_t>(points.size()) != model.partitions.Count()) {
        return name + ": partitions outside the universe are planned";
      }
      for (const auto& reason : model.because) {
        because[reason.kind].merge(PointsIn(reason.partitions, universe.at(name)));
      }
      columns = model.changed_columns;
      own = PointsIn(state::OwnCause(model), universe.at(name));
    }
    if (points != reference.planned) {
      return name + ": planned " + Shown(world, name, points) + ", expected " +
             Shown(world, name, reference.planned);
    }
    if (because != reference.because) return name + ": for other reasons";
    if (own != reference.own_cause) {
      return name + ": to be computed " + Shown(world, name, own) + ", expected " +
             Shown(world, name, reference.own_cause);
    }
    if (columns != reference.changed_columns) return name + ": other columns change";
    if (plan.classes.at(name) != reference.classes) return name + ": other classes";
  }
  return "";
}

std::string Difference(const RandomWorld& random, const Plan& plan) {
  return Difference(random.world, random.universe, plan,
                    PlanByEnumeration(random.world, random.universe));
}

TEST(PlannerProperty, AgreesWithTheSlowPlannerOnRandomWorlds) {
  int with_radius = 0;
  int upstream = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    RandomWorld random = MakeRandomWorld(seed);
    auto plan = plan::MakePlan(random.world);
    ASSERT_TRUE(plan.has_value()) << "seed " << seed << ": " << plan.error().ToString();
    ASSERT_EQ(Difference(random, *plan), "") << "seed " << seed;
    std::int64_t total = 0;
    std::int64_t planned = 0;
    for (const auto& [name, counts] : plan->classes) total += counts.total();
    for (const auto& model : plan->models) {
      planned += model.partitions.Count().value_or(0);
      for (const auto& reason : model.because) {
        upstream += reason.kind == ReasonKind::kUpstream;
        ASSERT_TRUE(reason.partitions.SubsetOf(model.partitions));
      }
    }
    with_radius += planned > 0 && planned < total;
  }
  // At least half of the worlds say something: neither nothing nor everything is planned.
  EXPECT_GT(with_radius, static_cast<int>(kWorlds / 2));
  EXPECT_GT(upstream, 300);
}

TEST(PlannerProperty, TheSameWorldGivesTheSamePlan) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    RandomWorld random = MakeRandomWorld(seed);
    RandomWorld again = MakeRandomWorld(seed);
    ASSERT_EQ(state::PlanToJson(*plan::MakePlan(random.world)).dump(),
              state::PlanToJson(*plan::MakePlan(again.world)).dump());
  }
}

TEST(PlannerProperty, AfterPublishingThereIsNothingLeftToDo) {
  int published = 0;
  int cut_off = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    RandomWorld random = MakeRandomWorld(seed);
    random.world.request = {};
    auto plan = plan::MakePlan(random.world);
    ASSERT_TRUE(plan.has_value());
    published += plan->nothing_to_do() ? 0 : 1;
    auto twin = PlanByEnumeration(random.world, random.universe);
    for (int equal : {0, 50, 95}) {
      Aftermath after = AfterPublishing(random.world, *plan, twin, seed, equal);
      for (const auto& model : plan->models) {
        cut_off += model.partitions != after.computed.at(model.model);
      }
      auto second = plan::MakePlan(after.world);
      ASSERT_TRUE(second.has_value());
      for (const auto& model : second->models) {
        const auto& space = after.world.lineage->SpaceOf(model.model);
        FAIL() << "seed " << seed << ": " << model.model << " "
               << Describe(space, model.partitions) << ": " << model.because[0].text;
      }
    }
  }
  EXPECT_GT(published, static_cast<int>(kWorlds / 2));
  EXPECT_GT(cut_off, 100);
}

/// Partitions that a publication left uncomputed though they were stale, or of an earlier
/// definition; and the first that it made current all the same.
struct Blessings {
  std::size_t left = 0;
  std::string first;
};

Blessings BlessedBy(const RandomWorld& random, const Plan& plan) {
  auto before = PlanByEnumeration(random.world, random.universe);
  Aftermath after = AfterPublishing(random.world, plan, before, random.seed, 70);
  auto now = PlanByEnumeration(after.world, random.universe);
  Blessings found;
  for (const auto& [name, reference] : before) {
    auto computed = after.computed.find(name);
    auto look = [&](const std::set<Partition>& was, const std::set<Partition>& is) {
      for (const Partition& at : was) {
        if (computed != after.computed.end() && computed->second.Contains(at)) continue;
        ++found.left;
        if (!is.contains(at) && found.first.empty()) {
          found.first = name + " " + Shown(random.world, name, {at});
        }
      }
    };
    look(reference.stale, now.at(name).stale);
    look(reference.older, now.at(name).older);
  }
  return found;
}

/// Whatever was asked for: what was not computed is no better than it was.
TEST(PlannerProperty, NothingBecomesCurrentWithoutBeingComputed) {
  std::size_t left = 0;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    RandomWorld random = MakeRandomWorld(seed);
    auto plan = plan::MakePlan(random.world);
    ASSERT_TRUE(plan.has_value());
    Blessings found = BlessedBy(random, *plan);
    ASSERT_EQ(found.first, "") << "seed " << seed;
    left += found.left;
  }
  EXPECT_GT(left, 1'000u);
}

TEST(PlannerProperty, EveryPlannedPartitionIsExplainedDownToACause) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RandomWorld random = MakeRandomWorld(seed);
    auto plan = plan::MakePlan(random.world);
    ASSERT_TRUE(plan.has_value());
    for (const auto& model : plan->models) {
      for (const Partition& at :
           PointsIn(model.partitions, random.universe.at(model.model))) {
        auto steps = plan::Explain(*random.lineage, *plan, model.model, at);
        ASSERT_FALSE(steps.empty()) << "seed " << seed << " " << model.model;
        ASSERT_TRUE(steps.front().partitions.Contains(at));
      }
    }
  }
}

// --- Mutants
// ------------------------------------------------------------------------------

/// Rebuilds the world's lineage with every model's bound form changed.
void Rebind(RandomWorld* random,
            const std::function<void(lineage::BoundModel*)>& change) {
  std::vector<lineage::BoundModelEntry> models = random->lineage->models();
  for (auto& entry : models) change(&entry.bound);
  random->lineage = std::make_shared<const lineage::Lineage>(
      lineage::Lineage::Make(random->lineage->sources(), models).value());
  random->world.lineage = random->lineage.get();
}

void ForEachWindow(RandomWorld* random,
                   const std::function<void(partition::TimeMapping*)>& change) {
  Rebind(random, [&](lineage::BoundModel* bound) {
    for (auto& ref : bound->inputs) {
      partition::TimeMapping time = ref.mapping.time();
      if (time.all) continue;
      change(&time);
      std::vector<std::optional<int>> values(ref.mapping.output().values, 0);
      auto mapping = partition::PartitionMapping::Make(
          ref.mapping.input(), ref.mapping.output(), time, values);
      if (mapping) ref.mapping = *mapping;
    }
  });
}

void ForEachTable(RandomWorld* random,
                  const std::function<void(state::TableState*)>& change) {
  for (auto& [name, table] : random->world.tables) change(&table);
}

void ForEachChange(RandomWorld* random,
                   const std::function<void(state::Change*)>& change) {
  ForEachTable(random, [&](state::TableState* table) {
    state::ChangeLog changed(table->changes.shape());
    for (std::size_t i = 0; i < table->changes.size(); ++i) {
      state::Change one = table->changes[i];
      change(&one);
      changed.push_back(one);
    }
    table->changes = std::move(changed);
  });
}

void ForgetFirstOfSeveral(state::TableState* table) {
  state::ChangeLog later(table->changes.shape());
  for (std::size_t i = 1; i < table->changes.size(); ++i) {
    later.push_back(table->changes[i]);
  }
  if (!later.empty()) table->changes = std::move(later);
}

void ForEachRecord(state::TableState* table,
                   const std::function<void(state::BuildRecord*)>& change) {
  state::BuildRecords changed;
  for (std::size_t i = 0; i < table->records.size(); ++i) {
    state::BuildRecord one = table->records[i];
    change(&one);
    changed.push_back(one);
  }
  table->records = std::move(changed);
}

/// Keeps only what the wanted kinds of reasons put into the plan.
void KeepReasons(Plan* plan, const std::function<bool(ReasonKind)>& wanted) {
  for (auto& model : plan->models) {
    std::erase_if(model.because,
                  [&](const auto& reason) { return !wanted(reason.kind); });
    model.partitions = PartitionSet(model.partitions.shape());
    for (const auto& reason : model.because) {
      model.partitions = model.partitions.Union(reason.partitions);
    }
  }
  std::erase_if(plan->models, [](const auto& model) { return model.partitions.empty(); });
}

/// A planner with one fault: it looks at a world from which a fact is gone, or drops a
/// part of what it found. Each is a fault that some planner of the field has had.
struct Mutant {
  std::string name;
  std::function<void(RandomWorld*)> before = [](RandomWorld*) {};
  std::function<void(Plan*)> after = [](Plan*) {};
};

std::vector<Mutant> FactMutants() {
  const Plan none;
  return {
      {"forgets the NULL partition of changes",
       [](RandomWorld* r) {
         ForEachChange(r, [](state::Change* c) {
           auto null = PartitionSet::OfTimes(c->partitions.shape(),
                                             c->partitions.shape().grain
                                                 ? partition::TimeRuns::Null()
                                                 : partition::TimeRuns());
           c->partitions = c->partitions.Difference(null);
         });
       }},
      {"takes a change of columns for one of rows",
       [](RandomWorld* r) {
         ForEachChange(r, [](state::Change* c) { c->columns = std::nullopt; });
       }},
      {"ignores from which version a change counts",
       [](RandomWorld* r) { ForEachChange(r, [](state::Change* c) { c->after = 0; }); }},
      {"takes the version of a change as included",
       [](RandomWorld* r) { ForEachChange(r, [](state::Change* c) { ++c->before; }); }},
      {"misses the change just before what was verified",
       [](RandomWorld* r) { ForEachChange(r, [](state::Change* c) { --c->before; }); }},
      {"sees only the last change of a table",
       [](RandomWorld* r) { ForEachTable(r, ForgetFirstOfSeveral); }},
      {"ignores holds",
       [](RandomWorld* r) {
         ForEachTable(r, [](state::TableState* t) { t->holds.clear(); });
       }},
      {"never ends a hold",
       [](RandomWorld* r) {
         ForEachTable(r, [](state::TableState* t) {
           for (auto& hold : t->holds) hold.input_versions.clear();
         });
       }},
      {"plans what is not finished",
       [](RandomWorld* r) {
         r->world.now_micros = 1'000'000 * std::int64_t{86'400'000'000};
       }},
      {"does not look for drift",
       [](RandomWorld* r) {
         ForEachTable(r, [](state::TableState* t) {
           t->drifted = PartitionSet(t->drifted.shape());
         });
       }},
      {"forgets code changes",
       [](RandomWorld* r) {
         ForEachTable(r, [](state::TableState* t) {
           ForEachRecord(t, [](state::BuildRecord* one) { one->definition = "now"; });
         });
       }},
      {"takes every code change for one of rows",
       [](RandomWorld* r) { r->world.code_changes.clear(); }},
      {"believes a record that never saw an input",
       [](RandomWorld* r) {
         for (const auto& entry : r->lineage->models()) {
           ForEachRecord(&r->world.tables.at(entry.model.name), [&](auto* record) {
             for (const auto& ref : entry.bound.inputs) {
               record->verified_at.try_emplace(ref.table, 1'000);
             }
           });
         }
       }},
      {"ignores the request", [](RandomWorld* r) { r->world.request = {}; }},
  };
}

std::vector<Mutant> LineageMutants() {
  return {
      {"forgets windows",
       [](RandomWorld* r) {
         ForEachWindow(r, [](partition::TimeMapping* time) {
           time->back = time->ahead = partition::Reach::Of(0, partition::Grain::kDay);
         });
       }},
      {"cuts windows one day short",
       [](RandomWorld* r) {
         ForEachWindow(r, [](partition::TimeMapping* time) {
           if (time->back.count > 1) --time->back.count;
         });
       }},
      {"lets windows reach one day far",
       [](RandomWorld* r) {
         ForEachWindow(r, [](partition::TimeMapping* time) {
           if (time->back.count > 1) ++time->back.count;
         });
       }},
      {"forgets that rows leave and enter NULL",
       [](RandomWorld* r) {
         ForEachWindow(r, [](partition::TimeMapping* time) {
           time->all_to_null = time->null_to_all = false;
         });
       }},
      {"reads every column",
       [](RandomWorld* r) {
         Rebind(r, [](lineage::BoundModel* bound) {
           for (auto& ref : bound->inputs) ref.columns = {"a", "b", "c"};
         });
       }},
      {"lets no column decide rows",
       [](RandomWorld* r) {
         Rebind(r, [](lineage::BoundModel* bound) { bound->row_reads.clear(); });
       }},
      {"does not know which partitions exist",
       [](RandomWorld* r) {
         Rebind(r, [](lineage::BoundModel* bound) { bound->extents.clear(); });
       }},
      {"takes the first branch of a union only",
       [](RandomWorld* r) {
         Rebind(r, [](lineage::BoundModel* bound) {
           if (bound->extents.size() > 1) bound->extents.resize(1);
         });
       }},
      {"replays every code change over all history",
       [](RandomWorld* r) {
         std::vector<lineage::BoundModelEntry> models = r->lineage->models();
         for (auto& entry : models) entry.model.replay = {};
         r->lineage = std::make_shared<const lineage::Lineage>(
             lineage::Lineage::Make(r->lineage->sources(), models).value());
         r->world.lineage = r->lineage.get();
       }},
  };
}

std::vector<Mutant> PlanMutants() {
  auto nothing = [](RandomWorld*) {};
  return {
      {"stops at what is stale itself", nothing,
       [](Plan* plan) {
         KeepReasons(plan, [](ReasonKind kind) { return kind != ReasonKind::kUpstream; });
       }},
      {"never builds what is missing", nothing,
       [](Plan* plan) {
         KeepReasons(plan, [](ReasonKind kind) { return kind != ReasonKind::kMissing; });
       }},
      {"leaves out the last partition of a run", nothing,
       [](Plan* plan) {
         for (auto& model : plan->models) {
           const auto& runs = model.partitions.rest().runs();
           if (runs.empty()) continue;
           model.partitions = model.partitions.Difference(
               PartitionSet::OfTimes(model.partitions.shape(),
                                     partition::TimeRuns::Point(runs.back().end - 1)));
         }
       }},
      {"cuts off what an earlier publication made stale", nothing,
       [](Plan* plan) {
         for (auto& model : plan->models) {
           for (auto& reason : model.because) {
             reason.standing = reason.kind != ReasonKind::kUpstream;
           }
         }
       }},
      {"says that nothing but named columns changes", nothing,
       [](Plan* plan) {
         for (auto& model : plan->models) {
           if (!model.changed_columns) model.changed_columns = std::set<std::string>();
         }
       }},
  };
}

TEST(PlannerMutants, EachIsCaughtByTheComparison) {
  std::vector<Mutant> mutants = FactMutants();
  for (auto& mutant : LineageMutants()) mutants.push_back(mutant);
  for (auto& mutant : PlanMutants()) mutants.push_back(mutant);
  std::vector<int> caught(mutants.size(), 0);
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    RandomWorld random = MakeRandomWorld(seed);
    auto expected = PlanByEnumeration(random.world, random.universe);
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      if (caught[i] >= 3) continue;
      RandomWorld changed = random;
      mutants[i].before(&changed);
      auto plan = plan::MakePlan(changed.world);
      ASSERT_TRUE(plan.has_value()) << mutants[i].name << ": " << plan.error().ToString();
      mutants[i].after(&*plan);
      caught[i] += Difference(random.world, random.universe, *plan, expected) != "";
    }
  }
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    EXPECT_GE(caught[i], 1) << "survived: a planner that " << mutants[i].name;
  }
}

}  // namespace
}  // namespace amend::reference

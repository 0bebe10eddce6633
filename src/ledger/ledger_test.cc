#include "ledger/ledger.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/hash.h"
#include "db/sqlite.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ledger/schema.h"
#include "testing/fakes/fault_script.h"

namespace amend::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LedgerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() /
               ("amend-ledger-" + Env::Real().NewUuid()))
                  .string();
    std::filesystem::create_directories(folder_);
    auto connection = OpenFile(nullptr);
    AMEND_CHECK(connection.has_value());
    connection_ = *std::move(connection);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<db::Connection>> OpenFile(db::StatementObserver* observer) {
    return db::OpenSqlite({.path = folder_ + "/catalog.db",
                           .create = true,
                           .busy_timeout_ms = 0,
                           .observer = observer});
  }
  db::Transaction Begin(db::TransactionMode mode = db::TransactionMode::kWrite) {
    auto tx = connection_->Begin(mode);
    AMEND_CHECK(tx.has_value());
    return *std::move(tx);
  }
  static Ledger Open(db::Transaction& tx) {
    auto ledger = Ledger::Open(tx);
    AMEND_CHECK(ledger.has_value());
    return *std::move(ledger);
  }
  /// Runs `work` in a transaction of its own and commits it.
  void Committed(const std::function<void(Ledger&, db::Transaction&)>& work) {
    db::Transaction tx = Begin();
    Ledger ledger = Open(tx);
    work(ledger, tx);
    ASSERT_TRUE(tx.Commit().ok());
  }
  /// One statement behind the ledger's back.
  void Tamper(const std::string& sql) {
    db::Transaction tx = Begin();
    auto touched = tx.Execute(sql);
    ASSERT_TRUE(touched.has_value()) << touched.error().ToString();
    ASSERT_TRUE(tx.Commit().ok());
  }
  Status Verify() {
    db::Transaction tx = Begin(db::TransactionMode::kRead);
    return Open(tx).VerifyChain(tx);
  }

  static IntentRow Intent(const std::string& id, EntryKind kind = EntryKind::kPublish) {
    IntentRow intent;
    intent.id = id;
    intent.kind = kind;
    intent.record = {{"attempts", {"attempt-1"}}};
    intent.context = {{"plan", "p1"}};
    return intent;
  }
  static Entry SomeEntry(std::int64_t number) {
    Entry entry;
    entry.number = number;
    entry.kind = EntryKind::kPublish;
    entry.intent = "intent-" + std::to_string(number);
    entry.plan = "p0a1b2c3d4e5";
    entry.run = "r1";
    entry.author = "Zoë";
    entry.at_micros = 1'000'000 + number;
    entry.reason = "DEN delays were 7 min \"off\"";
    entry.ticket = "OPS-4711";
    entry.body = {{"z", 1}, {"a", {0.1, nullptr, 9007199254740993}}};
    EntryTable route;
    route.table = "daily_route";
    route.snapshot_id = 7'000'000'000'000'000'001;
    route.version = 3;
    route.previous_snapshot_id = 6;
    route.metadata_location = "file:///w/2.json";
    route.previous_location = "file:/w/1.json";
    route.facts_path = "/w/_amend/facts/1.parquet";
    route.facts_digest = "abc";
    route.changed = Json::parse(R"([{"first": "2001-03-05", "count": 14}])");
    route.columns = Json::parse(R"(["avg_delay"])");
    EntryTable rank;
    rank.table = "airport_rank";
    rank.metadata_location = "file:///w/r.json";
    entry.tables = {route, rank};  // Insert sorts them by name
    return entry;
  }
  /// The same as text, for comparison; tables in whatever order.
  static std::string Text(Entry entry) {
    std::sort(entry.tables.begin(), entry.tables.end(),
              [](const EntryTable& a, const EntryTable& b) { return a.table < b.table; });
    std::string text =
        std::to_string(entry.number) + std::string(EntryKindName(entry.kind)) +
        entry.intent + entry.plan + entry.run + entry.author +
        std::to_string(entry.at_micros) + entry.reason + entry.ticket +
        (entry.no_op ? "no-op" : "") + std::to_string(entry.rolls_back.value_or(-1)) +
        CanonicalJson(entry.body);
    for (const EntryTable& table : entry.tables) {
      text += table.table + std::to_string(table.snapshot_id) +
              std::to_string(table.version) + std::to_string(table.previous_snapshot_id) +
              table.metadata_location + table.previous_location + table.facts_path +
              table.facts_digest + CanonicalJson(table.changed) +
              CanonicalJson(table.columns);
    }
    return text;
  }

  std::string folder_;
  std::unique_ptr<db::Connection> connection_;
};

// ---- versions ----

TEST_F(LedgerTest, IsMadeOnceAndOnlyByAWriter) {
  {
    db::Transaction read = Begin(db::TransactionMode::kRead);
    EXPECT_EQ(Ledger::Open(read).error().code(), StatusCode::kNotFound);
  }
  Committed([](Ledger&, db::Transaction&) {});
  Committed([](Ledger&, db::Transaction&) {});
  db::Transaction read = Begin(db::TransactionMode::kRead);
  EXPECT_TRUE(Ledger::Open(read).has_value());
}

TEST_F(LedgerTest, AnOlderProgramDoesNotTouchANewerLedger) {
  Committed([](Ledger&, db::Transaction&) {});
  Tamper("INSERT INTO amend_schema(version, name) VALUES(7, 'from the future')");
  db::Transaction tx = Begin();
  Status refused = Ledger::Open(tx).error();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_EQ(refused.message(),
            "the ledger has version 7 and this Amend knows versions up to 2");
}

TEST_F(LedgerTest, AnOlderLedgerIsUpgradedByAWriterInOneTransaction) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.RegisterPath(tx, "/w/run", "r1").ok());
  });
  std::vector<Migration> more = Migrations();
  more.push_back({3, "owners may be noted", [](const db::Dialect&) {
                    return std::vector<std::string>{
                        "ALTER TABLE amend_paths ADD COLUMN note TEXT"};
                  }});
  {
    db::Transaction read = Begin(db::TransactionMode::kRead);
    EXPECT_EQ(OpenSchema(read, more).code(), StatusCode::kUnsupported);
  }
  for (int round = 0; round < 2; ++round) {
    db::Transaction tx = Begin();
    ASSERT_TRUE(OpenSchema(tx, more).ok());
    EXPECT_THAT(*tx.Columns("amend_paths"), ElementsAre("path", "owner", "note"));
    ASSERT_TRUE(tx.Commit().ok());
  }
  db::Transaction tx = Begin();
  EXPECT_EQ(Ledger::Open(tx).error().code(), StatusCode::kUnsupported);
}

TEST_F(LedgerTest, IsOfTheNamespaceThatClaimedItFirst) {
  Committed([](Ledger&, db::Transaction&) {});
  {
    db::Transaction read = Begin(db::TransactionMode::kRead);
    EXPECT_EQ(Ledger::Open(read)->Claim(read, "shop").code(), StatusCode::kNotFound);
  }
  Committed([](Ledger& ledger, db::Transaction& tx) {
    EXPECT_TRUE(ledger.Claim(tx, "shop").ok());
    EXPECT_TRUE(ledger.Claim(tx, "shop").ok());
  });
  db::Transaction tx = Begin();
  Status other = Ledger::Open(tx)->Claim(tx, "bank");
  EXPECT_EQ(other.code(), StatusCode::kInvalid);
  EXPECT_THAT(other.message(), HasSubstr("shop"));
}

TEST_F(LedgerTest, ALedgerWithoutVersionIsDamaged) {
  Committed([](Ledger&, db::Transaction&) {});
  Tamper("DELETE FROM amend_schema");
  db::Transaction tx = Begin();
  EXPECT_EQ(Ledger::Open(tx).error().code(), StatusCode::kDamaged);
}

// ---- intents ----

TEST_F(LedgerTest, NumbersAscendAndAreNeverGivenOutTwice) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    EXPECT_EQ(ledger.WriteIntent(tx, Intent("a")), 1);
    EXPECT_EQ(ledger.WriteIntent(tx, Intent("b", EntryKind::kLand)), 2);
    EXPECT_EQ(ledger.WriteIntent(tx, Intent("a")), 1);  // again: the number it has
    EXPECT_EQ(*ledger.Renumber(tx, "a", 1), 3);
    EXPECT_EQ(*ledger.Renumber(tx, "a", 2), std::nullopt);  // another epoch
    EXPECT_EQ(*ledger.Renumber(tx, "nobody", 1), std::nullopt);
    EXPECT_EQ(ledger.FindIntent(tx, "a")->value().number, 3);
  });
  Committed([](Ledger& ledger, db::Transaction& tx) {
    EXPECT_GT(*ledger.WriteIntent(tx, Intent("c")), 3);
    EXPECT_EQ(*ledger.Tip(tx), 0);  // entries alone count
  });
}

TEST_F(LedgerTest, AnIntentIsKeptAsItWasWritten) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.WriteIntent(tx, Intent("a", EntryKind::kRollback)).has_value());
    std::optional<IntentRow> found = *ledger.FindIntent(tx, "a");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->kind, EntryKind::kRollback);
    EXPECT_EQ(found->status, IntentStatus::kOpen);
    EXPECT_EQ(found->epoch, 1);
    EXPECT_EQ(found->record, Intent("a").record);
    EXPECT_EQ(found->context, Intent("a").context);
    EXPECT_EQ(*ledger.FindIntent(tx, "b"), std::nullopt);
  });
}

TEST_F(LedgerTest, ATakenOverIntentFencesItsFirstOwner) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.WriteIntent(tx, Intent("a")).has_value());
    const Json record = {{"attempts", {"attempt-1", "attempt-2"}}};
    EXPECT_EQ(ledger.TakeOver(tx, "a", 1, record), true);
    EXPECT_EQ(ledger.TakeOver(tx, "a", 1, Json()), false);
    auto set = [&](std::int64_t epoch, IntentStatus from, IntentStatus to) {
      return *ledger.SetIntentStatus(tx, "a", epoch, from, to);
    };
    EXPECT_FALSE(set(1, IntentStatus::kOpen, IntentStatus::kCommitted));
    EXPECT_FALSE(set(2, IntentStatus::kCommitted, IntentStatus::kConfirmed));
    EXPECT_TRUE(set(2, IntentStatus::kOpen, IntentStatus::kCommitted));
    EXPECT_FALSE(set(2, IntentStatus::kOpen, IntentStatus::kFailed));
    EXPECT_EQ(ledger.TakeOver(tx, "a", 2, record), false);  // no longer open
    EXPECT_EQ(ledger.FindIntent(tx, "a")->value().record, record);
    EXPECT_THAT(*ledger.UnfinishedIntents(tx), SizeIs(1));
    EXPECT_THAT(*ledger.ClosedIntents(tx), IsEmpty());
    EXPECT_TRUE(set(2, IntentStatus::kCommitted, IntentStatus::kConfirmed));
    EXPECT_THAT(*ledger.UnfinishedIntents(tx), IsEmpty());
    EXPECT_THAT(*ledger.ClosedIntents(tx), SizeIs(1));
  });
}

/// Random owners against a plain model: the ledger says yes exactly where the model does.
TEST_F(LedgerTest, CompareAndSetAgreesWithAPlainModel) {
  struct Model {
    std::int64_t epoch = 1;
    IntentStatus status = IntentStatus::kOpen;
  };
  Committed([](Ledger& ledger, db::Transaction& tx) {
    std::map<std::string, Model> model;
    std::mt19937 random(4711);
    int yes = 0;
    for (int step = 0; step < 3'000; ++step) {
      std::string id = "i" + std::to_string(random() % 40);
      std::int64_t epoch = 1 + static_cast<std::int64_t>(random() % 3);
      auto known = model.find(id);
      bool open = known != model.end() && known->second.epoch == epoch &&
                  known->second.status == IntentStatus::kOpen;
      switch (random() % 4) {
        case 0:
          ASSERT_TRUE(ledger.WriteIntent(tx, Intent(id)).has_value());
          model.try_emplace(id);
          break;
        case 1:
          ASSERT_EQ(*ledger.TakeOver(tx, id, epoch, Json::object()), open);
          if (open) ++known->second.epoch;
          break;
        case 2:
          ASSERT_EQ(ledger.Renumber(tx, id, epoch)->has_value(), open);
          break;
        default: {
          auto from = static_cast<IntentStatus>(random() % 5);
          auto to = static_cast<IntentStatus>(random() % 5);
          bool takes = known != model.end() && known->second.epoch == epoch &&
                       known->second.status == from;
          ASSERT_EQ(*ledger.SetIntentStatus(tx, id, epoch, from, to), takes);
          if (takes) known->second.status = to;
          yes += takes ? 1 : 0;
        }
      }
    }
    EXPECT_GT(yes, 20);
    std::size_t unfinished = 0;
    for (const auto& [id, one] : model) {
      unfinished +=
          one.status == IntentStatus::kOpen || one.status == IntentStatus::kCommitted ? 1
                                                                                      : 0;
    }
    EXPECT_THAT(*ledger.UnfinishedIntents(tx), SizeIs(unfinished));
  });
}

// ---- entries ----

TEST_F(LedgerTest, AnEntryComesBackExactly) {
  Entry rollback = SomeEntry(5);
  rollback.kind = EntryKind::kRollback;
  rollback.rolls_back = 2;
  rollback.no_op = true;
  rollback.tables.clear();
  Committed([&](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.Insert(tx, SomeEntry(2)).ok());
    ASSERT_TRUE(ledger.Insert(tx, rollback).ok());
  });
  db::Transaction tx = Begin(db::TransactionMode::kRead);
  Ledger ledger = Open(tx);
  EXPECT_EQ(*ledger.Tip(tx), 5);
  EXPECT_EQ(Text(ledger.FindEntry(tx, 2)->value()), Text(SomeEntry(2)));
  EXPECT_EQ(Text(ledger.FindEntryOfIntent(tx, "intent-5")->value()), Text(rollback));
  EXPECT_FALSE(ledger.FindEntry(tx, 3)->has_value());
  EXPECT_FALSE(ledger.FindEntryOfIntent(tx, "none")->has_value());
  std::vector<Entry> all = *ledger.Entries(tx);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].tables.at(0).table, "airport_rank");
  EXPECT_EQ(all[0].previous_hash, "");
  EXPECT_EQ(all[1].previous_hash, all[0].hash);
  EXPECT_THAT(all[1].hash, SizeIs(64));
}

TEST_F(LedgerTest, OneEntryANumberAndAnIntentAndNumbersAscend) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.Insert(tx, SomeEntry(2)).ok());
  });
  Entry same_intent = SomeEntry(3);
  same_intent.intent = "intent-2";
  for (const Entry& refused : {SomeEntry(1), SomeEntry(2), SomeEntry(0), same_intent}) {
    db::Transaction tx = Begin();
    Ledger ledger = Open(tx);
    EXPECT_EQ(ledger.Insert(tx, refused).code(), StatusCode::kConflict);
    EXPECT_EQ(tx.Commit().code(), StatusCode::kConflict);  // the caller cannot miss it
  }
  EXPECT_TRUE(Verify().ok());
}

TEST_F(LedgerTest, TheChainShowsEveryChange) {
  auto fill = [&] {
    Committed([](Ledger& ledger, db::Transaction& tx) {
      for (int number : {1, 2, 4}) {
        ASSERT_TRUE(ledger.Insert(tx, SomeEntry(number)).ok());
      }
    });
  };
  fill();
  ASSERT_TRUE(Verify().ok());
  const std::vector<std::string> changes = {
      "UPDATE amend_entries SET canonical = replace(canonical, 'OPS-4711', 'OPS-4712') "
      "WHERE number = 2",
      "UPDATE amend_entries SET hash = 'x' WHERE number = 4",
      "UPDATE amend_entries SET previous_hash = 'x' WHERE number = 2",
      "UPDATE amend_entries SET intent = 'other' WHERE number = 2",
      "UPDATE amend_entries SET kind = 'land' WHERE number = 2",
      "UPDATE amend_entries SET plan = 'p9' WHERE number = 2",
      "UPDATE amend_entries SET at_micros = 0 WHERE number = 2",
      "DELETE FROM amend_entry_tables WHERE number = 2 AND table_name = 'daily_route'",
      "UPDATE amend_entry_tables SET facts_digest = 'x' WHERE number = 1",
      "UPDATE amend_entry_tables SET metadata_location = 'x' WHERE number = 4",
      "UPDATE amend_entry_tables SET snapshot_id = 1 WHERE number = 4",
  };
  for (const std::string& change : changes) {
    db::Transaction tx = Begin();
    ASSERT_TRUE(tx.Execute("DELETE FROM amend_entry_tables").has_value());
    ASSERT_TRUE(tx.Execute("DELETE FROM amend_entries").has_value());
    ASSERT_TRUE(tx.Commit().ok());
    fill();
    Tamper(change);
    EXPECT_EQ(Verify().code(), StatusCode::kDamaged) << change;
  }
}

TEST_F(LedgerTest, AnEntryTakenOutOfTheMiddleIsMissed) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    for (int number : {1, 2, 3}) ASSERT_TRUE(ledger.Insert(tx, SomeEntry(number)).ok());
  });
  Tamper("DELETE FROM amend_entry_tables WHERE number = 2");
  Tamper("DELETE FROM amend_entries WHERE number = 2");
  EXPECT_EQ(Verify().message(),
            "entry #3 of the ledger does not follow the entry before it");
}

/// Every single-byte change of the stored text is seen, and none crashes the reader.
TEST_F(LedgerTest, EveryFlippedByteIsDamage) {
  Entry entry = SomeEntry(1);
  entry.tables.resize(1);
  std::string canonical;
  Committed([&](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.Insert(tx, entry).ok());
    db::Rows rows = *tx.Query("SELECT canonical FROM amend_entries");
    canonical = *rows.at(0).Text(0);
  });
  db::Transaction tx = Begin();
  Ledger ledger = Open(tx);
  for (std::size_t at = 0; at < canonical.size(); ++at) {
    std::string flipped = canonical;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x04);
    ASSERT_EQ(*tx.Execute("UPDATE amend_entries SET canonical = ?", {flipped}), 1);
    EXPECT_EQ(ledger.VerifyChain(tx).code(), StatusCode::kDamaged) << at;
    // Reading may succeed (the change may be in a reason) but never aborts.
    static_cast<void>(ledger.Entries(tx).has_value());
    ASSERT_EQ(
        *tx.Execute("UPDATE amend_entries SET canonical = ?", {canonical.substr(0, at)}),
        1);
    EXPECT_EQ(ledger.Entries(tx).error().code(), StatusCode::kDamaged) << at;
  }
}

TEST_F(LedgerTest, AnEntryOfAnotherFormatIsRefusedByName) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.Insert(tx, SomeEntry(1)).ok());
  });
  Tamper(
      "UPDATE amend_entries SET canonical = "
      "replace(canonical, '\"format\":1', '\"format\":9')");
  db::Transaction tx = Begin(db::TransactionMode::kRead);
  Status refused = Open(tx).FindEntry(tx, 1).error();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("format 9"));
}

/// The commit of a publication, with every statement as a fault point: entry and status
/// are both there or both not, and an answer other than ok never hides a commit unless it
/// says that the outcome is unknown.
TEST_F(LedgerTest, EntryAndIntentCommitTogetherWhateverFails) {
  using testing::Fault;
  std::int64_t points = 0;
  auto run = [&](testing::FaultScript& script) -> Status {
    testing::ScriptedObserver observer(script);
    AMEND_ASSIGN_OR_RETURN(std::unique_ptr<db::Connection> connection,
                           OpenFile(&observer));
    AMEND_ASSIGN_OR_RETURN(db::Transaction tx,
                           connection->Begin(db::TransactionMode::kWrite));
    AMEND_ASSIGN_OR_RETURN(Ledger ledger, Ledger::Open(tx));
    AMEND_RETURN_IF_ERROR(ledger.Insert(tx, SomeEntry(1)));
    AMEND_ASSIGN_OR_RETURN(bool took,
                           ledger.SetIntentStatus(tx, "intent-1", 1, IntentStatus::kOpen,
                                                  IntentStatus::kCommitted));
    if (!took) return Conflict("fenced");
    return tx.Commit();
  };
  auto prepare = [&] {
    Committed([](Ledger& ledger, db::Transaction& tx) {
      ASSERT_TRUE(ledger.WriteIntent(tx, Intent("intent-1")).has_value());
    });
  };
  auto landed = [&] {
    db::Transaction tx = Begin(db::TransactionMode::kRead);
    Ledger ledger = Open(tx);
    bool entry = ledger.FindEntry(tx, 1)->has_value();
    bool committed =
        ledger.FindIntent(tx, "intent-1")->value().status == IntentStatus::kCommitted;
    EXPECT_EQ(entry, committed);
    return entry;
  };
  prepare();
  {
    testing::FaultScript script;
    ASSERT_TRUE(run(script).ok());
    points = script.count();
    ASSERT_TRUE(landed());
  }
  ASSERT_EQ(points, 12);  // 3 to open; BEGIN, 2 for the version, 5 for the entry, COMMIT
  for (Fault fault :
       {Fault::kFailBefore, Fault::kFailAfter, Fault::kKillBefore, Fault::kKillAfter}) {
    for (std::int64_t point = 1; point <= points; ++point) {
      TearDown();
      SetUp();
      prepare();
      testing::FaultScript script;
      script.StrikeAt(point, fault);
      Status status = run(script);
      EXPECT_FALSE(status.ok());
      bool last_and_done =
          point == points && (fault == Fault::kFailAfter || fault == Fault::kKillAfter);
      EXPECT_EQ(landed(), last_and_done) << point;
      EXPECT_EQ(status.code() == StatusCode::kUnknown, last_and_done) << point;
    }
  }
}

// ---- plans, holds, definitions, paths ----

StoredPlan Plan(const std::string& id, std::int64_t created) {
  StoredPlan plan;
  plan.id = id;
  plan.created_micros = created;
  plan.plan = Json{{"models", {"a", "b"}}};
  return plan;
}

TEST_F(LedgerTest, PlansAreFoundByWholeOrShortIdOrAsTheLatestOpenOne) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    EXPECT_EQ(ledger.FindPlan(tx, "").error().code(), StatusCode::kNotFound);
    for (const StoredPlan& plan :
         {Plan("pab12", 10), Plan("pab34", 30), Plan("pc", 20), Plan("pcd", 5)}) {
      ASSERT_TRUE(ledger.SavePlan(tx, plan).ok());
    }
    EXPECT_EQ(ledger.FindPlan(tx, "")->id, "pab34");
    EXPECT_EQ(ledger.FindPlan(tx, "pab1")->id, "pab12");
    EXPECT_EQ(ledger.FindPlan(tx, "pc")->id, "pc");  // whole, though it begins another
    EXPECT_EQ(ledger.FindPlan(tx, "pab1")->plan, Plan("", 0).plan);
    Status ambiguous = ledger.FindPlan(tx, "pab").error();
    EXPECT_EQ(ambiguous.code(), StatusCode::kInvalid);
    EXPECT_EQ(ambiguous.message(), "pab may be any of pab12, pab34");
    EXPECT_EQ(ledger.FindPlan(tx, "%").error().code(), StatusCode::kNotFound);
  });
}

TEST_F(LedgerTest, APlanKeepsItsStateWhenSavedAgain) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.SavePlan(tx, Plan("p1", 10)).ok());
    ASSERT_TRUE(ledger.SetPlanRun(tx, "p1", "r1", state::RunState::kStaged).ok());
    ASSERT_TRUE(ledger.SetPlanState(tx, "p1", state::PlanState::kPublished).ok());
    ASSERT_TRUE(ledger.SavePlan(tx, Plan("p1", 99)).ok());
    StoredPlan plan = *ledger.FindPlan(tx, "p1");
    EXPECT_EQ(plan.state, state::PlanState::kPublished);
    EXPECT_EQ(plan.created_micros, 10);
    EXPECT_EQ(plan.run, "r1");
    EXPECT_EQ(plan.run_state, state::RunState::kStaged);
    EXPECT_THAT(*ledger.PlansIn(tx, state::PlanState::kOpen), IsEmpty());
    EXPECT_THAT(*ledger.PlansIn(tx, state::PlanState::kPublished), SizeIs(1));
    EXPECT_EQ(ledger.SetPlanState(tx, "p2", state::PlanState::kOpen).code(),
              StatusCode::kNotFound);
    EXPECT_EQ(ledger.SetPlanRun(tx, "p2", "r", state::RunState::kFailed).code(),
              StatusCode::kNotFound);
  });
}

// Every pair of states, against the list at PlanState.
TEST_F(LedgerTest, APlanGoesOnlyTheWaysThatItsStatesHave) {
  using state::PlanState;
  const std::vector<PlanState> all = {PlanState::kOpen, PlanState::kPublished,
                                      PlanState::kSuperseded};
  const std::set<std::pair<PlanState, PlanState>> ways = {
      {PlanState::kOpen, PlanState::kPublished},
      {PlanState::kOpen, PlanState::kSuperseded},
      {PlanState::kSuperseded, PlanState::kOpen},
      {PlanState::kSuperseded, PlanState::kPublished}};
  Committed([&](Ledger& ledger, db::Transaction& tx) {
    for (PlanState from : all) {
      for (PlanState to : all) {
        StoredPlan plan =
            Plan(fmt::format("{}-{}", PlanStateName(from), PlanStateName(to)), 1);
        plan.state = from;
        ASSERT_TRUE(ledger.SavePlan(tx, plan).ok());
        Status set = ledger.SetPlanState(tx, plan.id, to);
        bool allowed = from == to || ways.contains({from, to});
        EXPECT_EQ(set.code(), allowed ? StatusCode::kOk : StatusCode::kConflict)
            << plan.id;
        EXPECT_EQ(ledger.FindPlan(tx, plan.id)->state, allowed ? to : from) << plan.id;
      }
    }
    // Planning the same again opens what was superseded.
    ASSERT_TRUE(ledger.SavePlan(tx, Plan("open-superseded", 2)).ok());
    EXPECT_EQ(ledger.FindPlan(tx, "open-superseded")->state, PlanState::kOpen);
  });
}

TEST_F(LedgerTest, AHoldEndsOnce) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    StoredHold hold;
    hold.table = "daily_route";
    hold.hold = {{"by", "rollback #3"}};
    hold.created_by = 3;
    ASSERT_TRUE(ledger.AddHold(tx, hold).ok());
    ASSERT_TRUE(ledger.AddHold(tx, hold).ok());
    std::vector<StoredHold> holds = *ledger.ActiveHolds(tx);
    ASSERT_THAT(holds, SizeIs(2));
    EXPECT_EQ(holds[0].table, "daily_route");
    EXPECT_EQ(holds[0].hold, hold.hold);
    EXPECT_EQ(holds[0].created_by, 3);
    EXPECT_EQ(holds[0].ended_micros, std::nullopt);
    EXPECT_NE(holds[0].id, holds[1].id);
    EXPECT_EQ(ledger.EndHold(tx, holds[0].id, 77, "released by Zoë"), true);
    EXPECT_EQ(ledger.EndHold(tx, holds[0].id, 78, "again"), false);
    holds = *ledger.ActiveHolds(tx);
    ASSERT_THAT(holds, SizeIs(1));
  });
}

TEST_F(LedgerTest, KeepsDefinitionsAndPaths) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    const StoredDefinition first{"d1", "route_7d", Json{{"sql", "SELECT 1"}}};
    ASSERT_TRUE(ledger.SaveDefinition(tx, first).ok());
    ASSERT_TRUE(ledger.SaveDefinition(tx, {"d1", "other", Json()}).ok());
    std::optional<StoredDefinition> found = *ledger.FindDefinition(tx, "d1");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->model, "route_7d");
    EXPECT_EQ(found->definition, first.definition);
    EXPECT_FALSE(ledger.FindDefinition(tx, "d2")->has_value());

    ASSERT_TRUE(ledger.RegisterPath(tx, "/w/b", "run-2").ok());
    ASSERT_TRUE(ledger.RegisterPath(tx, "/w/a", "run-1").ok());
    ASSERT_TRUE(ledger.RegisterPath(tx, "/w/a", "run-9").ok());
    std::vector<Ledger::RegisteredPath> paths = *ledger.RegisteredPaths(tx);
    ASSERT_THAT(paths, SizeIs(2));
    EXPECT_EQ(paths[0].path + " " + paths[0].owner, "/w/a run-1");
    ASSERT_TRUE(ledger.ForgetPath(tx, "/w/a").ok());
    ASSERT_TRUE(ledger.ForgetPath(tx, "/w/a").ok());
    EXPECT_THAT(*ledger.RegisteredPaths(tx), SizeIs(1));
  });
}

TEST_F(LedgerTest, OddTextInARowIsDamage) {
  Committed([](Ledger& ledger, db::Transaction& tx) {
    ASSERT_TRUE(ledger.WriteIntent(tx, Intent("a")).has_value());
    ASSERT_TRUE(ledger.SavePlan(tx, Plan("p1", 1)).ok());
    ASSERT_TRUE(ledger.SaveDefinition(tx, {"d1", "m", Json()}).ok());
    StoredHold hold;
    ASSERT_TRUE(ledger.AddHold(tx, hold).ok());
  });
  Tamper("UPDATE amend_plans SET body = '{'");
  Tamper("UPDATE amend_holds SET body = ''");
  Tamper("UPDATE amend_definitions SET body = '[1'");
  db::Transaction tx = Begin();
  Ledger ledger = Open(tx);
  EXPECT_EQ(ledger.FindPlan(tx, "p1").error().code(), StatusCode::kDamaged);
  for (const char* sql : {"UPDATE amend_plans SET body = '{}', state = 'odd'",
                          "UPDATE amend_plans SET state = 'open', run_state = 'odd'"}) {
    ASSERT_TRUE(tx.Execute(sql).has_value());
    EXPECT_EQ(ledger.FindPlan(tx, "p1").error().code(), StatusCode::kDamaged) << sql;
  }
  EXPECT_EQ(ledger.ActiveHolds(tx).error().code(), StatusCode::kDamaged);
  EXPECT_EQ(ledger.FindDefinition(tx, "d1").error().code(), StatusCode::kDamaged);
  for (const char* sql : {"UPDATE amend_intents SET record = '}'",
                          "UPDATE amend_intents SET record = '{}', status = 'odd'",
                          "UPDATE amend_intents SET status = 'open', kind = 'odd'"}) {
    ASSERT_TRUE(tx.Execute(sql).has_value());
    EXPECT_EQ(ledger.FindIntent(tx, "a").error().code(), StatusCode::kDamaged) << sql;
  }
}

}  // namespace
}  // namespace amend::ledger

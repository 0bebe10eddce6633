#include "publish/protocol.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::publish {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kAttempt = "attempt-0001";

Intent TwoTables() {
  return {.id = "intent-1",
          .kind = Kind::kPublish,
          .subject = "plan-1",
          .tables = {{"ns.a", "a0"}, {"ns.b", "b0"}},
          .folders = {"/a/metadata", "/b/metadata"}};
}

/// Tells a story: feeds events, remembers what was asked for.
class Teller {
 public:
  explicit Teller(Intent intent = TwoTables(), std::vector<std::string> needs = {}) {
    Tell(Start{
        .intent = std::move(intent), .attempt = kAttempt, .needs = std::move(needs)});
  }

  explicit Teller(const Recover& recover) { Tell(recover); }

  Teller& Tell(const Event& event) {
    StepResult result = Step(state_, event);
    state_ = std::move(result.state);
    action_ = std::move(result.action);
    asked_.emplace_back(Name(action_));
    return *this;
  }

  /// Answers every action as a quiet world would, until `phase`.
  Teller& GoTo(Phase phase) {
    while (state_.phase != phase && state_.phase != Phase::kDone) Tell(Quiet());
    EXPECT_EQ(Name(state_.phase), Name(phase));
    return *this;
  }

  Event Quiet() const {
    if (std::holds_alternative<WriteIntent>(action_)) return IntentWritten{.number = 5};
    if (std::holds_alternative<Renumber>(action_)) {
      return IntentWritten{.number = state_.tip + 1};
    }
    if (std::holds_alternative<ReadHeads>(action_)) {
      return HeadsRead{.tip = tip, .heads = heads};
    }
    if (std::holds_alternative<LockRows>(action_)) {
      return RowsLocked{.number = tip + 1, .tip = tip, .heads = heads};
    }
    if (const auto* compare = std::get_if<ComparePartitions>(&action_)) {
      Compared compared;
      compared.items.resize(compare->items.size(), {Verdict::kEqual, ""});
      return compared;
    }
    if (const auto* build = std::get_if<BuildCommits>(&action_)) return Staged(*build);
    if (std::holds_alternative<CommitSwap>(action_)) return Committed{};
    if (std::holds_alternative<Resolve>(action_)) return Resolved{};
    if (const auto* back = std::get_if<ReadBack>(&action_)) {
      return ReadBackDone{.served = std::vector(back->swaps.size(), Served::kYes)};
    }
    return Done{};
  }

  static Built Staged(const BuildCommits& build) {
    Built built;
    for (const BuildCommits::Item& item : build.items) {
      const std::string path = item.table + "/" + build.stem;
      built.staged.push_back({.table = item.table,
                              .location = path + ".json",
                              .snapshot = build.number * 100,
                              .files = {path + ".avro", path + ".json"}});
    }
    return built;
  }

  template <typename T>
  const T& Asked() const {
    const T* action = std::get_if<T>(&action_);
    AMEND_CHECK(action != nullptr);
    return *action;
  }

  /// The actions asked for since the last call.
  std::vector<std::string> Story() { return std::exchange(asked_, {}); }
  const ProtocolState& state() const { return state_; }

  std::int64_t tip = 4;
  std::vector<std::string> heads = {"a0", "b0"};

 private:
  ProtocolState state_;
  Action action_;
  std::vector<std::string> asked_;
};

Failed FailedAs(FailureKind kind, StatusCode code = StatusCode::kInternal) {
  return {.kind = kind, .code = code, .why = "because"};
}

MATCHER_P(EndedAs, ending, std::string(Name(ending))) {
  *result_listener << Name(arg.state().ending) << " in phase " << Name(arg.state().phase)
                   << ": " << arg.state().why;
  return arg.state().phase == Phase::kDone && arg.state().ending == ending;
}

// ── Stories ──────────────────────────────────────────────────────────────────────────

TEST(ProtocolTest, QuietPublicationChecksTwiceAndReadsBack) {
  Teller story;
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
  EXPECT_THAT(story.Story(),
              ElementsAre("write-intent", "read-heads", "compare-partitions",
                          "build-commits", "sync-files", "read-heads", "commit-swap",
                          "read-back", "finish-intent", "stop"));
  EXPECT_TRUE(EndingStatus(story.state()).ok());
}

TEST(ProtocolTest, CommitNamesWhatItWasBuiltOn) {
  Teller story;
  story.GoTo(Phase::kCommit);
  const auto& commit = story.Asked<CommitSwap>();
  EXPECT_EQ(commit.number, 5);
  EXPECT_EQ(commit.tip, 4);
  EXPECT_EQ(commit.epoch, 1);
  EXPECT_FALSE(commit.locked);
  EXPECT_THAT(commit.swaps,
              ElementsAre(Swap{"ns.a", "a0", "ns.a/attempt-0001-1.json", 500},
                          Swap{"ns.b", "b0", "ns.b/attempt-0001-1.json", 500}));
}

TEST(ProtocolTest, PublicationWithoutTablesWritesOnlyItsLedgerRow) {
  Teller story({.id = "intent-1",
                .kind = Kind::kPublish,
                .subject = "p",
                .tables = {},
                .folders = {}});
  story.heads = {};
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
  EXPECT_THAT(story.Story(),
              ElementsAre("write-intent", "read-heads", "read-heads", "commit-swap",
                          "read-back", "finish-intent", "stop"));
}

TEST(ProtocolTest, FilesOfOthersAreSeenBeforeTheCommitAndNeverDiscarded) {
  for (const auto& tables : {std::vector<TableTarget>(), TwoTables().tables}) {
    Teller story({.id = "intent-1",
                  .kind = Kind::kPublish,
                  .subject = "p",
                  .tables = tables,
                  .folders = {"ns.a/"}},
                 {"ns.a/data.parquet", "facts.parquet"});
    if (tables.empty()) story.heads = {};
    story.GoTo(Phase::kSync);
    EXPECT_THAT(story.Asked<SyncFiles>().needs,
                ElementsAre("ns.a/data.parquet", "facts.parquet"));
    EXPECT_THAT(story.Asked<SyncFiles>().files, SizeIs(2 * tables.size()));
    story.Tell(FailedAs(FailureKind::kFatal, StatusCode::kRefused)).GoTo(Phase::kDiscard);
    EXPECT_THAT(story.Asked<DiscardFiles>().files, IsEmpty());
    story.GoTo(Phase::kDone);
    EXPECT_THAT(story, EndedAs(Ending::kFailed));
    EXPECT_EQ(EndingStatus(story.state()).code(), StatusCode::kRefused);
  }
}

TEST(ProtocolTest, NeighbourMovesOneTableAndOnlyThatIsDoneAgain) {
  Teller story;
  story.GoTo(Phase::kSync).Tell(Done{});
  story.Tell(HeadsRead{.tip = 4, .heads = {"a0", "b1"}});
  ASSERT_EQ(story.Asked<ComparePartitions>().items.size(), 1u);
  EXPECT_EQ(story.Asked<ComparePartitions>().items[0].table, "ns.b");
  EXPECT_EQ(story.Asked<ComparePartitions>().items[0].pin, "b0");
  EXPECT_EQ(story.Asked<ComparePartitions>().items[0].head, "b1");
  story.heads = {"a0", "b1"};
  story.GoTo(Phase::kBuild);
  ASSERT_EQ(story.Asked<BuildCommits>().items.size(), 1u);
  EXPECT_EQ(story.Asked<BuildCommits>().items[0].head, "b1");
  EXPECT_EQ(story.Asked<BuildCommits>().stem, "attempt-0001-2");
  story.GoTo(Phase::kCommit);
  EXPECT_THAT(story.Asked<CommitSwap>().swaps,
              ElementsAre(Swap{"ns.a", "a0", "ns.a/attempt-0001-1.json", 500},
                          Swap{"ns.b", "b1", "ns.b/attempt-0001-2.json", 500}));
  // What the lost round wrote goes, by exact name, once the commit is confirmed.
  story.GoTo(Phase::kDiscard);
  EXPECT_THAT(story.Asked<DiscardFiles>().files,
              ElementsAre("ns.b/attempt-0001-1.avro", "ns.b/attempt-0001-1.json"));
  EXPECT_THAT(story.Asked<DiscardFiles>().attempts, IsEmpty());
}

TEST(ProtocolTest, FileThatALaterRoundUsesAgainIsNotDiscarded) {
  Teller story;
  story.GoTo(Phase::kSync).Tell(Done{});
  story.heads = {"a0", "b1"};
  story.Tell(story.Quiet()).GoTo(Phase::kBuild);
  Built built = Teller::Staged(story.Asked<BuildCommits>());
  built.staged[0].files.emplace_back("ns.b/attempt-0001-1.avro");
  story.Tell(built).GoTo(Phase::kDiscard);
  EXPECT_THAT(story.Asked<DiscardFiles>().files, ElementsAre("ns.b/attempt-0001-1.json"));
}

TEST(ProtocolTest, AnotherPublicationMakesAllTablesAnswerAgainButNotBuildAgain) {
  Teller story({.id = "intent-1",
                .kind = Kind::kPublish,
                .subject = "plan-1",
                .tables = TwoTables().tables,
                .folders = {}});
  story.tip = 2;
  story.GoTo(Phase::kSync).Tell(Done{}).Story();
  story.tip = 3;  // committed by another, below our number 5
  story.GoTo(Phase::kCommit);
  EXPECT_THAT(story.Story(),
              ElementsAre("compare-partitions", "read-heads", "commit-swap"));
}

TEST(ProtocolTest, HigherNumberInTheLedgerMeansANewNumberAndNewFiles) {
  Teller story;
  story.GoTo(Phase::kCommit);
  story.tip = 6;
  story.Story();
  story.Tell(FailedAs(FailureKind::kMoved)).GoTo(Phase::kCommit);
  EXPECT_THAT(story.Story(),
              ElementsAre("read-heads", "renumber", "compare-partitions", "build-commits",
                          "sync-files", "read-heads", "commit-swap"));
  EXPECT_EQ(story.Asked<CommitSwap>().number, 7);
  EXPECT_EQ(story.Asked<CommitSwap>().tip, 6);
  for (const Swap& swap : story.Asked<CommitSwap>().swaps) {
    EXPECT_EQ(swap.snapshot, 700) << "built under the old number";
  }
}

TEST(ProtocolTest, ThreeLossesTakeTheRowLocks) {
  Teller story;
  for (int i = 0; i < kLossesBeforeLock; ++i) {
    story.GoTo(Phase::kCommit).Tell(FailedAs(FailureKind::kMoved));
  }
  EXPECT_EQ(story.state().phase, Phase::kLock);
  story.Story();
  story.heads = {"a7", "b0"};
  story.Tell(RowsLocked{.number = 5, .tip = 4, .heads = story.heads});
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
  EXPECT_THAT(story.Story(), ElementsAre("compare-partitions", "build-commits",
                                         "sync-files", "commit-swap", "read-back",
                                         "discard-files", "finish-intent", "stop"));
}

TEST(ProtocolTest, RefusedCommitAndTheLookAfterItAreOneLoss) {
  Teller story;
  story.GoTo(Phase::kCommit).Tell(FailedAs(FailureKind::kMoved));
  story.heads = {"a1", "b0"};
  story.GoTo(Phase::kCommit);
  EXPECT_EQ(story.state().losses, 1);
  story.heads = {"a2", "b0"};
  story.Tell(FailedAs(FailureKind::kMoved)).GoTo(Phase::kSync).Tell(Done{});
  story.heads = {"a3", "b0"};
  story.Tell(story.Quiet());
  EXPECT_EQ(story.state().losses, 3);
  EXPECT_EQ(story.state().phase, Phase::kLock);
}

TEST(ProtocolTest, NumberOfARolledBackLockWasNeverGiven) {
  Teller story;
  for (int i = 0; i < kLossesBeforeLock; ++i) {
    story.GoTo(Phase::kCommit).Tell(FailedAs(FailureKind::kMoved));
  }
  story.Tell(RowsLocked{.number = 12, .tip = 11, .heads = {"a0", "b0"}});
  story.GoTo(Phase::kCommit);
  EXPECT_EQ(story.Asked<CommitSwap>().number, 12);
  EXPECT_TRUE(story.Asked<CommitSwap>().locked);
  story.Tell(Lost{.why = "no answer"});
  EXPECT_FALSE(story.state().locked);
  story.Tell(Resolved{});
  ASSERT_EQ(story.state().phase, Phase::kLock);
  EXPECT_EQ(story.Asked<LockRows>().number, 0);
  EXPECT_EQ(story.Asked<LockRows>().epoch, 2);
}

TEST(ProtocolTest, LocksAreReleasedBeforeAnythingIsCleaned) {
  Teller story;
  for (int i = 0; i < kLossesBeforeLock; ++i) {
    story.GoTo(Phase::kCommit).Tell(FailedAs(FailureKind::kMoved));
  }
  story.Tell(RowsLocked{.number = 5, .tip = 4, .heads = {"a1", "b0"}});
  story.Story();
  story.Tell(Compared{.items = {{Verdict::kDifferent, "day 3 changed"}}});
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConflict));
  EXPECT_THAT(story.Story(),
              ElementsAre("release-rows", "discard-files", "finish-intent", "stop"));
}

TEST(ProtocolTest, ChangedPartitionsAreAConflictThatNamesThemAll) {
  Teller story;
  story.GoTo(Phase::kCompare);
  story.Tell(Compared{.items = {{Verdict::kDifferent, "ns.a 2001-03-05: +1 row"},
                                {Verdict::kUndecidable, "ns.b: pin was expired"}}});
  ASSERT_EQ(story.state().phase, Phase::kDiscard);
  EXPECT_THAT(story.Asked<DiscardFiles>().attempts, ElementsAre(kAttempt));
  EXPECT_THAT(story.Asked<DiscardFiles>().folders,
              ElementsAre("/a/metadata", "/b/metadata"));
  story.Tell(Done{});
  EXPECT_EQ(story.Asked<FinishIntent>().status, IntentStatus::kFailed);
  story.Tell(Done{});
  EXPECT_THAT(story, EndedAs(Ending::kConflict));
  const Status status = EndingStatus(story.state());
  EXPECT_EQ(status.code(), StatusCode::kConflict);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("2001-03-05"), HasSubstr("expired")));
}

TEST(ProtocolTest, CompactionIsNotAConflict) {
  Teller story;
  story.GoTo(Phase::kCompare);
  story.Tell(Compared{.items = {{Verdict::kCompacted, ""}, {Verdict::kEqual, ""}}});
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
}

TEST(ProtocolTest, EndlessLossesEnd) {
  Teller story;
  for (int i = 0; i < kMaxLosses; ++i) {
    story.GoTo(Phase::kCommit).Tell(FailedAs(FailureKind::kMoved));
  }
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kFailed));
  EXPECT_EQ(EndingStatus(story.state()).code(), StatusCode::kTransient);
}

// ── Outcome of the commit ────────────────────────────────────────────────────────────

TEST(CommitOutcomeTest, CertainFailureDiscardsAndCloses) {
  Teller story;
  story.GoTo(Phase::kCommit);
  story.Tell(FailedAs(FailureKind::kFatal, StatusCode::kExhausted));
  EXPECT_EQ(story.state().phase, Phase::kDiscard);
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kFailed));
  EXPECT_EQ(EndingStatus(story.state()).code(), StatusCode::kExhausted);
}

TEST(CommitOutcomeTest, ConflictThatIsNoMovedPointerEndsAsConflict) {
  Teller story;
  story.GoTo(Phase::kCommit);
  story.Tell(FailedAs(FailureKind::kFatal, StatusCode::kConflict));
  EXPECT_EQ(story.state().phase, Phase::kDiscard);
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConflict));
  EXPECT_EQ(EndingStatus(story.state()).code(), StatusCode::kConflict);
}

TEST(CommitOutcomeTest, BusyIsAskedAgainAfterAPauseAndGivenUpInTheEnd) {
  Teller story;
  story.GoTo(Phase::kCommit).Story();
  for (int i = 0; i < kMaxTries - 1; ++i) {
    story.Tell(FailedAs(FailureKind::kBusy)).Tell(Done{});
  }
  story.Tell(FailedAs(FailureKind::kBusy));
  EXPECT_EQ(story.state().phase, Phase::kDiscard);
  EXPECT_EQ(story.state().code, StatusCode::kTransient);
  EXPECT_THAT(story.Story(), ElementsAre("pause", "commit-swap", "pause", "commit-swap",
                                         "pause", "commit-swap", "pause", "commit-swap",
                                         "pause", "commit-swap", "discard-files"));
}

TEST(CommitOutcomeTest, UnknownAndItHappened) {
  Teller story;
  story.GoTo(Phase::kCommit);
  const auto swaps = story.Asked<CommitSwap>().swaps;
  story.Tell(Lost{.why = "connection lost in COMMIT"});
  ASSERT_EQ(story.state().phase, Phase::kResolve);
  story.Tell(Resolved{.committed = true, .number = 5, .swaps = swaps});
  EXPECT_EQ(story.Asked<ReadBack>().swaps, swaps);
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
}

TEST(CommitOutcomeTest, UnknownAndItDidNotHappenGoesOnUnderANewEpoch) {
  Teller story;
  story.GoTo(Phase::kCommit).Story();
  story.Tell(Lost{.why = "connection lost in COMMIT"}).Tell(Resolved{});
  story.GoTo(Phase::kCommit);
  // Nothing moved, so what was staged serves again.
  EXPECT_THAT(story.Story(), ElementsAre("resolve", "read-heads", "commit-swap"));
  EXPECT_EQ(story.Asked<CommitSwap>().epoch, 2);
}

TEST(CommitOutcomeTest, UnknownStaysUnknownAndNothingIsTouched) {
  Teller story;
  story.GoTo(Phase::kCommit).Tell(Lost{.why = "gone"}).Story();
  while (story.state().phase != Phase::kDone) {
    story.Tell(story.state().pausing ? Event(Done{}) : Event(Lost{.why = "gone"}));
  }
  EXPECT_THAT(story, EndedAs(Ending::kUnknown));
  EXPECT_THAT(story.Story(), testing::Each(testing::AnyOf("pause", "resolve", "stop")));
  EXPECT_EQ(EndingStatus(story.state()).code(), StatusCode::kUnknown);
}

TEST(CommitOutcomeTest, FencedOffTouchesNothing) {
  Teller story;
  story.GoTo(Phase::kCommit).Story();
  story.Tell(FailedAs(FailureKind::kFenced));
  EXPECT_THAT(story, EndedAs(Ending::kSuperseded));
  EXPECT_THAT(story.Story(), ElementsAre("stop"));
}

TEST(CommitOutcomeTest, FencedOffWhileClosingIsNoFailureAnyMore) {
  Teller story;
  story.GoTo(Phase::kCommit);
  story.Tell(FailedAs(FailureKind::kFatal)).GoTo(Phase::kFinish);
  story.Tell(FailedAs(FailureKind::kFenced));
  EXPECT_THAT(story, EndedAs(Ending::kSuperseded)) << "the new owner may publish it";
}

TEST(CommitOutcomeTest, WrongReadBackIsNotSuccessAndStaysOpenForTheNextCommand) {
  Teller story;
  story.GoTo(Phase::kConfirm).Story();
  story.Tell(ReadBackDone{.served = {Served::kYes, Served::kWrong}});
  EXPECT_THAT(story, EndedAs(Ending::kUnconfirmed));
  EXPECT_THAT(story.Story(), ElementsAre("stop"));
  EXPECT_THAT(EndingStatus(story.state()).message(), HasSubstr("ns.b"));
}

TEST(CommitOutcomeTest, TakenBackByANeighbourIsSaid) {
  Teller story;
  story.GoTo(Phase::kConfirm);
  story.Tell(ReadBackDone{.served = {Served::kReplaced, Served::kYes}});
  EXPECT_EQ(story.Asked<FinishIntent>().status, IntentStatus::kOverruled);
  story.Tell(Done{});
  EXPECT_THAT(story, EndedAs(Ending::kOverruled));
  EXPECT_THAT(EndingStatus(story.state()).message(), HasSubstr("ns.a"));
}

TEST(CommitOutcomeTest, UnclearSyncIsNeverRepeated) {
  Teller story;
  story.GoTo(Phase::kSync).Story();
  story.Tell(Lost{.why = "EIO"});
  EXPECT_THAT(story.Story(), ElementsAre("discard-files"));
}

TEST(CommitOutcomeTest, RepeatedBuildGetsNewNames) {
  Teller story;
  story.GoTo(Phase::kBuild);
  EXPECT_EQ(story.Asked<BuildCommits>().stem, "attempt-0001-1");
  story.Tell(FailedAs(FailureKind::kBusy)).Tell(Done{});
  EXPECT_EQ(story.Asked<BuildCommits>().stem, "attempt-0001-2");
}

// ── Recovery ─────────────────────────────────────────────────────────────────────────

Recover LeftBehind(bool resume) {
  return {.record = {.intent = TwoTables(), .attempts = {kAttempt}},
          .epoch = 3,
          .number = 5,
          .attempt = "attempt-0002",
          .resume = resume};
}

TEST(RecoveryTest, AsksTheLedgerFirstAndRegistersItself) {
  Teller story(LeftBehind(true));
  const auto& resolve = story.Asked<Resolve>();
  EXPECT_EQ(resolve.epoch, 3);
  EXPECT_THAT(resolve.record.attempts, ElementsAre(kAttempt, "attempt-0002"));
}

TEST(RecoveryTest, ConfirmsWhatHadCommitted) {
  Teller story(LeftBehind(true));
  story.Story();
  story.Tell(Resolved{.committed = true,
                      .number = 5,
                      .swaps = {{"ns.a", "a0", "a1", 1}, {"ns.b", "b0", "b1", 2}}});
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
  // Whose files those were is not certain: gc looks what can be reached.
  EXPECT_THAT(story.Story(), ElementsAre("read-back", "finish-intent", "stop"));
}

TEST(RecoveryTest, GoesOnAndCleansBehindTheDead) {
  Teller story(LeftBehind(true));
  story.GoTo(Phase::kCommit);
  EXPECT_EQ(story.Asked<CommitSwap>().epoch, 4);
  story.GoTo(Phase::kDiscard);
  EXPECT_THAT(story.Asked<DiscardFiles>().attempts, ElementsAre(kAttempt));
  story.GoTo(Phase::kDone);
  EXPECT_THAT(story, EndedAs(Ending::kConfirmed));
}

TEST(RecoveryTest, GivesUpAndCleansEverything) {
  Teller story(LeftBehind(false));
  story.Tell(Resolved{});
  EXPECT_THAT(story.Asked<DiscardFiles>().attempts,
              ElementsAre(kAttempt, "attempt-0002"));
  story.Tell(Done{});
  EXPECT_EQ(story.Asked<FinishIntent>().status, IntentStatus::kFailed);
  EXPECT_EQ(story.Asked<FinishIntent>().epoch, 4);
}

TEST(RecoveryTest, LosesToAnotherRecovery) {
  Teller story(LeftBehind(true));
  story.Tell(FailedAs(FailureKind::kFenced));
  EXPECT_THAT(story, EndedAs(Ending::kSuperseded));
}

// ── The verifier and the driver's mistakes ───────────────────────────────────────────

TEST(VerifyStateTest, NamesTheInvariantThatBroke) {
  Teller story;
  story.GoTo(Phase::kCommit);
  auto broken = [&story](auto damage) {
    ProtocolState state = story.state();
    damage(state);
    return VerifyState(state).message();
  };
  EXPECT_THAT(broken([](auto& s) { s.tables[0].synced = false; }), HasSubstr("INV-P6"));
  EXPECT_THAT(broken([](auto& s) { s.needs = {"data"}, s.needs_seen = false; }),
              HasSubstr("INV-P6 (needs)"));
  EXPECT_THAT(broken([](auto& s) { s.tip = s.number; }), HasSubstr("INV-P4"));
  EXPECT_THAT(broken([](auto& s) { s.fresh = false; }), HasSubstr("INV-P5"));
  EXPECT_THAT(broken([](auto& s) { s.tables[1].built = false; }), HasSubstr("INV-P5"));
  EXPECT_THAT(broken([](auto& s) { s.tables[0].compared = false; }), HasSubstr("INV-P5"));
  EXPECT_THAT(broken([](auto& s) { s.in_doubt = true; }), HasSubstr("INV-P10"));
  EXPECT_THAT(broken([](auto& s) { s.record.attempts = {"a"}; }), HasSubstr("INV-P8"));
  EXPECT_THAT(broken([](auto& s) { s.ending = Ending::kConfirmed; }),
              HasSubstr("INV-P2"));
  EXPECT_THAT(broken([](auto& s) {
                s.published = true;
                s.ending = Ending::kConfirmed;
              }),
              HasSubstr("INV-P9"));
  EXPECT_THAT(broken([](auto& s) { s.phase = Phase::kDiscard; }), HasSubstr("INV-P7"));
  EXPECT_THAT(broken([](auto& s) { s.ending = Ending::kSuperseded; }),
              HasSubstr("INV-P11"));
  EXPECT_THAT(broken([](auto& s) {
                std::swap(s.record.intent.tables[0], s.record.intent.tables[1]);
              }),
              HasSubstr("INV-P1"));
}

TEST(ProtocolDeathTest, AnswerToAnotherActionAborts) {
  Teller story;
  EXPECT_DEATH(story.Tell(Committed{}), "broken invariant");
}

// ── The record ───────────────────────────────────────────────────────────────────────

IntentRecord Sample() {
  return {.intent = {.id = "i-1",
                     .kind = Kind::kRollback,
                     .subject = "7",
                     .tables = {{"ns.a", "a-3.json"}, {"ns.b", ""}},
                     .folders = {"/w/a/metadata", "/w/b/metadata"}},
          .attempts = {"attempt-0001", "attempt-0002"}};
}

TEST(IntentRecordTest, RoundTrips) {
  Result<IntentRecord> again = FromJson(ToJson(Sample()));
  ASSERT_TRUE(again.has_value()) << again.error().ToString();
  EXPECT_EQ(*again, Sample());
}

TEST(IntentRecordTest, EveryTruncationIsRefused) {
  const std::string text = CanonicalJson(ToJson(Sample()));
  for (std::size_t size = 0; size < text.size(); ++size) {
    Result<Json> json = ParseJson(text.substr(0, size), "record");
    EXPECT_FALSE(json.has_value() && FromJson(*json).has_value()) << size;
  }
}

TEST(IntentRecordTest, EveryMissingOrMistypedMemberIsRefused) {
  const Json whole = ToJson(Sample());
  for (const auto& [name, value] : whole.items()) {
    Json missing = whole;
    missing.erase(name);
    EXPECT_FALSE(FromJson(missing).has_value()) << name;
    Json mistyped = whole;
    mistyped[name] = true;
    EXPECT_FALSE(FromJson(mistyped).has_value()) << name;
  }
}

TEST(IntentRecordTest, ShortAttemptIsRefusedSinceCleanupWouldMatchOtherFiles) {
  IntentRecord record = Sample();
  record.attempts.push_back("");
  EXPECT_FALSE(FromJson(ToJson(record)).has_value());
}

TEST(IntentRecordTest, TablesOutOfOrderAreRefused) {
  IntentRecord record = Sample();
  std::swap(record.intent.tables[0], record.intent.tables[1]);
  EXPECT_FALSE(FromJson(ToJson(record)).has_value());
}

}  // namespace
}  // namespace amend::publish

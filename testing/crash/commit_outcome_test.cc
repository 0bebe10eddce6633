// Failures that are no kill: full disks, lost replies, lost power, lost rounds.
#include <gmock/gmock.h>

#include "db/sqlite.h"
#include "iceberg/sql_catalog.h"
#include "iceberg/update.h"
#include "testing/crash/crash_project.h"
#include "testing/crash/matrix.h"

namespace amend::testing {
namespace {

std::string NameOfStep(const ::testing::TestParamInfo<Step>& info) {
  return StepName(info.param);
}

// ---- a full disk ----

class FullDisk : public ::testing::TestWithParam<Step> {};

/// Whatever cannot be written for want of space: nothing is published and the exit code
/// says so, or the command ends well without it.
TEST_P(FullDisk, B63_StopsCleanlyAndTheSameCommandGoesOn) {
  Matrix matrix(GetParam());
  ASSERT_FALSE(HasFailure());
  int stopped = 0;
  std::int64_t all = static_cast<std::int64_t>(matrix.points().size());
  for (std::int64_t point = 1; point <= all && !HasFailure(); ++point) {
    const std::string& what = matrix.point(point);
    if (!HasEffect(what) || what.starts_with("sql BEGIN") || what == "sql ROLLBACK" ||
        what.starts_with("lock ") || what.starts_with("remove ")) {
      continue;  // takes no space
    }
    int code = matrix.FailAndRunAgain(
        {point, Fault::kFailBefore, Exhausted("no space left on the disk")});
    if (code == 5) ++stopped;
  }
  EXPECT_GT(stopped, 10);
}

INSTANTIATE_TEST_SUITE_P(Commands, FullDisk,
                         ::testing::Values(Step::kCorrect, Step::kStageAgain,
                                           Step::kPublishAgain, Step::kRollback),
                         NameOfStep);

// ---- the reply to COMMIT is lost ----

class LostReply : public ::testing::TestWithParam<Step> {};

/// Every COMMIT of the command, applied and not; nothing that is published is deleted,
/// and the same command ends it. The process itself finds out about the publishing one.
TEST_P(LostReply, B62_OfAnyCommitIsResolved) {
  Matrix matrix(GetParam());
  ASSERT_FALSE(HasFailure());
  int commits = 0;
  for (std::size_t i = 0; i < matrix.points().size() && !HasFailure(); ++i) {
    if (matrix.points()[i] != "sql COMMIT") continue;
    ++commits;
    std::int64_t point = static_cast<std::int64_t>(i + 1);
    for (Fault fault : {Fault::kFailBefore, Fault::kFailAfter}) {
      int code = matrix.FailAndRunAgain({point, fault, Unknown("the reply was lost")});
      if (point == matrix.PublishingCommit()) {
        EXPECT_EQ(code, 0);
      }
    }
  }
  EXPECT_GT(commits, 3);
}

/// And the database stays away: exit code 6, nothing is deleted, the next command
/// resolves it.
TEST_P(LostReply, B62_WithTheDatabaseGoneIsUnknownUntilTheNextCommand) {
  Matrix matrix(GetParam());
  ASSERT_FALSE(HasFailure());
  std::int64_t commit = matrix.PublishingCommit();
  for (Fault fault : {Fault::kFailBefore, Fault::kFailAfter}) {
    EXPECT_EQ(matrix.FailAndRunAgain(
                  {commit, fault, Unknown("the reply was lost"), false, true}),
              6);
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, LostReply,
                         ::testing::Values(Step::kCorrect, Step::kPublish,
                                           Step::kPublishAgain, Step::kRollback),
                         NameOfStep);

// ---- the power fails ----

class PowerLoss : public ::testing::TestWithParam<Step> {};

/// Unsynced bytes and names are gone; the same command goes on. Where it publishes, every
/// effect from ten before the COMMIT on; elsewhere every third effect.
TEST_P(PowerLoss, TakesUnsyncedBytesOnly) {
  Matrix matrix(GetParam());
  ASSERT_FALSE(HasFailure());
  std::int64_t all = static_cast<std::int64_t>(matrix.points().size());
  std::int64_t commit = GetParam() == Step::kStageAgain ? all : matrix.PublishingCommit();
  int effects = 0;
  for (std::int64_t point = 1; point <= all && !HasFailure(); ++point) {
    if (!HasEffect(matrix.point(point))) continue;
    ++effects;
    bool near = point > commit - 10;
    if (!near && effects % 3 != 0) continue;
    matrix.KillAndRunAgain({point, Fault::kKillBefore, {}, true});
    if (near) matrix.KillAndRunAgain({point, Fault::kKillAfter, {}, true});
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, PowerLoss,
                         ::testing::Values(Step::kCorrect, Step::kStageAgain,
                                           Step::kPublish, Step::kPublishAgain,
                                           Step::kRollback),
                         NameOfStep);

/// Staging and publication know nothing of each other's folders; what was published must
/// be durable whoever made it.
TEST(PowerLossAfterAll, TakesNothingThatWasPublished) {
  Matrix matrix(Step::kStageAgain);
  ASSERT_FALSE(HasFailure());
  Json seen = matrix.LosePowerAfter(Step::kPublishAgain);
  EXPECT_EQ(seen["world"], matrix.after());
  EXPECT_EQ(seen["leftovers"], Json::array());
}

// ---- a round that is lost ----

/// Another client moves the pointer of a table: a tag, no rows.
void TagAsANeighbour(const std::string& project, const std::string& table) {
  db::SqliteOptions options;
  options.path = project + "/.amend/catalog.db";
  auto connection = db::OpenSqlite(options);
  auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
  auto catalog = iceberg::SqlCatalog::Open(*tx, "amend");
  iceberg::TableRef ref{kNamespace, table};
  auto head = iceberg::LoadTable(Env::Real(), ref, *catalog->Load(*tx, ref));
  iceberg::SnapshotUpdate update(Env::Real());
  update.KeepSnapshot("neighbour", head->metadata.current_snapshot()->id);
  auto staged = update.Stage(*head);
  AMEND_CHECK(staged.has_value());
  AMEND_CHECK(
      catalog->Swap(*tx, {{ref, head->metadata_location, staged->new_location}}).ok());
  AMEND_CHECK(tx->Commit().ok());
}

/// A neighbour makes the first round lose; the second commits, and the process dies
/// before it has removed what the first wrote. Nobody else knows those files by name, so
/// gc finds them by the attempt in the intent's row.
TEST(LostRound, OfADeadProcessIsFoundByGc) {
  Matrix matrix(Step::kPublishAgain);
  ASSERT_FALSE(HasFailure());
  std::int64_t begin = matrix.PublishingCommit();
  while (!matrix.point(begin).starts_with("sql BEGIN")) --begin;
  Strike strike;
  bool row = false;
  bool committed = false;
  strike.before_statement = [&](std::int64_t point, std::string_view sql) {
    if (point == begin) TagAsANeighbour(matrix.work(), "daily");
    if (committed) Die();
    row = row || sql.starts_with("INSERT INTO amend_entries");
    committed = row && sql == "COMMIT";
  };
  Json seen = matrix.DieAndRunAgain(strike);
  for (const auto& [what, expected] : matrix.examined().items()) {
    EXPECT_EQ(seen[what], expected) << what;
  }
}

}  // namespace
}  // namespace amend::testing

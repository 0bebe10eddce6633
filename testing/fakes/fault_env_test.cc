#include "testing/fakes/fault_env.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "db/sqlite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::testing {
namespace {

using ::testing::ElementsAre;

class FaultEnvTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = (std::filesystem::temp_directory_path() /
             ("amend-fault-" + Env::Real().NewUuid()))
                .string();
    std::filesystem::create_directories(root_);
    Must(Env::Real().WriteNewFile(root_ + "/old", "before"));
    Reset();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  /// A new world over what is on disk.
  void Reset() {
    script_ = std::make_unique<FaultScript>();
    env_ = std::make_unique<FaultEnv>(
        Env::Real(), *script_,
        FaultEnvOptions{.root = root_, .now_micros = 1'000, .seed = 7});
  }
  static void Must(const Status& status) {
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  /// "path=bytes" of every file below the root, sorted; folders end with a slash.
  std::vector<std::string> Disk(const std::string& folder = "") {
    std::vector<std::string> found;
    Result<std::vector<FileInfo>> entries = Env::Real().List(root_ + folder);
    for (const FileInfo& entry : *entries) {
      std::string name = entry.path.substr(root_.size() + 1);
      if (entry.is_folder) {
        found.push_back(name + "/");
        for (std::string& inside : Disk("/" + name)) found.push_back(std::move(inside));
      } else {
        found.push_back(name + "=" + *Env::Real().ReadFile(entry.path));
      }
    }
    return found;
  }
  std::vector<std::string> DiskAfterPowerLoss() {
    env_->LosePower();
    return Disk();
  }
  std::string Path(const std::string& name) const { return root_ + "/" + name; }

  std::string root_;
  std::unique_ptr<FaultScript> script_;
  std::unique_ptr<FaultEnv> env_;
};

TEST_F(FaultEnvTest, RecordsEveryCallInOrder) {
  Must(env_->WriteNewFile(Path("a"), "1"));
  ASSERT_TRUE(env_->ReadFile(Path("a")).has_value());
  Must(SyncAll(*env_, {Path("a")}, root_));
  EXPECT_TRUE(env_->Exists(Path("a")));
  EXPECT_THAT(script_->touched(),
              ElementsAre("write " + Path("a"), "read " + Path("a"), "sync " + Path("a"),
                          "sync folder " + root_));
  EXPECT_EQ(script_->count(), 4);
}

TEST_F(FaultEnvTest, TheClockAndRandomnessAreTurnedByHand) {
  EXPECT_EQ(env_->NowMicros(), 1'000);
  env_->SleepMicros(60'000'000);
  env_->AdvanceClock(5);
  EXPECT_EQ(env_->NowMicros(), 60'001'005);
  EXPECT_EQ(env_->SteadyMicros(), 60'000'005);
  std::string uuid = env_->NewUuid();
  EXPECT_NE(env_->NewUuid(), uuid);
  Reset();
  EXPECT_EQ(env_->NewUuid(), uuid);
  EXPECT_EQ(env_->UserName(), "tester");
}

TEST_F(FaultEnvTest, FailsOneCallBeforeOrAfterItsEffect) {
  script_->StrikeAt(1, Fault::kFailBefore, Exhausted("disk full"));
  EXPECT_EQ(env_->WriteNewFile(Path("a"), "1").code(), StatusCode::kExhausted);
  EXPECT_THAT(Disk(), ElementsAre("old=before"));
  Must(env_->WriteNewFile(Path("a"), "1"));
  script_->StrikeAt(3, Fault::kFailAfter);
  EXPECT_EQ(env_->RemoveFile(Path("a")).code(), StatusCode::kTransient);
  EXPECT_THAT(Disk(), ElementsAre("old=before"));
}

TEST_F(FaultEnvTest, AfterAKillNothingHasAnEffect) {
  int kills = 0;
  script_ = std::make_unique<FaultScript>([&] { ++kills; });
  env_ =
      std::make_unique<FaultEnv>(Env::Real(), *script_, FaultEnvOptions{.root = root_});
  script_->StrikeAt(2, Fault::kKillAfter);
  Must(env_->WriteNewFile(Path("a"), "1"));
  EXPECT_FALSE(env_->WriteNewFile(Path("b"), "2").ok());
  EXPECT_TRUE(script_->dead());
  EXPECT_FALSE(env_->WriteNewFile(Path("c"), "3").ok());
  EXPECT_FALSE(env_->RemoveFile(Path("a")).ok());
  EXPECT_FALSE(env_->ReadFile(Path("a")).has_value());
  EXPECT_FALSE(env_->Exists(Path("a")));
  EXPECT_EQ(kills, 1);
  EXPECT_EQ(script_->count(), 2);
  EXPECT_THAT(Disk(), ElementsAre("a=1", "b=2", "old=before"));
}

TEST_F(FaultEnvTest, AKillBeforeLeavesTheEffectOutAndATearHalfOfIt) {
  script_->StrikeAt(1, Fault::kKillBefore);
  EXPECT_FALSE(env_->WriteNewFile(Path("a"), "12345678").ok());
  EXPECT_THAT(Disk(), ElementsAre("old=before"));
  Reset();
  script_->StrikeAt(1, Fault::kTearAndKill);
  EXPECT_FALSE(env_->WriteNewFile(Path("a"), "12345678").ok());
  EXPECT_THAT(Disk(), ElementsAre("a=1234", "old=before"));
  Reset();
  script_->StrikeAt(2, Fault::kTearAndKill);
  auto journal = *env_->OpenAppend(Path("a"));
  EXPECT_FALSE(journal->Append("abcd").ok());
  EXPECT_THAT(Disk(), ElementsAre("a=1234ab", "old=before"));
}

TEST_F(FaultEnvTest, AKillMayEndTheProcess) {
  pid_t child = fork();
  if (child == 0) {
    FaultScript script([] { _exit(9); });
    FaultEnv env(Env::Real(), script, {.root = root_});
    script.StrikeAt(2, Fault::kKillBefore);
    bool first = env.WriteNewFile(Path("a"), "1").ok();
    bool second = env.WriteNewFile(Path("b"), "2").ok();
    _exit(first || second ? 1 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 9);
  EXPECT_THAT(Disk(), ElementsAre("a=1", "old=before"));
}

TEST_F(FaultEnvTest, PowerLossTakesBytesThatWereNotSynced) {
  auto journal = *env_->OpenAppend(Path("old"));
  Must(journal->Append("+synced"));
  Must(journal->Sync());
  Must(journal->Append("+lost"));
  journal.reset();
  Must(env_->WriteNewFile(Path("named"), "bytes"));
  Must(env_->SyncFolder(root_));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre("named=", "old=before+synced"));
}

TEST_F(FaultEnvTest, PowerLossTakesNamesThatWereNotSynced) {
  Must(env_->WriteNewFile(Path("bytes only"), "x"));
  Must(env_->Sync(Path("bytes only")));
  Must(env_->WriteNewFile(Path("f/g/deep"), "y"));
  Must(env_->Sync(Path("f/g/deep")));
  Must(env_->SyncFolder(Path("f/g")));  // but nobody synced f into the root
  Must(env_->CreateFolders(Path("empty")));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre("old=before"));
}

TEST_F(FaultEnvTest, SyncAllKeepsEverything) {
  Must(env_->WriteNewFile(Path("f/g/deep"), "y"));
  Must(env_->WriteNewFile(Path("f/h"), "z"));
  Must(SyncAll(*env_, {Path("f/g/deep"), Path("f/h")}, root_));
  Must(env_->ReplaceFile(Path("whole"), "w"));
  EXPECT_THAT(DiskAfterPowerLoss(),
              ElementsAre("f/", "f/g/", "f/g/deep=y", "f/h=z", "old=before", "whole=w"));
}

TEST_F(FaultEnvTest, PowerLossUndoesRenamesAndRemovals) {
  Must(env_->WriteNewFile(Path("new"), "n"));
  Must(SyncAll(*env_, {Path("new")}, root_));
  Must(env_->Rename(Path("new"), Path("old")));
  Must(env_->Rename(Path("old"), Path("f/moved")));
  EXPECT_THAT(Disk(), ElementsAre("f/", "f/moved=n"));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre("new=n", "old=before"));

  Reset();
  Must(env_->RemoveFile(Path("new")));
  EXPECT_THAT(Disk(), ElementsAre("old=before"));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre("new=n", "old=before"));

  Reset();
  Must(env_->Rename(Path("new"), Path("old")));
  Must(env_->SyncFolder(root_));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre("old=n"));

  Reset();
  Must(env_->RemoveFile(Path("old")));
  Must(env_->SyncFolder(root_));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre());
}

TEST_F(FaultEnvTest, FilesOfOthersCountAsNeverSynced) {
  Env& engine = Env::Real();
  Must(engine.WriteNewFile(Path("run/part-1"), "a"));
  Must(engine.WriteNewFile(Path("run/part-2"), "b"));
  Must(engine.WriteNewFile(Path("catalog.db"), "sqlite's own business"));
  Must(env_->Rename(Path("run/part-1"), Path("data/1")));
  Must(env_->Rename(Path("run/part-2"), Path("data/2")));
  Must(env_->Sync(Path("data/1")));
  Must(env_->SyncFolder(Path("data")));
  Must(env_->SyncFolder(root_));
  EXPECT_THAT(DiskAfterPowerLoss(),
              ElementsAre("catalog.db=sqlite's own business", "data/", "data/1=a",
                          "data/2=", "old=before", "run/"));
}

TEST_F(FaultEnvTest, ANameUsedAgainIsNotDurableByItsPast) {
  Must(Env::Real().CreateFolders(Path("f")));
  Reset();
  Must(env_->Rename(Path("old"), Path("f/moved")));
  Must(env_->SyncFolder(Path("f")));
  Must(env_->WriteNewFile(Path("old"), "again"));
  Must(env_->Sync(Path("old")));
  EXPECT_THAT(DiskAfterPowerLoss(), ElementsAre("f/", "f/moved=before"));
}

/// The crash matrix in small: one step that writes a file, makes it durable, then commits
/// a row that names it. Whatever point it dies at: a committed row has its file, whole.
TEST_F(FaultEnvTest, OneCountOverFilesAndStatementsMakesACrashMatrix) {
  auto publish = [&](db::StatementObserver* observer) -> Status {
    auto db = db::OpenSqlite(
        {.path = Path("catalog.db"), .create = true, .observer = observer});
    if (!db.has_value()) return db.error();
    AMEND_RETURN_IF_ERROR(env_->WriteNewFile(Path("data/file"), "whole"));
    AMEND_RETURN_IF_ERROR(SyncAll(*env_, {Path("data/file")}, root_));
    AMEND_ASSIGN_OR_RETURN(db::Transaction tx, (*db)->Begin(db::TransactionMode::kWrite));
    for (const char* sql : {"CREATE TABLE IF NOT EXISTS live(path TEXT)",
                            "INSERT INTO live VALUES('data/file')"}) {
      Result<std::int64_t> done = tx.Execute(sql);
      if (!done.has_value()) return done.error();
    }
    return tx.Commit();
  };
  auto committed = [&] {
    auto db = *db::OpenSqlite({.path = Path("catalog.db"), .create = true});
    db::Transaction tx = *db->Begin(db::TransactionMode::kRead);
    Result<db::Rows> rows = tx.Query("SELECT path FROM live");
    return rows.has_value() && rows->size() == 1;
  };
  ScriptedObserver counted(*script_);
  Must(publish(&counted));
  // 4 to open, 4 for the file, BEGIN, 2 statements, COMMIT.
  const std::int64_t points = script_->count();
  ASSERT_EQ(points, 12);
  EXPECT_EQ(script_->touched().back(), "sql COMMIT");
  int landed = 0;
  for (Fault fault : {Fault::kKillBefore, Fault::kKillAfter, Fault::kTearAndKill}) {
    for (std::int64_t point = 1; point <= points; ++point) {
      TearDown();
      SetUp();
      script_->StrikeAt(point, fault);
      ScriptedObserver observer(*script_);
      EXPECT_FALSE(publish(&observer).ok());
      env_->LosePower();
      if (committed()) {
        ++landed;
        EXPECT_EQ(Env::Real().ReadFile(Path("data/file")).value_or("gone"), "whole");
      }
    }
  }
  EXPECT_EQ(landed, 1);  // killed after COMMIT
}

}  // namespace
}  // namespace amend::testing

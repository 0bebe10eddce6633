// What is particular to SQLite: journal modes, damage, disk full, and what an error at
// COMMIT proves.
#include "db/sqlite.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

/// While set, every fsync of the write-ahead log of this process fails, as a dying disk's
/// does.
std::atomic<bool> log_sync_fails = false;

bool IsLog(int fd) {
  std::error_code error;
  std::string target =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error)
          .string();
  return target.ends_with("-wal");
}

int SyncOrFail(const char* name, int fd) {
  if (log_sync_fails && IsLog(fd)) {
    errno = EIO;
    return -1;
  }
  using Call = int (*)(int);
  auto real = reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
  return real(fd);
}

}  // namespace

// These two stand in front of the C library's for this test program and the SQLite in it.
extern "C" int fsync(int fd) { return SyncOrFail("fsync", fd); }
extern "C" int fdatasync(int fd) { return SyncOrFail("fdatasync", fd); }

namespace amend::db {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SqliteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() /
               ("amend-sqlite-" + Env::Real().NewUuid()))
                  .string();
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/catalog.db";
  }
  void TearDown() override {
    log_sync_fails = false;
    std::filesystem::remove_all(folder_);
  }

  static std::unique_ptr<Connection> Open(const SqliteOptions& options) {
    auto connection = OpenSqlite(options);
    EXPECT_TRUE(connection.has_value()) << connection.error().ToString();
    return connection.has_value() ? *std::move(connection) : nullptr;
  }
  std::unique_ptr<Connection> Open(StatementObserver* observer = nullptr) {
    return Open(
        {.path = path_, .create = true, .busy_timeout_ms = 0, .observer = observer});
  }
  static Transaction Begin(Connection& connection,
                           TransactionMode mode = TransactionMode::kWrite) {
    Result<Transaction> tx = connection.Begin(mode);
    AMEND_CHECK(tx.has_value());
    return *std::move(tx);
  }
  static Status Apply(Transaction& tx, const std::string& sql) {
    Result<std::int64_t> affected = tx.Execute(sql);
    return affected.has_value() ? Status() : affected.error();
  }
  static void Commit(Connection& connection, const std::string& sql) {
    Transaction tx = Begin(connection);
    Status applied = Apply(tx, sql);
    ASSERT_TRUE(applied.ok()) << applied.ToString();
    ASSERT_TRUE(tx.Commit().ok());
  }
  static std::string Setting(Connection& connection, const std::string& name) {
    Transaction tx = Begin(connection);
    Result<Rows> rows = tx.Query("PRAGMA " + name);
    AMEND_CHECK(rows.has_value() && rows->size() == 1);
    const Value& value = rows->front().at(0);
    const auto* number = std::get_if<std::int64_t>(&value);
    return number != nullptr ? std::to_string(*number) : std::get<std::string>(value);
  }
  static std::vector<std::int64_t> Ids(Connection& connection) {
    Transaction tx = Begin(connection, TransactionMode::kRead);
    Result<Rows> rows = tx.Query("SELECT id FROM item ORDER BY id");
    std::vector<std::int64_t> ids;
    EXPECT_TRUE(rows.has_value()) << rows.error().ToString();
    for (const Row& row : *rows) ids.push_back(*row.Int(0));
    return ids;
  }
  /// The ids that the next session would find if this process died now: what is in the
  /// files, without the shared memory beside them.
  std::vector<std::int64_t> IdsAfterDeath() {
    std::string image = folder_ + "/image" + std::to_string(images_++);
    std::filesystem::copy_file(path_, image);
    if (std::filesystem::exists(path_ + "-wal")) {
      std::filesystem::copy_file(path_ + "-wal", image + "-wal");
    }
    return Ids(*Open({.path = image}));
  }

  std::string folder_;
  std::string path_;
  int images_ = 0;
};

TEST_F(SqliteTest, ANewFileHasTheSafeSettings) {
  auto connection = Open();
  EXPECT_EQ(Setting(*connection, "journal_mode"), "wal");
  EXPECT_EQ(Setting(*connection, "synchronous"), "2");
  EXPECT_EQ(Setting(*connection, "foreign_keys"), "1");
  Commit(*connection, "CREATE TABLE item(id INTEGER PRIMARY KEY) STRICT");
  EXPECT_EQ(Setting(*Open(), "journal_mode"), "wal");
}

TEST_F(SqliteTest, AFileOfOthersKeepsItsJournalMode) {
  auto first = Open();
  Commit(*first, "CREATE TABLE item(id INTEGER PRIMARY KEY)");
  first.reset();
  ASSERT_EQ(
      std::system(
          ("sqlite3 " + path_ + " 'PRAGMA journal_mode=DELETE' >/dev/null").c_str()),
      0);
  auto connection = Open();
  EXPECT_EQ(Setting(*connection, "journal_mode"), "delete");
  Commit(*connection, "INSERT INTO item VALUES(1)");

  // Without WAL a reader inside delays COMMIT: nothing is committed, nothing is lost.
  auto other = Open();
  Transaction reader = Begin(*other, TransactionMode::kRead);
  ASSERT_TRUE(reader.Query("SELECT * FROM item").has_value());
  Transaction tx = Begin(*connection);
  ASSERT_TRUE(Apply(tx, "INSERT INTO item VALUES(2)").ok());
  EXPECT_EQ(tx.Commit().code(), StatusCode::kTransient);
  EXPECT_EQ(tx.state(), Transaction::State::kOpen);
  ASSERT_TRUE(reader.Rollback().ok());
  EXPECT_TRUE(tx.Commit().ok());
  EXPECT_THAT(Ids(*connection), ElementsAre(1, 2));
}

TEST_F(SqliteTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(OpenSqlite({.path = path_}).error().code(), StatusCode::kNotFound);
  EXPECT_EQ(OpenSqlite({.path = folder_ + "/no/such.db", .create = true}).error().code(),
            StatusCode::kInvalid);
  EXPECT_EQ(OpenSqlite({.path = folder_}).error().code(), StatusCode::kInvalid);
}

TEST_F(SqliteTest, ReadOnlyRefusesToWrite) {
  auto owner = Open();
  Commit(*owner, "CREATE TABLE item(id INTEGER PRIMARY KEY)");
  auto reader = Open({.path = path_, .read_only = true});
  EXPECT_THAT(Ids(*reader), IsEmpty());
  Result<Transaction> tx = reader->Begin(TransactionMode::kWrite);
  Status status = tx.has_value() ? Apply(*tx, "INSERT INTO item VALUES(1)") : tx.error();
  EXPECT_EQ(status.code(), StatusCode::kInvalid) << status.ToString();
}

TEST_F(SqliteTest, DamageIsAStatus) {
  std::ofstream(path_) << std::string(5'000, 'x');
  EXPECT_EQ(OpenSqlite({.path = path_}).error().code(), StatusCode::kDamaged);
}

/// SQLite has no page checksums, so a cut inside the last page may go unseen; every cut
/// that loses a page is found, and none crashes.
TEST_F(SqliteTest, AFileThatLostAPageIsDamaged) {
  {
    auto connection = Open();
    Commit(*connection, "CREATE TABLE item(id INTEGER PRIMARY KEY, text TEXT)");
    Commit(*connection, "INSERT INTO item VALUES(1, hex(zeroblob(9000)))");
  }
  auto size = std::filesystem::file_size(path_) - 4096;
  for (std::uintmax_t keep = 0; keep < size; keep += keep < 200 ? 1 : 509) {
    std::string cut = folder_ + "/cut.db";
    std::filesystem::copy_file(path_, cut,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, keep);
    auto connection = OpenSqlite({.path = cut});
    if (!connection.has_value()) {
      EXPECT_EQ(connection.error().code(), StatusCode::kDamaged) << keep;
      continue;
    }
    Transaction tx = Begin(**connection, TransactionMode::kRead);
    Result<Rows> rows = tx.Query("SELECT id, text FROM item");
    if (rows.has_value()) {
      ADD_FAILURE() << "a file cut to " << keep << " bytes was read as if whole";
      continue;
    }
    bool no_table = keep <= 1 && rows.error().code() == StatusCode::kInternal;
    EXPECT_TRUE(no_table || rows.error().code() == StatusCode::kDamaged)
        << keep << ": " << rows.error().ToString();
  }
}

TEST_F(SqliteTest, AFullDatabaseIsExhaustedAndLeavesNoTrace) {
  auto connection = Open();
  Commit(*connection, "CREATE TABLE item(id INTEGER PRIMARY KEY, text TEXT)");
  {
    Transaction tx = Begin(*connection);
    ASSERT_TRUE(tx.Query("PRAGMA max_page_count=4").has_value());
    ASSERT_TRUE(Apply(tx, "INSERT INTO item VALUES(1, '')").ok());
    Status full = Apply(tx, "INSERT INTO item VALUES(2, hex(zeroblob(90000)))");
    EXPECT_EQ(full.code(), StatusCode::kExhausted) << full.ToString();
    EXPECT_EQ(tx.Commit().code(), StatusCode::kExhausted);
  }
  EXPECT_THAT(Ids(*connection), IsEmpty());
  Commit(*connection, "INSERT INTO item VALUES(3, '')");
  EXPECT_THAT(Ids(*connection), ElementsAre(3));
}

/// Why Commit() answers kUnknown on an I/O error although SQLite says "rolled back": the
/// frame is in the log, and a crash brings the transaction back, until another commit
/// overwrites it.
TEST_F(SqliteTest, AFailedSyncAtCommitIsUnknownUntilTheNextCommit) {
  auto witness = Open();  // keeps the log from being reset when the other session closes
  Commit(*witness, "CREATE TABLE item(id INTEGER PRIMARY KEY) STRICT");
  auto connection = Open();
  {
    Transaction tx = Begin(*connection);
    ASSERT_TRUE(Apply(tx, "INSERT INTO item VALUES(7)").ok());
    log_sync_fails = true;
    EXPECT_EQ(tx.Commit().code(), StatusCode::kUnknown);
    EXPECT_EQ(tx.state(), Transaction::State::kUnknown);
    log_sync_fails = false;
  }
  EXPECT_TRUE(connection->closed());
  EXPECT_THAT(Ids(*witness), IsEmpty());         // rolled back, as long as we live …
  EXPECT_THAT(IdsAfterDeath(), ElementsAre(7));  // … and back after a crash.
  Commit(*witness, "INSERT INTO item VALUES(8)");
  EXPECT_THAT(Ids(*witness), ElementsAre(8));
  EXPECT_THAT(IdsAfterDeath(), ElementsAre(8));  // now the finding is final
}

/// Kills the process at one statement, as SIGKILL would.
class Killer : public StatementObserver {
 public:
  Killer(int point, bool before) : point_(point), before_(before) {}
  Status Before(std::string_view) override {
    if (++count_ == point_ && before_) _exit(9);
    return {};
  }
  Status After(std::string_view, const Status&) override {
    if (count_ == point_ && !before_) _exit(9);
    return {};
  }

 private:
  int count_ = 0;
  int point_;
  bool before_;
};

TEST_F(SqliteTest, KilledAtAnyStatementTheNextSessionSeesAllOrNothing) {
  auto work = [&](int point, bool before) {
    Killer killer(point, before);
    auto connection = OpenSqlite({.path = path_, .create = true, .observer = &killer});
    if (!connection.has_value()) return false;
    Transaction tx = Begin(**connection);
    return Apply(tx, "CREATE TABLE item(id INTEGER PRIMARY KEY) STRICT").ok() &&
           Apply(tx, "INSERT INTO item VALUES(1)").ok() &&
           Apply(tx, "INSERT INTO item VALUES(2)").ok() && tx.Commit().ok();
  };
  // 3 settings, WAL, BEGIN, CREATE, 2 INSERTs, COMMIT: number 10 is never reached.
  constexpr int kStatements = 9;
  for (bool before : {true, false}) {
    for (int point = 1; point <= kStatements + 1; ++point) {
      pid_t child = fork();
      if (child == 0) _exit(work(point, before) ? 0 : 1);
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(WEXITSTATUS(status), point <= kStatements ? 9 : 0) << point;
      bool committed = point > kStatements || (point == kStatements && !before);
      auto connection = Open();
      EXPECT_EQ(Setting(*connection, "journal_mode"), "wal");
      Transaction tx = Begin(*connection, TransactionMode::kRead);
      Result<Rows> rows = tx.Query("SELECT id FROM item");
      EXPECT_EQ(rows.has_value() ? rows->size() : 0U, committed ? 2U : 0U) << point;
      EXPECT_TRUE(tx.Rollback().ok());
      connection.reset();
      for (const char* suffix : {"", "-wal", "-shm"}) {
        std::filesystem::remove(path_ + suffix);
      }
    }
  }
}

}  // namespace
}  // namespace amend::db

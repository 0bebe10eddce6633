// The contract of db::Connection, once for every database. A store is a database that the
// test may open any number of sessions on.
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "db/connection.h"
#include "db/sqlite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::db {
namespace {

using ::testing::ElementsAre;

/// Fails or records at will; by default it only records.
class Recorder : public StatementObserver {
 public:
  Status Before(std::string_view sql) override {
    seen.emplace_back(sql);
    return before ? before(seen.size(), sql) : Status();
  }
  Status After(std::string_view sql, const Status&) override {
    return after ? after(seen.size(), sql) : Status();
  }
  using Hook = std::function<Status(std::size_t count, std::string_view sql)>;
  std::vector<std::string> seen;
  Hook before;
  Hook after;
};

/// One database, gone with the object.
class Store {
 public:
  virtual ~Store() = default;
  /// `patient`: waits for other writers. Aborts where it cannot open.
  virtual std::unique_ptr<Connection> Open(StatementObserver* observer = nullptr) = 0;
};

class SqliteStore : public Store {
 public:
  SqliteStore()
      : folder_((std::filesystem::temp_directory_path() /
                 ("amend-db-" + Env::Real().NewUuid()))
                    .string()) {
    std::filesystem::create_directories(folder_);
  }
  ~SqliteStore() override { std::filesystem::remove_all(folder_); }
  std::unique_ptr<Connection> Open(StatementObserver* observer) override {
    auto connection = OpenSqlite({.path = folder_ + "/catalog.db",
                                  .create = true,
                                  .busy_timeout_ms = 0,
                                  .observer = observer});
    AMEND_CHECK(connection.has_value());
    return *std::move(connection);
  }

 private:
  std::string folder_;
};

struct StoreKind {
  std::string name;
  std::unique_ptr<Store> (*make)();
};

class ConnectionContract : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    store_ = GetParam().make();
    connection_ = store_->Open(&recorder_);
    Transaction setup = Begin(TransactionMode::kWrite);
    const Dialect& d = connection_->dialect();
    std::string int64(d.int64_type);
    std::string suffix(d.table_suffix);
    Must(setup.Execute("CREATE TABLE parent(id " + int64 + " NOT NULL PRIMARY KEY)" +
                       suffix));
    Must(setup.Execute(
        "CREATE TABLE item(id " + int64 +
        " NOT NULL PRIMARY KEY, name TEXT CHECK (name <> 'bad'), parent " + int64 +
        " REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED, ratio " +
        std::string(d.double_type) + ", bytes " + std::string(d.blob_type) + ", sure " +
        int64 + " NOT NULL DEFAULT 0)" + suffix));
    ASSERT_TRUE(setup.Commit().ok());
    recorder_.seen.clear();
  }

  Transaction Begin(TransactionMode mode) { return BeginOn(*connection_, mode); }
  static Transaction BeginOn(Connection& connection, TransactionMode mode) {
    Result<Transaction> begun = connection.Begin(mode);
    AMEND_CHECK(begun.has_value());
    return *std::move(begun);
  }
  static std::int64_t Must(Result<std::int64_t> affected) {
    EXPECT_TRUE(affected.has_value()) << affected.error().ToString();
    return affected.value_or(-1);
  }
  static StatusCode CodeOf(const Result<std::int64_t>& result) {
    return result.has_value() ? StatusCode::kOk : result.error().code();
  }
  static std::int64_t Insert(Transaction& tx, std::int64_t id, std::string name = "x") {
    return Must(
        tx.Execute("INSERT INTO item(id, name) VALUES(?, ?)", {id, std::move(name)}));
  }
  /// Ids that a fresh session sees.
  std::vector<std::int64_t> CommittedIds() {
    std::unique_ptr<Connection> fresh = store_->Open();
    Transaction tx = BeginOn(*fresh, TransactionMode::kRead);
    return Ids(tx);
  }
  static std::vector<std::int64_t> Ids(Transaction& tx) {
    std::vector<std::int64_t> ids;
    Result<Rows> rows = tx.Query("SELECT id FROM item ORDER BY id");
    AMEND_CHECK(rows.has_value());
    for (const Row& row : *rows) ids.push_back(*row.Int(0));
    return ids;
  }

  std::unique_ptr<Store> store_;
  Recorder recorder_;
  std::unique_ptr<Connection> connection_;
};

TEST_P(ConnectionContract, KeepsEveryValueExactly) {
  const std::vector<std::vector<Value>> cases = {
      {std::int64_t{1}, std::string("Zürich ? 'quoted' 雪"), Null{}, 0.1,
       Blob{std::string("\0\xff\x01", 3)}},
      {std::numeric_limits<std::int64_t>::max(), std::string(), Null{},
       std::numeric_limits<double>::infinity(), Blob{}},
      {std::numeric_limits<std::int64_t>::min(), Null{}, Null{}, -5e-324, Null{}},
      {std::int64_t{2}, std::string(100'000, 'n'), Null{}, 1.0,
       Blob{std::string(70'000, '\0')}},
  };
  for (const std::vector<Value>& values : cases) {
    Transaction tx = Begin(TransactionMode::kWrite);
    ASSERT_EQ(Must(tx.Execute("INSERT INTO item(id, name, parent, ratio, bytes) "
                              "VALUES(?, ?, ?, ?, ?)",
                              values)),
              1);
    ASSERT_TRUE(tx.Commit().ok());
    Transaction read = Begin(TransactionMode::kRead);
    Result<Rows> rows = read.Query(
        "SELECT id, name, parent, ratio, bytes FROM item WHERE id = ?", {values[0]});
    ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
    EXPECT_THAT(*rows, ElementsAre(Row(values)));
  }
}

TEST_P(ConnectionContract, RefusesValuesThatADatabaseWouldChange) {
  const std::vector<Value> refused = {std::string("a\0b", 3), std::nan("")};
  for (const Value& value : refused) {
    Transaction tx = Begin(TransactionMode::kWrite);
    EXPECT_EQ(CodeOf(tx.Execute("INSERT INTO item(id, name) VALUES(1, ?)", {value})),
              StatusCode::kInvalid);
    EXPECT_EQ(tx.Commit().code(), StatusCode::kInvalid);
  }
}

TEST_P(ConnectionContract, AQuestionMarkInALiteralIsText) {
  Transaction tx = Begin(TransactionMode::kRead);
  Result<Rows> rows = tx.Query(
      "SELECT 'a?', \"id\" FROM item WHERE id = ? AND name = '?'", {std::int64_t{1}});
  ASSERT_TRUE(rows.has_value()) << rows.error().ToString();
  EXPECT_TRUE(rows->empty());
  EXPECT_EQ(tx.Query("SELECT id FROM item WHERE id = ?").error().code(),
            StatusCode::kInternal);
}

TEST_P(ConnectionContract, CountsAffectedRows) {
  Transaction tx = Begin(TransactionMode::kWrite);
  EXPECT_EQ(Must(tx.Execute("INSERT INTO item(id, name) VALUES(1, 'a'), (2, 'a')")), 2);
  EXPECT_EQ(Must(tx.Execute("UPDATE item SET name = 'a'")), 2);
  EXPECT_EQ(Must(tx.Execute("UPDATE item SET name = 'b' WHERE name = 'no'")), 0);
  EXPECT_EQ(Must(tx.Execute(
                "INSERT INTO item(id, name) VALUES(1, 'c') ON CONFLICT DO NOTHING")),
            0);
  EXPECT_EQ(Must(tx.Execute("CREATE TABLE later(id INT)")), 0);
  EXPECT_EQ(Must(tx.Execute("DELETE FROM item WHERE id = ?", {std::int64_t{2}})), 1);
  Result<Rows> returned =
      tx.Query("INSERT INTO item(id, name) VALUES(3, 'r') RETURNING id, name");
  ASSERT_TRUE(returned.has_value());
  EXPECT_THAT(*returned, ElementsAre(Row({std::int64_t{3}, std::string("r")})));
}

TEST_P(ConnectionContract, C1WithoutCommitNothingRemains) {
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 1);
    EXPECT_THAT(Ids(tx), ElementsAre(1));
  }
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 2);
    EXPECT_TRUE(tx.Rollback().ok());
    EXPECT_TRUE(tx.Rollback().ok());
    EXPECT_EQ(tx.state(), Transaction::State::kEnded);
    EXPECT_EQ(CodeOf(tx.Execute("DELETE FROM item")), StatusCode::kInternal);
    EXPECT_EQ(tx.Commit().code(), StatusCode::kInternal);
  }
  EXPECT_TRUE(CommittedIds().empty());
}

TEST_P(ConnectionContract, C2EverySessionSeesACommit) {
  Transaction tx = Begin(TransactionMode::kWrite);
  Insert(tx, 1);
  EXPECT_TRUE(CommittedIds().empty());
  Transaction moved = std::move(tx);
  ASSERT_TRUE(moved.Commit().ok());
  EXPECT_EQ(moved.state(), Transaction::State::kCommitted);
  EXPECT_THAT(CommittedIds(), ElementsAre(1));
  EXPECT_EQ(moved.Commit().code(), StatusCode::kInternal);
  EXPECT_TRUE(moved.Rollback().ok());
  EXPECT_THAT(CommittedIds(), ElementsAre(1));
}

TEST_P(ConnectionContract, C3AFailedStatementForbidsCommit) {
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 1);
    EXPECT_EQ(CodeOf(tx.Execute("INSERT INTO item(id) VALUES(1)")),
              StatusCode::kConflict);
    EXPECT_EQ(tx.state(), Transaction::State::kFailed);
    EXPECT_EQ(CodeOf(tx.Execute("INSERT INTO item(id) VALUES(2)")),
              StatusCode::kConflict);
    EXPECT_EQ(tx.Commit().code(), StatusCode::kConflict);
  }
  EXPECT_TRUE(CommittedIds().empty());
  Transaction next = Begin(TransactionMode::kWrite);
  Insert(next, 2);
  EXPECT_TRUE(next.Commit().ok());
  EXPECT_THAT(CommittedIds(), ElementsAre(2));
}

TEST_P(ConnectionContract, C3ADoomedTransactionCannotCommit) {
  Transaction tx = Begin(TransactionMode::kWrite);
  Insert(tx, 1);
  tx.Doom(Conflict("another writer was first"));
  tx.Doom(Internal("later reasons do not count"));
  EXPECT_EQ(CodeOf(tx.Execute("DELETE FROM item")), StatusCode::kConflict);
  EXPECT_EQ(tx.Commit().code(), StatusCode::kConflict);
  EXPECT_TRUE(tx.Rollback().ok());
  tx.Doom(Internal("it has ended"));
  EXPECT_EQ(tx.state(), Transaction::State::kEnded);
  EXPECT_TRUE(CommittedIds().empty());
}

TEST_P(ConnectionContract, ListsColumnsInOrder) {
  Transaction tx = Begin(TransactionMode::kRead);
  EXPECT_THAT(*tx.Columns("item"),
              ElementsAre("id", "name", "parent", "ratio", "bytes", "sure"));
  EXPECT_TRUE(tx.Columns("nothing")->empty());
}

TEST_P(ConnectionContract, SaysWhatKindOfFailureItWas) {
  auto code_of = [&](const std::string& sql) {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 1);
    return CodeOf(tx.Execute(sql));
  };
  EXPECT_EQ(code_of("INSERT INTO item(id) VALUES(1)"), StatusCode::kConflict);
  EXPECT_EQ(code_of("UPDATE item SET sure = NULL"), StatusCode::kInternal);
  EXPECT_EQ(code_of("INSERT INTO item(id, name) VALUES(2, 'bad')"),
            StatusCode::kInternal);
  EXPECT_EQ(code_of("INSERT INTO item(id) VALUES('one')"), StatusCode::kInternal);
  EXPECT_EQ(code_of("SELEC 1"), StatusCode::kInternal);
  EXPECT_EQ(code_of("DELETE FROM item; DELETE FROM item"), StatusCode::kInternal);
  EXPECT_EQ(code_of(""), StatusCode::kInternal);
}

TEST_P(ConnectionContract, C4AReaderSeesOneSnapshotAndBlocksNobody) {
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 1);
    ASSERT_TRUE(tx.Commit().ok());
  }
  std::unique_ptr<Connection> other = store_->Open();
  Transaction reader = BeginOn(*other, TransactionMode::kRead);
  EXPECT_THAT(Ids(reader), ElementsAre(1));
  Transaction writer = Begin(TransactionMode::kWrite);
  Insert(writer, 2);
  EXPECT_THAT(Ids(reader), ElementsAre(1));
  ASSERT_TRUE(writer.Commit().ok());
  EXPECT_THAT(Ids(reader), ElementsAre(1));
  EXPECT_TRUE(reader.Commit().ok());
  EXPECT_THAT(CommittedIds(), ElementsAre(1, 2));
}

TEST_P(ConnectionContract, AReaderCannotWrite) {
  Transaction reader = Begin(TransactionMode::kRead);
  EXPECT_EQ(CodeOf(reader.Execute("DELETE FROM item")), StatusCode::kInternal);
  EXPECT_EQ(reader.state(), Transaction::State::kFailed);
}

TEST_P(ConnectionContract, C5OneWriterAtATime) {
  Transaction first = Begin(TransactionMode::kWrite);
  std::unique_ptr<Connection> other = store_->Open();
  EXPECT_EQ(other->Begin(TransactionMode::kWrite).error().code(), StatusCode::kTransient);
  EXPECT_EQ(connection_->Begin(TransactionMode::kRead).error().code(),
            StatusCode::kInternal);
  ASSERT_TRUE(first.Commit().ok());
  EXPECT_TRUE(other->Begin(TransactionMode::kWrite).has_value());
}

TEST_P(ConnectionContract, ADeferredConstraintAtCommitIsACertainFailure) {
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Must(tx.Execute("INSERT INTO item(id, parent) VALUES(1, 99)"));
    EXPECT_EQ(tx.Commit().code(), StatusCode::kInternal);
    EXPECT_EQ(tx.state(), Transaction::State::kEnded);
  }
  EXPECT_TRUE(CommittedIds().empty());
  EXPECT_FALSE(connection_->closed());
  Transaction next = Begin(TransactionMode::kWrite);
  Insert(next, 2);
  EXPECT_TRUE(next.Commit().ok());
}

TEST_P(ConnectionContract, TheObserverSeesEveryStatement) {
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 1);
    ASSERT_TRUE(tx.Commit().ok());
    Transaction undone = Begin(TransactionMode::kWrite);
  }
  ASSERT_EQ(recorder_.seen.size(), 5U);
  EXPECT_EQ(recorder_.seen[1], "INSERT INTO item(id, name) VALUES(?, ?)");
  EXPECT_EQ(recorder_.seen[2], "COMMIT");
  EXPECT_EQ(recorder_.seen[4], "ROLLBACK");
}

TEST_P(ConnectionContract, C6AnUnsentCommitOfUnknownOutcomeDidNotLand) {
  recorder_.before = [](std::size_t, std::string_view sql) {
    return sql == "COMMIT" ? Unknown("the line was cut") : Status();
  };
  Transaction tx = Begin(TransactionMode::kWrite);
  Insert(tx, 1);
  EXPECT_EQ(tx.Commit().code(), StatusCode::kUnknown);
  EXPECT_EQ(tx.state(), Transaction::State::kUnknown);
  EXPECT_TRUE(connection_->closed());
  EXPECT_EQ(connection_->Begin(TransactionMode::kRead).error().code(),
            StatusCode::kTransient);
  EXPECT_TRUE(CommittedIds().empty());
}

TEST_P(ConnectionContract, C6ALostReplyOfCommitIsUnknownAndLanded) {
  recorder_.after = [](std::size_t, std::string_view sql) {
    return sql == "COMMIT" ? Transient("the line was cut") : Status();
  };
  Transaction tx = Begin(TransactionMode::kWrite);
  Insert(tx, 1);
  EXPECT_EQ(tx.Commit().code(), StatusCode::kUnknown);
  EXPECT_EQ(tx.Commit().code(), StatusCode::kUnknown);
  EXPECT_TRUE(connection_->closed());
  EXPECT_THAT(CommittedIds(), ElementsAre(1));
}

TEST_P(ConnectionContract, ABusyCommitCanBeSentAgain) {
  int refusals = 1;
  recorder_.before = [&](std::size_t, std::string_view sql) {
    return sql == "COMMIT" && refusals-- > 0 ? Transient("busy") : Status();
  };
  Transaction tx = Begin(TransactionMode::kWrite);
  Insert(tx, 1);
  EXPECT_EQ(tx.Commit().code(), StatusCode::kTransient);
  EXPECT_EQ(tx.state(), Transaction::State::kOpen);
  EXPECT_TRUE(CommittedIds().empty());
  EXPECT_TRUE(tx.Commit().ok());
  EXPECT_THAT(CommittedIds(), ElementsAre(1));
}

TEST_P(ConnectionContract, ALostRollbackStillRollsBack) {
  recorder_.before = [](std::size_t, std::string_view sql) {
    return sql == "ROLLBACK" ? Transient("the line was cut") : Status();
  };
  {
    Transaction tx = Begin(TransactionMode::kWrite);
    Insert(tx, 1);
  }
  EXPECT_TRUE(connection_->closed());
  EXPECT_TRUE(CommittedIds().empty());
  std::unique_ptr<Connection> other = store_->Open();
  EXPECT_TRUE(other->Begin(TransactionMode::kWrite).has_value());
}

/// Every statement of a transaction, failed before and after: all rows or none, and the
/// answer never claims the opposite.
TEST_P(ConnectionContract, EveryStatementIsAFaultPoint) {
  auto run = [&](Connection& connection) -> Status {
    Result<Transaction> tx = connection.Begin(TransactionMode::kWrite);
    if (!tx.has_value()) return tx.error();
    for (std::int64_t id : {1, 2, 3}) {
      Result<std::int64_t> inserted =
          tx->Execute("INSERT INTO item(id, name) VALUES(?, 'x')", {id});
      if (!inserted.has_value()) return inserted.error();
    }
    return tx->Commit();
  };
  constexpr std::size_t kStatements = 5;  // BEGIN, three INSERTs, COMMIT
  for (bool before : {true, false}) {
    for (std::size_t point = 1; point <= kStatements; ++point) {
      store_ = nullptr;
      recorder_ = Recorder();
      SetUp();
      (before ? recorder_.before : recorder_.after) = [&](std::size_t count,
                                                          std::string_view) {
        return count == point ? Internal("fault") : Status();
      };
      Status status = run(*connection_);
      EXPECT_FALSE(status.ok());
      bool landed = CommittedIds().size() == 3;
      EXPECT_TRUE(landed || CommittedIds().empty());
      EXPECT_EQ(landed, !before && point == kStatements);
      EXPECT_EQ(status.code() == StatusCode::kUnknown, landed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ConnectionContract,
                         ::testing::Values(StoreKind{
                             "Sqlite",
                             []() -> std::unique_ptr<Store> {
                               return std::make_unique<SqliteStore>();
                             }}),
                         [](const auto& store) { return store.param.name; });

TEST(Row, ATypeThatIsNotExpectedIsDamage) {
  Row row({std::int64_t{1}, std::string("x"), Null{}, 0.5, Blob{"b"}});
  EXPECT_EQ(row.Int(0), 1);
  EXPECT_EQ(row.Text(1), "x");
  EXPECT_EQ(row.Double(3), 0.5);
  EXPECT_EQ(row.Bytes(4)->bytes, "b");
  EXPECT_EQ(row.OptionalText(2)->has_value(), false);
  EXPECT_EQ(**row.OptionalInt(0), 1);
  EXPECT_EQ(row.Int(1).error().code(), StatusCode::kDamaged);
  EXPECT_EQ(row.Text(2).error().message(),
            "column 2 of a stored row holds NULL where text was expected");
  EXPECT_EQ(row.OptionalInt(1).error().code(), StatusCode::kDamaged);
  EXPECT_DEATH(static_cast<void>(row.at(5)), "column < values_.size");
}

}  // namespace
}  // namespace amend::db

#include "publish/publisher.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "db/sqlite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::publish {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The driver against a real database, with publications that change no table.
class PublisherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() /
               ("amend-publisher-" + Env::Real().NewUuid()))
                  .string();
    std::filesystem::create_directories(folder_);
    InTransaction([this](db::Transaction& tx) {
      catalog_.emplace(*iceberg::SqlCatalog::Open(tx, "amend"));
      ledger_.emplace(*ledger::Ledger::Open(tx));
    });
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<std::unique_ptr<db::Connection>> Connect() {
    return db::OpenSqlite({.path = folder_ + "/catalog.db", .create = true});
  }

  template <typename Body>
  void InTransaction(Body body) {
    auto connection = Connect();
    AMEND_CHECK(connection.has_value());
    auto tx = (*connection)->Begin(db::TransactionMode::kWrite);
    AMEND_CHECK(tx.has_value());
    body(*tx);
    AMEND_CHECK(tx->Commit().ok());
  }

  Result<Published> Publish(std::function<Status(db::Transaction&, std::int64_t)> also) {
    Publication publication;
    publication.attempt = NewAttempt(Env::Real());
    publication.intent.id = "intent";
    publication.intent.subject = "plan";
    publication.entry.no_op = true;
    publication.also = std::move(also);
    PublisherOptions options{"ns", [this] { return Connect(); }};
    return Publisher(Env::Real(), options, *catalog_, *ledger_).Publish(publication);
  }

  std::string folder_;
  std::optional<iceberg::SqlCatalog> catalog_;
  std::optional<ledger::Ledger> ledger_;
};

TEST_F(PublisherTest, ConflictOfTheRowsThatGoWithItEndsItAtOnce) {
  int calls = 0;
  auto published = Publish([&calls](db::Transaction&, std::int64_t) {
    ++calls;
    return Conflict("#7 changed daily meanwhile");
  });
  ASSERT_FALSE(published.has_value());
  EXPECT_EQ(published.error().code(), StatusCode::kConflict);
  EXPECT_THAT(published.error().message(), HasSubstr("#7 changed daily meanwhile"));
  EXPECT_EQ(calls, 1);
  InTransaction([this](db::Transaction& tx) {
    EXPECT_THAT(*ledger_->Entries(tx), IsEmpty());
    EXPECT_EQ((*ledger_->FindIntent(tx, "intent"))->status,
              ledger::IntentStatus::kFailed);
  });
}

TEST_F(PublisherTest, BusyRowsThatGoWithItAreTriedAgain) {
  int calls = 0;
  auto published = Publish([&calls](db::Transaction&, std::int64_t) {
    return ++calls < 3 ? Transient("busy") : Status();
  });
  ASSERT_TRUE(published.has_value()) << published.error().ToString();
  EXPECT_EQ(published->ending, Ending::kConfirmed);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace amend::publish

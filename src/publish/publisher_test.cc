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

  Result<Published> Publish(std::function<Status(db::Transaction&, std::int64_t)> also,
                            const std::string& facts = "") {
    Publication publication;
    if (!facts.empty()) {
      ledger::EntryTable table;
      table.table = "t";
      table.facts_path = facts;
      publication.entry.tables.push_back(std::move(table));
    }
    publication.attempt = NewAttempt(Env::Real());
    publication.intent.id = id_;
    publication.intent.subject = "plan";
    publication.entry.no_op = true;
    publication.also = std::move(also);
    return MakePublisher().Publish(publication);
  }
  Status Recover() { return MakePublisher().Recover(); }
  Publisher MakePublisher() {
    PublisherOptions options{"ns", [this] { return Connect(); }};
    return Publisher(Env::Real(), options, *catalog_, *ledger_);
  }

  std::string folder_;
  std::string id_ = "intent";
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

TEST_F(PublisherTest, WhatItRefersToIsThereOrNothingIsPublished) {
  const std::string facts = folder_ + "/facts/a-t.parquet";
  auto nothing = [](db::Transaction&, std::int64_t) { return Status(); };
  auto refused = Publish(nothing, facts);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), StatusCode::kRefused);
  EXPECT_THAT(refused.error().message(), HasSubstr(facts));
  InTransaction(
      [this](db::Transaction& tx) { EXPECT_THAT(*ledger_->Entries(tx), IsEmpty()); });
  ASSERT_TRUE(Env::Real().WriteNewFile(facts, "rows").ok());
  id_ = "again";
  auto published = Publish(nothing, facts);
  ASSERT_TRUE(published.has_value()) << published.error().ToString();
  EXPECT_TRUE(Env::Real().Exists(facts));
}

/// An intent that committed and whose table is not what was staged: someone else wrote
/// over the metadata file, or a disk did.
TEST_F(PublisherTest, RecoveryDoesNotPassOverATableThatReadsBackWrong) {
  const std::string location = "file://" + folder_ + "/t/metadata/1.metadata.json";
  ASSERT_TRUE(
      Env::Real().WriteNewFile(folder_ + "/t/metadata/1.metadata.json", "{").ok());
  InTransaction([&](db::Transaction& tx) {
    ASSERT_TRUE(catalog_->CreateNamespace(tx, "ns").ok());
    ASSERT_TRUE(catalog_->Swap(tx, {{{"ns", "t"}, std::nullopt, location}}).ok());
    ledger::IntentRow row;
    row.id = "intent";
    row.record = ToJson(
        IntentRecord{{"intent", Kind::kPublish, "p", {{"ns.t", ""}}, {}}, {"attempt-1"}});
    auto number = ledger_->WriteIntent(tx, row);
    ASSERT_TRUE(number.has_value());
    ASSERT_TRUE(*ledger_->SetIntentStatus(tx, "intent", 1, ledger::IntentStatus::kOpen,
                                          ledger::IntentStatus::kCommitted));
    ledger::Entry entry;
    entry.number = *number;
    entry.intent = "intent";
    entry.tables.push_back({"t", 7, 1, 0, location, "", "", "", Json(), Json()});
    ASSERT_TRUE(ledger_->Insert(tx, std::move(entry)).ok());
  });
  for (int command = 0; command < 2; ++command) {
    Status recovered = Recover();
    EXPECT_EQ(recovered.code(), StatusCode::kDamaged);
    EXPECT_THAT(recovered.message(), HasSubstr("ns.t"));
  }
}

}  // namespace
}  // namespace amend::publish

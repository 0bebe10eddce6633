#include <filesystem>

#include "base/civil.h"
#include "base/env.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "gtest/gtest.h"

namespace amend {
namespace {

TEST(Civil, RoundTripsEveryDayOfEightHundredYears) {
  for (std::int64_t day = -150'000; day < 150'000; ++day) {
    CivilDay civil = CivilFromDays(day);
    ASSERT_EQ(DaysFromCivil(civil), day);
    ASSERT_EQ(ParseDay(FormatDay(day)), day);
  }
  EXPECT_EQ(FormatDay(11'386), "2001-03-05");
  EXPECT_EQ(FormatDay(DaysFromCivil({-44, 3, 15})), "-0044-03-15");
  EXPECT_EQ(ParseDay("-0044-03-15"), DaysFromCivil({-44, 3, 15}));
}

TEST(Civil, RefusesDaysThatDoNotExist) {
  EXPECT_FALSE(ParseDay("2001-02-29"));
  EXPECT_TRUE(ParseDay("2000-02-29"));
  EXPECT_FALSE(ParseDay("2001-13-01"));
  EXPECT_FALSE(ParseDay("2001-1-01"));
  EXPECT_FALSE(ParseMicros("2001-01-01 24:00"));
}

TEST(Civil, FloorsBeforeTheEpoch) {
  EXPECT_EQ(FloorDiv(-1, kMicrosPerDay), -1);
  EXPECT_EQ(FormatMicros(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(ParseMicros("1969-12-31T23:59:59.999999Z"), -1);
}

TEST(Text, NearestNameHelpsTypingErrorsOnly) {
  EXPECT_EQ(NearestName("partiton_by", {"key", "partition_by"}), "partition_by");
  EXPECT_EQ(NearestName("zebra", {"key", "partition_by"}), std::nullopt);
}

TEST(Text, ParsesBytes) {
  EXPECT_EQ(ParseBytes("512MB"), 512'000'000);
  EXPECT_EQ(ParseBytes("2 GiB"), 2'147'483'648);
  EXPECT_EQ(ParseBytes("twelve"), std::nullopt);
  EXPECT_EQ(ParseBytes("99999999999GB"), std::nullopt);
}

TEST(Text, QuotesWhatEntersSql) {
  EXPECT_EQ(SqlLiteral("Jan 1' OR '1'='1"), "'Jan 1'' OR ''1''=''1'");
  EXPECT_EQ(SqlIdentifier("a\"b"), "\"a\"\"b\"");
}

TEST(Hash, FieldsDoNotRunTogether) {
  EXPECT_EQ(Sha256Hex("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(Fingerprinter().Add("ab").Add("c").Hex(),
            Fingerprinter().Add("a").Add("bc").Hex());
}

TEST(Json, CanonicalFormDoesNotDependOnOrder) {
  EXPECT_EQ(CanonicalJson(Json::parse(R"({"b":1,"a":{"d":2,"c":3}})")),
            R"({"a":{"c":3,"d":2},"b":1})");
  EXPECT_EQ(Json::parse("9223372036854775807").get<std::int64_t>(),
            9223372036854775807LL);
}

TEST(Json, TheCallerMayAllowDeeperNesting) {
  std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_FALSE(ParseJson(deep, "x"));
  EXPECT_TRUE(ParseJson(deep, "x", 400));
}

TEST(Json, DamageIsAStatus) {
  EXPECT_EQ(ParseJson("{\"a\":", "x.json").error().code(), StatusCode::kDamaged);
  EXPECT_EQ(ParseJson(std::string(100'000, '['), "x").error().code(),
            StatusCode::kDamaged);
}

class EnvTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = (std::filesystem::temp_directory_path() / ("amend-" + Env::Real().NewUuid()))
               .string();
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string dir_;
};

TEST_F(EnvTest, WriteNewFileNeverOverwrites) {
  Env& env = Env::Real();
  ASSERT_TRUE(env.WriteNewFile(dir_ + "/a/b/c", "one").ok());
  EXPECT_EQ(env.WriteNewFile(dir_ + "/a/b/c", "two").code(), StatusCode::kInvalid);
  EXPECT_EQ(*env.ReadFile(dir_ + "/a/b/c"), "one");
  ASSERT_TRUE(env.ReplaceFile(dir_ + "/a/b/c", "two").ok());
  EXPECT_EQ(*env.ReadFile(dir_ + "/a/b/c"), "two");
  EXPECT_EQ(env.List(dir_ + "/a/b")->size(), 1U);
  EXPECT_TRUE(SyncAll(env, {dir_ + "/a/b/c"}, dir_).ok());
}

TEST_F(EnvTest, ALockHasOneHolder) {
  Env& env = Env::Real();
  auto first = env.TryLock(dir_ + "/lock");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(env.TryLock(dir_ + "/lock").error().code(), StatusCode::kTransient);
  first->reset();
  EXPECT_TRUE(env.TryLock(dir_ + "/lock").has_value());
}

TEST_F(EnvTest, HashesAFileInPieces) {
  Env& env = Env::Real();
  std::string bytes(3'000'000, 'x');
  ASSERT_TRUE(env.WriteNewFile(dir_ + "/big", bytes).ok());
  EXPECT_EQ(*Sha256File(env, dir_ + "/big"), Sha256Hex(bytes));
  EXPECT_EQ(Sha256File(env, dir_ + "/none").error().code(), StatusCode::kNotFound);
}

TEST(RealEnv, ListsLinksAsLinksAlsoThoseThatLeadNowhere) {
  const std::string folder =
      std::filesystem::temp_directory_path() / Env::Real().NewUuid();
  ASSERT_TRUE(Env::Real().WriteNewFile(folder + "/file", "abc").ok());
  std::filesystem::create_symlink("file", folder + "/to_file");
  std::filesystem::create_symlink(".", folder + "/to_folder");
  std::filesystem::create_symlink("to_itself", folder + "/to_itself");
  auto entries = Env::Real().List(folder);
  ASSERT_TRUE(entries);
  std::string seen;
  for (const FileInfo& info : *entries) {
    seen += std::filesystem::path(info.path).filename().string() + " " +
            std::to_string(info.is_folder) + std::to_string(info.is_link) + "; ";
  }
  EXPECT_EQ(seen, "file 00; to_file 01; to_folder 11; to_itself 01; ");
  EXPECT_EQ(entries->at(1).size, 3);
  EXPECT_EQ(entries->at(3).size, 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace amend

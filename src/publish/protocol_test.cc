#include "publish/protocol.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::publish {
namespace {

TEST(IntentRecordTest, RoundTrips) {
  IntentRecord record{.intent = {.id = "i-1",
                                 .kind = Kind::kRollback,
                                 .subject = "7",
                                 .tables = {{"ns.a", "a-3.json"}, {"ns.b", ""}},
                                 .folders = {"/w/a/metadata", "/w/b/metadata"}},
                      .attempts = {"attempt-0001", "attempt-0002"}};
  Result<IntentRecord> again = FromJson(ToJson(record));
  ASSERT_TRUE(again.has_value()) << again.error().ToString();
  EXPECT_EQ(*again, record);
}

}  // namespace
}  // namespace amend::publish

#include "iceberg/location.h"

#include "gtest/gtest.h"

namespace amend::iceberg {
namespace {

TEST(Location, EverySpellingOfALocalFile) {
  for (const char* uri : {"file:///w/a%20b.avro", "file:/w/a%20b.avro", "/w/a%20b.avro",
                          "FILE:///w/a%20b.avro", "file://localhost/w/a%20b.avro"}) {
    EXPECT_EQ(ToLocalPath(uri), "/w/a%20b.avro") << uri;
  }
  EXPECT_EQ(ToUri("/w/a"), "file:///w/a");
  EXPECT_EQ(ToLocalPath("/w/s3:odd"), "/w/s3:odd")
      << "a colon after a slash is no scheme";
}

TEST(Location, OtherStoresAreRefusedByName) {
  for (const char* uri : {"s3://bucket/x", "hdfs:/x", "file://host/x"}) {
    EXPECT_EQ(ToLocalPath(uri).error().code(), StatusCode::kUnsupported) << uri;
  }
  for (const char* uri : {"", "relative/x", "file:x", "file://"}) {
    EXPECT_EQ(ToLocalPath(uri).error().code(), StatusCode::kDamaged) << uri;
  }
}

TEST(Location, SamePlaceIsSpelledInManyWays) {
  EXPECT_TRUE(SameLocation("file:///w/t/", "file:/w//t"));
  EXPECT_TRUE(SameLocation("/w/t", "file:///w/t"));
  EXPECT_FALSE(SameLocation("file:///w/t", "file:///w/t2"));
  EXPECT_TRUE(SameLocation("s3://b/x", "s3://b/x"));
  EXPECT_FALSE(SameLocation("s3://b/x", "/b/x"));
}

}  // namespace
}  // namespace amend::iceberg

#include "iceberg/partition_spec.h"

#include <limits>

#include "base/civil.h"
#include "gtest/gtest.h"
#include "iceberg/decimal.h"

namespace amend::iceberg {
namespace {

constexpr std::int64_t kMicro = -1;

Type Named(std::string_view text) { return ParsePrimitive(text).value(); }

Value MustApply(std::string_view transform, std::string_view type, const Value& value) {
  auto result = Transform::Parse(transform).Apply(Named(type), value);
  EXPECT_TRUE(result.has_value())
      << transform << " of " << type << ": " << result.error().ToString();
  return result.value_or(Value());
}

/// bucket[2^31 - 1] shows the hash itself, its sign bit cleared.
std::int64_t HashOf(std::string_view type, const Value& value) {
  return std::get<std::int64_t>(MustApply("bucket[2147483647]", type, value));
}

std::int64_t Positive(std::int32_t hash) {
  return static_cast<std::uint32_t>(hash) & 0x7fffffffU;
}

TEST(Transform, BucketHashesAsTheSpecificationSays) {
  EXPECT_EQ(HashOf("int", std::int64_t{34}), Positive(2017239379));
  EXPECT_EQ(HashOf("long", std::int64_t{34}), Positive(2017239379));
  EXPECT_EQ(HashOf("string", "iceberg"), Positive(1210000089));
  EXPECT_EQ(HashOf("date", *ParseDay("2017-11-16")), Positive(-653330422));
  EXPECT_EQ(HashOf("timestamp", *ParseMicros("2017-11-16T22:31:08")),
            Positive(-2047944441));
  EXPECT_EQ(HashOf("timestamptz", *ParseMicros("2017-11-16T22:31:08")),
            Positive(-2047944441));
  EXPECT_EQ(HashOf("decimal(9, 2)", DecimalToBytes(1420)), Positive(-500754589));
  EXPECT_EQ(HashOf("binary", std::string("\0\1\2\3", 4)), Positive(-188683207));
  EXPECT_EQ(HashOf("fixed[4]", std::string("\0\1\2\3", 4)), Positive(-188683207));
  EXPECT_EQ(HashOf("uuid", std::string("\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd"
                                       "\xa4\x79\x3f\x34\x9c\xb7\x85\xe7")),
            Positive(1488055340));
  EXPECT_EQ(std::get<std::int64_t>(MustApply("bucket[16]", "long", std::int64_t{34})),
            Positive(2017239379) % 16);
}

TEST(Transform, TimeFloorsBeforeTheEpoch) {
  for (const char* transform : {"year", "month", "day", "hour"}) {
    EXPECT_EQ(MustApply(transform, "timestamp", kMicro), Value(std::int64_t{-1}))
        << transform;
  }
  EXPECT_EQ(MustApply("month", "date", std::int64_t{-1}), Value(std::int64_t{-1}));
  EXPECT_EQ(MustApply("year", "date", *ParseDay("1968-12-31")), Value(std::int64_t{-2}));
  EXPECT_EQ(MustApply("month", "date", *ParseDay("2001-03-31")),
            Value(std::int64_t{31 * 12 + 2}));
  EXPECT_EQ(MustApply("day", "timestamptz", *ParseMicros("2001-03-05T23:59:59.999999")),
            Value(*ParseDay("2001-03-05")));
  EXPECT_EQ(MustApply("hour", "timestamp", *ParseMicros("1970-01-02T01:30:00")),
            Value(std::int64_t{25}));
}

TEST(Transform, TruncateFloorsNumbersAndCountsCodePoints) {
  EXPECT_EQ(MustApply("truncate[10]", "int", std::int64_t{-1}), Value(std::int64_t{-10}));
  EXPECT_EQ(MustApply("truncate[10]", "long", std::int64_t{19}), Value(std::int64_t{10}));
  EXPECT_EQ(MustApply("truncate[50]", "decimal(9, 2)", DecimalToBytes(1065)),
            Value(DecimalToBytes(1050)));
  EXPECT_EQ(MustApply("truncate[50]", "decimal(9, 2)", DecimalToBytes(-5)),
            Value(DecimalToBytes(-50)));
  EXPECT_EQ(MustApply("truncate[3]", "string", "aéčd"), Value(std::string("aéč")));
  EXPECT_EQ(MustApply("truncate[3]", "binary", std::string("\0\1\2\3", 4)),
            Value(std::string("\0\1\2", 3)));
}

TEST(Transform, TruncateDoesNotWrapAround) {
  for (auto [type, least] : {std::pair<const char*, std::int64_t>{
                                 "int", std::numeric_limits<std::int32_t>::min()},
                             {"long", std::numeric_limits<std::int64_t>::min()}}) {
    auto result = Transform::Parse("truncate[10]").Apply(Named(type), least);
    ASSERT_FALSE(result.has_value()) << type;
    EXPECT_EQ(result.error().code(), StatusCode::kInvalid);
  }
  EXPECT_FALSE(
      Transform::Parse("truncate[2]").Apply(Named("string"), "\xff").has_value());
}

TEST(Transform, NullStaysNullAndVoidIsNull) {
  for (const char* transform :
       {"identity", "year", "day", "bucket[4]", "truncate[4]", "void"}) {
    EXPECT_TRUE(IsNull(MustApply(transform, "timestamp", Value()))) << transform;
  }
  EXPECT_TRUE(IsNull(MustApply("void", "string", "x")));
  EXPECT_EQ(MustApply("identity", "string", "x"), Value(std::string("x")));
}

TEST(Transform, RefusesTypesItDoesNotTake) {
  for (auto [transform, type] : {std::pair{"hour", "date"},
                                 {"day", "long"},
                                 {"bucket[4]", "double"},
                                 {"truncate[4]", "date"},
                                 {"zorder", "long"}}) {
    auto result = Transform::Parse(transform).Apply(Named(type), std::int64_t{1});
    ASSERT_FALSE(result.has_value()) << transform;
    EXPECT_EQ(result.error().code(), StatusCode::kUnsupported) << transform;
  }
}

TEST(Transform, TextRoundTripsAlsoWhenUnknown) {
  for (const char* text :
       {"identity", "year", "month", "day", "hour", "void", "bucket[16]", "truncate[4]",
        "bucket[0]", "bucket[]", "bucket", "zorder(3)", "truncate[-1]"}) {
    EXPECT_EQ(Transform::Parse(text).ToString(), text);
  }
  EXPECT_EQ(Transform::Parse("bucket[0]").kind, TransformKind::kUnknown);
  EXPECT_EQ(Transform::Parse("day").ResultType(Named("timestamp")).id, TypeId::kDate);
  EXPECT_EQ(Transform::Parse("month").ResultType(Named("date")).id, TypeId::kInt);
  EXPECT_EQ(Transform::Parse("truncate[2]").ResultType(Named("string")).id,
            TypeId::kString);
}

TEST(PartitionSpec, JsonRoundTripsAndDamageIsTold) {
  PartitionSpec spec{.id = 2,
                     .fields = {{1, 1000, "ts_day", Transform::Parse("day")},
                                {2, 1001, "region", Transform::Parse("identity")},
                                {2, 1002, "odd", Transform::Parse("zorder")}}};
  auto again = SpecFromJson(SpecToJson(spec));
  ASSERT_TRUE(again.has_value()) << again.error().ToString();
  EXPECT_EQ(*again, spec);
  EXPECT_EQ(SpecFieldsToJson(spec).size(), 3);
  EXPECT_EQ(SpecToJson(PartitionSpec()).dump(), R"({"spec-id":0,"fields":[]})");

  Json twice = SpecToJson(spec);
  twice["fields"][1]["field-id"] = 1000;
  EXPECT_EQ(SpecFromJson(twice).error().code(), StatusCode::kDamaged);
  Json several = SpecToJson(spec);
  several["fields"][0].erase("source-id");
  several["fields"][0]["source-ids"] = {1, 2};
  EXPECT_EQ(SpecFromJson(several).error().code(), StatusCode::kUnsupported);
  EXPECT_EQ(SpecFromJson(Json(5)).error().code(), StatusCode::kDamaged);
}

}  // namespace
}  // namespace amend::iceberg

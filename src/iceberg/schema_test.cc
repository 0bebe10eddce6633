#include "iceberg/schema.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::iceberg {
namespace {

using ::testing::HasSubstr;

Json MustParse(std::string_view text) {
  auto json = ParseJson(text, "test");
  EXPECT_TRUE(json.has_value()) << text;
  return json.value_or(Json());
}

constexpr std::string_view kNested = R"json({
  "type": "struct", "schema-id": 3, "identifier-field-ids": [1],
  "fields": [
    {"id": 1, "name": "id", "required": true, "type": "long", "doc": "the key"},
    {"id": 2, "name": "price", "required": false, "type": "decimal(9, 2)"},
    {"id": 3, "name": "stops", "required": false, "type":
      {"type": "list", "element-id": 6, "element-required": true, "element":
        {"type": "struct", "fields": [
          {"id": 7, "name": "airport", "required": false, "type": "fixed[3]"}]}}},
    {"id": 4, "name": "tags", "required": false, "type":
      {"type": "map", "key-id": 8, "key": "string", "value-id": 9,
       "value-required": false, "value": "timestamptz"}}]})json";

TEST(Schema, NestedTypesSurviveARoundTrip) {
  auto schema = SchemaFromJson(MustParse(kNested));
  ASSERT_TRUE(schema.has_value()) << schema.error().ToString();
  EXPECT_EQ(schema->id, 3);
  EXPECT_EQ(schema->HighestId(), 9);
  ASSERT_NE(schema->FindByName("price"), nullptr);
  EXPECT_EQ(schema->FindByName("price")->type.ToString(), "decimal(9, 2)");
  EXPECT_EQ(schema->FindById(3)->type.children[0].type.children[0].type.length, 3);
  EXPECT_EQ(schema->FindById(7), nullptr) << "only top-level columns are found";
  EXPECT_EQ(schema->FindById(1)->doc, "the key");
  auto again = SchemaFromJson(SchemaToJson(*schema));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, *schema);
  EXPECT_EQ(CanonicalJson(SchemaToJson(*schema)), CanonicalJson(MustParse(kNested)));
}

TEST(Schema, EveryPrimitiveKeepsItsText) {
  for (std::string_view text :
       {"boolean", "int", "long", "float", "double", "date", "time", "timestamp",
        "timestamptz", "string", "uuid", "binary", "fixed[16]", "decimal(38, 10)"}) {
    auto type = ParsePrimitive(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(type->ToString(), text);
    EXPECT_TRUE(type->is_primitive());
  }
  EXPECT_EQ(ParsePrimitive("decimal(9,2)")->ToString(), "decimal(9, 2)");
}

TEST(Schema, TellsLaterTypesFromNonsense) {
  for (std::string_view text :
       {"timestamp_ns", "variant", "geometry(srid:4326)", "unknown"}) {
    auto type = ParsePrimitive(text);
    ASSERT_FALSE(type.has_value()) << text;
    EXPECT_EQ(type.error().code(), StatusCode::kUnsupported) << text;
  }
  for (std::string_view text : {"", "Long", "decimal(39, 2)", "decimal(3, 4)", "fixed[0]",
                                "decimal(9)", "fixed[x]", "fixed[2"}) {
    auto type = ParsePrimitive(text);
    ASSERT_FALSE(type.has_value()) << text;
    EXPECT_EQ(type.error().code(), StatusCode::kDamaged) << text;
  }
}

TEST(Schema, DamageNamesTheField) {
  auto error_of = [](std::string_view fields) {
    Json json = MustParse(R"({"type": "struct", "fields": )" + std::string(fields) + "}");
    auto schema = SchemaFromJson(json);
    return schema ? std::string("accepted") : schema.error().message();
  };
  EXPECT_THAT(error_of(R"([{"id": 1, "name": "a", "required": true, "type": "lung"}])"),
              HasSubstr("field 'a'"));
  EXPECT_THAT(error_of(R"([{"id": 1, "name": "a", "required": 1, "type": "long"}])"),
              HasSubstr("'required'"));
  EXPECT_THAT(error_of(R"([{"id": 1, "name": "a", "required": true, "type": "long"},
                           {"id": 1, "name": "b", "required": true, "type": "long"}])"),
              HasSubstr("used twice"));
  EXPECT_THAT(error_of(R"([{"id": 2147483546, "name": "a", "required": true,
                            "type": "long"}])"),
              HasSubstr("out of range"));
  EXPECT_THAT(error_of(R"([{"id": 1, "name": "a", "required": false, "type": "long",
                            "initial-default": 5}])"),
              HasSubstr("default value"));
  EXPECT_THAT(error_of("5"), HasSubstr("fields"));
  EXPECT_THAT(error_of("[5]"), HasSubstr("'name'"));
  EXPECT_FALSE(SchemaFromJson(Json(5)).has_value());
}

TEST(Schema, IdentifierMustBeAField) {
  Json json = MustParse(kNested);
  json["identifier-field-ids"] = {4294967297};  // 1 if it were cut to 32 bits
  EXPECT_FALSE(SchemaFromJson(json).has_value());
}

}  // namespace
}  // namespace amend::iceberg

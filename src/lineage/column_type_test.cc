#include "lineage/column_type.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace amend::lineage {
namespace {

using ::testing::HasSubstr;

TEST(ColumnType, OneSpellingForEachType) {
  const std::pair<const char*, const char*> cases[] = {
      {"int", "INTEGER"},
      {" BigInt ", "BIGINT"},
      {"double  precision", "DOUBLE"},
      {"timestamptz", "TIMESTAMP WITH TIME ZONE"},
      {"Timestamp With\tTime Zone", "TIMESTAMP WITH TIME ZONE"},
      {"text", "VARCHAR"},
      {"decimal(9, 2)", "DECIMAL(9,2)"},
      {"NUMERIC(38)", "DECIMAL(38,0)"},
      {"text[]", "VARCHAR[]"},
      {"decimal(9,2)[][]", "DECIMAL(9,2)[][]"},
      {"struct(a int, \"b c\" text)", "STRUCT(\"a\" INTEGER, \"b c\" VARCHAR)"},
      {"STRUCT(\"a,(\"\"\" INT)", "STRUCT(\"a,(\"\"\" INTEGER)"},
      {"map(varchar, struct(x date)[])", "MAP(VARCHAR, STRUCT(\"x\" DATE)[])"},
  };
  for (const auto& [written, canonical] : cases) {
    auto type = CanonicalType(written);
    ASSERT_TRUE(type) << written << ": " << type.error().ToString();
    EXPECT_EQ(*type, canonical);
    EXPECT_EQ(*CanonicalType(*type), canonical) << "canonical text is its own spelling";
  }
}

TEST(ColumnType, RefusesWhatIcebergCannotHoldAndSaysWhatCan) {
  for (const auto& [written, hint] : {std::pair{"HUGEINT", "use DECIMAL(38,0)"},
                                      {"time", "use VARCHAR"},
                                      {"smallint", "use INTEGER"},
                                      {"timestamp_ns", "use TIMESTAMP"},
                                      {"enum('a', 'b')", "use VARCHAR"},
                                      {"varchar(10)", "write VARCHAR"},
                                      {"int[3]", "write T[], a list of any length"}}) {
    auto type = CanonicalType(written);
    ASSERT_FALSE(type) << written;
    EXPECT_EQ(type.error().code(), StatusCode::kUnsupported) << written;
    EXPECT_EQ(type.error().hint(), hint) << written;
  }
}

TEST(ColumnType, InvalidTextNamesTheNearestType) {
  auto type = CanonicalType("integr");
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().code(), StatusCode::kInvalid);
  EXPECT_EQ(type.error().hint(), "did you mean integer?");
  for (const char* text :
       {"", "()", "decimal", "decimal()", "decimal(39,1)", "decimal(3,4)", "decimal(9,2",
        "decimal(9,2))", "int(4)", "struct()", "struct(a)", "struct(\"a)", "map(int)",
        "[]", "int)", "struct(a int,)", "struct(\"\" int)"}) {
    EXPECT_FALSE(CanonicalType(text)) << text;
  }
}

TEST(ColumnType, NestingIsBounded) {
  std::string deep = "int";
  for (int i = 0; i < 20; ++i) deep = "struct(a " + deep + ")";
  auto type = CanonicalType(deep);
  ASSERT_FALSE(type);
  EXPECT_THAT(type.error().message(), HasSubstr("nested too deeply"));
  EXPECT_FALSE(CanonicalType(std::string(1'000'000, '(')));
}

}  // namespace
}  // namespace amend::lineage

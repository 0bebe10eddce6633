#include "duck/value.h"

#include <limits>

#include "gtest/gtest.h"

namespace amend::duck {
namespace {

TEST(Int128, IsWrittenInFullWithItsPoint) {
  EXPECT_EQ(FormatInt128(0), "0");
  EXPECT_EQ(FormatInt128(-5, 2), "-0.05");
  EXPECT_EQ(FormatInt128(123, 2), "1.23");
  __int128 least = static_cast<__int128>(1) << 126;
  least = -least - least;
  EXPECT_EQ(FormatInt128(least), "-170141183460469231731687303715884105728");
}

TEST(Text, OfEachKind) {
  EXPECT_EQ(ToText(Value{}), "NULL");
  EXPECT_EQ(ToText(true), "true");
  EXPECT_EQ(ToText(Decimal{-50, 9, 2}), "-0.50");
  EXPECT_EQ(ToText(0.1), "0.1");
  EXPECT_EQ(ToText(Blob{std::string("\0\xff", 2)}), "00ff");
  EXPECT_EQ(ToText(Date{11386}), "2001-03-05");
  EXPECT_EQ(ToText(Date{std::numeric_limits<std::int32_t>::max()}), "infinity");
  EXPECT_EQ(ToText(Time{3'723'000'001}), "01:02:03.000001");
  EXPECT_EQ(ToText(Timestamp{0, false}), "1970-01-01T00:00:00");
  EXPECT_EQ(ToText(Timestamp{0, true}), "1970-01-01T00:00:00Z");
}

TEST(JsonForm, KeepsNumbersThatJsonCanHoldAndWritesTheRestAsText) {
  EXPECT_EQ(ToJson(std::int64_t{1} << 60).dump(), "1152921504606846976");
  EXPECT_EQ(ToJson(Value{}).dump(), "null");
  EXPECT_EQ(ToJson(0.5).dump(), "0.5");
  EXPECT_EQ(ToJson(std::numeric_limits<double>::quiet_NaN()).dump(), "\"nan\"");
  EXPECT_EQ(ToJson(Decimal{123, 9, 2}).dump(), "\"1.23\"");
  EXPECT_EQ(ToJson(Date{0}).dump(), "\"1970-01-01\"");
}

}  // namespace
}  // namespace amend::duck

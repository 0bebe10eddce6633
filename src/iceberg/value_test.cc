#include "iceberg/value.h"

#include <cmath>
#include <limits>
#include <random>

#include "base/civil.h"
#include "gtest/gtest.h"
#include "iceberg/code_points.h"
#include "iceberg/decimal.h"

namespace amend::iceberg {
namespace {

Type Named(std::string_view text) { return ParsePrimitive(text).value(); }

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (int byte : bytes) text += static_cast<char>(byte);
  return text;
}

TEST(Value, BinaryFormIsTheSpecifications) {
  auto encoded = [](std::string_view type, const Value& value) {
    return EncodeSingleValue(Named(type), value).value_or("refused");
  };
  EXPECT_EQ(encoded("boolean", true), Bytes({1}));
  EXPECT_EQ(encoded("int", std::int64_t{-2}), Bytes({0xfe, 0xff, 0xff, 0xff}));
  EXPECT_EQ(encoded("date", std::int64_t{1}), Bytes({1, 0, 0, 0}));
  EXPECT_EQ(encoded("long", std::int64_t{258}), Bytes({2, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encoded("float", 1.0), Bytes({0, 0, 0x80, 0x3f}));
  EXPECT_EQ(encoded("double", 1.0), Bytes({0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(encoded("decimal(9, 2)", Bytes({0, 0, 0x05, 0x8c})), Bytes({0x05, 0x8c}));
  EXPECT_EQ(encoded("string", "né"), "né");
  EXPECT_EQ(encoded("int", std::int64_t{1} << 31), "refused");
  EXPECT_EQ(encoded("double", std::nan("")), "refused");
  EXPECT_EQ(encoded("uuid", "short"), "refused");
  EXPECT_EQ(encoded("string", Value()), "refused");
  EXPECT_EQ(encoded("string", std::int64_t{1}), "refused");
}

TEST(Value, EveryTypeRoundTrips) {
  const std::pair<const char*, Value> kValues[] = {
      {"boolean", false},
      {"int", std::int64_t{std::numeric_limits<std::int32_t>::min()}},
      {"long", std::numeric_limits<std::int64_t>::max()},
      {"float", -0.5},
      {"double", std::numeric_limits<double>::infinity()},
      {"date", std::int64_t{-719162}},
      {"time", std::int64_t{86399999999}},
      {"timestamp", std::int64_t{-1}},
      {"timestamptz", std::int64_t{1}},
      {"string", std::string("naïve")},
      {"uuid", std::string(16, '\x7f')},
      {"fixed[3]", std::string("abc")},
      {"binary", std::string("\0x", 2)},
      {"decimal(38, 0)", DecimalToBytes(-5)},
  };
  for (const auto& [name, value] : kValues) {
    auto encoded = EncodeSingleValue(Named(name), value);
    ASSERT_TRUE(encoded.has_value()) << name;
    auto decoded = DecodeSingleValue(Named(name), *encoded);
    ASSERT_TRUE(decoded.has_value()) << name;
    EXPECT_EQ(*decoded, value) << name;
  }
}

TEST(Value, ReadsBoundsFromBeforeAPromotion) {
  EXPECT_EQ(DecodeSingleValue(Named("long"), Bytes({0xfe, 0xff, 0xff, 0xff})),
            Value(std::int64_t{-2}));
  EXPECT_EQ(DecodeSingleValue(Named("double"), Bytes({0, 0, 0x80, 0x3f})), Value(1.0));
}

TEST(Value, AWrongWidthIsDamage) {
  for (auto [type, size] : {std::pair{"int", 8},
                            {"date", 8},
                            {"timestamp", 4},
                            {"long", 0},
                            {"boolean", 2},
                            {"float", 8},
                            {"uuid", 15},
                            {"fixed[3]", 4},
                            {"decimal(9, 2)", 0}}) {
    auto decoded =
        DecodeSingleValue(Named(type), std::string(static_cast<std::size_t>(size), '\1'));
    ASSERT_FALSE(decoded.has_value()) << type;
    EXPECT_EQ(decoded.error().code(), StatusCode::kDamaged) << type;
  }
}

TEST(Bound, TextIsCutAndTheUpperRaised) {
  Type text = Named("string");
  std::string sixteen = "0123456789abcdef";
  EXPECT_EQ(MakeBound(text, sixteen, true), sixteen) << "nothing was cut";
  EXPECT_EQ(MakeBound(text, sixteen + "x", false), sixteen);
  EXPECT_EQ(MakeBound(text, sixteen + "x", true), "0123456789abcdeg");
  std::string fifteen = sixteen.substr(0, 15);
  EXPECT_EQ(MakeBound(text, fifteen + "\xed\x9f\xbf" + "x", true),
            fifteen + "\xee\x80\x80")
      << "U+D7FF skips the surrogates to U+E000";
  EXPECT_EQ(MakeBound(text, fifteen + "\xf4\x8f\xbf\xbf" + "x", true), "0123456789abcdf")
      << "past U+10FFFF the raise moves left";
  std::string last;
  for (int i = 0; i < 17; ++i) last += "\xf4\x8f\xbf\xbf";
  EXPECT_EQ(MakeBound(text, last, true), std::nullopt);
  EXPECT_EQ(MakeBound(text, "\xff", false), std::nullopt) << "not UTF-8: no bound";
  EXPECT_EQ(MakeBound(text, "", true), "");
}

TEST(Bound, BytesNumbersAndZeros) {
  Type binary = Named("binary");
  EXPECT_EQ(MakeBound(binary, std::string(20, '\xff'), true), std::nullopt);
  EXPECT_EQ(MakeBound(binary, "a" + std::string(20, '\xff'), true), "b");
  EXPECT_EQ(MakeBound(binary, std::string(20, 'a'), false), std::string(16, 'a'));
  Type number = Named("double");
  auto is_negative = [&](bool upper) {
    auto bound = MakeBound(number, upper ? -0.0 : 0.0, upper);
    return std::signbit(std::get<double>(DecodeSingleValue(number, *bound).value()));
  };
  EXPECT_TRUE(is_negative(false));
  EXPECT_FALSE(is_negative(true));
  EXPECT_EQ(MakeBound(number, std::nan(""), true), std::nullopt);
  EXPECT_EQ(MakeBound(number, Value(), true), std::nullopt);
  EXPECT_EQ(MakeBound(Named("decimal(9, 2)"), DecimalToBytes(128), true),
            Bytes({0x00, 0x80}));
}

/// Texts over an alphabet that has every length of UTF-8 and the edges of raising.
std::string RandomText(std::mt19937& random, int least) {
  const char* kAlphabet[] = {
      "a", "\x7f", "é", "\xed\x9f\xbf", "\xee\x80\x80", "漢", "😀", "\xf4\x8f\xbf\xbf"};
  std::string text;
  int length = least + static_cast<int>(random() % 6);
  for (int i = 0; i < length; ++i) text += kAlphabet[random() % std::size(kAlphabet)];
  return text;
}

TEST(Bound, AlwaysHoldsTheValue) {
  std::mt19937 random(7);
  Type text = Named("string");
  for (int i = 0; i < 5'000; ++i) {
    std::string value = RandomText(random, 13);
    auto lower = MakeBound(text, value, false);
    ASSERT_TRUE(lower.has_value());
    EXPECT_LE(*lower, value);
    auto upper = MakeBound(text, value, true);
    if (!upper) continue;
    EXPECT_GE(*upper, value);
    EXPECT_TRUE(FirstCodePoints(*upper, 100).has_value()) << "still UTF-8";
  }
}

TEST(CodePoints, RefusesWhatIsNotUtf8) {
  for (const char* text : {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xc3", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(FirstCodePoints(text, 3).has_value());
  }
  EXPECT_EQ(FirstCodePoints("aé😀z", 3), "aé😀");
}

TEST(Decimal, BytesAreMinimalAndExact) {
  EXPECT_EQ(DecimalToBytes(0), Bytes({0}));
  EXPECT_EQ(DecimalToBytes(127), Bytes({0x7f}));
  EXPECT_EQ(DecimalToBytes(128), Bytes({0, 0x80}));
  EXPECT_EQ(DecimalToBytes(-128), Bytes({0x80}));
  EXPECT_EQ(DecimalToBytes(-129), Bytes({0xff, 0x7f}));
  std::mt19937_64 random(11);
  for (int i = 0; i < 5'000; ++i) {
    Int128 value = (static_cast<Int128>(static_cast<std::int64_t>(random())) << 64) |
                   static_cast<Int128>(random());
    value >>= static_cast<int>(random() % 127);
    ASSERT_TRUE(DecimalFromBytes(DecimalToBytes(value)) == value);
    auto fixed = DecimalToFixed(value, 16);
    ASSERT_TRUE(fixed.has_value());
    ASSERT_TRUE(DecimalFromBytes(*fixed) == value);
  }
  EXPECT_EQ(DecimalToFixed(128, 1), std::nullopt);
  EXPECT_FALSE(DecimalFromBytes(std::string(17, '\x7f')).has_value());
  EXPECT_TRUE(DecimalFromBytes(std::string(20, '\xff')) == Int128{-1});
}

TEST(Decimal, WidthHoldsItsPrecision) {
  const std::pair<int, int> kWidths[] = {{1, 1},  {2, 1},  {3, 2},   {4, 2},
                                         {6, 3},  {9, 4},  {11, 5},  {18, 8},
                                         {19, 9}, {20, 9}, {28, 12}, {38, 16}};
  for (auto [precision, width] : kWidths) {
    EXPECT_EQ(DecimalWidth(precision), width) << precision;
  }
}

TEST(Value, OrdersAsSqlDoes) {
  auto less = [](std::string_view type, const Value& a, const Value& b) {
    return CompareValues(Named(type), a, b) < 0;
  };
  EXPECT_TRUE(less("decimal(9, 2)", DecimalToBytes(-5), DecimalToBytes(300)));
  EXPECT_TRUE(less("decimal(9, 2)", DecimalToBytes(255), DecimalToBytes(256)));
  EXPECT_TRUE(less("string", "z", "é"));
  EXPECT_TRUE(less("long", std::int64_t{-1}, std::int64_t{0}));
  EXPECT_TRUE(CompareValues(Named("double"), -0.0, 0.0) == 0);
  for (const Value& odd : {Value(), Value(std::nan("")), Value(std::int64_t{1})}) {
    EXPECT_TRUE(CompareValues(Named("double"), odd, 1.0) ==
                std::partial_ordering::unordered);
  }
}

TEST(Value, TextForPeople) {
  auto text = [](std::string_view type, const Value& value) {
    return ValueToString(Named(type), value);
  };
  EXPECT_EQ(text("date", *ParseDay("2001-03-05")), "2001-03-05");
  EXPECT_EQ(text("timestamp", std::int64_t{0}), "1970-01-01T00:00:00");
  EXPECT_EQ(text("timestamptz", std::int64_t{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(text("time", kMicrosPerHour), "01:00:00");
  EXPECT_EQ(text("long", Value()), "null");
  EXPECT_EQ(text("decimal(9, 2)", DecimalToBytes(-5)), "-0.05");
  EXPECT_EQ(text("decimal(9, 0)", DecimalToBytes(120)), "120");
  EXPECT_EQ(text("binary", "\x0f"), "0f");
  EXPECT_EQ(text("uuid", std::string(16, '\x11')),
            "11111111-1111-1111-1111-111111111111");
}

}  // namespace
}  // namespace amend::iceberg

#include "client/formats/text_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "client/formats/parse_float.h"

namespace vectable {
namespace {

using ::testing::ElementsAre;

TEST(ParseFloatTest, ReadsEveryNotationExactly) {
  const std::pair<const char*, float> cases[] = {
      {"1", 1.f},
      {"-.5", -.5f},
      {"5.", 5.f},
      {"+2", 2.f},
      {"1E-3", 1e-3f},
      {"1e-40", 1e-40f},
      {"-0", -0.f},
      {"00012", 12.f},
      {"1e-50", 0.f},
      {"1e-45", 1e-45f},
      {"3.4028235e38", 3.4028235e38f},
      {"16777217", 16777216.f},
      {"0.1000000000000000055511151231257827021181583404541015625", 0.1f}};
  for (const auto& [text, expected] : cases) {
    float value = 77;
    EXPECT_EQ(ParseFloat(text, value), FloatText::kOk) << text;
    EXPECT_EQ(value, expected) << text;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << text;
  }
}

TEST(ParseFloatTest, TellsWhatIsWrong) {
  float value = 0;
  for (const char* text : {"nan", "-NaN", "inf", "-Infinity", "+inf"}) {
    EXPECT_EQ(ParseFloat(text, value), FloatText::kNotFinite) << text;
  }
  for (const char* text : {"1e39", "-4e38", "1e999", "400000000000000000000000000000000000000."}) {
    EXPECT_EQ(ParseFloat(text, value), FloatText::kOutOfRange) << text;
  }
  for (const char* text :
       {"", "+", "-", ".", "1e", "1x", "+-1", "++1", "0x10", "1,5", " 1", "1 "}) {
    EXPECT_EQ(ParseFloat(text, value), FloatText::kNotANumber) << text;
  }
}

TEST(TextFieldsTest, SplitsFromTheEnd) {
  std::vector<std::string_view> fields;
  EXPECT_EQ(SplitLastFields("a b 1 2", 2, fields), "a b");
  EXPECT_THAT(fields, ElementsAre("1", "2"));
  EXPECT_EQ(SplitLastFields(" x\t1  2 \t", 2, fields), "x");
  EXPECT_FALSE(SplitLastFields("1 2", 2, fields).has_value());
  EXPECT_FALSE(SplitLastFields("", 1, fields).has_value());
}

TEST(TextFieldsTest, CountsValues) {
  EXPECT_EQ(CountValues("cat 1 2 3"), 3u);
  EXPECT_EQ(CountValues("1999 1 2 3"), 3u);
  EXPECT_EQ(CountValues("nan 1 2"), 2u);
  EXPECT_EQ(CountValues("cat"), 0u);
  EXPECT_EQ(CountValues(""), 0u);
  EXPECT_EQ(CountFields(" a  b\tc "), 3u);
}

TEST(TextFieldsTest, MostFrequentPrefersLikelyThenLarger) {
  EXPECT_EQ(MostFrequent(std::vector<size_t>{3, 2, 3}, 0), 3u);
  EXPECT_EQ(MostFrequent(std::vector<size_t>{3, 2}, 0), 3u);
  EXPECT_EQ(MostFrequent(std::vector<size_t>{3, 2}, 2), 2u);
  EXPECT_EQ(MostFrequent(std::vector<size_t>{3, 3, 2}, 2), 3u);
  EXPECT_EQ(MostFrequent(std::vector<size_t>{0, 0, 0, 2}, 0), 2u);
  EXPECT_EQ(MostFrequent({}, 5), 0u);
}

TEST(TextFieldsTest, HeaderIsTwoUnsignedIntegers) {
  EXPECT_EQ(ParseCountHeader("4 3"), std::pair(uint64_t{4}, uint64_t{3}));
  EXPECT_FALSE(ParseCountHeader("4 -3").has_value());
  EXPECT_FALSE(ParseCountHeader("4 3 2").has_value());
  EXPECT_FALSE(ParseCountHeader("4").has_value());
  EXPECT_FALSE(ParseCountHeader("a 3").has_value());
}

}  // namespace
}  // namespace vectable

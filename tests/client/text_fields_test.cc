#include "client/formats/text_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

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

// What ParsePlainRow promises to give, or nothing.
std::optional<std::pair<std::string, std::vector<float>>> RowByFields(std::string_view line,
                                                                      size_t dimensions) {
  std::vector<std::string_view> fields;
  const auto word = SplitLastFields(line, dimensions, fields);
  if (!word) return std::nullopt;
  std::vector<float> values(dimensions);
  for (size_t i = 0; i < dimensions; ++i) {
    if (ParseFloat(fields[i], values[i]) != FloatText::kOk) return std::nullopt;
  }
  return std::pair(std::string(*word), values);
}

// Checks that a row read at once is the row read field by field, to the bit. Gives whether it was.
bool PlainRowAgrees(const std::string& line, size_t dimensions) {
  // No byte behind the line may matter, nor be touched where a tool watches.
  const std::vector<char> exact(line.begin(), line.end());
  std::string_view word;
  std::vector<float> values(dimensions);
  if (!ParsePlainRow({exact.data(), exact.size()}, word, values)) return false;
  const auto expected = RowByFields(line, dimensions);
  if (!expected) {
    ADD_FAILURE() << "no row, but read as one: " << line;
    return true;
  }
  EXPECT_EQ(word, expected->first) << line;
  for (size_t i = 0; i < dimensions; ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(values[i]), std::bit_cast<uint32_t>(expected->second[i]))
        << "value " << i << " of " << line;
  }
  return true;
}

TEST(PlainRowTest, ReadsWhatIsOne) {
  for (const char* line : {"cat 1 -0.5", " cat\t1  -0.5 \t", "1999 0.038194 -12.24487", "a -0 0.0",
                           "a 16777216 16777217", "a 1e-3 +2", "a .5 5.", "a 12345678 123456789",
                           "a 0.12345678 0.123456789", "a 1234567.8 99999999.9", "a 1 2"}) {
    EXPECT_TRUE(PlainRowAgrees(line, 2)) << line;
  }
}

TEST(PlainRowTest, LeavesTheRestToTheFields) {
  for (const char* line :
       {"",           " ",          "cat",         "cat 1",     "cat 1 2 3", "new york 1 2",
        "cat 1 x",    "cat x 2",    "cat 1 2x",    "cat 1 nan", "cat inf 1", "cat 1 1e39",
        "cat 1 -",    "cat 1 .",    "cat 1 1.2.3", "cat 1 --2", "cat 1,5 2", "cat 1. .",
        "cat 0.1/ 2", "cat 0.1: 2", "cat 1 2\r"}) {
    EXPECT_FALSE(PlainRowAgrees(line, 2)) << line;
  }
}

TEST(PlainRowTest, RandomNumbersToTheBit) {
  std::mt19937 random(17);
  const auto digits = [&](size_t most) {
    std::string text;
    for (size_t n = random() % (most + 1); n > 0; --n)
      text += static_cast<char>('0' + random() % 10);
    return text;
  };
  size_t plain = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = digits(3) + "w";
    for (int i = 0; i < 5; ++i) {
      line += random() % 16 == 0 ? "\t " : " ";
      if (random() % 2 == 0) line += '-';
      line += random() % 4 == 0 ? digits(11) : std::to_string(random() % 3);
      if (random() % 8 != 0) line += "." + digits(random() % 4 == 0 ? 12 : 7);
      if (random() % 32 == 0) line += "e" + std::to_string(random() % 30);
    }
    if (PlainRowAgrees(line, 5)) ++plain;
  }
  EXPECT_GT(plain, 5'000u);
}

// Any bytes: what isn't a row is never read as one.
TEST(PlainRowTest, RandomBytes) {
  constexpr std::string_view kAlphabet = "0123456789.-+e \t 019. w\xC3\xFF/:";
  std::mt19937 random(18);
  size_t plain = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string line;
    for (size_t n = random() % 24; n > 0; --n) line += kAlphabet[random() % kAlphabet.size()];
    if (PlainRowAgrees(line, 1 + random() % 3)) ++plain;
  }
  EXPECT_GT(plain, 1'000u);
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

#include "server/text.h"

#include "gtest/gtest.h"

namespace vectable {
namespace {

TEST(ReplaceInvalidUtf8, Cases) {
  const struct {
    std::string in;
    std::string out;
  } cases[] = {
      {"", ""},
      {"word", "word"},
      {"\xE6\xBC\xA2\xF0\x9F\x98\x80", "\xE6\xBC\xA2\xF0\x9F\x98\x80"},
      {"\xFF", "\xEF\xBF\xBD"},
      {"a\xC3", "a\xEF\xBF\xBD"},
      {"\xE6\xBCz", "\xEF\xBF\xBD\xEF\xBF\xBDz"},
      {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
  };
  for (const auto& c : cases) EXPECT_EQ(ReplaceInvalidUtf8(c.in), c.out) << c.in;
}

TEST(CutUtf8, Cases) {
  EXPECT_EQ(CutUtf8("abcdef", 6), "abcdef");
  EXPECT_EQ(CutUtf8("abcdef", 5), "ab...");
  EXPECT_EQ(CutUtf8("abcdef", 3), "...");
  EXPECT_EQ(CutUtf8("abcdef", 2), "..");
  EXPECT_EQ(CutUtf8("abcdef", 0), "");
  EXPECT_EQ(CutUtf8("a\xC3\xA9\xC3\xA9", 5), "a\xC3\xA9\xC3\xA9");
  EXPECT_EQ(CutUtf8("\xC3\xA9\xC3\xA9\xC3\xA9", 5), "\xC3\xA9...");
  EXPECT_EQ(CutUtf8("\xC3\xA9\xC3\xA9\xC3\xA9", 4), "...");
}

}  // namespace
}  // namespace vectable

#include "common/names.h"

#include <string>
#include <vector>

#include "common/limits.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using std::string_literals::operator""s;

struct Utf8Case {
  std::string name;
  std::string bytes;
  bool valid;
};

class Utf8Test : public testing::TestWithParam<Utf8Case> {};

TEST_P(Utf8Test, Validity) {
  const Utf8Case& expected = GetParam();
  EXPECT_EQ(IsValidUtf8(expected.bytes), expected.valid);
  // The same within other text.
  EXPECT_EQ(IsValidUtf8("a" + expected.bytes + "z"), expected.valid);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Utf8Test,
    testing::Values(
        Utf8Case{"Empty", "", true}, Utf8Case{"Nul", "\0"s, true},
        Utf8Case{"Ascii", "a b\x7F", true}, Utf8Case{"FirstOfTwo", "\xC2\x80", true},
        Utf8Case{"LastOfTwo", "\xDF\xBF", true}, Utf8Case{"FirstOfThree", "\xE0\xA0\x80", true},
        Utf8Case{"BeforeSurrogates", "\xED\x9F\xBF", true},
        Utf8Case{"AfterSurrogates", "\xEE\x80\x80", true},
        Utf8Case{"LastOfThree", "\xEF\xBF\xBF", true},
        Utf8Case{"FirstOfFour", "\xF0\x90\x80\x80", true},
        Utf8Case{"LastOfAll", "\xF4\x8F\xBF\xBF", true},
        Utf8Case{"Mixed", "\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80", true},
        Utf8Case{"OverlongSlash", "\xC0\xAF", false}, Utf8Case{"OverlongC1", "\xC1\xBF", false},
        Utf8Case{"OverlongThree", "\xE0\x9F\xBF", false},
        Utf8Case{"OverlongFour", "\xF0\x8F\xBF\xBF", false},
        Utf8Case{"OverlongNul", "\xC0\x80", false},
        Utf8Case{"FirstSurrogate", "\xED\xA0\x80", false},
        Utf8Case{"LastSurrogate", "\xED\xBF\xBF", false},
        Utf8Case{"AboveTheLast", "\xF4\x90\x80\x80", false},
        Utf8Case{"LeadF5", "\xF5\x80\x80\x80", false}, Utf8Case{"LeadFe", "\xFE", false},
        Utf8Case{"LeadFf", "\xFF", false}, Utf8Case{"LoneContinuation", "\x80", false},
        Utf8Case{"CutOfTwo", "\xC3", false}, Utf8Case{"CutOfThree", "\xE4\xB8", false},
        Utf8Case{"CutOfThreeToOne", "\xE4", false}, Utf8Case{"CutOfFour", "\xF0\x9F\x98", false},
        Utf8Case{"CutOfFourToTwo", "\xF0\x9F", false}, Utf8Case{"CutOfFourToOne", "\xF0", false},
        Utf8Case{"BadSecond", "\xC3(", false}, Utf8Case{"BadThird", "\xE4\xB8(", false},
        Utf8Case{"BadFourth", "\xF0\x9F\x98(", false},
        Utf8Case{"TooManyContinuations", "\xC3\xA9\xA9", false}),
    [](const auto& test) { return test.param.name; });

TEST(WordTest, AnyScriptAndSpacesUpToTheLimit) {
  for (const std::string& word :
       {"a"s, " "s, "New York"s, "\xE4\xB8\xAD\xE6\x96\x87"s, "\t"s, std::string(4096, 'x')}) {
    EXPECT_THAT(CheckWord(word, 4096), IsOk());
  }
}

TEST(WordTest, ErrorsNameTheWordAndTheLimit) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(CheckWord("", 10), StatusIs(kInvalid, "the word is empty"));
  EXPECT_THAT(CheckWord("elevenbytes", 10),
              StatusIs(kInvalid, "word 'elevenbytes' has 11 bytes; the limit is 10"));
  EXPECT_THAT(CheckWord("a\0b"s, 10), StatusIs(kInvalid, "word 'a\\x00b' holds a NUL byte"));
  EXPECT_THAT(CheckWord("a\xFF", 10), StatusIs(kInvalid, "word 'a\\xff' is not valid UTF-8"));
}

struct TableNameCase {
  std::string name;
  std::string error;  // a part of it; empty when the name is fine
};

class TableNameTest : public testing::TestWithParam<TableNameCase> {};

TEST_P(TableNameTest, Check) {
  const auto& [name, error] = GetParam();
  if (error.empty()) {
    EXPECT_THAT(CheckTableName(name), IsOk());
  } else {
    EXPECT_THAT(CheckTableName(name), StatusIs(absl::StatusCode::kInvalidArgument, error));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, TableNameTest,
                         testing::Values(TableNameCase{"a", ""}, TableNameCase{"_", ""},
                                         TableNameCase{"glove.6B-v1", ""}, TableNameCase{"0", ""},
                                         TableNameCase{std::string(128, 'Z'), ""},
                                         TableNameCase{"", "the table name is empty"},
                                         TableNameCase{std::string(129, 'x'),
                                                       "has 129 bytes; the limit is 128"},
                                         TableNameCase{".a", "'.a' must not start with '.' or '-'"},
                                         TableNameCase{"-a", "'-a' must not start with"},
                                         TableNameCase{"a b", "'a b' may hold only letters"},
                                         TableNameCase{"a/b", "may hold only"},
                                         TableNameCase{"a\n", "'a\\x0a' may hold"},
                                         TableNameCase{"caf\xC3\xA9", "may hold only"},
                                         TableNameCase{"a\0"s, "'a\\x00' may hold"}));

TEST(DimensionNamesTest, NoneOrOneEach) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(CheckDimensionNames({}, 3), IsOk());
  EXPECT_THAT(CheckDimensionNames({"Object", "Animal"}, 2), IsOk());
  EXPECT_THAT(CheckDimensionNames({"Object"}, 2), StatusIs(kInvalid, "1 dimension names for 2"));
  EXPECT_THAT(CheckDimensionNames({"a", "a"}, 2), StatusIs(kInvalid, "'a' is given twice"));
  EXPECT_THAT(CheckDimensionNames({"a", ""}, 2), StatusIs(kInvalid, "dimension name: the word is"));
  EXPECT_THAT(CheckDimensionNames({std::string(129, 'n')}, 1), StatusIs(kInvalid, "limit is 128"));
}

TEST(QuotedTest, EscapesWhatCannotBeShown) {
  EXPECT_EQ(Quoted(""), "''");
  EXPECT_EQ(Quoted("caf\xC3\xA9 au lait"), "'caf\xC3\xA9 au lait'");
  EXPECT_EQ(Quoted("a\n\x7F\xFF\xED\xA0\x80"), "'a\\x0a\\x7f\\xff\\xed\\xa0\\x80'");
}

TEST(QuotedTest, CutsLongTextAtACharactersBorder) {
  EXPECT_EQ(Quoted(std::string(64, 'x')), "'" + std::string(64, 'x') + "'");
  EXPECT_EQ(Quoted(std::string(65, 'x')), "'" + std::string(64, 'x') + "...'");
  for (size_t lead = 0; lead < 4; ++lead) {
    std::string text(lead, 'x');
    for (int i = 0; i < 40; ++i) text += "\xE4\xB8\xAD";
    const std::string quoted = Quoted(text);
    EXPECT_TRUE(IsValidUtf8(quoted)) << quoted;
    EXPECT_LT(quoted.size(), 75U);
    EXPECT_TRUE(quoted.ends_with("...'"));
  }
}

}  // namespace
}  // namespace vectable

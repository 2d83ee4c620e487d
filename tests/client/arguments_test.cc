#include "client/cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/named_values.h"

namespace vectable {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Parsed {
  std::string word;
  std::vector<std::string> values;
  std::vector<std::string> exclude;
  std::optional<double> score;
  std::optional<uint64_t> k;
};

Parsed Parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  CLI::App app;
  AddText(app, "word", parsed.word, "")->required();
  AddTexts(app, "values", parsed.values, "");
  AddTexts(app, "--exclude", parsed.exclude, "");
  AddNumber(app, "--score", parsed.score, "");
  AddNumber(app, "-k", parsed.k, "");
  std::vector<std::string> reversed = ProtectArguments(arguments);
  std::reverse(reversed.begin(), reversed.end());
  app.parse(std::move(reversed));
  return parsed;
}

TEST(ArgumentsTest, NegativeNumbersAreNoOptions) {
  const Parsed parsed =
      Parse({"w", "-.5", "-1e-3", "-5", "-inf", "-NaN", "--score", "-0.25", "-k", "3"});
  EXPECT_THAT(parsed.values, ElementsAre("-.5", "-1e-3", "-5", "-inf", "-NaN"));
  EXPECT_EQ(parsed.score, -0.25);
  EXPECT_EQ(parsed.k, 3u);
  EXPECT_EQ(Parse({"w", "--score=-1"}).score, -1);
}

TEST(ArgumentsTest, WordsArriveAsTheyAre) {
  EXPECT_EQ(Parse({"--", "-foo"}).word, "-foo");
  EXPECT_THAT(Parse({"--", "--", "--", "-k"}).values, ElementsAre("--", "-k"));
  EXPECT_EQ(Parse({""}).word, "");
  EXPECT_EQ(Parse({"[CLS]"}).word, "[CLS]");
  EXPECT_THAT(Parse({"w", "[a,b]", "{}", "++", "%%", "\x01", ""}).values,
              ElementsAre("[a,b]", "{}", "++", "%%", "\x01", ""));
  EXPECT_THAT(Parse({"w", "{}"}).values, ElementsAre("{}"));
  EXPECT_THAT(Parse({"w", "--exclude", "[SEP]", "a", "--exclude=[x]"}).exclude,
              ElementsAre("[SEP]", "a", "[x]"));
}

TEST(ArgumentsTest, TwoDashesEndTheValuesOfAnOption) {
  const Parsed parsed = Parse({"--exclude", "a", "b", "--", "-w", "v"});
  EXPECT_EQ(parsed.word, "-w");
  EXPECT_THAT(parsed.exclude, ElementsAre("a", "b"));
  EXPECT_THAT(parsed.values, ElementsAre("v"));
}

TEST(ArgumentsTest, BadOnesAreRefused) {
  EXPECT_THROW(Parse({"w", "-x"}), CLI::ExtrasError);
  EXPECT_THROW(Parse({"w", "-k", "ten"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"w", "-k", "-1"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"w", "-k", "99999999999999999999"}), CLI::ValidationError);
  EXPECT_THROW(Parse({"w", "--score", "1x"}), CLI::ValidationError);
  EXPECT_THROW(Parse({}), CLI::RequiredError);
}

TEST(ArgumentsTest, Values) {
  EXPECT_THAT(ParseValues("v", std::vector<std::string>{"1", "-.5"}), ElementsAre(1, -.5f));
  EXPECT_THROW(ParseValues("v", std::vector<std::string>{"1", "x"}), CLI::ValidationError);
  EXPECT_THROW(ParseValues("v", std::vector<std::string>{"1e39"}), CLI::ValidationError);
  EXPECT_TRUE(std::isnan(ParseValues("v", std::vector<std::string>{"nan"})[0]));
  EXPECT_THAT(SplitAtCommas("a,,b"), ElementsAre("a", "", "b"));
}

TEST(NamedValuesTest, OrdersAndNamesWhatIsWrong) {
  const std::vector<std::string> names = {"Object", "Animal"};
  const auto order = [&](std::vector<NamedValue> values) {
    return OrderByName("toy", names, values);
  };
  EXPECT_THAT(*order({{"Animal", 1}, {"Object", 2}}), ElementsAre(2, 1));
  EXPECT_THAT(std::string(order({{"Animal", 1}}).status().message()),
              HasSubstr("no value for Object"));
  EXPECT_THAT(std::string(order({{"Plant", 1}}).status().message()),
              HasSubstr("no dimension 'Plant'; it has Object, Animal"));
  EXPECT_THAT(std::string(order({{"Animal", 1}, {"Animal", 1}}).status().message()),
              HasSubstr("given twice"));
  EXPECT_TRUE(absl::IsFailedPrecondition(OrderByName("t", {}, {}).status()));
}

}  // namespace
}  // namespace vectable

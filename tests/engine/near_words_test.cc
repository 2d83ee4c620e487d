#include "engine/near_words.h"

#include "gtest/gtest.h"

namespace vectable {
namespace {

std::vector<std::string> Near(const std::string& word, const std::vector<std::string>& candidates) {
  NearWords near(word);
  for (const std::string& candidate : candidates) near.Offer(candidate);
  return near.words();
}

TEST(NearWordsTest, NearestFirst) {
  EXPECT_EQ(Near("kng", {"queen", "kings", "king", "long", "knight"}),
            (std::vector<std::string>{"king"}));
  EXPECT_EQ(Near("kings", {"ring", "king", "Kings", "things", "knigs"}),
            (std::vector<std::string>{"Kings", "king", "knigs"}));
}

TEST(NearWordsTest, OffersNothingForWhatIsFarOrTooShort) {
  EXPECT_TRUE(Near("ab", {"cd", "xy", "abcd"}).empty());
  EXPECT_TRUE(Near("zebra", {"king", "queen"}).empty());
  EXPECT_TRUE(Near(std::string(100, 'x'), {std::string(99, 'x')}).empty());
  EXPECT_EQ(Near("A", {"a"}), std::vector<std::string>{"a"});
}

TEST(NearWordsTest, HintNamesThem) {
  NearWords near("esat");
  EXPECT_EQ(near.Hint(), "");
  near.Offer("east");
  EXPECT_EQ(near.Hint(), "; did you mean 'east'?");
}

}  // namespace
}  // namespace vectable

#include "server/scan_token.h"

#include <random>
#include <string>
#include <variant>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr auto kBadToken = absl::StatusCode::kInvalidArgument;
const RowValue kRow{41, "w\xC3\xB6rd", {}};

TEST(ScanTokens, ByRowId) {
  const ScanTokens tokens(5, RowIdRange{10, 100});
  const auto rest = tokens.Rest(tokens.After(kRow));
  ASSERT_THAT(rest, IsOk());
  EXPECT_EQ(std::get<RowIdRange>(*rest).begin, 42U);
  EXPECT_EQ(std::get<RowIdRange>(*rest).end, 100U);
}

TEST(ScanTokens, ByWord) {
  const ScanTokens tokens(5, WordPrefix{"w", std::nullopt});
  const auto rest = tokens.Rest(tokens.After(kRow));
  ASSERT_THAT(rest, IsOk());
  EXPECT_EQ(std::get<WordPrefix>(*rest).prefix, "w");
  EXPECT_EQ(std::get<WordPrefix>(*rest).after, kRow.word);
}

TEST(ScanTokens, OfAnotherListingAreRefused) {
  const std::string token = ScanTokens(5, RowIdRange{10, 100}).After(kRow);
  const ScanRange others[] = {RowIdRange{11, 100}, RowIdRange{10, 101},
                              RowIdRange{10, std::nullopt}, WordPrefix{"w", std::nullopt}};
  for (const ScanRange& range : others) {
    EXPECT_THAT(ScanTokens(5, range).Rest(token), StatusIs(kBadToken, "another table or another"));
  }
  EXPECT_THAT(ScanTokens(6, RowIdRange{10, 100}).Rest(token), StatusIs(kBadToken, "another table"));
  const std::string word_token = ScanTokens(5, WordPrefix{"w", std::nullopt}).After(kRow);
  EXPECT_THAT(ScanTokens(5, WordPrefix{"wo", std::nullopt}).Rest(word_token),
              StatusIs(kBadToken, "another"));
  // No end, and the end 0, differ.
  EXPECT_THAT(ScanTokens(5, RowIdRange{0, 0}).Rest(ScanTokens(5, RowIdRange{}).After(kRow)),
              StatusIs(kBadToken, "another"));
}

TEST(ScanTokens, DamageIsSeen) {
  const ScanTokens tokens(5, WordPrefix{"", std::nullopt});
  const std::string token = tokens.After(kRow);
  for (size_t size = 0; size < token.size(); ++size) {
    EXPECT_THAT(tokens.Rest(token.substr(0, size)), StatusIs(kBadToken, "resume_token")) << size;
  }
  for (size_t i = 0; i < 8 * token.size(); ++i) {
    std::string flipped = token;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << (i % 8)));
    EXPECT_THAT(tokens.Rest(flipped), StatusIs(kBadToken, "resume_token")) << i;
  }
  EXPECT_THAT(tokens.Rest(token + "x"), StatusIs(kBadToken, "resume_token"));
}

TEST(ScanTokens, GarbageIsRefused) {
  std::mt19937 random(7);
  const ScanTokens tokens(5, RowIdRange{});
  for (int i = 0; i < 2'000; ++i) {
    std::string garbage(random() % 40, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    EXPECT_THAT(tokens.Rest(garbage), StatusIs(kBadToken, "resume_token"));
  }
}

}  // namespace
}  // namespace vectable

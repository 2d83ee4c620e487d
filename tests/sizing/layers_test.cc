#include "sizing/layers.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

TEST(LayersTest, Linear) {
  const LinearCounts counts = *CountLinear({768, 3'072, true});
  EXPECT_EQ(counts.weights, 2'359'296U);
  EXPECT_EQ(counts.biases, 3'072U);
  EXPECT_EQ(counts.total, 2'362'368U);
  EXPECT_EQ(CountLinear({768, 3'072, false})->total, 2'359'296U);
  EXPECT_THAT(CountLinear({0, 3, true}), StatusIs(absl::StatusCode::kInvalidArgument, "1 or more"));
  EXPECT_THAT(CountLinear({kLargest, 2, false}),
              StatusIs(absl::StatusCode::kOutOfRange, "don't fit"));
  EXPECT_THAT(CountLinear({1, kLargest, true}),
              StatusIs(absl::StatusCode::kOutOfRange, "don't fit"));
}

// Grouped-query attention with 8 key/value heads at d = 4,096.
TEST(LayersTest, GroupedQueryAttention) {
  const AttentionCounts counts = *CountAttention({4'096, 32, 8, 0, false});
  EXPECT_EQ(counts.query, 16'777'216U);
  EXPECT_EQ(counts.key, 4'194'304U);
  EXPECT_EQ(counts.value, 4'194'304U);
  EXPECT_EQ(counts.output, 16'777'216U);
  EXPECT_EQ(counts.total, 41'943'040U);
  EXPECT_EQ(CountAttention({4'096, 32, 0, 0, false})->total, 67'108'864U);
}

TEST(LayersTest, MultiHeadAttentionWithBiases) {
  EXPECT_EQ(CountAttention({768, 12, 0, 0, true})->total, 2'362'368U);
  EXPECT_EQ(CountAttention({768, 12, 1, 0, true})->total,
            2 * (768 * 768 + 768) + 2 * (768 * 64 + 64U));
  EXPECT_EQ(CountAttention({3'072, 16, 16, 256, false})->total, 4 * 3'072 * 4'096U);
}

TEST(LayersTest, BadAttention) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(CountAttention({768, 0, 0, 0, true}), StatusIs(kInvalid, "heads must be 1 or more"));
  EXPECT_THAT(CountAttention({768, 7, 0, 0, true}), StatusIs(kInvalid, "7 heads don't divide"));
  EXPECT_THAT(CountAttention({0, 1, 0, 0, true}), StatusIs(kInvalid, "d must be 1 or more"));
  EXPECT_THAT(CountAttention({kLargest, 1, 0, 0, true}), StatusIs(kInvalid, "the limit is"));
}

}  // namespace
}  // namespace vectable

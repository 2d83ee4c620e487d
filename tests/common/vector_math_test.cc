#include "common/vector_math.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/test_seed.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

std::vector<float> RandomVector(std::mt19937_64& random, size_t dimensions, double norm) {
  std::normal_distribution<double> normal;
  std::vector<double> values(dimensions);
  double sum = 0;
  for (double& value : values) {
    value = normal(random);
    sum += value * value;
  }
  std::vector<float> vector;
  for (const double value : values) {
    vector.push_back(static_cast<float>(value / std::sqrt(sum) * norm));
  }
  return vector;
}

class NormTest : public testing::TestWithParam<double> {};

TEST_P(NormTest, CosineOfAVectorWithItselfIsExactlyOne) {
  std::mt19937_64 random(TestSeed());
  for (size_t i = 0; i < 3000; ++i) {
    const std::vector<float> vector = RandomVector(random, 1 + i % 300, GetParam());
    const double squared_norm = SquaredNormInDouble(vector);
    ASSERT_TRUE(std::isnormal(squared_norm));
    ASSERT_EQ(Score(Metric::kCosine, vector, squared_norm, vector, squared_norm), 1.0)
        << vector.size();
    std::vector<float> opposite = vector;
    for (float& value : opposite) value = -value;
    ASSERT_EQ(Score(Metric::kCosine, vector, squared_norm, opposite, squared_norm), -1.0);
    ASSERT_EQ(Score(Metric::kEuclidean, vector, squared_norm, vector, squared_norm), 0.0);
    ASSERT_EQ(Score(Metric::kDot, vector, squared_norm, vector, squared_norm), squared_norm);
  }
}

TEST_P(NormTest, CosineStaysWithinItsRangeForAlmostParallelVectors) {
  std::mt19937_64 random(TestSeed());
  for (size_t i = 0; i < 1000; ++i) {
    const std::vector<float> vector = RandomVector(random, 2 + i % 100, GetParam());
    std::vector<float> near = vector;
    near[i % near.size()] = std::nextafter(near[i % near.size()], 1.0F);
    const double score = Score(Metric::kCosine, vector, SquaredNormInDouble(vector), near,
                               SquaredNormInDouble(near));
    ASSERT_LE(score, 1.0);
    ASSERT_GT(score, 1.0 - 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Norms, NormTest, testing::Values(1e-30, 1e-10, 1.0, 37.5, 1e10, 1e30));

TEST(CosineTest, IsClamped) {
  EXPECT_EQ(CosineFromSums(1.0000001, 1, 1), 1.0);
  EXPECT_EQ(CosineFromSums(-1.0000001, 1, 1), -1.0);
  EXPECT_EQ(CosineFromSums(3, 4, 9), 0.5);
}

TEST(SumsTest, ExtremeFloatsNeitherOverflowNorVanish) {
  const std::vector<float> huge(65536, std::numeric_limits<float>::max());
  const std::vector<float> tiny = {std::numeric_limits<float>::denorm_min()};
  EXPECT_TRUE(std::isfinite(SquaredNormInDouble(huge)));
  EXPECT_GT(SquaredNormInDouble(tiny), 0.0);
  EXPECT_EQ(
      Score(Metric::kCosine, tiny, SquaredNormInDouble(tiny), tiny, SquaredNormInDouble(tiny)),
      1.0);
}

// The promised order, written out: four interleaved sums; what is left over goes to the first.
double ReferenceSum(const std::vector<double>& terms) {
  volatile double sums[4] = {0, 0, 0, 0};
  const size_t even = terms.size() / 4 * 4;
  for (size_t i = 0; i < terms.size(); ++i) {
    const size_t lane = i < even ? i % 4 : 0;
    sums[lane] = sums[lane] + terms[i];
  }
  volatile double low = sums[0] + sums[1];
  volatile double high = sums[2] + sums[3];
  return low + high;
}

TEST(SumsTest, KeepTheFixedOrder) {
  std::mt19937_64 random(TestSeed());
  std::uniform_real_distribution<float> exponent(-12, 12);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  for (size_t dimensions = 0; dimensions <= 300; ++dimensions) {
    std::vector<float> a, b;
    std::vector<double> products, squares;
    for (size_t i = 0; i < dimensions; ++i) {
      a.push_back(mantissa(random) * std::exp2(exponent(random)));
      b.push_back(mantissa(random) * std::exp2(exponent(random)));
      const double product = double{a[i]} * double{b[i]};
      const double difference = double{a[i]} - double{b[i]};
      const double square = difference * difference;
      products.push_back(product);
      squares.push_back(square);
    }
    ASSERT_EQ(DotInDouble(a, b), ReferenceSum(products)) << dimensions;
    ASSERT_EQ(SquaredDistanceInDouble(a, b), ReferenceSum(squares)) << dimensions;
    ASSERT_EQ(SquaredNormInDouble(a), DotInDouble(a, a)) << dimensions;
  }
}

TEST(CheckVectorTest, SaysWhatIsWrong) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  using Vector = std::vector<float>;
  EXPECT_THAT(CheckVector(Vector{1, 2}, 3, Metric::kDot),
              StatusIs(kInvalid, "the vector has 2 values; the table has 3 dimensions"));
  EXPECT_THAT(CheckVector(Vector{}, 1, Metric::kDot), StatusIs(kInvalid, "has 0 values"));
  EXPECT_THAT(CheckVector(Vector{1, nan}, 2, Metric::kDot),
              StatusIs(kInvalid, "value 1 of the vector is NaN"));
  EXPECT_THAT(CheckVector(Vector{-infinity, 1}, 2, Metric::kEuclidean),
              StatusIs(kInvalid, "value 0 of the vector is infinite"));
  EXPECT_THAT(CheckVector(Vector{0, -0.0F}, 2, Metric::kCosine), StatusIs(kInvalid, "all zero"));
}

TEST(CheckVectorTest, WhatMayBeStored) {
  using Vector = std::vector<float>;
  EXPECT_THAT(CheckVector(Vector{0, 0}, 2, Metric::kDot), IsOk());
  EXPECT_THAT(CheckVector(Vector{0, 0}, 2, Metric::kEuclidean), IsOk());
  EXPECT_THAT(CheckVector(Vector{0, 1e-45F}, 2, Metric::kCosine), IsOk());
  EXPECT_THAT(CheckVector(Vector{3e38F, -3e38F}, 2, Metric::kCosine), IsOk());
}

}  // namespace
}  // namespace vectable

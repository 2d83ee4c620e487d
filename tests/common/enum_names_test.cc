#include <string>
#include <vector>

#include "common/metric.h"
#include "common/precision.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace vectable {
namespace {

struct PrecisionCase {
  Precision precision;
  int number;
  std::string name;
  uint32_t bits;
};

class PrecisionTest : public testing::TestWithParam<PrecisionCase> {};

TEST_P(PrecisionTest, NameNumberAndBits) {
  const PrecisionCase& expected = GetParam();
  EXPECT_EQ(static_cast<int>(expected.precision), expected.number);
  EXPECT_EQ(PrecisionName(expected.precision), expected.name);
  EXPECT_EQ(ParsePrecision(expected.name), expected.precision);
  EXPECT_EQ(PrecisionFromNumber(static_cast<uint8_t>(expected.number)), expected.precision);
  EXPECT_EQ(BitsPerComponent(expected.precision), expected.bits);
}

INSTANTIATE_TEST_SUITE_P(All, PrecisionTest,
                         testing::Values(PrecisionCase{Precision::kFp32, 1, "fp32", 32},
                                         PrecisionCase{Precision::kFp16, 2, "fp16", 16},
                                         PrecisionCase{Precision::kBf16, 3, "bf16", 16},
                                         PrecisionCase{Precision::kInt8, 4, "int8", 8},
                                         PrecisionCase{Precision::kInt4, 5, "int4", 4}),
                         [](const auto& test) { return test.param.name; });

struct MetricCase {
  Metric metric;
  int number;
  std::string name;
};

class MetricTest : public testing::TestWithParam<MetricCase> {};

TEST_P(MetricTest, NameAndNumber) {
  const MetricCase& expected = GetParam();
  EXPECT_EQ(static_cast<int>(expected.metric), expected.number);
  EXPECT_EQ(MetricName(expected.metric), expected.name);
  EXPECT_EQ(ParseMetric(expected.name), expected.metric);
  EXPECT_EQ(MetricFromNumber(static_cast<uint8_t>(expected.number)), expected.metric);
}

INSTANTIATE_TEST_SUITE_P(All, MetricTest,
                         testing::Values(MetricCase{Metric::kCosine, 1, "cosine"},
                                         MetricCase{Metric::kDot, 2, "dot"},
                                         MetricCase{Metric::kEuclidean, 3, "euclidean"}),
                         [](const auto& test) { return test.param.name; });

TEST(EnumNamesTest, UnknownNamesAndNumbersAreNothing) {
  for (const char* name : {"", "FP32", "fp32 ", "int16", "Cosine", "l2", "unknown"}) {
    EXPECT_EQ(ParsePrecision(name), std::nullopt) << name;
    EXPECT_EQ(ParseMetric(name), std::nullopt) << name;
  }
  std::vector<int> precisions, metrics;
  for (int number = 0; number < 256; ++number) {
    if (PrecisionFromNumber(static_cast<uint8_t>(number))) precisions.push_back(number);
    if (MetricFromNumber(static_cast<uint8_t>(number))) metrics.push_back(number);
  }
  EXPECT_THAT(precisions, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(metrics, testing::ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace vectable

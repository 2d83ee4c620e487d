#include "sizing/footprint.h"

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

struct Shape {
  uint64_t rows;
  uint32_t dimensions;
  uint64_t parameters;
  std::array<uint64_t, 5> bytes;  // in the order of kAllPrecisions
};

class FootprintTest : public testing::TestWithParam<Shape> {};

TEST_P(FootprintTest, ParametersAndBytesPerPrecision) {
  const Shape& shape = GetParam();
  EXPECT_EQ(*ParameterCount(shape.rows, shape.dimensions), shape.parameters);
  for (size_t i = 0; i < kAllPrecisions.size(); ++i) {
    EXPECT_EQ(*NominalBytes(shape.rows, shape.dimensions, kAllPrecisions[i]), shape.bytes[i])
        << PrecisionName(kAllPrecisions[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FootprintTest,
                         testing::Values(
                             // The toy table: 3 words, 2 dimensions.
                             Shape{3, 2, 6, {24, 12, 12, 6, 3}},
                             Shape{341'479,
                                   100,
                                   34'147'900,
                                   {136'591'600, 68'295'800, 68'295'800, 34'147'900, 17'073'950}},
                             // Rows don't share a byte: 301 dimensions at 4 bits take 151 bytes.
                             Shape{1, 301, 301, {1204, 602, 602, 301, 151}},
                             Shape{10, 301, 3010, {12040, 6020, 6020, 3010, 1510}},
                             Shape{5, 1, 5, {20, 10, 10, 5, 5}}, Shape{0, 100, 0, {0, 0, 0, 0, 0}},
                             Shape{uint64_t{1} << 45,
                                   65536,
                                   uint64_t{1} << 61,
                                   {uint64_t{1} << 63, uint64_t{1} << 62, uint64_t{1} << 62,
                                    uint64_t{1} << 61, uint64_t{1} << 60}}),
                         [](const auto& test) {
                           return std::to_string(test.param.rows) + "x" +
                                  std::to_string(test.param.dimensions);
                         });

TEST(FootprintTest, OverflowIsSaid) {
  EXPECT_EQ(*ParameterCount(kMax, 1), kMax);
  EXPECT_THAT(ParameterCount(kMax, 2), StatusIs(absl::StatusCode::kOutOfRange, "don't fit 64"));
  EXPECT_THAT(NominalBytes(kMax / 4 + 1, 1, Precision::kFp32),
              StatusIs(absl::StatusCode::kOutOfRange, "bytes don't fit 64 bits"));
}

TEST(FormatTest, Thousands) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(34'147'900), "34,147,900");
  EXPECT_EQ(WithThousands(kMax), "18,446,744,073,709,551,615");
}

class FormatBytesTest : public testing::TestWithParam<std::pair<uint64_t, std::string>> {};

TEST_P(FormatBytesTest, ExactThenDecimalAndBinary) {
  EXPECT_EQ(FormatBytes(GetParam().first), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FormatBytesTest,
    testing::Values(std::pair(0, "0 B"), std::pair(24, "24 B"), std::pair(999, "999 B"),
                    std::pair(1000, "1,000 B (1.00 kB, 1000 B)"),
                    std::pair(1024, "1,024 B (1.02 kB, 1.00 KiB)"),
                    std::pair(497'759'232, "497,759,232 B (497.76 MB, 474.70 MiB)"),
                    // Never "1000.00 kB".
                    std::pair(999'999, "999,999 B (1.00 MB, 976.56 KiB)"),
                    std::pair((1 << 20) - 1, "1,048,575 B (1.05 MB, 1.00 MiB)"),
                    std::pair(kMax, "18,446,744,073,709,551,615 B (18.45 EB, 16.00 EiB)")));

}  // namespace
}  // namespace vectable

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

TEST(StoredBytesTest, AddsAScalePerRow) {
  EXPECT_EQ(StoredBytes(3, 2, Precision::kFp32).value(), 24U);
  EXPECT_EQ(StoredBytes(3, 2, Precision::kBf16).value(), 12U);
  EXPECT_EQ(StoredBytes(3, 2, Precision::kInt8).value(), 18U);
  EXPECT_EQ(StoredBytes(3, 2, Precision::kInt4).value(), 15U);
  EXPECT_EQ(StoredBytes(10, 301, Precision::kInt4).value(), 1550U);
  EXPECT_EQ(StoredBytes(uint64_t{1} << 62, 2, Precision::kFp32).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(ParseBytesTest, ReadsWhatPeopleWrite) {
  const struct {
    const char* text;
    uint64_t bytes;
  } cases[] = {{"1500", 1500},
               {"1", 1},
               {"50MB", 50'000'000},
               {"50 mb", 50'000'000},
               {"1.5GiB", 1610612736},
               {"64KiB", 65536},
               {"0.5kB", 500},
               {"2TB", 2'000'000'000'000},
               {"1PiB", 1125899906842624},
               {"12B", 12}};
  for (const auto& c : cases) EXPECT_EQ(ParseBytes(c.text).value_or(0), c.bytes) << c.text;
}

TEST(ParseBytesTest, SaysWhatIsWrong) {
  for (const char* text : {"", "MB", "-1", "1.2.3", "5 apples", "1e3", "0", "0.0001kB", "nan",
                           "99999999PB", "5 M", "5MBB", "0x10"}) {
    const auto parsed = ParseBytes(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(std::string(parsed.status().message()).find(text), std::string::npos);
  }
}

}  // namespace
}  // namespace vectable

#include "common/vector_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/decode_kernels.h"
#include "common/vector_math.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"
#include "tests/common/test_seed.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

using Vector = std::vector<float>;

constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kHuge = std::numeric_limits<float>::max();

std::string Encoded(Precision precision, const Vector& vector) {
  std::string codes;
  EXPECT_THAT(VectorCodec(precision, vector.size()).Encode(vector, codes), IsOk());
  return codes;
}

Vector Decoded(Precision precision, const std::string& codes, size_t dimensions) {
  Vector vector(dimensions);
  VectorCodec(precision, dimensions).Decode(codes.data(), 1, vector.data());
  return vector;
}

Vector RoundTrip(Precision precision, const Vector& vector) {
  return Decoded(precision, Encoded(precision, vector), vector.size());
}

// The 16 bits that a value is coded as.
uint16_t Code16(Precision precision, float value) {
  const std::string codes = Encoded(precision, {value});
  return static_cast<uint16_t>(static_cast<uint8_t>(codes[0]) | static_cast<uint8_t>(codes[1])
                                                                    << 8);
}

// The value of 16 bits, by the definition of the formats.
double Value16(uint16_t code, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = code >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = code & ((1 << fraction_bits) - 1);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                    : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

Vector Gauss(std::mt19937_64& random, size_t dimensions) {
  std::normal_distribution<float> normal;
  Vector vector(dimensions);
  for (float& value : vector) value = normal(random);
  return vector;
}

double SquaredErrorOf(const Vector& vector, const Vector& decoded) {
  return SquaredDistanceInDouble(vector, decoded);
}

// The least squared error of 4-bit codes over all scales: between two scales where a code changes,
// the best scale for the codes has a closed form.
double LeastInt4Error(const Vector& vector) {
  std::vector<double> borders;
  for (const float value : vector) {
    for (int code = 0; code < 7; ++code) borders.push_back(std::abs(double{value}) / (code + 0.5));
  }
  std::sort(borders.begin(), borders.end());
  double least = SquaredNormInDouble(vector);
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    const double scale = (borders[i] + borders[i + 1]) / 2;
    double xc = 0;
    double cc = 0;
    for (const float value : vector) {
      const double code = std::clamp(std::nearbyint(value / scale), -7.0, 7.0);
      xc += value * code;
      cc += code * code;
    }
    if (cc > 0) least = std::min(least, SquaredNormInDouble(vector) - xc * xc / cc);
  }
  return least;
}

TEST(VectorCodecTest, RowsTakeTheBytesOfTheTable) {
  const struct {
    Precision precision;
    size_t dimensions, codes, row;
  } cases[] = {
      {Precision::kFp32, 2, 8, 8}, {Precision::kFp16, 2, 4, 4},
      {Precision::kBf16, 3, 6, 6}, {Precision::kInt8, 2, 2, 6},
      {Precision::kInt4, 2, 1, 5}, {Precision::kInt4, 301, 151, 155},
      {Precision::kInt4, 1, 1, 5}, {Precision::kInt8, 65'536, 65'536, 65'540},
  };
  for (const auto& c : cases) {
    const VectorCodec codec(c.precision, c.dimensions);
    EXPECT_EQ(codec.code_bytes(), c.codes);
    EXPECT_EQ(codec.row_bytes(), c.row);
    EXPECT_EQ(Encoded(c.precision, Vector(c.dimensions, 1.0F)).size(), c.row);
  }
}

TEST(VectorCodecTest, GoldenBytes) {
  const auto bytes = [](std::initializer_list<int> list) {
    std::string text;
    for (const int byte : list) text.push_back(static_cast<char>(byte));
    return text;
  };
  EXPECT_EQ(Encoded(Precision::kFp32, {1, -2}), bytes({0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}));
  EXPECT_EQ(Encoded(Precision::kFp16, {1, -2}), bytes({0, 0x3C, 0, 0xC0}));
  EXPECT_EQ(Encoded(Precision::kBf16, {1, -2}), bytes({0x80, 0x3F, 0, 0xC0}));
  // Scale 1, codes 127, -64, 0.
  EXPECT_EQ(Encoded(Precision::kInt8, {127, -64, 0}), bytes({0, 0, 0x80, 0x3F, 0x7F, 0xC0, 0}));
  // Scale 0.5, codes 7, -7, 1: the first of a pair lies low.
  EXPECT_EQ(Encoded(Precision::kInt4, {3.5, -3.5, 0.5}), bytes({0, 0, 0, 0x3F, 0x97, 0x01}));
  EXPECT_EQ(Encoded(Precision::kInt8, {0, 0}), std::string(6, '\0'));
  EXPECT_EQ(Encoded(Precision::kInt4, {0, -0.0F}), std::string(5, '\0'));
}

TEST(VectorCodecTest, Fp32KeepsEveryBit) {
  std::mt19937_64 random(TestSeed());
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    const float value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::bit_cast<uint32_t>(RoundTrip(Precision::kFp32, {value})[0]), bits);
  }
}

// Every number of 16 bits comes back, and every float goes to the nearest of them, ties to even.
TEST(VectorCodecTest, SixteenBitsRoundToNearestEven) {
  std::mt19937_64 random(TestSeed());
  for (const auto& [precision, exponent_bits] :
       {std::pair(Precision::kFp16, 5), std::pair(Precision::kBf16, 8)}) {
    const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << (15 - exponent_bits));
    for (uint16_t code = 0; code < infinity; ++code) {
      const double value = Value16(code, exponent_bits);
      for (const uint16_t signed_code : {code, static_cast<uint16_t>(code | 0x8000)}) {
        const auto exact = static_cast<float>(signed_code == code ? value : -value);
        ASSERT_EQ(Code16(precision, exact), signed_code);
        const char bytes[] = {static_cast<char>(signed_code), static_cast<char>(signed_code >> 8)};
        const float back = Decoded(precision, std::string(bytes, 2), 1)[0];
        ASSERT_EQ(std::bit_cast<uint32_t>(back), std::bit_cast<uint32_t>(exact)) << code;
      }
      if (code + 1 == infinity) continue;
      const double next = Value16(code + 1, exponent_bits);
      const auto middle = static_cast<float>((value + next) / 2);  // exact in binary32
      const uint16_t even = code % 2 == 0 ? code : code + 1;
      ASSERT_EQ(Code16(precision, middle), even) << code;
      ASSERT_EQ(Code16(precision, std::nextafter(middle, 0.0F)), code);
      ASSERT_EQ(Code16(precision, std::nextafter(middle, kHuge)), code + 1);
      ASSERT_EQ(Code16(precision, -middle), even | 0x8000);
    }
  }
}

TEST(VectorCodecTest, ValuesBeyondSixteenBitsAreRefused) {
  const auto encode = [](Precision precision, float value) {
    std::string codes = "kept";
    const absl::Status status = VectorCodec(precision, 2).Encode(Vector{1, value}, codes);
    EXPECT_EQ(codes == "kept", !status.ok());
    return status;
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(encode(Precision::kFp16, 65504), IsOk());
  EXPECT_THAT(encode(Precision::kFp16, 65519.996F), IsOk());
  EXPECT_THAT(encode(Precision::kFp16, 65520),
              StatusIs(kInvalid, "value 1 of the vector is 65520"));
  EXPECT_THAT(encode(Precision::kFp16, -kHuge), StatusIs(kInvalid, "65504"));
  EXPECT_THAT(encode(Precision::kBf16, 3.3895e38F), IsOk());
  EXPECT_THAT(encode(Precision::kBf16, kHuge), StatusIs(kInvalid, "bf16"));
}

TEST(VectorCodecTest, SixteenBitsKeepTheSignOfZeroAndBelow) {
  EXPECT_TRUE(std::signbit(RoundTrip(Precision::kFp16, {-0.0F})[0]));
  EXPECT_TRUE(std::signbit(RoundTrip(Precision::kBf16, {-0.0F})[0]));
  EXPECT_EQ(RoundTrip(Precision::kFp16, {0x1p-24F, 0x1p-25F, 0x1.1p-25F, 0x1p-26F}),
            (Vector{0x1p-24F, 0, 0x1p-24F, 0}));
  EXPECT_EQ(RoundTrip(Precision::kBf16, {0x1p-133F, kTiny}), (Vector{0x1p-133F, 0}));
}

TEST(VectorCodecTest, Int8IsWithinHalfAStep) {
  std::mt19937_64 random(TestSeed());
  for (const size_t dimensions : {1, 2, 3, 100, 301}) {
    for (int i = 0; i < 200; ++i) {
      const Vector vector = Gauss(random, dimensions);
      const Vector back = RoundTrip(Precision::kInt8, vector);
      double largest = 0;
      for (const float value : vector) largest = std::max(largest, std::abs(double{value}));
      for (size_t j = 0; j < dimensions; ++j) {
        ASSERT_LE(std::abs(vector[j] - back[j]), largest / 127 * 0.50001);
      }
    }
  }
}

TEST(VectorCodecTest, Int4IsNearTheLeastSquaredError) {
  std::mt19937_64 random(TestSeed());
  double sum = 0;
  double least_sum = 0;
  for (int i = 0; i < 300; ++i) {
    const Vector vector = Gauss(random, 100);
    sum += SquaredErrorOf(vector, RoundTrip(Precision::kInt4, vector));
    least_sum += LeastInt4Error(vector);
  }
  EXPECT_LE(sum, 1.02 * least_sum);
  EXPECT_GE(sum, 0.9999 * least_sum);
}

TEST(VectorCodecTest, ScaledCodesHandleExtremes) {
  for (const Precision precision : {Precision::kInt8, Precision::kInt4}) {
    SCOPED_TRACE(std::string(PrecisionName(precision)));
    EXPECT_EQ(RoundTrip(precision, {0, 0, -0.0F}), (Vector{0, 0, 0}));
    EXPECT_EQ(RoundTrip(precision, {kTiny, 0, -kTiny}), (Vector{kTiny, 0, -kTiny}));
    for (const float size : {kHuge, 1e30F, 1.0F, 1e-30F, 1e-38F, 1e-40F, 3e-44F}) {
      const Vector vector = {size, -size / 2, size / 3, 0};
      const Vector back = RoundTrip(precision, vector);
      for (size_t i = 0; i < vector.size(); ++i) {
        EXPECT_TRUE(std::isfinite(back[i]));
        EXPECT_LE(std::abs(double{vector[i]} - double{back[i]}), size * 0.12 + kTiny) << size;
      }
    }
    const Vector negative = {-1, 0.25};
    const Vector positive = {1, -0.25};
    const Vector back = RoundTrip(precision, negative);
    EXPECT_EQ(RoundTrip(precision, positive), (Vector{-back[0], -back[1]}));
  }
}

TEST(VectorCodecTest, ADecodedVectorIsCodedToItself) {
  std::mt19937_64 random(TestSeed());
  for (const Precision precision : kAllPrecisions) {
    for (int i = 0; i < 2000; ++i) {
      Vector vector = Gauss(random, 1 + random() % 40);
      const auto scale = static_cast<float>(std::exp2(static_cast<double>(random() % 20) - 10));
      for (float& value : vector) value *= scale;
      const Vector once = RoundTrip(precision, vector);
      ASSERT_EQ(RoundTrip(precision, once), once) << std::string(PrecisionName(precision));
    }
  }
}

TEST(VectorCodecTest, RowsBackToBackAreDecodedAsEachAlone) {
  std::mt19937_64 random(TestSeed());
  for (const Precision precision : kAllPrecisions) {
    for (const size_t dimensions : {1, 2, 3, 5, 16, 33, 100, 301}) {
      std::string rows;
      Vector expected;
      const VectorCodec codec(precision, dimensions);
      for (int i = 0; i < 7; ++i) {
        const Vector vector = Gauss(random, dimensions);
        const std::string codes = Encoded(precision, vector);
        const Vector back = Decoded(precision, codes, dimensions);
        rows += codes;
        expected.insert(expected.end(), back.begin(), back.end());
      }
      Vector all(expected.size());
      codec.Decode(rows.data(), 7, all.data());
      EXPECT_EQ(all, expected);
    }
  }
}

// Every instruction set that this processor has gives the bits of the plain definition.
TEST(DecodeKernelsTest, EveryInstructionSetGivesTheSameBits) {
  std::mt19937_64 random(TestSeed());
  for (int64_t targets = hwy::SupportedTargets() & HWY_TARGETS, target = 0; targets != 0;
       targets &= ~target) {
    target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    for (const Precision precision :
         {Precision::kFp16, Precision::kBf16, Precision::kInt8, Precision::kInt4}) {
      const size_t bits = BitsPerComponent(precision);
      for (size_t count = 1; count <= 300; ++count) {
        // One byte off any alignment, with nothing behind the codes or the values.
        std::vector<char> codes((count * bits + 7) / 8);
        for (char& code : codes) code = static_cast<char>(random());
        if (bits == 16) {
          for (size_t i = 1; i < codes.size(); i += 2) codes[i] &= '\xBB';  // no infinity, no NaN
        }
        const float factor = bits == 16 ? 1.0F : 0.37F;
        Vector out(count);
        DecodeTimes(precision, codes.data(), count, factor, out.data());
        for (size_t i = 0; i < count; ++i) {
          double value = 0;
          if (bits == 16) {
            uint16_t code = 0;
            std::memcpy(&code, codes.data() + i * 2, 2);
            value = Value16(code, precision == Precision::kFp16 ? 5 : 8);
          } else if (bits == 8) {
            value = static_cast<int8_t>(codes[i]);
          } else {
            const int half = static_cast<uint8_t>(codes[i / 2]) >> (i % 2 * 4) & 0xF;
            value = half >= 8 ? half - 16 : half;
          }
          const float expected = static_cast<float>(value) * factor;
          ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(expected))
              << hwy::TargetName(target) << ' ' << std::string(PrecisionName(precision)) << ' ' << i
              << " of " << count;
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace
}  // namespace vectable

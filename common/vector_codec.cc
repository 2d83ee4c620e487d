#include "common/vector_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/bytes.h"
#include "common/decode_kernels.h"
#include "common/status_util.h"
#include "common/vector_math.h"

namespace vectable {
namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();
constexpr float kSmallestFloat = std::numeric_limits<float>::denorm_min();

void PutU16Le(std::string& out, uint16_t value) {
  out.push_back(static_cast<char>(value));
  out.push_back(static_cast<char>(value >> 8));
}

// The codes of binary16 and bfloat16 are binary32's with fewer bits below: rounding adds half of
// the last kept place, less one unless that place is odd (IEEE 754-2019, 4.3.1, ties to even).
uint32_t RoundShift(uint32_t bits, int shift) {
  const uint32_t odd = bits >> shift & 1;
  return (bits + (uint32_t{1} << (shift - 1)) - 1 + odd) >> shift;
}

uint16_t ToBf16(float value) {
  return static_cast<uint16_t>(RoundShift(std::bit_cast<uint32_t>(value), 16));
}

uint16_t ToFp16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7FFF'FFFF;
  constexpr uint32_t kLeastNormal = (127 - 14) << 23;  // 2^-14
  if (magnitude >= kLeastNormal) {
    // The exponent's bias goes from 127 to 15. Beyond the greatest this gives infinity or more.
    const uint32_t rebiased = magnitude - ((127 - 15) << 23);
    return static_cast<uint16_t>(sign | std::min<uint32_t>(RoundShift(rebiased, 13), 0x7C00));
  }
  // Subnormal: adding 2^-1 lets binary32 itself round to a multiple of 2^-24.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F00'0000));
}

// x rounded to an integer, ties to even; for |x| below 2^51.
double RoundToInteger(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

double CodeOf(float value, double scale, double largest) {
  return std::clamp(RoundToInteger(double{value} / scale), -largest, largest);
}

// Sum of (x - decoded x)^2 with this scale.
double SquaredError(std::span<const float> vector, float scale, double largest) {
  double sum = 0;
  for (const float value : vector) {
    const auto decoded = static_cast<float>(CodeOf(value, scale, largest) * scale);
    const double error = double{value} - double{decoded};
    sum += error * error;
  }
  return sum;
}

// The best of a scale and the two floats beside it, so that a decoded vector gets its own scale
// back; never so large that the greatest code overflows, nor 0.
float Polish(std::span<const float> vector, double scale, double largest) {
  float highest = static_cast<float>(kLargestFloat / largest);
  while (std::isinf(static_cast<float>(highest * largest))) highest = std::nextafter(highest, 0.0F);
  const float middle = std::clamp(static_cast<float>(scale), kSmallestFloat, highest);
  float best = middle;
  double least = SquaredError(vector, best, largest);
  for (const float other : {std::nextafter(middle, kLargestFloat), std::nextafter(middle, 0.0F)}) {
    if (least == 0 || other == 0 || other > highest) continue;
    const double error = SquaredError(vector, other, largest);
    if (error < least) {
      best = other;
      least = error;
    }
  }
  return best;
}

float Int8Scale(std::span<const float> vector, float magnitude) {
  return Polish(vector, magnitude / 127.0, 127.0);
}

// For codes c the best scale is sum(x c) / sum(c c), and the squared error is then
// sum(x x) - sum(x c)^2 / sum(c c). The codes are tried that come from mapping the largest
// magnitude to each of some values from 4 to 13; above 7 it is clipped.
float Int4Scale(std::span<const float> vector, float magnitude) {
  constexpr double kLargest = 7.0;
  constexpr double kFirst = 4.0;
  constexpr double kLast = 13.0;
  constexpr double kRounding = 1e-12;
  double squares = 0;
  for (const float value : vector) squares += double{value} * value;
  double best_gain = -1;
  double best_scale = magnitude / kLargest;
  for (double top = kFirst; top <= kLast; top += top < kLargest ? 1.0 : 0.25) {
    const double scale = magnitude / top;
    double xc = 0;
    double cc = 0;
    for (const float value : vector) {
      const double code = CodeOf(value, scale, kLargest);
      xc += value * code;
      cc += code * code;
    }
    const double gain = xc / cc * xc;
    // A decoded vector may lie on several grids but for the rounding of one of them.
    if (gain >= squares * (1 - kRounding)) {
      const float exact = Polish(vector, xc / cc, kLargest);
      if (SquaredError(vector, exact, kLargest) == 0) return exact;
    }
    if (gain > best_gain) {
      best_gain = gain;
      best_scale = xc / cc;
    }
  }
  return Polish(vector, best_scale, kLargest);
}

void EncodeScaled(std::span<const float> vector, Precision precision, std::string& out) {
  float magnitude = 0;
  for (const float value : vector) magnitude = std::max(magnitude, std::abs(value));
  const bool bytes = precision == Precision::kInt8;
  const double largest = bytes ? 127.0 : 7.0;
  float scale = 0;
  if (magnitude > 0) {
    scale = bytes ? Int8Scale(vector, magnitude) : Int4Scale(vector, magnitude);
  }
  PutFloatsLe(out, {&scale, 1});
  const auto code = [&](size_t i) {
    return scale == 0 || i >= vector.size() ? 0
                                            : static_cast<int>(CodeOf(vector[i], scale, largest));
  };
  if (bytes) {
    for (size_t i = 0; i < vector.size(); ++i) out.push_back(static_cast<char>(code(i)));
  } else {
    for (size_t i = 0; i < vector.size(); i += 2) {
      out.push_back(static_cast<char>((code(i) & 0xF) | (code(i + 1) & 0xF) << 4));
    }
  }
}

absl::Status BeyondRange(size_t i, float value, Precision precision) {
  const bool half = precision == Precision::kFp16;
  return absl::InvalidArgumentError(
      absl::StrCat("value ", i, " of the vector is ", value, ", beyond the greatest of ",
                   std::string(PrecisionName(precision)), ", ", half ? "65504" : "3.38953e+38"));
}

float ReadFloat(const char* bytes) {
  float value = 0;
  CopyFloatsLe({bytes, sizeof(value)}, {&value, 1});
  return value;
}

}  // namespace

size_t VectorCodec::scale_bytes() const {
  return precision_ == Precision::kInt8 || precision_ == Precision::kInt4 ? sizeof(float) : 0;
}

absl::Status VectorCodec::Encode(std::span<const float> vector, std::string& out) const {
  const size_t begin = out.size();
  switch (precision_) {
    case Precision::kFp32:
      PutFloatsLe(out, vector);
      break;
    case Precision::kFp16:
    case Precision::kBf16: {
      const bool half = precision_ == Precision::kFp16;
      const uint16_t infinity = half ? 0x7C00 : 0x7F80;
      for (size_t i = 0; i < vector.size(); ++i) {
        const uint16_t code = half ? ToFp16(vector[i]) : ToBf16(vector[i]);
        if ((code & 0x7FFF) >= infinity) {
          out.resize(begin);
          return BeyondRange(i, vector[i], precision_);
        }
        PutU16Le(out, code);
      }
      break;
    }
    case Precision::kInt8:
    case Precision::kInt4:
      EncodeScaled(vector, precision_, out);
      break;
  }
  return absl::OkStatus();
}

absl::Status VectorCodec::CheckLength(std::string_view codes) const {
  if (codes.size() == row_bytes()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("a stored vector has ", codes.size(), " bytes; ",
                                          dimensions_, " ", std::string(PrecisionName(precision_)),
                                          " values take ", row_bytes()));
}

void VectorCodec::Decode(const char* rows, size_t count, float* out) const {
  if (precision_ == Precision::kFp32) {
    CopyFloatsLe({rows, count * row_bytes()}, {out, count * dimensions_});
    return;
  }
  const size_t scale = scale_bytes();
  for (size_t i = 0; i < count; ++i, rows += row_bytes(), out += dimensions_) {
    const float factor = scale == 0 ? 1.0F : ReadFloat(rows);
    DecodeTimes(precision_, rows + scale, dimensions_, factor, out);
  }
}

absl::Status EncodeRowVector(const VectorCodec& codec, Metric metric, std::span<const float> vector,
                             std::string& codes) {
  VT_RETURN_IF_ERROR(CheckVector(vector, codec.dimensions(), metric));
  const size_t begin = codes.size();
  VT_RETURN_IF_ERROR(codec.Encode(vector, codes));
  // A scale keeps the largest value from vanishing; a float of 16 bits doesn't.
  if (metric != Metric::kCosine || BitsPerComponent(codec.precision()) != 16) {
    return absl::OkStatus();
  }
  // All bits but the signs.
  for (size_t i = begin; i < codes.size(); i += 2) {
    if (codes[i] != 0 || (codes[i + 1] & 0x7F) != 0) return absl::OkStatus();
  }
  codes.resize(begin);
  return absl::InvalidArgumentError(absl::StrCat("every value of the vector rounds to zero at ",
                                                 std::string(PrecisionName(codec.precision())),
                                                 ", and zero has no direction under cosine"));
}

}  // namespace vectable

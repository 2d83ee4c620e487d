#include "index/search_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/vector_math.h"

namespace vectable {
namespace {

constexpr float kLargestCode = 127;
constexpr double kRoundToInteger = 0x1.8p52;
constexpr double kSmallestScale = 0x1p-120;  // below it codes would mean nothing
// Covers the rounding of float sums of a few terms, each of at most one product of norms, and of
// double sums of many terms.
constexpr double kRounding = 0x1p-20;

float RoundedUp(double value) {
  return std::nextafter(static_cast<float>(value * (1 + 0x1p-22)), HUGE_VALF);
}

struct Coded {
  float scale = 0;
  double error = 0;  // the length of vector / divisor less what the codes stand for
};

// Codes of vector / divisor.
Coded Encode(std::span<const float> vector, double divisor, int8_t* codes) {
  float largest = 0;
  for (const float value : vector) largest = std::max(largest, std::abs(value));
  const double scale = double{largest} / divisor / kLargestCode;
  Coded coded;
  if (scale < kSmallestScale) {
    std::fill_n(codes, vector.size(), int8_t{0});
    coded.error = std::sqrt(SquaredNormInDouble(vector)) / divisor;
    return coded;
  }
  coded.scale = static_cast<float>(scale);
  const double times = kLargestCode / double{largest};
  const double scale_times_divisor = coded.scale * divisor;
  double squares = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    // Rounded to an integer within 127 (`times` was rounded once), without a call.
    const double code = vector[i] * times + kRoundToInteger - kRoundToInteger;
    codes[i] = static_cast<int8_t>(static_cast<int32_t>(code));
    const double left = vector[i] - code * scale_times_divisor;
    squares += left * left;
  }
  coded.error = std::sqrt(squares) / divisor;
  return coded;
}

}  // namespace

SearchCoder::SearchCoder(Metric metric, VectorCodec codec) : metric_(metric), codec_(codec) {}

size_t SearchCoder::stride() const {
  return has_own_codes() ? static_cast<size_t>(scale_offset()) + sizeof(float) : codec_.row_bytes();
}

ptrdiff_t SearchCoder::scale_offset() const {
  if (!has_own_codes()) return -static_cast<ptrdiff_t>(codec_.scale_bytes());
  return static_cast<ptrdiff_t>((codec_.dimensions() + 3) / 4 * 4);
}

float SearchCoder::EncodeRow(std::span<const float> vector, double squared_norm, char* out) const {
  const double divisor = metric_ == Metric::kCosine ? std::sqrt(squared_norm) : 1.0;
  std::memset(out, 0, stride());
  const Coded coded = Encode(vector, divisor, reinterpret_cast<int8_t*>(out));
  std::memcpy(out + scale_offset(), &coded.scale, sizeof(float));
  return RoundedUp(coded.error);
}

float SearchCoder::UnitFactor(const char* codes, double squared_norm) const {
  return codec_.UnitFactor(codes, squared_norm);
}

float SearchCoder::Norm(double squared_norm) { return RoundedUp(std::sqrt(squared_norm)); }

double MaxCodedNorm(Metric metric) {
  switch (metric) {
    case Metric::kCosine:
      break;
    case Metric::kDot:
      return 1e37;
    case Metric::kEuclidean:
      return 4e18;
  }
  return HUGE_VAL;
}

CodedQuery::CodedQuery(Metric metric, std::span<const float> vector)
    : codes(PaddedCodes(vector.size())) {
  // The length of a query doesn't change the order under cosine and dot; unit length keeps sums in
  // range.
  const double length = std::sqrt(SquaredNormInDouble(vector));
  const double divisor = metric == Metric::kEuclidean || length == 0 ? 1.0 : length;
  const double norm = length / divisor;
  const Coded coded = Encode(vector, divisor, codes.data());
  sum = SumOfCodes(codes.data(), codes.size());
  const double slack = 1 + 0x1p-16;  // of these sums themselves
  const double n_weight = (coded.error + norm * kRounding) * slack;
  bounds.factor = coded.scale;
  bounds.e_weight = RoundedUp((norm + coded.error) * slack);
  bounds.n_weight = RoundedUp(n_weight);
  // Products below the least float vanish.
  double constant = static_cast<double>(vector.size()) * 0x1p-110;
  if (metric == Metric::kCosine) constant += n_weight;
  if (metric == Metric::kEuclidean) {
    constant += norm * norm * kRounding;
    bounds.square_weight = static_cast<float>(kRounding);
  }
  bounds.constant = RoundedUp(constant);
}

}  // namespace vectable

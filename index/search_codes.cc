#include "index/search_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "common/vector_math.h"

namespace vectable {
namespace {

constexpr float kLargestCode = 127;
constexpr double kRoundToInteger = 0x1.8p52;
constexpr double kSmallestScale = 0x1p-120;  // below it codes would mean nothing
// Covers the rounding of float sums of a few terms, each of at most twice a product of norms (as
// those are that upper halves are summed by), and of double sums of many terms.
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

LargeArray<char> AllocateCodes(size_t bytes, bool huge) {
  LargeArray<char> codes = AllocateLarge<char>(bytes + kReadBeyond, huge);
  std::memset(codes.get() + bytes, 0, kReadBeyond);
  return codes;
}

SearchCoder::SearchCoder(Metric metric, size_t dimensions)
    : metric_(metric), dimensions_(dimensions) {}

size_t SearchCoder::coarse_stride() const {
  const size_t bytes = HalfTail(dimensions_) + CoarseRows::kFloats * sizeof(float);
  // A walk meets rows one by one: few of them shall lie across cache lines.
  const size_t in_lines = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  return in_lines <= bytes + bytes / 8 ? in_lines : bytes;
}

size_t SearchCoder::fine_stride() const {
  return HalfTail(dimensions_) + FineRows::kFloats * sizeof(float);
}

void SearchCoder::EncodeRow(std::span<const float> vector, double squared_norm, char* coarse,
                            char* fine, std::vector<int8_t>& codes) const {
  const double divisor = metric_ == Metric::kCosine ? std::sqrt(squared_norm) : 1.0;
  codes.resize(dimensions_);
  const Coded coded = Encode(vector, divisor, codes.data());
  std::memset(coarse, 0, coarse_stride());
  std::memset(fine, 0, fine_stride());
  SplitCodes(codes.data(), dimensions_, coarse, fine);
  const double scale = coded.scale * divisor;
  double squares = 0;
  for (size_t i = 0; i < dimensions_; ++i) {
    const int upper = (codes[i] + kCodeShift) & ~15;
    const double left = vector[i] - (upper - kCodeShift + double{kMiddle}) * scale;
    squares += left * left;
  }
  const float floats[] = {coded.scale, RoundedUp(std::sqrt(squares) / divisor)};
  static_assert(sizeof(floats) == CoarseRows::kFloats * sizeof(float));
  std::memcpy(coarse + HalfTail(dimensions_), floats, sizeof(floats));
  const float error = RoundedUp(coded.error);
  std::memcpy(fine + HalfTail(dimensions_), &error, sizeof(error));
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
    : codes(2 * PaddedRun(vector.size())) {
  // The length of a query doesn't change the order under cosine and dot; unit length keeps sums in
  // range.
  const double length = std::sqrt(SquaredNormInDouble(vector));
  const double divisor = metric == Metric::kEuclidean || length == 0 ? 1.0 : length;
  const double norm = length / divisor;
  std::vector<int8_t> plain(vector.size());
  const Coded coded = Encode(vector, divisor, plain.data());
  const auto second = plain.begin() + static_cast<std::ptrdiff_t>(HalfRun(vector.size()));
  std::copy(plain.begin(), second, codes.begin());
  std::copy(second, plain.end(), codes.begin() + static_cast<std::ptrdiff_t>(codes.size() / 2));
  sum = std::accumulate(plain.begin(), plain.end(), int32_t{0});
  const double slack = 1 + 0x1p-16;  // of these sums themselves
  const double n_weight = (coded.error + norm * kRounding) * slack;
  bounds.factor = coded.scale;
  bounds.e_weight = RoundedUp((norm * (1 + kRounding) + coded.error) * slack);
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

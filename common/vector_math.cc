#include "common/vector_math.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

// Adds term(i) for i in [0, n) in the order that the header promises.
template <typename Term>
double FixedOrderSum(size_t n, const Term& term) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += term(i);
    s1 += term(i + 1);
    s2 += term(i + 2);
    s3 += term(i + 3);
  }
  for (; i < n; ++i) s0 += term(i);
  return (s0 + s1) + (s2 + s3);
}

}  // namespace

double DotInDouble(std::span<const float> a, std::span<const float> b) {
  // Plain pointers: a span's checks would dominate builds that don't inline them.
  const float* const pa = a.data();
  const float* const pb = b.data();
  return FixedOrderSum(a.size(), [pa, pb](size_t i) { return double{pa[i]} * double{pb[i]}; });
}

double SquaredDistanceInDouble(std::span<const float> a, std::span<const float> b) {
  const float* const pa = a.data();
  const float* const pb = b.data();
  return FixedOrderSum(a.size(), [pa, pb](size_t i) {
    const double difference = double{pa[i]} - double{pb[i]};
    return difference * difference;
  });
}

double SquaredNormInDouble(std::span<const float> a) { return DotInDouble(a, a); }

double CosineFromSums(double dot, double squared_norm_a, double squared_norm_b) {
  return std::clamp(dot / std::sqrt(squared_norm_a * squared_norm_b), -1.0, 1.0);
}

double Score(Metric metric, std::span<const float> a, double squared_norm_a,
             std::span<const float> b, double squared_norm_b) {
  switch (metric) {
    case Metric::kCosine:
      return CosineFromSums(DotInDouble(a, b), squared_norm_a, squared_norm_b);
    case Metric::kDot:
      return DotInDouble(a, b);
    case Metric::kEuclidean:
      return -std::sqrt(SquaredDistanceInDouble(a, b));
  }
  return 0;
}

absl::Status CheckVector(std::span<const float> vector, size_t dimensions, Metric metric) {
  if (vector.size() != dimensions) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the vector has ", vector.size(), " values; the table has ", dimensions, " dimensions"));
  }
  bool all_zero = true;
  for (size_t i = 0; i < vector.size(); ++i) {
    if (!std::isfinite(vector[i])) {
      return absl::InvalidArgumentError(absl::StrCat("value ", i, " of the vector is ",
                                                     std::isnan(vector[i]) ? "NaN" : "infinite"));
    }
    all_zero = all_zero && vector[i] == 0.0F;
  }
  if (all_zero && metric == Metric::kCosine) {
    return absl::InvalidArgumentError(
        "the vector is all zero, which has no direction under the cosine metric");
  }
  return absl::OkStatus();
}

}  // namespace vectable

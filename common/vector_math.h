#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "common/metric.h"

namespace vectable {

// Sums in double over float vectors. Each uses one fixed summation order (four interleaved partial
// sums, then pairwise), without fused multiply-add, so that every machine gets the same bits.

// Sum of a[i] * b[i]. The spans have the same length.
double DotInDouble(std::span<const float> a, std::span<const float> b);

// Sum of (a[i] - b[i])^2. The spans have the same length.
double SquaredDistanceInDouble(std::span<const float> a, std::span<const float> b);

// Sum of a[i]^2; doesn't overflow for any finite floats.
double SquaredNormInDouble(std::span<const float> a);

// Cosine from a dot product and two squared norms, clamped to [-1, 1]. A vector with itself gives
// exactly 1. The norms are not zero.
double CosineFromSums(double dot, double squared_norm_a, double squared_norm_b);

// Score of two vectors under `metric`, from their squared norms: cosine in [-1, 1], dot product, or
// minus the L2 distance. Higher is nearer.
double Score(Metric metric, std::span<const float> a, double squared_norm_a,
             std::span<const float> b, double squared_norm_b);

// Whether `vector` can be stored or asked for: `dimensions` long, every value finite and, under
// cosine, not all zero. INVALID_ARGUMENT says which number is wrong.
absl::Status CheckVector(std::span<const float> vector, size_t dimensions, Metric metric);

}  // namespace vectable

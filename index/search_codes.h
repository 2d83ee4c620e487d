#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/kernels/code_dots.h"

namespace vectable {

// The 8-bit codes that searches look through first: a signed code per component, times a scale per
// row, stand for the row's vector, or its unit vector under cosine. With each row goes its error,
// the length of what the codes leave out, so that a score by codes bounds the true one:
//
//   |q.x - q'.x'| <= |q| |x - x'| + |q - q'| |x'|
//
// where q' and x' are what the codes of query and row stand for. A table of int8 rows is searched
// by its own codes; other precisions get codes of their own, each row's followed by its scale, so
// that a walk finds both in one place.
class SearchCoder {
 public:
  SearchCoder(Metric metric, VectorCodec codec);

  Metric metric() const { return metric_; }
  size_t dimensions() const { return codec_.dimensions(); }
  // Whether rows need search codes of their own.
  bool has_own_codes() const { return codec_.precision() != Precision::kInt8; }
  // Whether the scale of a row stands with its codes; else in a column of its own.
  bool has_scale_column() const { return !has_own_codes() && metric_ == Metric::kCosine; }
  bool has_norms() const { return metric_ != Metric::kCosine; }

  // Bytes from a row's codes to those of the next, and from its codes to its scale where they stand
  // together.
  size_t stride() const;
  ptrdiff_t scale_offset() const;

  // Fills own codes and their scale: stride() bytes. Returns the row's error, rounded up.
  float EncodeRow(std::span<const float> vector, double squared_norm, char* out) const;
  // The scale of a row searched by its own codes, under cosine.
  float UnitFactor(const char* codes, double squared_norm) const;
  // The norm rounded up.
  static float Norm(double squared_norm);

 private:
  const Metric metric_;
  const VectorCodec codec_;
};

// Rows, and under euclidean queries, of a greater norm can't be scored by codes: float sums (under
// euclidean, of squares) could overflow.
double MaxCodedNorm(Metric metric);

// A query as the codes of rows are compared with it.
struct CodedQuery {
  // `vector` is finite and, under cosine, not zero.
  CodedQuery(Metric metric, std::span<const float> vector);

  QueryCodes query() const { return {codes.data(), sum}; }

  std::vector<int8_t> codes;  // padded
  int32_t sum = 0;            // of the codes
  CodeBounds bounds;
};

}  // namespace vectable

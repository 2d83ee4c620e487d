#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/metric.h"
#include "index/kernels/half_codes.h"
#include "index/large_array.h"

namespace vectable {

// The codes that searches look through first: signed 8-bit codes, one per component, times a scale
// per row, stand for the row's vector, or its unit vector under cosine. They lie in two halves (see
// half_codes.h); the upper ones alone, four bits a component, stand for it more roughly. With each
// half goes the row's error, the length of what is left out, so that a score by codes bounds the
// true one:
//
//   |q.x - q'.x'| <= |q| |x - x'| + |q - q'| |x'|
//
// where q' and x' are what the codes of query and row stand for.
class SearchCoder {
 public:
  SearchCoder(Metric metric, size_t dimensions);

  Metric metric() const { return metric_; }
  size_t dimensions() const { return dimensions_; }
  bool has_norms() const { return metric_ != Metric::kCosine; }

  // Bytes from a row's halves to those of the next.
  size_t coarse_stride() const;
  size_t fine_stride() const;
  CoarseRows coarse(const char* rows) const { return {{rows, coarse_stride(), dimensions_}}; }
  FineRows fine(const char* rows) const { return {{rows, fine_stride(), dimensions_}}; }

  // Fills coarse_stride() and fine_stride() bytes. Errors are rounded up. `codes` is scratch.
  void EncodeRow(std::span<const float> vector, double squared_norm, char* coarse, char* fine,
                 std::vector<int8_t>& codes) const;
  // The norm rounded up.
  static float Norm(double squared_norm);

 private:
  const Metric metric_;
  const size_t dimensions_;
};

// Memory for `bytes` of halves, which kernels may read a little beyond.
LargeArray<char> AllocateCodes(size_t bytes, bool huge);

// Rows, and under euclidean queries, of a greater norm can't be scored by codes: float sums (under
// euclidean, of squares) could overflow.
double MaxCodedNorm(Metric metric);

// A query as the codes of rows are compared with it.
struct CodedQuery {
  // `vector` is finite and, under cosine, not zero.
  CodedQuery(Metric metric, std::span<const float> vector);

  HalvedQuery query() const { return {codes.data(), sum}; }

  std::vector<int8_t> codes;  // in two padded runs
  int32_t sum = 0;            // of the codes
  CodeBounds bounds;
};

}  // namespace vectable

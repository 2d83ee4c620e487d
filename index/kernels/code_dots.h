#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vectable {

// Dot products of rows of signed 8-bit codes, exact in 32 bits up to 65,536 dimensions of codes
// from -127 to 127. Run on the best instructions that the processor has (AVX-512 VNNI where there
// is); the results are the same on all of them.

// The length that a query is padded to, with zeros.
constexpr size_t PaddedCodes(size_t dimensions) { return (dimensions + 63) / 64 * 64; }

// How far kernels may read beyond the last row, whatever lies there.
inline constexpr size_t kReadBeyond = 64;

// Rows `stride` bytes apart, of any alignment. Up to kReadBeyond bytes beyond the last row are
// read.
struct CodeRows {
  const int8_t* codes = nullptr;
  size_t stride = 0;
  size_t dimensions = 0;

  const int8_t* row(size_t i) const { return codes + i * stride; }
};

// A query that meets few rows at a time: what its codes add up to is known.
struct QueryCodes {
  const int8_t* codes = nullptr;
  int32_t sum = 0;
};

// The sum of `count` codes.
int32_t SumOfCodes(const int8_t* codes, size_t count);

// out[i] = query . row slots[i], for `count` slots.
void DotCodesAt(QueryCodes query, CodeRows rows, const uint32_t* slots, size_t count, int32_t* out);

// The instructions that the kernels run on here, in Highway's words: "AVX3_DL" where there is
// AVX-512 VNNI.
std::string KernelTarget();

}  // namespace vectable

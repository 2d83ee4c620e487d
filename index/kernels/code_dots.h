#pragma once

#include <cstddef>
#include <cstdint>

namespace vectable {

// Dot products of rows of signed 8-bit codes, exact in 32 bits up to 65,536 dimensions of codes
// from -127 to 127. Run on the best instructions that the processor has (AVX-512 VNNI where there
// is); the results are the same on all of them.

// The length that a query is padded to, with zeros.
constexpr size_t PaddedCodes(size_t dimensions) { return (dimensions + 63) / 64 * 64; }

// Rows `stride` bytes apart, of any alignment.
// Nothing beyond a row's `dimensions` codes is read.
struct CodeRows {
  const int8_t* codes = nullptr;
  size_t stride = 0;
  size_t dimensions = 0;

  const int8_t* row(size_t i) const { return codes + i * stride; }
};

// out[i] = query . row i, for the first `count` rows. `query` has PaddedCodes(dimensions) codes.
void DotCodes(const int8_t* query, CodeRows rows, size_t count, int32_t* out);

// A query that meets few rows at a time: what its codes add up to is known.
struct QueryCodes {
  const int8_t* codes = nullptr;
  int32_t sum = 0;
};

// The sum of `count` codes.
int32_t SumOfCodes(const int8_t* codes, size_t count);

// out[i] = query . row slots[i], for `count` slots.
void DotCodesAt(QueryCodes query, CodeRows rows, const uint32_t* slots, size_t count, int32_t* out);

// out[q * count + i] = query q . row i: a tile of queries, PaddedCodes(dimensions) apart, over a
// block of rows that fits in the cache.
void DotCodesTile(const int8_t* queries, size_t query_count, CodeRows rows, size_t count,
                  int32_t* out);

// a . b, two rows.
int32_t DotTwoCodes(const int8_t* a, const int8_t* b, size_t dimensions);

// How far a score by 8-bit codes may be from the true one, for one query. With row i's scale s,
// error e and norm n:
//   score = factor x s x dot, less half of n^2 under euclidean;
//   bound = e_weight x e + n_weight x n (+ square_weight x n^2 / 2) + constant.
struct CodeBounds {
  float factor = 0;
  float e_weight = 0;
  float n_weight = 0;
  float square_weight = 0;
  float constant = 0;
};

// The columns of a block of rows that go with their codes; `errors` and `norms` may be null: 0.
struct CodeColumns {
  const float* scales = nullptr;
  const float* errors = nullptr;
  const float* norms = nullptr;
  bool euclidean = false;
};

// The places of those of `count` rows whose score plus bound isn't below `threshold`, in order;
// how many. `places` has room for `count`, and 16 more. Not a number is never below.
size_t SelectPossible(const int32_t* dots, const CodeColumns& columns, const CodeBounds& bounds,
                      size_t count, float threshold, uint32_t* places);

}  // namespace vectable

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "index/kernels/code_dots.h"

namespace vectable {

// Rows of signed 8-bit codes, -127 to 127, cut into two halves of four bits, so that a search reads
// the upper halves of many rows and the lower ones of the few that those leave in doubt:
//
//   code + 128 = 16 x upper + lower
//
// A row of halves holds two components in a byte: component i in the lower four bits of byte i,
// component i + HalfRun(dimensions) in its upper four; floats about the row follow. Products are
// exact in 32 bits up to 65,536 dimensions. Everything runs on the best instructions that the
// processor has (AVX-512 VNNI where there is); products are the same on all of them.

inline constexpr int32_t kCodeShift = 128;  // from a code to its halves

// Components in each of the two runs, and bytes of a row of halves.
constexpr size_t HalfRun(size_t dimensions) { return (dimensions + 1) / 2; }
// Where the floats begin.
constexpr size_t HalfTail(size_t dimensions) { return (HalfRun(dimensions) + 3) / 4 * 4; }

// Rows `stride` bytes apart, of any alignment. Up to kReadBeyond bytes beyond the last row are read
// (and count for nothing).
struct HalfRows {
  const char* rows = nullptr;
  size_t stride = 0;
  size_t dimensions = 0;

  const uint8_t* row(size_t i) const { return reinterpret_cast<const uint8_t*>(rows + i * stride); }
  float tail(size_t i, size_t place) const {
    float value;
    std::memcpy(&value, rows + i * stride + HalfTail(dimensions) + place * sizeof(float),
                sizeof(value));
    return value;
  }
};

// Upper halves, each row's followed by its scale and the error of the upper halves alone.
struct CoarseRows : HalfRows {
  static constexpr size_t kFloats = 2;
  float scale(size_t i) const { return tail(i, 0); }
  float error(size_t i) const { return tail(i, 1); }
};

// Lower halves, each row's followed by the error of the whole codes.
struct FineRows : HalfRows {
  static constexpr size_t kFloats = 1;
  float error(size_t i) const { return tail(i, 0); }
};

// Fills HalfRun(dimensions) bytes each.
void SplitCodes(const int8_t* codes, size_t dimensions, char* upper, char* lower);
void JoinCodes(const uint8_t* upper, const uint8_t* lower, size_t dimensions, int8_t* codes);

// The codes of a query, in two runs as rows have them, each padded with zeros.
struct HalvedQuery {
  const int8_t* codes = nullptr;  // 2 x PaddedRun(dimensions)
  int32_t sum = 0;                // of the codes
};
constexpr size_t PaddedRun(size_t dimensions) { return (HalfRun(dimensions) + 63) / 64 * 64; }

// What upper halves alone stand for lies in the middle of what they may: the sum of query x code is
// taken as 16 x (query . upper - 8 x sum) + kMiddle x sum.
inline constexpr float kMiddle = 7.5F;

// out[i] = query . codes of row slots[i], for `count` slots.
void DotHalvesAt(HalvedQuery query, CoarseRows coarse, FineRows fine, const uint32_t* slots,
                 size_t count, int32_t* out);

// out[q * count + i] = query q . codes of row i: a tile of queries, 2 x PaddedRun(dimensions) apart
// with their sums, over a block of rows that fits in the cache.
void DotHalvesTile(const int8_t* queries, const int32_t* sums, size_t query_count,
                   CoarseRows coarse, FineRows fine, size_t count, int32_t* out);

// How far a score by codes may be from the true one, for one query. With row i's scale s, error e
// and norm n:
//   score = factor x s x dot, less half of n^2 under euclidean;
//   bound = e_weight x e + n_weight x n (+ square_weight x n^2 / 2) + constant.
struct CodeBounds {
  float factor = 0;
  float e_weight = 0;
  float n_weight = 0;
  float square_weight = 0;
  float constant = 0;
};

// The norms of a block of rows.
struct RowNorms {
  const float* norms = nullptr;  // null: left out
  bool euclidean = false;
};

// The places of those of `count` rows whose score plus bound isn't below `threshold`, in order;
// how many. `places` has room for `count`, and 16 more. Not a number is never below.

// By upper halves, for the first `count` rows.
size_t SelectByCoarse(HalvedQuery query, const CodeBounds& bounds, CoarseRows rows, RowNorms norms,
                      size_t count, float threshold, uint32_t* places);
// By whole codes whose products are known.
size_t SelectByDots(const int32_t* dots, const float* scales, const float* errors, RowNorms norms,
                    const CodeBounds& bounds, size_t count, float threshold, uint32_t* places);

// A query that walks along a graph over the upper halves.
struct CoarseQuery {
  HalvedQuery query;
  float factor = 0;  // of CodeBounds
  CoarseRows rows;
  RowNorms norms;
};

// scores[i] = score of row slots[i] by its upper halves, for `count` slots.
void ScoreCoarseAt(const CoarseQuery& query, const uint32_t* slots, size_t count, float* scores);

inline constexpr size_t kMostLinks = 128;  // of one list

// Of a list of at most `degree` links, no more than kMostLinks, which ends early with ~0: marks the
// slots that aren't marked yet, marks[slot] = walk, and gives those of them whose score is above
// `above`, in their order; how many. `slots` and `scores` have room for
// kMostLinks, and 16 more.
size_t ScoreUnvisited(const CoarseQuery& query, const uint32_t* links, size_t degree,
                      uint8_t* marks, uint8_t walk, float above, uint32_t* slots, float* scores);

}  // namespace vectable

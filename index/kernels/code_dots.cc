#include "index/kernels/code_dots.h"

#include <algorithm>
#include <cstring>
#include <numeric>

// Highway leaves this level out unless it is asked for; it has the instruction that multiplies and
// adds four pairs of bytes per lane.
#define HWY_WANT_AVX3_DL 1

// Compiled once per instruction set; the first one compiled sees the rest of the file, too.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/kernels/code_dots.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

// Highway's own list of this level's instructions has those of its 256-bit sister, which not every
// processor of the level knows.
#if HWY_TARGET == HWY_AVX3_DL
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vnni")
#else
HWY_BEFORE_NAMESPACE();
#endif
namespace vectable {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where row i lies.
struct InSequence {
  CodeRows rows;
  const int8_t* operator()(size_t i) const { return rows.row(i); }
};
struct AtSlots {
  CodeRows rows;
  const uint32_t* slots;
  const int8_t* operator()(size_t i) const { return rows.row(slots[i]); }
};

#if HWY_TARGET == HWY_AVX3_DL

// vpdpbusd takes one operand unsigned: rows are moved up by 128, which adds 128 x the sum of the
// query's codes to each product.
constexpr int32_t kShift = 128;

HWY_INLINE __m512i Shifted(__m512i codes) {
  return _mm512_xor_si512(codes, _mm512_set1_epi8(static_cast<char>(0x80)));
}

HWY_INLINE int32_t SumOfPadded(const int8_t* codes, size_t padded) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t i = 0; i < padded; i += 64) {
    sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), _mm512_loadu_si512(codes + i));
  }
  return _mm512_reduce_add_epi32(sum);
}

// The sums of the lanes of four vectors.
HWY_INLINE __m128i Sums(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  const __m512i all =
      _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// The lanes of a row's last vector that lie in the row.
HWY_INLINE __mmask64 LastCodes(size_t dimensions) {
  return ~uint64_t{0} >> ((64 - dimensions % 64) % 64);
}

HWY_INLINE void DotFour(const int8_t* HWY_RESTRICT query, size_t padded, __mmask64 last_codes,
                        __m128i correction, const int8_t* r0, const int8_t* r1, const int8_t* r2,
                        const int8_t* r3, int32_t* out) {
  __m512i a = _mm512_setzero_si512();
  __m512i b = a;
  __m512i c = a;
  __m512i d = a;
  size_t i = 0;
  for (; i + 64 < padded; i += 64) {
    const __m512i q = _mm512_loadu_si512(query + i);
    a = _mm512_dpbusd_epi32(a, Shifted(_mm512_loadu_si512(r0 + i)), q);
    b = _mm512_dpbusd_epi32(b, Shifted(_mm512_loadu_si512(r1 + i)), q);
    c = _mm512_dpbusd_epi32(c, Shifted(_mm512_loadu_si512(r2 + i)), q);
    d = _mm512_dpbusd_epi32(d, Shifted(_mm512_loadu_si512(r3 + i)), q);
  }
  const __m512i q = _mm512_loadu_si512(query + i);
  a = _mm512_dpbusd_epi32(a, Shifted(_mm512_maskz_loadu_epi8(last_codes, r0 + i)), q);
  b = _mm512_dpbusd_epi32(b, Shifted(_mm512_maskz_loadu_epi8(last_codes, r1 + i)), q);
  c = _mm512_dpbusd_epi32(c, Shifted(_mm512_maskz_loadu_epi8(last_codes, r2 + i)), q);
  d = _mm512_dpbusd_epi32(d, Shifted(_mm512_maskz_loadu_epi8(last_codes, r3 + i)), q);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_sub_epi32(Sums(a, b, c, d), correction));
}

template <typename RowAt>
HWY_INLINE void DotEach(QueryCodes from, size_t dimensions, size_t count, const RowAt& row,
                        int32_t* out) {
  const int8_t* HWY_RESTRICT query = from.codes;
  const size_t padded = PaddedCodes(dimensions);
  const __mmask64 mask = LastCodes(dimensions);
  const __m128i correction = _mm_set1_epi32(kShift * from.sum);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    DotFour(query, padded, mask, correction, row(i), row(i + 1), row(i + 2), row(i + 3), out + i);
  }
  if (i == count) return;
  int32_t last[4];
  const size_t end = count - 1;
  DotFour(query, padded, mask, correction, row(i), row(std::min(i + 1, end)),
          row(std::min(i + 2, end)), row(end), last);
  std::memcpy(out + i, last, (count - i) * sizeof(int32_t));
}

int32_t DotTwo(const int8_t* a, const int8_t* b, size_t dimensions) {
  __m512i sum = _mm512_setzero_si512();
  __m512i b_sum = sum;
  for (size_t i = 0; i < dimensions; i += 64) {
    const size_t left = std::min<size_t>(dimensions - i, 64);
    const __mmask64 mask = ~uint64_t{0} >> (64 - left);
    const __m512i codes = _mm512_maskz_loadu_epi8(mask, b + i);
    sum = _mm512_dpbusd_epi32(sum, Shifted(_mm512_maskz_loadu_epi8(mask, a + i)), codes);
    b_sum = _mm512_dpbusd_epi32(b_sum, _mm512_set1_epi8(1), codes);
  }
  return _mm512_reduce_add_epi32(_mm512_sub_epi32(sum, _mm512_slli_epi32(b_sum, 7)));
}

// A block of rows turned, so that a vector holds four codes of each of 16 rows.
constexpr size_t kTurnedRows = 64;
constexpr size_t kTurnedDimensions = 512;  // more of them leave the cache, and gain nothing

void Turn(CodeRows rows, size_t begin, size_t count, uint32_t* turned) {
  const size_t quads = rows.dimensions / 4;
  const size_t rest = rows.dimensions % 4;
  for (size_t r = 0; r < kTurnedRows; ++r) {
    const int8_t* row = rows.row(begin + std::min(r, count - 1));
    uint32_t four = 0;
    for (size_t quad = 0; quad < quads; ++quad) {
      std::memcpy(&four, row + quad * 4, 4);
      turned[quad * kTurnedRows + r] = four ^ 0x80808080U;
    }
    if (rest == 0) continue;
    four = 0;
    std::memcpy(&four, row + quads * 4, rest);
    turned[quads * kTurnedRows + r] = four ^ 0x80808080U;
  }
}

template <size_t kQueries>
HWY_INLINE void DotTurned(const int8_t* queries, size_t padded, size_t quads,
                          const uint32_t* HWY_RESTRICT turned, const int32_t* corrections,
                          size_t count, int32_t* out, size_t out_stride) {
  __m512i sums[kQueries][4];
  for (auto& of_query : sums) {
    for (__m512i& sum : of_query) sum = _mm512_setzero_si512();
  }
  for (size_t quad = 0; quad < quads; ++quad) {
    __m512i rows[4];
    for (size_t i = 0; i < 4; ++i) {
      rows[i] = _mm512_loadu_si512(turned + quad * kTurnedRows + i * 16);
    }
    for (size_t q = 0; q < kQueries; ++q) {
      int32_t four;
      std::memcpy(&four, queries + q * padded + quad * 4, 4);
      const __m512i query = _mm512_set1_epi32(four);
      for (size_t i = 0; i < 4; ++i) sums[q][i] = _mm512_dpbusd_epi32(sums[q][i], rows[i], query);
    }
  }
  for (size_t q = 0; q < kQueries; ++q) {
    const __m512i correction = _mm512_set1_epi32(corrections[q]);
    for (size_t i = 0; i * 16 < count; ++i) {
      const size_t left = std::min<size_t>(count - i * 16, 16);
      _mm512_mask_storeu_epi32(out + q * out_stride + i * 16,
                               static_cast<__mmask16>(0xFFFFU >> (16 - left)),
                               _mm512_sub_epi32(sums[q][i], correction));
    }
  }
}

void DotTile(const int8_t* queries, size_t query_count, CodeRows rows, size_t count, int32_t* out) {
  const size_t padded = PaddedCodes(rows.dimensions);
  if (query_count < 3 || rows.dimensions > kTurnedDimensions) {
    for (size_t q = 0; q < query_count; ++q) {
      const int8_t* query = queries + q * padded;
      DotEach({query, SumOfPadded(query, padded)}, rows.dimensions, count, InSequence{rows},
              out + q * count);
    }
    return;
  }
  const size_t quads = (rows.dimensions + 3) / 4;
  alignas(64) uint32_t turned[kTurnedDimensions / 4 * kTurnedRows];
  for (size_t begin = 0; begin < count; begin += kTurnedRows) {
    const size_t some = std::min(kTurnedRows, count - begin);
    Turn(rows, begin, some, turned);
    for (size_t q = 0; q < query_count; q += 4) {
      const size_t here = std::min<size_t>(query_count - q, 4);
      int32_t corrections[4];
      for (size_t i = 0; i < here; ++i) {
        corrections[i] = kShift * SumOfPadded(queries + (q + i) * padded, padded);
      }
      const int8_t* first = queries + q * padded;
      int32_t* to = out + q * count + begin;
      if (here == 4) {
        DotTurned<4>(first, padded, quads, turned, corrections, some, to, count);
      } else {
        for (size_t i = 0; i < here; ++i) {
          DotTurned<1>(first + i * padded, padded, quads, turned, corrections + i, some,
                       to + i * count, count);
        }
      }
    }
  }
}

#else  // any other target

#if HWY_TARGET == HWY_SCALAR

int32_t DotTwo(const int8_t* a, const int8_t* b, size_t dimensions) {
  int32_t sum = 0;
  for (size_t i = 0; i < dimensions; ++i) sum += a[i] * b[i];
  return sum;
}

#else  // pairs of 16-bit products

using IntTag = hn::ScalableTag<int32_t>;
using ShortTag = hn::Repartition<int16_t, IntTag>;
using ByteTag = hn::Rebind<int8_t, ShortTag>;

// The codes from `i` on, widened; zero from `dimensions` on, whatever lies there.
HWY_INLINE hn::Vec<ShortTag> Widened(const int8_t* codes, size_t i, size_t dimensions) {
  const ByteTag bytes;
  const ShortTag shorts;
  if (i + hn::Lanes(bytes) <= dimensions) {
    return hn::PromoteTo(shorts, hn::LoadU(bytes, codes + i));
  }
  HWY_ALIGN int8_t last[hn::MaxLanes(bytes)] = {};
  std::memcpy(last, codes + i, dimensions - i);
  return hn::PromoteTo(shorts, hn::Load(bytes, last));
}

int32_t DotTwo(const int8_t* a, const int8_t* b, size_t dimensions) {
  const IntTag ints;
  auto sum = hn::Zero(ints);
  auto other = hn::Zero(ints);
  for (size_t i = 0; i < dimensions; i += hn::Lanes(ByteTag())) {
    sum = hn::ReorderWidenMulAccumulate(ints, Widened(a, i, dimensions), Widened(b, i, dimensions),
                                        sum, other);
  }
  return hn::GetLane(hn::SumOfLanes(ints, hn::Add(sum, other)));
}

#endif

template <typename RowAt>
HWY_INLINE void DotEach(QueryCodes query, size_t dimensions, size_t count, const RowAt& row,
                        int32_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = DotTwo(row(i), query.codes, dimensions);
}

HWY_INLINE int32_t SumOfPadded(const int8_t* /*codes*/, size_t /*padded*/) { return 0; }

void DotTile(const int8_t* queries, size_t query_count, CodeRows rows, size_t count, int32_t* out) {
  for (size_t q = 0; q < query_count; ++q) {
    DotEach({queries + q * PaddedCodes(rows.dimensions), 0}, rows.dimensions, count,
            InSequence{rows}, out + q * count);
  }
}

#endif

void DotSequence(const int8_t* query, CodeRows rows, size_t count, int32_t* out) {
  DotEach({query, SumOfPadded(query, PaddedCodes(rows.dimensions))}, rows.dimensions, count,
          InSequence{rows}, out);
}

void DotAt(QueryCodes query, CodeRows rows, const uint32_t* slots, size_t count, int32_t* out) {
  if (count == 0) return;
  DotEach(query, rows.dimensions, count, AtSlots{rows, slots}, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace vectable
HWY_AFTER_NAMESPACE();

HWY_BEFORE_NAMESPACE();
namespace vectable {
namespace HWY_NAMESPACE {

size_t Select(const int32_t* dots, const CodeColumns& columns, const CodeBounds& bounds,
              size_t count, float threshold, uint32_t* places) {
  const hn::ScalableTag<float> floats;
  const hn::RebindToSigned<decltype(floats)> ints;
  const hn::RebindToUnsigned<decltype(floats)> words;
  const size_t lanes = hn::Lanes(floats);
  const auto factor = hn::Set(floats, bounds.factor);
  const auto below = hn::Set(floats, threshold - bounds.constant);
  const auto half = hn::Set(floats, 0.5F);
  size_t chosen = 0;
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = std::min(lanes, count - i);
    HWY_ALIGN float buffer[hn::MaxLanes(floats)] = {};
    const auto column = [&](const float* values) HWY_ATTR {
      if (left == lanes) return hn::LoadU(floats, values + i);
      std::memcpy(buffer, values + i, left * sizeof(float));
      return hn::Load(floats, buffer);
    };
    HWY_ALIGN int32_t last_dots[hn::MaxLanes(floats)] = {};
    if (left < lanes) std::memcpy(last_dots, dots + i, left * sizeof(int32_t));
    const auto dot = left == lanes ? hn::LoadU(ints, dots + i) : hn::Load(ints, last_dots);
    auto upper = hn::Mul(hn::Mul(factor, column(columns.scales)), hn::ConvertTo(floats, dot));
    if (columns.errors != nullptr) {
      upper = hn::MulAdd(hn::Set(floats, bounds.e_weight), column(columns.errors), upper);
    }
    if (columns.norms != nullptr) {
      const auto norms = column(columns.norms);
      upper = hn::MulAdd(hn::Set(floats, bounds.n_weight), norms, upper);
      if (columns.euclidean) {
        const auto square = hn::Mul(hn::Mul(half, norms), norms);
        upper = hn::Sub(upper, hn::Mul(square, hn::Set(floats, 1 - bounds.square_weight)));
      }
    }
    auto possible = hn::Not(hn::Lt(upper, below));
    if (left < lanes) possible = hn::And(possible, hn::FirstN(floats, left));
    if (hn::AllFalse(floats, possible)) continue;
    const auto place = hn::Iota(words, static_cast<uint32_t>(i));
    chosen += hn::CompressStore(place, hn::RebindMask(words, possible), words, places + chosen);
  }
  return chosen;
}

}  // namespace HWY_NAMESPACE
}  // namespace vectable
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vectable {

HWY_EXPORT(DotSequence);
HWY_EXPORT(DotAt);
HWY_EXPORT(DotTile);
HWY_EXPORT(DotTwo);
HWY_EXPORT(Select);

void DotCodes(const int8_t* query, CodeRows rows, size_t count, int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotSequence)(query, rows, count, out);
}

int32_t SumOfCodes(const int8_t* codes, size_t count) {
  return std::accumulate(codes, codes + count, int32_t{0});
}

void DotCodesAt(QueryCodes query, CodeRows rows, const uint32_t* slots, size_t count,
                int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotAt)(query, rows, slots, count, out);
}

void DotCodesTile(const int8_t* queries, size_t query_count, CodeRows rows, size_t count,
                  int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotTile)(queries, query_count, rows, count, out);
}

int32_t DotTwoCodes(const int8_t* a, const int8_t* b, size_t dimensions) {
  return HWY_DYNAMIC_DISPATCH(DotTwo)(a, b, dimensions);
}

size_t SelectPossible(const int32_t* dots, const CodeColumns& columns, const CodeBounds& bounds,
                      size_t count, float threshold, uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(Select)(dots, columns, bounds, count, threshold, places);
}

}  // namespace vectable
#endif  // HWY_ONCE

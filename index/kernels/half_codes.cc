#include "index/kernels/half_codes.h"

#include <algorithm>
#include <cstring>

// Highway leaves this level out unless it is asked for; it has the instruction that multiplies and
// adds four pairs of bytes per lane. The thread sanitizer gets the next one: the loads of this one
// reach beyond the last row, into one that a writer may be filling (and that counts for nothing).
#ifndef __SANITIZE_THREAD__
#define HWY_WANT_AVX3_DL 1
#endif

// Compiled once per instruction set; the first one compiled sees the rest of the file, too.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/kernels/half_codes.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "index/kernels/lane_sums-inl.h"

VECTABLE_BEFORE_KERNELS();
namespace vectable {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where row i lies.
struct RowsInSequence {
  HalfRows rows;
  size_t first;
  const uint8_t* operator()(size_t i) const { return rows.row(first + i); }
  // Fetches what comes a while after four rows from the i-th on: of long rows a part, which shows
  // the processor where to go on.
  void FetchAhead(size_t i) const {
    constexpr size_t kAhead = 2048;
    const uint8_t* const from = (*this)(i) + kAhead;
    for (size_t row = 0; row < 4; ++row) __builtin_prefetch(from + row * rows.stride);
  }
};
struct RowsAtSlots {
  HalfRows rows;
  const uint32_t* slots;
  const uint8_t* operator()(size_t i) const { return rows.row(slots[i]); }
  void FetchAhead(size_t /*i*/) const {}  // is done where slots are met
};

#if HWY_TARGET == HWY_AVX3_DL

// Adds to `sum` the lane sums of a row's products with 64 bytes of either run of a query. What lies
// beyond the row meets zeros of the query: loads with a mask would be half as fast.
HWY_INLINE __m512i AddHalfProducts(__m512i sum, const uint8_t* row, __m512i first, __m512i second) {
  const __m512i four_bits = _mm512_set1_epi8(15);
  const __m512i both = _mm512_loadu_si512(row);
  sum = _mm512_dpbusd_epi32(sum, _mm512_and_si512(both, four_bits), first);
  return _mm512_dpbusd_epi32(sum, _mm512_and_si512(_mm512_srli_epi16(both, 4), four_bits), second);
}

// query . halves of four rows; `padded` is the length of a run.
HWY_INLINE __m128i FourHalfDots(const int8_t* HWY_RESTRICT query, size_t padded, const uint8_t* r0,
                                const uint8_t* r1, const uint8_t* r2, const uint8_t* r3) {
  __m512i a = _mm512_setzero_si512();
  __m512i b = a;
  __m512i c = a;
  __m512i d = a;
  for (size_t i = 0; i < padded; i += 64) {
    const __m512i first = _mm512_loadu_si512(query + i);
    const __m512i second = _mm512_loadu_si512(query + padded + i);
    a = AddHalfProducts(a, r0 + i, first, second);
    b = AddHalfProducts(b, r1 + i, first, second);
    c = AddHalfProducts(c, r2 + i, first, second);
    d = AddHalfProducts(d, r3 + i, first, second);
  }
  return SumsOfFour(a, b, c, d);
}

template <typename RowAt>
HWY_INLINE void HalfDotsOfRuns(const int8_t* HWY_RESTRICT query, size_t padded, const RowAt& row,
                               size_t count, int32_t* HWY_RESTRICT out) {
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    row.FetchAhead(i);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     FourHalfDots(query, padded, row(i), row(i + 1), row(i + 2), row(i + 3)));
  }
  if (i == count) return;
  alignas(16) int32_t last[4];
  const size_t end = count - 1;
  _mm_store_si128(reinterpret_cast<__m128i*>(last),
                  FourHalfDots(query, padded, row(i), row(std::min(i + 1, end)),
                               row(std::min(i + 2, end)), row(end)));
  std::memcpy(out + i, last, (count - i) * sizeof(int32_t));
}

// out[i] = query . halves of row i, for `count` rows. Not inlined: what calls it is compiled for
// other instructions.
template <typename RowAt>
HWY_NOINLINE void HalfDots(const int8_t* query, size_t dimensions, const RowAt& at, size_t count,
                           int32_t* out) {
  const RowAt row = at;  // for all that the compiler knows, `out` lies over `at`
  const size_t padded = PaddedRun(dimensions);
  if (padded == 64) {  // then the query stays in registers
    HalfDotsOfRuns(query, 64, row, count, out);
  } else {
    HalfDotsOfRuns(query, padded, row, count, out);
  }
}

// A block of rows turned, so that a vector holds four codes of each of 16 rows.
constexpr size_t kTurnedRows = 64;
constexpr size_t kTurnedRun = 256;  // longer ones leave the cache, and gain nothing

// Fills 2 x quads of a run for each row, with codes + 128.
void TurnHalves(CoarseRows coarse, FineRows fine, size_t begin, size_t count, uint32_t* turned) {
  const size_t run = HalfRun(coarse.dimensions);
  const size_t quads = (run + 3) / 4;
  const __m512i four_bits = _mm512_set1_epi8(15);
  for (size_t r = 0; r < kTurnedRows; ++r) {
    const size_t i = begin + std::min(r, count - 1);
    const uint8_t* const upper = coarse.row(i);
    const uint8_t* const lower = fine.row(i);
    for (size_t at = 0; at < run; at += 64) {
      const __m512i u = _mm512_loadu_si512(upper + at);
      const __m512i l = _mm512_loadu_si512(lower + at);
      alignas(64) uint32_t runs[2][16];
      _mm512_store_si512(runs[0],
                         _mm512_or_si512(_mm512_slli_epi16(_mm512_and_si512(u, four_bits), 4),
                                         _mm512_and_si512(l, four_bits)));
      _mm512_store_si512(runs[1],
                         _mm512_or_si512(_mm512_andnot_si512(four_bits, u),
                                         _mm512_and_si512(_mm512_srli_epi16(l, 4), four_bits)));
      const size_t first = at / 4;
      const size_t here = std::min<size_t>(quads - first, 16);
      for (size_t quad = 0; quad < here; ++quad) {
        turned[(first + quad) * kTurnedRows + r] = runs[0][quad];
        turned[(quads + first + quad) * kTurnedRows + r] = runs[1][quad];
      }
    }
  }
}

template <size_t kQueries>
HWY_INLINE void DotTurnedHalves(const int8_t* queries, size_t padded, size_t quads,
                                const uint32_t* HWY_RESTRICT turned, const int32_t* query_sums,
                                size_t count, int32_t* out, size_t out_stride) {
  __m512i sums[kQueries][4];
  for (auto& of_query : sums) {
    for (__m512i& sum : of_query) sum = _mm512_setzero_si512();
  }
  for (size_t run = 0; run < 2; ++run) {
    for (size_t quad = 0; quad < quads; ++quad) {
      __m512i rows[4];
      for (size_t i = 0; i < 4; ++i) {
        rows[i] = _mm512_loadu_si512(turned + (run * quads + quad) * kTurnedRows + i * 16);
      }
      for (size_t q = 0; q < kQueries; ++q) {
        int32_t four;
        std::memcpy(&four, queries + (q * 2 + run) * padded + quad * 4, 4);
        const __m512i query = _mm512_set1_epi32(four);
        for (size_t i = 0; i < 4; ++i) sums[q][i] = _mm512_dpbusd_epi32(sums[q][i], rows[i], query);
      }
    }
  }
  for (size_t q = 0; q < kQueries; ++q) {
    const __m512i correction = _mm512_set1_epi32(kCodeShift * query_sums[q]);
    for (size_t i = 0; i * 16 < count; ++i) {
      const size_t left = std::min<size_t>(count - i * 16, 16);
      _mm512_mask_storeu_epi32(out + q * out_stride + i * 16,
                               static_cast<__mmask16>(0xFFFFU >> (16 - left)),
                               _mm512_sub_epi32(sums[q][i], correction));
    }
  }
}

constexpr size_t kFewQueries = 2;  // for which turning doesn't pay

bool TileByTurning(const int8_t* queries, const int32_t* sums, size_t query_count,
                   CoarseRows coarse, FineRows fine, size_t count, int32_t* out) {
  const size_t run = HalfRun(coarse.dimensions);
  if (query_count <= kFewQueries || run > kTurnedRun) return false;
  const size_t padded = PaddedRun(coarse.dimensions);
  const size_t quads = (run + 3) / 4;
  alignas(64) uint32_t turned[2 * kTurnedRun / 4 * kTurnedRows];
  for (size_t begin = 0; begin < count; begin += kTurnedRows) {
    const size_t some = std::min(kTurnedRows, count - begin);
    TurnHalves(coarse, fine, begin, some, turned);
    for (size_t q = 0; q < query_count; q += 4) {
      const size_t here = std::min<size_t>(query_count - q, 4);
      const int8_t* const first = queries + q * 2 * padded;
      int32_t* const to = out + q * count + begin;
      if (here == 4) {
        DotTurnedHalves<4>(first, padded, quads, turned, sums + q, some, to, count);
        continue;
      }
      for (size_t i = 0; i < here; ++i) {
        DotTurnedHalves<1>(first + i * 2 * padded, padded, quads, turned, sums + q + i, some,
                           to + i * count, count);
      }
    }
  }
  return true;
}

#else  // any other target

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE int32_t HalfDot(const int8_t* query, size_t dimensions, const uint8_t* row) {
  const size_t run = HalfRun(dimensions);
  const int8_t* const second = query + PaddedRun(dimensions);
  int32_t sum = 0;
  for (size_t i = 0; i < run; ++i) sum += query[i] * (row[i] & 15) + second[i] * (row[i] >> 4);
  return sum;
}

#else  // products of 16 bits

HWY_INLINE int32_t HalfDot(const int8_t* query, size_t dimensions, const uint8_t* row) {
  const hn::ScalableTag<int32_t> ints;
  const hn::Repartition<int16_t, decltype(ints)> shorts;
  const hn::Rebind<uint8_t, decltype(shorts)> bytes;
  const hn::Rebind<int8_t, decltype(shorts)> codes;
  const size_t run = HalfRun(dimensions);
  const int8_t* const second = query + PaddedRun(dimensions);
  const auto four_bits = hn::Set(shorts, 15);
  auto sum = hn::Zero(ints);
  auto other = hn::Zero(ints);
  HWY_ALIGN uint8_t buffer[hn::MaxLanes(bytes)] = {};
  for (size_t i = 0; i < run; i += hn::Lanes(bytes)) {
    const uint8_t* from = row + i;
    if (i + hn::Lanes(bytes) > run) {
      std::memcpy(buffer, from, run - i);
      from = buffer;
    }
    const auto both = hn::PromoteTo(shorts, hn::LoadU(bytes, from));
    sum = hn::ReorderWidenMulAccumulate(ints, hn::And(both, four_bits),
                                        hn::PromoteTo(shorts, hn::LoadU(codes, query + i)), sum,
                                        other);
    sum = hn::ReorderWidenMulAccumulate(ints, hn::ShiftRight<4>(both),
                                        hn::PromoteTo(shorts, hn::LoadU(codes, second + i)), sum,
                                        other);
  }
  return hn::GetLane(hn::SumOfLanes(ints, hn::Add(sum, other)));
}

#endif

template <typename RowAt>
void HalfDots(const int8_t* query, size_t dimensions, const RowAt& row, size_t count,
              int32_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = HalfDot(query, dimensions, row(i));
}

bool TileByTurning(const int8_t* /*queries*/, const int32_t* /*sums*/, size_t /*query_count*/,
                   CoarseRows /*coarse*/, FineRows /*fine*/, size_t /*count*/, int32_t* /*out*/) {
  return false;
}

#endif

// Rows whose products are looked at together.
constexpr size_t kRowsTogether = 256;

template <typename RowAt>
void WholeDots(HalvedQuery query, size_t dimensions, const RowAt& upper, const RowAt& lower,
               size_t count, int32_t* out) {
  int32_t low[kRowsTogether];
  HalfDots(query.codes, dimensions, upper, count, out);
  HalfDots(query.codes, dimensions, lower, count, low);
  for (size_t i = 0; i < count; ++i) out[i] = out[i] * 16 + low[i] - kCodeShift * query.sum;
}

void DotAt(HalvedQuery query, CoarseRows coarse, FineRows fine, const uint32_t* slots, size_t count,
           int32_t* out) {
  for (size_t i = 0; i < count; i += kRowsTogether) {
    WholeDots(query, coarse.dimensions, RowsAtSlots{coarse, slots + i},
              RowsAtSlots{fine, slots + i}, std::min(kRowsTogether, count - i), out + i);
  }
}

void DotTile(const int8_t* queries, const int32_t* sums, size_t query_count, CoarseRows coarse,
             FineRows fine, size_t count, int32_t* out) {
  if (TileByTurning(queries, sums, query_count, coarse, fine, count, out)) return;
  const size_t apart = 2 * PaddedRun(coarse.dimensions);
  for (size_t i = 0; i < count; i += kRowsTogether) {
    for (size_t q = 0; q < query_count; ++q) {
      WholeDots({queries + q * apart, sums[q]}, coarse.dimensions, RowsInSequence{coarse, i},
                RowsInSequence{fine, i}, std::min(kRowsTogether, count - i), out + q * count + i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vectable
VECTABLE_AFTER_KERNELS();

HWY_BEFORE_NAMESPACE();
namespace vectable {
namespace HWY_NAMESPACE {

using FloatTag = hn::ScalableTag<float>;
using IntTag = hn::RebindToSigned<FloatTag>;

// Stores the first `count` lanes.
template <typename Tag, typename Vector, typename Value>
HWY_INLINE void StoreSome(Tag tag, Vector vector, size_t count, Value* out) {
  if (count == hn::Lanes(tag)) return hn::StoreU(vector, tag, out);
  HWY_ALIGN Value buffer[hn::MaxLanes(tag)];
  hn::Store(vector, tag, buffer);
  std::memcpy(out, buffer, count * sizeof(Value));
}

// `count` floats, and zeros.
HWY_INLINE hn::Vec<FloatTag> LoadSome(const float* values, size_t count) {
  const FloatTag floats;
  if (count == hn::Lanes(floats)) return hn::LoadU(floats, values);
  HWY_ALIGN float buffer[hn::MaxLanes(floats)] = {};
  std::memcpy(buffer, values, count * sizeof(float));
  return hn::Load(floats, buffer);
}

// What rows could score at most, and which of them reach the threshold.
class Selection {
 public:
  HWY_INLINE Selection(const CodeBounds& bounds, RowNorms norms, float threshold)
      : norms_(norms),
        n_weight_(bounds.n_weight),
        square_weight_(1 - bounds.square_weight),
        e_weight_(bounds.e_weight),
        below_(threshold - bounds.constant) {}

  // The first `count` lanes are rows from `first` on.
  HWY_INLINE size_t Add(hn::Vec<FloatTag> scores, hn::Vec<FloatTag> errors, size_t first,
                        size_t count, uint32_t* places) const {
    const FloatTag floats;
    const hn::RebindToUnsigned<FloatTag> words;
    auto upper = hn::MulAdd(hn::Set(floats, e_weight_), errors, scores);
    if (norms_.norms != nullptr) {
      const auto norms = LoadSome(norms_.norms + first, count);
      upper = hn::MulAdd(hn::Set(floats, n_weight_), norms, upper);
      if (norms_.euclidean) {
        const auto square = hn::Mul(hn::Mul(hn::Set(floats, 0.5F), norms), norms);
        upper = hn::Sub(upper, hn::Mul(square, hn::Set(floats, square_weight_)));
      }
    }
    auto possible = hn::Not(hn::Lt(upper, hn::Set(floats, below_)));
    if (count < hn::Lanes(floats)) possible = hn::And(possible, hn::FirstN(floats, count));
    if (hn::AllFalse(floats, possible)) return 0;
    const auto place = hn::Iota(words, static_cast<uint32_t>(first));
    return hn::CompressStore(place, hn::RebindMask(words, possible), words, places);
  }

 private:
  const RowNorms norms_;
  const float n_weight_;
  const float square_weight_;
  const float e_weight_;
  const float below_;
};

// factor x scales x what products with upper halves stand for.
HWY_INLINE hn::Vec<FloatTag> CoarseScores(hn::Vec<IntTag> dots, hn::Vec<FloatTag> scales,
                                          float factor, int32_t query_sum) {
  const FloatTag floats;
  const auto centred = hn::Sub(dots, hn::Set(IntTag(), 8 * query_sum));
  const auto middle = hn::Set(floats, kMiddle * static_cast<float>(query_sum));
  const auto sums = hn::MulAdd(hn::Set(floats, 16.0F), hn::ConvertTo(floats, centred), middle);
  return hn::Mul(hn::Mul(hn::Set(floats, factor), scales), sums);
}

size_t SelectCoarse(HalvedQuery query, const CodeBounds& bounds, CoarseRows rows, RowNorms norms,
                    size_t count, float threshold, uint32_t* places) {
  const FloatTag floats;
  const IntTag ints;
  const size_t lanes = hn::Lanes(floats);
  const Selection selection(bounds, norms, threshold);
  const auto stride = static_cast<int32_t>(rows.stride);
  const auto offsets = hn::Mul(hn::Iota(ints, 0), hn::Set(ints, stride));
  const size_t tail = HalfTail(rows.dimensions);
  size_t chosen = 0;
  HWY_ALIGN int32_t dots[kRowsTogether + hn::MaxLanes(ints)];
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = std::min(lanes, count - i);
    if (i % kRowsTogether == 0) {
      HalfDots(query.codes, rows.dimensions, RowsInSequence{rows, i},
               std::min(kRowsTogether, count - i), dots);
    }
    auto scales = hn::Zero(floats);
    auto errors = scales;
    if (left == lanes) {
      const char* const tails = rows.rows + i * rows.stride + tail;
      scales = hn::GatherOffset(floats, reinterpret_cast<const float*>(tails), offsets);
      errors =
          hn::GatherOffset(floats, reinterpret_cast<const float*>(tails + sizeof(float)), offsets);
    } else {
      HWY_ALIGN float scale[hn::MaxLanes(floats)] = {};
      HWY_ALIGN float error[hn::MaxLanes(floats)] = {};
      for (size_t j = 0; j < left; ++j) {
        scale[j] = rows.scale(i + j);
        error[j] = rows.error(i + j);
      }
      scales = hn::Load(floats, scale);
      errors = hn::Load(floats, error);
    }
    const auto scores =
        CoarseScores(hn::Load(ints, dots + i % kRowsTogether), scales, bounds.factor, query.sum);
    chosen += selection.Add(scores, errors, i, left, places + chosen);
  }
  return chosen;
}

size_t SelectDots(const int32_t* dots, const float* scales, const float* errors, RowNorms norms,
                  const CodeBounds& bounds, size_t count, float threshold, uint32_t* places) {
  const FloatTag floats;
  const IntTag ints;
  const size_t lanes = hn::Lanes(floats);
  const Selection selection(bounds, norms, threshold);
  const auto factor = hn::Set(floats, bounds.factor);
  size_t chosen = 0;
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = std::min(lanes, count - i);
    HWY_ALIGN int32_t last[hn::MaxLanes(ints)] = {};
    if (left < lanes) std::memcpy(last, dots + i, left * sizeof(int32_t));
    const auto dot = left == lanes ? hn::LoadU(ints, dots + i) : hn::Load(ints, last);
    const auto scores =
        hn::Mul(hn::Mul(factor, LoadSome(scales + i, left)), hn::ConvertTo(floats, dot));
    chosen += selection.Add(scores, LoadSome(errors + i, left), i, left, places + chosen);
  }
  return chosen;
}

// scores[i] = that of slots[i], for at most kMostLinks slots; whole vectors of both are written.
HWY_INLINE void ScoreSlots(const CoarseQuery& query, const uint32_t* slots, size_t count,
                           float* scores) {
  const FloatTag floats;
  const IntTag ints;
  HWY_ALIGN int32_t dots[kMostLinks + hn::MaxLanes(ints)];
  HalfDots(query.query.codes, query.rows.dimensions, RowsAtSlots{query.rows, slots}, count, dots);
  for (size_t i = 0; i < count; ++i) scores[i] = query.rows.scale(slots[i]);
  for (size_t i = 0; i < count; i += hn::Lanes(floats)) {
    hn::Store(CoarseScores(hn::Load(ints, dots + i), hn::Load(floats, scores + i), query.factor,
                           query.query.sum),
              floats, scores + i);
  }
  if (!query.norms.euclidean) return;
  for (size_t i = 0; i < count; ++i) {
    const float norm = query.norms.norms[slots[i]];
    scores[i] -= 0.5F * norm * norm;
  }
}

void ScoreAt(const CoarseQuery& query, const uint32_t* slots, size_t count, float* scores) {
  HWY_ALIGN float found[kMostLinks + hn::MaxLanes(FloatTag())];
  for (size_t i = 0; i < count; i += kMostLinks) {
    const size_t left = std::min(kMostLinks, count - i);
    ScoreSlots(query, slots + i, left, found);
    std::memcpy(scores + i, found, left * sizeof(float));
  }
}

size_t Unvisited(const CoarseQuery& query, const uint32_t* links, size_t degree, uint8_t* marks,
                 uint8_t walk, float above, uint32_t* slots, float* scores) {
  const FloatTag floats;
  const hn::RebindToUnsigned<FloatTag> words;
  const size_t lanes = hn::Lanes(floats);
  const size_t ahead = HalfTail(query.rows.dimensions) + sizeof(float);
  HWY_ALIGN uint32_t met[kMostLinks + hn::MaxLanes(words)];
  HWY_ALIGN float met_scores[kMostLinks + hn::MaxLanes(floats)];
  size_t count = 0;
  // Which links were visited before can't be guessed: no branch depends on it.
  for (size_t i = 0; i < degree && links[i] != ~uint32_t{0}; ++i) {
    const uint32_t slot = links[i];
    met[count] = slot;
    count += marks[slot] != walk ? 1 : 0;
    marks[slot] = walk;
    const uint8_t* const row = query.rows.row(slot);
    for (size_t b = 0; b < ahead; b += 64) __builtin_prefetch(row + b);
  }
  ScoreSlots(query, met, count, met_scores);
  const auto least = hn::Set(floats, above);
  size_t chosen = 0;
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = std::min(lanes, count - i);
    const auto found = hn::Load(floats, met_scores + i);
    auto good = hn::Gt(found, least);
    if (left < lanes) good = hn::And(good, hn::FirstN(floats, left));
    if (hn::AllFalse(floats, good)) continue;
    const auto found_slots = hn::Load(words, met + i);
    hn::CompressStore(found_slots, hn::RebindMask(words, good), words, slots + chosen);
    chosen += hn::CompressStore(found, good, floats, scores + chosen);
  }
  return chosen;
}

}  // namespace HWY_NAMESPACE
}  // namespace vectable
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vectable {

HWY_EXPORT(DotAt);
HWY_EXPORT(DotTile);
HWY_EXPORT(SelectCoarse);
HWY_EXPORT(SelectDots);
HWY_EXPORT(ScoreAt);
HWY_EXPORT(Unvisited);

void SplitCodes(const int8_t* codes, size_t dimensions, char* upper, char* lower) {
  const size_t run = HalfRun(dimensions);
  const auto shifted = [codes](size_t i) { return static_cast<unsigned>(codes[i] + kCodeShift); };
  const size_t second = dimensions - run;
  for (size_t i = 0; i < second; ++i) {
    const unsigned a = shifted(i);
    const unsigned b = shifted(i + run);
    upper[i] = static_cast<char>(a >> 4 | (b & 0xF0U));
    lower[i] = static_cast<char>((a & 15U) | (b & 15U) << 4);
  }
  if (second == run) return;
  upper[second] = static_cast<char>(shifted(second) >> 4);
  lower[second] = static_cast<char>(shifted(second) & 15U);
}

void JoinCodes(const uint8_t* upper, const uint8_t* lower, size_t dimensions, int8_t* codes) {
  const size_t run = HalfRun(dimensions);
  const auto code = [](unsigned high, unsigned low) {
    return static_cast<int8_t>(static_cast<int>(high << 4 | low) - 128);
  };
  for (size_t i = 0; i < run; ++i) codes[i] = code(upper[i] & 15U, lower[i] & 15U);
  for (size_t i = 0; i < dimensions - run; ++i) codes[run + i] = code(upper[i] >> 4, lower[i] >> 4);
}

void DotHalvesAt(HalvedQuery query, CoarseRows coarse, FineRows fine, const uint32_t* slots,
                 size_t count, int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotAt)(query, coarse, fine, slots, count, out);
}

void DotHalvesTile(const int8_t* queries, const int32_t* sums, size_t query_count,
                   CoarseRows coarse, FineRows fine, size_t count, int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotTile)(queries, sums, query_count, coarse, fine, count, out);
}

size_t SelectByCoarse(HalvedQuery query, const CodeBounds& bounds, CoarseRows rows, RowNorms norms,
                      size_t count, float threshold, uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(SelectCoarse)(query, bounds, rows, norms, count, threshold, places);
}

size_t SelectByDots(const int32_t* dots, const float* scales, const float* errors, RowNorms norms,
                    const CodeBounds& bounds, size_t count, float threshold, uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(SelectDots)(dots, scales, errors, norms, bounds, count, threshold,
                                          places);
}

void ScoreCoarseAt(const CoarseQuery& query, const uint32_t* slots, size_t count, float* scores) {
  HWY_DYNAMIC_DISPATCH(ScoreAt)(query, slots, count, scores);
}

size_t ScoreUnvisited(const CoarseQuery& query, const uint32_t* links, size_t degree,
                      uint8_t* marks, uint8_t walk, float above, uint32_t* slots, float* scores) {
  return HWY_DYNAMIC_DISPATCH(Unvisited)(query, links, degree, marks, walk, above, slots, scores);
}

}  // namespace vectable
#endif  // HWY_ONCE

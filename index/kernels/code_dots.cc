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
#include "index/kernels/lane_sums-inl.h"

VECTABLE_BEFORE_KERNELS();
namespace vectable {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Where row i lies.
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

// What lies beyond a row meets zeros of the query: loads with a mask would be half as fast.
HWY_INLINE void DotFour(const int8_t* HWY_RESTRICT query, size_t padded, __m128i correction,
                        const int8_t* r0, const int8_t* r1, const int8_t* r2, const int8_t* r3,
                        int32_t* out) {
  __m512i a = _mm512_setzero_si512();
  __m512i b = a;
  __m512i c = a;
  __m512i d = a;
  for (size_t i = 0; i < padded; i += 64) {
    const __m512i q = _mm512_loadu_si512(query + i);
    a = _mm512_dpbusd_epi32(a, Shifted(_mm512_loadu_si512(r0 + i)), q);
    b = _mm512_dpbusd_epi32(b, Shifted(_mm512_loadu_si512(r1 + i)), q);
    c = _mm512_dpbusd_epi32(c, Shifted(_mm512_loadu_si512(r2 + i)), q);
    d = _mm512_dpbusd_epi32(d, Shifted(_mm512_loadu_si512(r3 + i)), q);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm_sub_epi32(SumsOfFour(a, b, c, d), correction));
}

template <typename RowAt>
HWY_INLINE void DotEach(QueryCodes from, size_t dimensions, size_t count, const RowAt& row,
                        int32_t* out) {
  const int8_t* HWY_RESTRICT query = from.codes;
  const size_t padded = PaddedCodes(dimensions);
  const __m128i correction = _mm_set1_epi32(kShift * from.sum);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    DotFour(query, padded, correction, row(i), row(i + 1), row(i + 2), row(i + 3), out + i);
  }
  if (i == count) return;
  int32_t last[4];
  const size_t end = count - 1;
  DotFour(query, padded, correction, row(i), row(std::min(i + 1, end)), row(std::min(i + 2, end)),
          row(end), last);
  std::memcpy(out + i, last, (count - i) * sizeof(int32_t));
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

#endif

void DotCodesOf(QueryCodes query, CodeRows rows, const uint32_t* slots, size_t count,
                int32_t* out) {
  if (count == 0) return;
  DotEach(query, rows.dimensions, count, AtSlots{rows, slots}, out);
}

const char* KernelTargetOf() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace vectable
VECTABLE_AFTER_KERNELS();

#if HWY_ONCE
namespace vectable {

HWY_EXPORT(DotCodesOf);
HWY_EXPORT(KernelTargetOf);

int32_t SumOfCodes(const int8_t* codes, size_t count) {
  return std::accumulate(codes, codes + count, int32_t{0});
}

void DotCodesAt(QueryCodes query, CodeRows rows, const uint32_t* slots, size_t count,
                int32_t* out) {
  HWY_DYNAMIC_DISPATCH(DotCodesOf)(query, rows, slots, count, out);
}

std::string KernelTarget() { return HWY_DYNAMIC_DISPATCH(KernelTargetOf)(); }

}  // namespace vectable
#endif  // HWY_ONCE

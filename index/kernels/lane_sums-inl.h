// Sums of lanes for the kernels of code_dots.cc and half_codes.cc, compiled with them once per
// instruction set; to be included after hwy/foreach_target.h.

// Highway's pattern for a header that is met once per target.
#if defined(VECTABLE_LANE_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VECTABLE_LANE_SUMS_INL_H_
#undef VECTABLE_LANE_SUMS_INL_H_
#else
#define VECTABLE_LANE_SUMS_INL_H_
#endif

#include "hwy/highway.h"

// Before and after the kernels of a target, in place of Highway's own: its list of the instructions
// of AVX3_DL has those of a 256-bit sister, which not every processor of the level knows.
#undef VECTABLE_BEFORE_KERNELS
#undef VECTABLE_AFTER_KERNELS
#if HWY_TARGET == HWY_AVX3_DL
#define VECTABLE_BEFORE_KERNELS()                        \
  HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vnni") \
  static_assert(true, "for the semicolon")
#else
#define VECTABLE_BEFORE_KERNELS() HWY_BEFORE_NAMESPACE()
#endif
#define VECTABLE_AFTER_KERNELS() HWY_AFTER_NAMESPACE()

#if HWY_TARGET == HWY_AVX3_DL
VECTABLE_BEFORE_KERNELS();
namespace vectable {
namespace HWY_NAMESPACE {

// The sums of the lanes of four vectors.
HWY_INLINE __m128i SumsOfFour(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  const __m512i all =
      _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half =
      _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

}  // namespace HWY_NAMESPACE
}  // namespace vectable
VECTABLE_AFTER_KERNELS();
#endif

#endif

#include "common/decode_kernels.h"

#include <bit>
#include <cstring>

// Compiled once per instruction set; the first one compiled sees the rest of the file, too.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "common/decode_kernels.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace vectable {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

// Decodes in blocks of kValues values out of kBytes bytes each; a last partial block goes through
// zero-padded copies.
template <size_t kBytes, size_t kValues, typename Block>
HWY_INLINE void ForBlocks(const char* codes, size_t count, size_t code_bytes,
                          float* HWY_RESTRICT out, const Block& block) {
  size_t done = 0;
  for (; done + kValues <= count; done += kValues) {
    block(codes, out + done);
    codes += kBytes;
    code_bytes -= kBytes;
  }
  if (done == count) return;
  char last_codes[kBytes] = {};
  float last_values[kValues];
  std::memcpy(last_codes, codes, code_bytes);
  block(last_codes, last_values);
  std::memcpy(out + done, last_values, (count - done) * sizeof(float));
}

void DecodeFp16(const char* codes, size_t count, float factor, float* HWY_RESTRICT out) {
  const FloatTag floats;
  const hn::Rebind<hwy::float16_t, FloatTag> halves;
  constexpr size_t kLanes = hn::MaxLanes(FloatTag());
  const FloatVec times = hn::Set(floats, factor);
  ForBlocks<kLanes * 2, kLanes>(
      codes, count, count * 2, out, [&](const char* from, float* to) HWY_ATTR {
        for (size_t i = 0; i < kLanes; i += hn::Lanes(floats)) {
          HWY_ALIGN hwy::float16_t aligned[hn::MaxLanes(halves)];
          std::memcpy(aligned, from + i * 2, hn::Lanes(floats) * 2);
          hn::StoreU(hn::Mul(hn::PromoteTo(floats, hn::Load(halves, aligned)), times), floats,
                     to + i);
        }
      });
}

void DecodeBf16(const char* codes, size_t count, float factor, float* HWY_RESTRICT out) {
  const FloatTag floats;
  const hn::RebindToUnsigned<FloatTag> words;
  const hn::Rebind<uint16_t, FloatTag> halves;
  constexpr size_t kLanes = hn::MaxLanes(FloatTag());
  const FloatVec times = hn::Set(floats, factor);
  ForBlocks<kLanes * 2, kLanes>(
      codes, count, count * 2, out, [&](const char* from, float* to) HWY_ATTR {
        for (size_t i = 0; i < kLanes; i += hn::Lanes(floats)) {
          HWY_ALIGN uint16_t aligned[hn::MaxLanes(halves)];
          std::memcpy(aligned, from + i * 2, hn::Lanes(floats) * 2);
          const auto upper = hn::ShiftLeft<16>(hn::PromoteTo(words, hn::Load(halves, aligned)));
          hn::StoreU(hn::Mul(hn::BitCast(floats, upper), times), floats, to + i);
        }
      });
}

void DecodeInt8(const char* codes, size_t count, float factor, float* HWY_RESTRICT out) {
  const FloatTag floats;
  const hn::RebindToSigned<FloatTag> ints;
  const hn::Rebind<int8_t, FloatTag> bytes;
  constexpr size_t kLanes = hn::MaxLanes(FloatTag());
  const FloatVec times = hn::Set(floats, factor);
  ForBlocks<kLanes, kLanes>(codes, count, count, out, [&](const char* from, float* to) HWY_ATTR {
    for (size_t i = 0; i < kLanes; i += hn::Lanes(floats)) {
      const auto wide =
          hn::PromoteTo(ints, hn::LoadU(bytes, reinterpret_cast<const int8_t*>(from + i)));
      hn::StoreU(hn::Mul(hn::ConvertTo(floats, wide), times), floats, to + i);
    }
  });
}

void DecodeInt4(const char* codes, size_t count, float factor, float* HWY_RESTRICT out) {
  const FloatTag floats;
  const hn::RebindToSigned<FloatTag> ints;
  const hn::Rebind<uint8_t, FloatTag> bytes;
  constexpr size_t kLanes = hn::MaxLanes(FloatTag());
  const FloatVec times = hn::Set(floats, factor);
  ForBlocks<kLanes, kLanes * 2>(
      codes, count, (count + 1) / 2, out, [&](const char* from, float* to) HWY_ATTR {
        for (size_t i = 0; i < kLanes; i += hn::Lanes(floats)) {
          const auto pairs =
              hn::PromoteTo(ints, hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(from + i)));
          const auto low = hn::ShiftRight<28>(hn::ShiftLeft<28>(pairs));
          const auto high = hn::ShiftRight<28>(hn::ShiftLeft<24>(pairs));
          hn::StoreInterleaved2(hn::Mul(hn::ConvertTo(floats, low), times),
                                hn::Mul(hn::ConvertTo(floats, high), times), floats, to + i * 2);
        }
      });
}

}  // namespace HWY_NAMESPACE
}  // namespace vectable
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vectable {

HWY_EXPORT(DecodeFp16);
HWY_EXPORT(DecodeBf16);
HWY_EXPORT(DecodeInt8);
HWY_EXPORT(DecodeInt4);

static_assert(std::endian::native == std::endian::little, "codes are little-endian");

void DecodeTimes(Precision precision, const char* codes, size_t count, float factor, float* out) {
  switch (precision) {
    case Precision::kFp32:
      return;
    case Precision::kFp16:
      return HWY_DYNAMIC_DISPATCH(DecodeFp16)(codes, count, factor, out);
    case Precision::kBf16:
      return HWY_DYNAMIC_DISPATCH(DecodeBf16)(codes, count, factor, out);
    case Precision::kInt8:
      return HWY_DYNAMIC_DISPATCH(DecodeInt8)(codes, count, factor, out);
    case Precision::kInt4:
      return HWY_DYNAMIC_DISPATCH(DecodeInt4)(codes, count, factor, out);
  }
}

}  // namespace vectable
#endif  // HWY_ONCE

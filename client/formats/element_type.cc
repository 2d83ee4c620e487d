#include "client/formats/element_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/precision.h"
#include "common/vector_codec.h"

namespace vectable {
namespace {

using Kind = ElementType::Kind;

std::string Reversed(std::string_view bytes, size_t size) {
  std::string out(bytes);
  for (size_t i = 0; i + size <= out.size(); i += size) {
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(i),
                 out.begin() + static_cast<std::ptrdiff_t>(i + size));
  }
  return out;
}

double DoubleLe(const char* bytes) {
  uint64_t bits = 0;
  for (size_t i = 8; i > 0; --i) bits = bits << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return std::bit_cast<double>(bits);
}

}  // namespace

size_t ElementType::bytes() const {
  switch (kind) {
    case Kind::kF64:
      return 8;
    case Kind::kF32:
      return 4;
    case Kind::kF16:
    case Kind::kBf16:
      return 2;
    case Kind::kI8:
    case Kind::kU8:
      return 1;
  }
  return 1;
}

std::optional<ElementType> ElementType::Named(std::string_view name) {
  if (name == "F64") return ElementType{Kind::kF64};
  if (name == "F32") return ElementType{Kind::kF32};
  if (name == "F16") return ElementType{Kind::kF16};
  if (name == "BF16") return ElementType{Kind::kBf16};
  if (name == "I8") return ElementType{Kind::kI8};
  if (name == "U8") return ElementType{Kind::kU8};
  return std::nullopt;
}

absl::Status RoundValues(std::span<const double> values, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(values[i]);
    if (std::isinf(out[i]) && std::isfinite(values[i])) {
      return absl::InvalidArgumentError(fmt::format(
          "value {} of {} is bad (expected a number within the range of fp32, found {})", i + 1,
          out.size(), values[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status DecodeElements(ElementType type, std::string_view bytes, std::span<float> out) {
  std::string reversed;
  if (type.big_endian && type.bytes() > 1) {
    reversed = Reversed(bytes, type.bytes());
    bytes = reversed;
  }
  switch (type.kind) {
    case Kind::kF64: {
      std::vector<double> values(out.size());
      for (size_t i = 0; i < values.size(); ++i) values[i] = DoubleLe(bytes.data() + 8 * i);
      return RoundValues(values, out);
    }
    case Kind::kF32:
      CopyFloatsLe(bytes, out);
      break;
    case Kind::kF16:
      VectorCodec(Precision::kFp16, out.size()).Decode(bytes.data(), 1, out.data());
      break;
    case Kind::kBf16:
      VectorCodec(Precision::kBf16, out.size()).Decode(bytes.data(), 1, out.data());
      break;
    case Kind::kI8:
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<signed char>(bytes[i]);
      break;
    case Kind::kU8:
      for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(bytes[i]);
      break;
  }
  return absl::OkStatus();
}

}  // namespace vectable

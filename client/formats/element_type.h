#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace vectable {

// How a file stores the numbers of a matrix.
struct ElementType {
  enum class Kind : uint8_t { kF64, kF32, kF16, kBf16, kI8, kU8 };

  Kind kind = Kind::kF32;
  bool big_endian = false;

  size_t bytes() const;

  // The type that safetensors and GGUF call so ("BF16"); nothing for one that isn't read.
  static std::optional<ElementType> Named(std::string_view name);
};

// "F64, F32, F16, BF16, I8 and U8", for messages.
inline constexpr std::string_view kElementTypes = "F64, F32, F16, BF16, I8 and U8";

// Decodes out.size() numbers, each rounded once to fp32; `bytes` is exactly as long as they are.
// INVALID_ARGUMENT for a finite number beyond fp32's range. NaN and infinity pass.
absl::Status DecodeElements(ElementType type, std::string_view bytes, std::span<float> out);

// Rounds each value once to fp32. INVALID_ARGUMENT as above.
absl::Status RoundValues(std::span<const double> values, std::span<float> out);

}  // namespace vectable

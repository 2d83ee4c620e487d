#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vectable {

// How one vector component is stored. The numbers are on disk.
enum class Precision : uint8_t { kFp32 = 1, kFp16 = 2, kBf16 = 3, kInt8 = 4, kInt4 = 5 };

inline constexpr std::array<Precision, 5> kAllPrecisions = {
    Precision::kFp32, Precision::kFp16, Precision::kBf16, Precision::kInt8, Precision::kInt4};

// Bits of one component's code: 32, 16, 16, 8, 4.
uint32_t BitsPerComponent(Precision precision);

// "fp32", "fp16", "bf16", "int8", "int4".
std::string_view PrecisionName(Precision precision);

// The precision of that name, or nothing.
std::optional<Precision> ParsePrecision(std::string_view name);

// The precision with that number on disk, or nothing.
std::optional<Precision> PrecisionFromNumber(uint8_t number);

}  // namespace vectable

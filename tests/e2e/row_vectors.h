#pragma once

#include <cstdint>
#include <vector>

namespace vectable {

// A vector of its own direction for each row, with components in [-1, 1).
inline std::vector<float> VectorOfRow(uint64_t row, uint32_t dimensions) {
  std::vector<float> vector(dimensions);
  uint64_t state = row * 0x9E3779B97F4A7C15 + 1;
  for (float& value : vector) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value = static_cast<float>(state % 65536) / 32768.f - 1.f;
  }
  return vector;
}

}  // namespace vectable

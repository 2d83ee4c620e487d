#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vectable {

// A tensor as a file's header describes it.
struct TensorInfo {
  std::string name;
  std::string type;             // the format's own name: "BF16", "Q4_K"
  std::vector<uint64_t> shape;  // in the format's own order; empty: a scalar
  uint64_t elements = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;  // of its first byte in the file
};

// Bounds on what a header may hold, each named in the error that it causes.
inline constexpr uint64_t kMaxTensors = 1'000'000;
inline constexpr uint64_t kMaxTensorRank = 32;

}  // namespace vectable

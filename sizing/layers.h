#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// Parameters of single layers. All: OUT_OF_RANGE when a count doesn't fit 64 bits, INVALID_ARGUMENT
// for a width of 0.

// A layer from `inputs` to `outputs`: inputs x outputs weights, and a bias per output.
struct LinearLayer {
  uint64_t inputs = 0;
  uint64_t outputs = 0;
  bool bias = true;
};
struct LinearCounts {
  uint64_t weights = 0;
  uint64_t biases = 0;
  uint64_t total = 0;
};
absl::StatusOr<LinearCounts> CountLinear(const LinearLayer& layer);

// Attention over vectors of d components; kv_heads and head_dim may be 0, as in TransformerSpec.
struct AttentionLayer {
  uint64_t d = 0;
  uint64_t heads = 0;
  uint64_t kv_heads = 0;
  uint64_t head_dim = 0;
  bool bias = true;  // of all four projections
};
// Each projection with its bias.
struct AttentionCounts {
  uint64_t query = 0;
  uint64_t key = 0;
  uint64_t value = 0;
  uint64_t output = 0;
  uint64_t total = 0;
};
absl::StatusOr<AttentionCounts> CountAttention(const AttentionLayer& layer);

}  // namespace vectable

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/metric.h"

namespace vectable {

// A block of rows to look through, n x dimensions, row-major.
struct FloatRows {
  const float* rows = nullptr;
  size_t count = 0;
};

// Up to k rows of a block per query, best first. `count[q]` entries of `offsets` and `scores` are
// valid from q * k on. A score is the inner product, or minus the squared L2 distance, in float
// arithmetic: a proposal, to be scored again.
struct Proposals {
  size_t k = 0;
  std::vector<int64_t> offsets;
  std::vector<float> scores;
  std::vector<size_t> counts;
};

// Proposes candidates: the seam where CPU and GPU meet. Thread-safe.
class BatchBackend {
 public:
  virtual ~BatchBackend() = default;

  // "cpu" or "gpu".
  virtual std::string_view device() const = 0;

  // For each of the `query_count` queries (query_count x dimensions, row-major), the `k` best rows
  // of `block` whose bit in `allowed` is set (bit i of word i / 64; empty: all). Fills `out`;
  // INTERNAL when the library below fails.
  virtual absl::Status Propose(Metric metric, const float* queries, size_t query_count,
                               size_t dimensions, FloatRows block,
                               std::span<const uint64_t> allowed, size_t k,
                               Proposals& out) const = 0;
};

}  // namespace vectable

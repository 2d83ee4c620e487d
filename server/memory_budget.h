#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"

namespace vectable {

// Bounds the process's memory: rows are refused while it has more than the budget. Mapped files,
// which the system takes back when it needs to, don't count. Thread-safe.
class MemoryBudget {
 public:
  // 0: no bound.
  explicit MemoryBudget(uint64_t bytes) : bytes_(bytes) {}

  // RESOURCE_EXHAUSTED above the budget. What the process has is looked up now and then.
  absl::Status Check() const;

 private:
  const uint64_t bytes_;
  mutable std::atomic<int64_t> looked_up_micros_{0};
  mutable std::atomic<uint64_t> used_{0};
};

// The anonymous memory that the process has, as the system counts it; 0 where it doesn't say.
uint64_t AnonymousMemoryBytes();

}  // namespace vectable

#pragma once

#include <cstdint>

namespace vectable {

// Bytes that the process has from the system for its heap, beyond what is in use: freed memory that
// the allocator hasn't given back, and what it needs itself. An estimate.
uint64_t AllocatorFreeBytes();

}  // namespace vectable

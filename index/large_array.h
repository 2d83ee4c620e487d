#pragma once

#include <cstddef>
#include <memory>

namespace vectable {

inline constexpr size_t kHugePage = size_t{2} << 20;
inline constexpr size_t kCacheLine = 64;

// Memory for large arrays, not initialised. From 64 KiB on it is mapped, so that it goes back to
// the system when it is let go; malloc would keep most of it for later.
struct LargeMemory {
  void* data = nullptr;
  size_t mapped = 0;  // bytes; 0: by malloc

  // Aligned to a cache line or, when it fills most of a huge page, to that; `huge` then asks the
  // kernel for huge pages, which makes a scan a third faster but commits a page of 2 MiB at its
  // first touch. Throws std::bad_alloc.
  static LargeMemory Allocate(size_t bytes, bool huge);
  static void Free(void* data, size_t mapped);
};

struct FreeMemory {
  size_t mapped = 0;
  void operator()(void* data) const { LargeMemory::Free(data, mapped); }
};

// An array of trivial values.
template <typename T>
using LargeArray = std::unique_ptr<T[], FreeMemory>;

// `count` values, not initialised; see LargeMemory::Allocate.
template <typename T>
LargeArray<T> AllocateLarge(size_t count, bool huge) {
  const LargeMemory memory = LargeMemory::Allocate(count * sizeof(T), huge);
  return LargeArray<T>(static_cast<T*>(memory.data), FreeMemory{memory.mapped});
}

// Memory behind the first `bytes` of an array: whole pages.
inline size_t TouchedBytes(size_t bytes) {
  constexpr size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace vectable

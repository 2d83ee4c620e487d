#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace vectable {

inline constexpr size_t kHugePage = size_t{2} << 20;
inline constexpr size_t kCacheLine = 64;

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

// An array of `count` trivial values, not initialised. Throws std::bad_alloc.
template <typename T>
using LargeArray = std::unique_ptr<T[], FreeMemory>;

// Aligned to a cache line or, when it fills most of a huge page, to that; `huge` then asks the
// kernel for huge pages, which makes a scan a third faster but commits a page of 2 MiB at its first
// touch.
template <typename T>
LargeArray<T> AllocateLarge(size_t count, bool huge) {
  const size_t bytes = count * sizeof(T);
  const bool large = bytes >= kHugePage - kHugePage / 4;
  const size_t alignment = large ? kHugePage : kCacheLine;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  if (large && huge) madvise(memory, rounded, MADV_HUGEPAGE);  // advice: may be refused
  return LargeArray<T>(static_cast<T*>(memory));
}

// Memory behind the first `bytes` of an array: whole pages.
inline size_t TouchedBytes(size_t bytes) {
  constexpr size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace vectable

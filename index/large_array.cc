#include "index/large_array.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace vectable {
namespace {

constexpr size_t kSmallPage = 4096;
constexpr size_t kMappedFrom = size_t{64} << 10;  // bytes

constexpr size_t RoundUp(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Whole pages at a multiple of `alignment`, or null.
void* MapAligned(size_t bytes, size_t alignment) {
  const size_t room = bytes + alignment - kSmallPage;
  void* const mapped =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(mapped) % alignment;
  if (before > 0) munmap(begin, before);
  const size_t after = room - before - bytes;
  if (after > 0) munmap(begin + before + bytes, after);
  return begin + before;
}

}  // namespace

LargeMemory LargeMemory::Allocate(size_t bytes, bool huge) {
  const bool large = bytes >= kHugePage - kHugePage / 4;
  const size_t alignment = large ? kHugePage : kSmallPage;
  LargeMemory memory;
  if (bytes >= kMappedFrom) {
    memory.mapped = RoundUp(bytes, alignment);
    memory.data = MapAligned(memory.mapped, alignment);
    if (memory.data == nullptr) throw std::bad_alloc();
    if (large && huge) madvise(memory.data, memory.mapped, MADV_HUGEPAGE);  // may be refused
    return memory;
  }
  memory.data = std::aligned_alloc(kCacheLine, RoundUp(bytes == 0 ? 1 : bytes, kCacheLine));
  if (memory.data == nullptr) throw std::bad_alloc();
  return memory;
}

void LargeMemory::Free(void* data, size_t mapped) {
  if (mapped > 0) {
    munmap(data, mapped);
  } else {
    std::free(data);
  }
}

}  // namespace vectable

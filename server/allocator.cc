#include "server/allocator.h"

#include <malloc.h>

#include <cstddef>

// The server's program is linked with jemalloc, whose names these are (man jemalloc). A program
// without it has no mallctl, and nobody reads malloc_conf.
extern "C" {

int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size)
    __attribute__((weak));

// A thread of its own gives freed memory back to the system after a second, so that what a bulk
// load or a merge took doesn't stay.
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0";

}  // extern "C"

namespace vectable {
namespace {

size_t Statistic(const char* name) {
  size_t value = 0;
  size_t size = sizeof(value);
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

uint64_t AllocatorFreeBytes() {
  if (mallctl == nullptr) return mallinfo2().fordblks;
  uint64_t epoch = 1;  // written, it has the statistics taken anew
  size_t size = sizeof(epoch);
  mallctl("epoch", &epoch, &size, &epoch, size);
  const size_t resident = Statistic("stats.resident");
  const size_t allocated = Statistic("stats.allocated");
  return resident > allocated ? resident - allocated : 0;
}

}  // namespace vectable

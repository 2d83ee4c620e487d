#pragma once

#include <cstdint>
#include <cstdlib>

#include "absl/strings/numbers.h"

namespace vectable {

// The number in the environment variable `name`; `otherwise` where there is none.
inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  uint64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

}  // namespace vectable

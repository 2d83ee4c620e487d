#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/limits.h"

namespace vectable {

// A limit under the name that flags ("--max-k") and replies ("max_k") give it.
struct NamedLimit {
  std::string name;  // of the field in Limits
  uint64_t value = 0;
};

// All limits, in the order of the struct.
std::vector<NamedLimit> NamedLimits(const Limits& limits);

}  // namespace vectable

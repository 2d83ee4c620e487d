#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace vectable {

// The seed of a random test: a fresh one, or VECTABLE_TEST_SEED where that is set. Printed, so that
// a failure can be run again.
inline uint64_t TestSeed() {
  const char* asked = std::getenv("VECTABLE_TEST_SEED");
  const uint64_t seed =
      asked != nullptr ? std::strtoull(asked, nullptr, 10) : std::random_device{}();
  std::cout << "VECTABLE_TEST_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace vectable

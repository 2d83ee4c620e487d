#pragma once

#include <cstdint>

namespace vectable {

// Spreads consecutive ids (the finaliser of MurmurHash3). The same on every machine.
inline uint64_t HashRowId(uint64_t id) {
  id = (id ^ id >> 33) * 0xff51afd7ed558ccdULL;
  id = (id ^ id >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return id ^ id >> 33;
}

}  // namespace vectable

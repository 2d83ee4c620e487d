#pragma once

#include <cstdint>
#include <string_view>

namespace vectable {

// FNV-1a of 64 bits (Fowler, Noll, Vo): the same on every machine and in every build.
constexpr uint64_t Fnv1a64(std::string_view text) {
  uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

}  // namespace vectable

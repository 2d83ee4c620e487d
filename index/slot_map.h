#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "index/large_array.h"
#include "index/row_block.h"

namespace vectable {

// Hash table from keys to slots with linear probing, of fixed size. The keys themselves are in the
// slots, so callers give the comparison. One writer; readers need no lock. Entries are replaced,
// never removed. Untouched memory costs nothing.
class SlotMap {
 public:
  // Room for `max_keys` distinct keys, at most half full.
  explicit SlotMap(size_t max_keys)
      : mask_(std::bit_ceil(max_keys * 2) - 1),
        entries_(static_cast<std::atomic<uint32_t>*>(
            std::calloc(mask_ + 1, sizeof(std::atomic<uint32_t>)))) {
    if (entries_ == nullptr) throw std::bad_alloc();
  }

  // The slot last set for the key with this hash that `equals(slot)` recognises, or kNoSlot.
  template <typename Equals>
  uint32_t Find(uint64_t hash, const Equals& equals) const {
    const std::atomic<uint32_t>* entry = Probe(hash, equals);
    const uint32_t stored = entry->load(std::memory_order_acquire);
    return stored == 0 ? kNoSlot : stored - 1;
  }

  // Sets the key's slot and returns the one before, or kNoSlot. `before_visible(previous)` runs
  // before readers can find the new slot.
  template <typename Equals, typename BeforeVisible>
  void Set(uint64_t hash, uint32_t slot, const Equals& equals,
           const BeforeVisible& before_visible) {
    std::atomic<uint32_t>* entry = Probe(hash, equals);
    const uint32_t stored = entry->load(std::memory_order_relaxed);
    before_visible(stored == 0 ? kNoSlot : stored - 1);
    entry->store(slot + 1, std::memory_order_release);
  }

  // Memory behind the map when it holds about `keys` keys, which fall on pages at random.
  size_t TouchedBytes(size_t keys) const {
    constexpr double kPage = 4096;
    const double bytes = static_cast<double>(mask_ + 1) * sizeof(std::atomic<uint32_t>);
    return static_cast<size_t>(bytes * -std::expm1(-static_cast<double>(keys) * kPage / bytes));
  }

 private:
  // The entry that holds the key, or the empty one where it would go.
  template <typename Equals>
  std::atomic<uint32_t>* Probe(uint64_t hash, const Equals& equals) const {
    for (size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const uint32_t stored = entries_[i].load(std::memory_order_acquire);
      if (stored == 0 || equals(stored - 1)) return &entries_[i];
    }
  }

  const size_t mask_;
  const LargeArray<std::atomic<uint32_t>> entries_;  // slot + 1; 0 is empty
};

}  // namespace vectable

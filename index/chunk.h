#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "common/metric.h"
#include "index/large_array.h"

namespace vectable {

inline constexpr uint64_t kNeverDead = std::numeric_limits<uint64_t>::max();
inline constexpr uint32_t kNoSlot = std::numeric_limits<uint32_t>::max();

// Rows of a segment, in arrays that never move. One writer fills offsets in order and marks rows
// dead; readers look at offsets below a count that was published to them.
class Chunk {
 public:
  // Room for `capacity` rows. Throws std::bad_alloc.
  Chunk(Metric metric, size_t dimensions, size_t capacity, bool huge_pages);

  // Fills the next offset. `word` must live as long as the chunk.
  void Append(size_t offset, uint64_t row_id, std::string_view word, std::span<const float> vector);

  // Sees to it that snapshots of `version` and later don't see the row.
  void MarkDead(size_t offset, uint64_t version);

  bool IsLive(size_t offset, uint64_t version) const {
    return dead_at_[offset].load(std::memory_order_acquire) > version;
  }
  // Whether any row was ever marked dead.
  bool has_dead() const { return dead_rows_.load(std::memory_order_acquire) > 0; }

  uint64_t row_id(size_t offset) const { return row_ids_[offset]; }
  std::string_view word(size_t offset) const { return words_[offset]; }
  std::span<const float> vector(size_t offset) const {
    return {vectors_.get() + offset * dimensions_, dimensions_};
  }
  double squared_norm(size_t offset) const { return squared_norms_[offset]; }

  // What a backend ranks: unit vectors under cosine, the vectors themselves otherwise; capacity x
  // dimensions.
  const float* search_vectors() const {
    return metric_ == Metric::kCosine ? unit_vectors_.get() : vectors_.get();
  }
  // At least the norm of every row that search_vectors() holds.
  double max_search_norm() const { return max_search_norm_.load(std::memory_order_relaxed); }

  // The least and greatest row id that the chunk holds.
  uint64_t min_row_id() const { return min_row_id_.load(std::memory_order_relaxed); }
  uint64_t max_row_id() const { return max_row_id_.load(std::memory_order_relaxed); }

  // The slot that held the same word, or row id, before this one in its segment; or kNoSlot. Set
  // before the row is published.
  uint32_t previous_of_word(size_t offset) const { return previous_of_word_[offset]; }
  uint32_t previous_of_row_id(size_t offset) const { return previous_of_row_id_[offset]; }
  void set_previous(size_t offset, uint32_t of_word, uint32_t of_row_id) {
    previous_of_word_[offset] = of_word;
    previous_of_row_id_[offset] = of_row_id;
  }

 private:
  void WriteUnitVector(size_t offset, std::span<const float> vector, double squared_norm);

  const Metric metric_;
  const size_t dimensions_;
  const LargeArray<float> vectors_;
  const LargeArray<float> unit_vectors_;  // under cosine only
  const LargeArray<double> squared_norms_;
  const LargeArray<uint64_t> row_ids_;
  const LargeArray<std::string_view> words_;
  const LargeArray<std::atomic<uint64_t>> dead_at_;  // the version from which the row is gone
  const LargeArray<uint32_t> previous_of_word_;
  const LargeArray<uint32_t> previous_of_row_id_;
  std::atomic<uint32_t> dead_rows_{0};
  std::atomic<uint64_t> min_row_id_{std::numeric_limits<uint64_t>::max()};
  std::atomic<uint64_t> max_row_id_{0};
  std::atomic<double> max_search_norm_{0};
};

}  // namespace vectable

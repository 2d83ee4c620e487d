#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/index_memory.h"
#include "index/large_array.h"

namespace vectable {

inline constexpr uint64_t kNeverDead = std::numeric_limits<uint64_t>::max();
inline constexpr uint32_t kNoSlot = std::numeric_limits<uint32_t>::max();

// Rows of a segment, in arrays that never move. One writer fills offsets in order and marks rows
// dead; readers look at offsets below a count that was published to them.
class Chunk {
 public:
  // Room for `capacity` rows. Throws std::bad_alloc.
  Chunk(Metric metric, VectorCodec codec, size_t capacity, bool huge_pages);

  // Fills the next offset. `word` must live as long as the chunk; `codes` has the codec's length.
  void Append(size_t offset, uint64_t row_id, std::string_view word, std::string_view codes);

  // Sees to it that snapshots of `version` and later don't see the row.
  void MarkDead(size_t offset, uint64_t version);

  bool IsLive(size_t offset, uint64_t version) const {
    return dead_at_[offset].load(std::memory_order_acquire) > version;
  }
  // Whether any row was ever marked dead.
  bool has_dead() const { return dead_rows_.load(std::memory_order_acquire) > 0; }

  uint64_t row_id(size_t offset) const { return row_ids_[offset]; }
  std::string_view word(size_t offset) const { return words_[offset]; }
  // The row's codes, of the codec's length.
  const char* codes(size_t offset) const { return codes_.get() + offset * codec_.row_bytes(); }
  // The row's vector, where it lies (fp32) or in `scratch`, which is then overwritten.
  std::span<const float> Vector(size_t offset, std::vector<float>& scratch) const;
  double squared_norm(size_t offset) const { return squared_norms_[offset]; }

  // What a backend ranks, of the first `rows` rows: unit vectors under cosine, the vectors
  // themselves otherwise; rows x dimensions, where they lie (fp32) or in `scratch`, which is then
  // overwritten.
  const float* SearchVectors(size_t rows, std::vector<float>& scratch) const;
  // Memory behind the first `rows` rows, without their words.
  void AddMemory(size_t rows, IndexMemory& memory) const;

  // At least the norm of every row that SearchVectors() gives.
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
  bool stores_floats() const { return codec_.precision() == Precision::kFp32; }
  const float* floats() const { return reinterpret_cast<const float*>(codes_.get()); }
  void WriteUnitVector(size_t offset, std::span<const float> vector, double squared_norm);

  const Metric metric_;
  const VectorCodec codec_;
  const LargeArray<char> codes_;
  const LargeArray<float> unit_vectors_;  // under cosine at fp32 only
  const LargeArray<float> unit_factors_;  // under cosine at other precisions only
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
  std::vector<float> scratch_;  // the writer's
};

}  // namespace vectable

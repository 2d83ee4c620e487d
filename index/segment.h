#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/chunk.h"
#include "index/index_memory.h"
#include "index/slot_map.h"

namespace vectable {

// A run of row versions in the order they came, in chunks that never move, with the maps to find
// them. Slot s is row s % chunk_rows() of chunk s / chunk_rows(). A row replaced or erased stays as
// a dead slot.
//
// One writer appends and marks; readers use a slot count and a version that were published to them,
// so that each sees the segment as of its own moment. Nothing is ever locked.
class Segment {
 public:
  Segment(Metric metric, VectorCodec codec);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // Writer's part.

  bool full() const { return slots_ == capacity_; }
  size_t slots() const { return slots_; }
  size_t dead_slots() const { return dead_slots_; }
  // Adds a row version; the segment is not full. Throws std::bad_alloc and then has changed nothing
  // that a reader could see.
  void Append(uint64_t row_id, std::string_view word, std::string_view codes);
  // The slot is dead in `version` and later.
  void MarkDead(size_t slot, uint64_t version);
  // The live slot of a row id, or kNoSlot.
  uint32_t FindLiveRowId(uint64_t row_id) const {
    return FindRowId(row_id, slots_, kNeverDead - 1);
  }

  // Readers' part: `slots` and `version` as published.

  // The slot that holds the word, or row id, in that version; or kNoSlot.
  uint32_t FindWord(std::string_view word, size_t slots, uint64_t version) const;
  uint32_t FindRowId(uint64_t row_id, size_t slots, uint64_t version) const;

  // The memory that the first `slots` slots take.
  IndexMemory Memory(size_t slots) const;

  size_t chunk_rows() const { return chunk_rows_; }
  const Chunk& chunk(size_t i) const { return *chunks_[i]; }
  const Chunk& chunk_of(size_t slot) const { return *chunks_[slot / chunk_rows_]; }
  size_t offset_of(size_t slot) const { return slot % chunk_rows_; }

 private:
  // Copies the word to memory that lives as long as the segment.
  std::string_view KeepWord(std::string_view word);
  bool HoldsWord(uint32_t slot, std::string_view word) const;
  bool HoldsRowId(uint32_t slot, uint64_t row_id) const;

  const Metric metric_;
  const VectorCodec codec_;
  const size_t chunk_rows_;
  const size_t capacity_;                       // slots
  std::vector<std::unique_ptr<Chunk>> chunks_;  // all there from the start, made as they are needed
  SlotMap by_word_;
  SlotMap by_row_id_;
  size_t slots_ = 0;
  size_t dead_slots_ = 0;
  std::atomic<size_t> word_bytes_{0};  // of all words
  std::vector<std::unique_ptr<char[]>> word_blocks_;
  std::span<char> word_room_;
};

}  // namespace vectable

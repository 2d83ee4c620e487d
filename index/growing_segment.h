#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "index/chunk.h"
#include "index/segment.h"
#include "index/slot_map.h"

namespace vectable {

// The segment that new rows go to, in chunks that never move. Slot s is row s % block_rows() of
// chunk s / block_rows(). One writer appends and marks.
class GrowingSegment final : public Segment {
 public:
  GrowingSegment(Metric metric, VectorCodec codec);

  // Every row put up to this sequence number is in another segment.
  uint64_t begins_after() const { return begins_after_; }
  void set_begins_after(uint64_t sequence) { begins_after_ = sequence; }

  bool full() const { return slots_ == capacity_; }
  // Adds a row version; the segment is not full. Throws std::bad_alloc and then has changed nothing
  // that a reader could see.
  void Append(uint64_t row_id, std::string_view word, std::string_view codes);

  size_t slots() const override { return slots_; }
  void MarkDead(size_t slot, uint64_t version) override;

  RowColumns Columns(size_t slot) const override { return chunk_of(slot).Columns(offset_of(slot)); }
  std::string_view Word(size_t slot) const override { return chunk_of(slot).word(offset_of(slot)); }
  uint32_t FindWord(std::string_view word, size_t slots, uint64_t version) const override;
  uint32_t FindRowId(uint64_t row_id, size_t slots, uint64_t version) const override;
  double MaxNorm() const override { return max_norm_.load(std::memory_order_acquire); }
  IndexMemory Memory(size_t slots) const override;

 private:
  const Chunk& chunk_of(size_t slot) const { return *chunks_[slot / block_rows()]; }
  size_t offset_of(size_t slot) const { return slot % block_rows(); }
  // Copies the word to memory that lives as long as the segment.
  std::string_view KeepWord(std::string_view word);
  bool HoldsWord(uint32_t slot, std::string_view word) const;
  bool HoldsRowId(uint32_t slot, uint64_t row_id) const;

  const size_t capacity_;                       // slots
  std::vector<std::unique_ptr<Chunk>> chunks_;  // all there from the start, made as they are needed
  SlotMap by_word_;
  SlotMap by_row_id_;
  size_t slots_ = 0;
  uint64_t begins_after_ = 0;
  std::atomic<double> max_norm_{0};
  std::atomic<size_t> word_bytes_{0};  // of all words
  std::vector<std::unique_ptr<char[]>> word_blocks_;
  std::span<char> word_room_;
};

}  // namespace vectable

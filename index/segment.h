#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/metric.h"
#include "common/vector_codec.h"
#include "index/index_memory.h"
#include "index/row_block.h"
#include "index/search_codes.h"

namespace vectable {

class SealedSegment;

// A run of row versions, numbered by slot, with the maps to find them. A row replaced or erased
// stays as a dead slot. Readers use a slot count and a version that were published to them, so that
// each sees the segment as of its own moment. Nothing is ever locked.
class Segment {
 public:
  virtual ~Segment() = default;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Metric metric() const { return coder_.metric(); }
  const VectorCodec& codec() const { return codec_; }
  const SearchCoder& coder() const { return coder_; }

  // Rows of each block but the last.
  size_t block_rows() const { return block_rows_; }
  // Block `i` of the first `slots` slots.
  RowBlock Block(size_t i, size_t slots) const {
    const size_t first = i * block_rows_;
    return {*this, codec_, first, std::min(block_rows_, slots - first), Columns(first)};
  }
  size_t BlockCount(size_t slots) const { return (slots + block_rows_ - 1) / block_rows_; }

  bool IsLive(size_t slot, uint64_t version) const {
    const uint64_t dead_at = Columns(slot).dead_at->load(std::memory_order_acquire);
    return dead_at == 0 || dead_at > version;
  }
  IndexedRow Row(size_t slot) const {
    const RowColumns at = Columns(slot);
    return {*at.row_ids, Word(slot), at.codes, *at.squared_norms};
  }

  // Whether the row at the table's precision is what was written; noted where it isn't. What lies
  // in a mapped file is looked at before each use.
  virtual bool IsWhole(size_t /*slot*/) const { return true; }

  // This one, if it is sealed; else null.
  virtual const SealedSegment* sealed() const { return nullptr; }

  // The columns from a slot on, as far as its block goes.
  virtual RowColumns Columns(size_t slot) const = 0;
  virtual std::string_view Word(size_t slot) const = 0;
  // The slot that holds the word, or row id, in that version; or kNoSlot.
  virtual uint32_t FindWord(std::string_view word, size_t slots, uint64_t version) const = 0;
  virtual uint32_t FindRowId(uint64_t row_id, size_t slots, uint64_t version) const = 0;
  // The greatest norm of any row; not under cosine.
  virtual double MaxNorm() const = 0;
  // The memory that the first `slots` slots take.
  virtual IndexMemory Memory(size_t slots) const = 0;

  // Writer's part.

  virtual size_t slots() const = 0;
  // The slot is dead in `version`, greater than 0, and later.
  virtual void MarkDead(size_t slot, uint64_t version) = 0;
  size_t dead_slots() const { return dead_slots_.load(std::memory_order_relaxed); }
  // The live slot of a row id, or kNoSlot.
  uint32_t FindLiveRowId(uint64_t row_id) const {
    return FindRowId(row_id, slots(), kLatestVersion);
  }

 protected:
  // Blocks of about a huge page of vectors as fp32.
  static size_t BlockRowsFor(size_t dimensions) {
    constexpr size_t kBlockBytes = size_t{2} << 20;
    return std::clamp<size_t>(kBlockBytes / (dimensions * sizeof(float)), 16, 8192);
  }
  Segment(Metric metric, VectorCodec codec, size_t block_rows)
      : codec_(codec), coder_(metric, codec.dimensions()), block_rows_(block_rows) {}

  std::atomic<size_t> dead_slots_{0};

 private:
  const VectorCodec codec_;
  const SearchCoder coder_;
  const size_t block_rows_;
};

}  // namespace vectable

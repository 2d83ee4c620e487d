#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "index/index_memory.h"
#include "index/large_array.h"
#include "index/row_block.h"
#include "index/search_codes.h"

namespace vectable {

// Rows of a growing segment, in arrays that never move. One writer fills offsets in order and marks
// rows dead; readers look at offsets below a count that was published to them.
class Chunk {
 public:
  // Room for `capacity` rows. Throws std::bad_alloc.
  Chunk(const SearchCoder& coder, const VectorCodec& codec, size_t capacity, bool huge_pages);

  // Fills the next offset. `word` must live as long as the chunk; `codes` has the codec's length.
  void Append(size_t offset, uint64_t row_id, std::string_view word, std::string_view codes);

  // Sees to it that snapshots of `version` and later don't see the row.
  void MarkDead(size_t offset, uint64_t version) {
    dead_at_[offset].store(version, std::memory_order_release);
  }

  // The columns from an offset on.
  RowColumns Columns(size_t offset) const;
  uint64_t row_id(size_t offset) const { return row_ids_[offset]; }
  std::string_view word(size_t offset) const { return words_[offset]; }
  double squared_norm(size_t offset) const { return squared_norms_[offset]; }

  // Memory behind the first `rows` rows, without their words.
  void AddMemory(size_t rows, IndexMemory& memory) const;

  // The slot that held the same word, or row id, before this one in its segment; or kNoSlot. Set
  // before the row is published.
  uint32_t previous_of_word(size_t offset) const { return previous_of_word_[offset]; }
  uint32_t previous_of_row_id(size_t offset) const { return previous_of_row_id_[offset]; }
  void set_previous(size_t offset, uint32_t of_word, uint32_t of_row_id) {
    previous_of_word_[offset] = of_word;
    previous_of_row_id_[offset] = of_row_id;
  }

 private:
  const SearchCoder coder_;
  const VectorCodec codec_;
  const LargeArray<char> codes_;
  const LargeArray<char> coarse_;
  const LargeArray<char> fine_;
  const LargeArray<float> norms_;  // not under cosine
  const LargeArray<double> squared_norms_;
  const LargeArray<uint64_t> row_ids_;
  const LargeArray<std::string_view> words_;
  const LargeArray<DeathMark> dead_at_;
  const LargeArray<uint32_t> previous_of_word_;
  const LargeArray<uint32_t> previous_of_row_id_;
  std::vector<float> scratch_;  // the writer's
  std::vector<int8_t> code_scratch_;
};

}  // namespace vectable

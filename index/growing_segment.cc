#include "index/growing_segment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "index/row_hash.h"

namespace vectable {
namespace {

constexpr size_t kSegmentRows = size_t{1} << 16;
constexpr size_t kSegmentBytes = size_t{1} << 30;  // of vectors as fp32, for very wide rows
constexpr size_t kWordBlockBytes = size_t{64} << 10;

size_t SegmentRows(size_t dimensions, size_t chunk_rows) {
  const size_t rows = std::min(kSegmentRows, kSegmentBytes / (dimensions * sizeof(float)));
  return std::max<size_t>(rows / chunk_rows, 1) * chunk_rows;
}

uint64_t HashWord(std::string_view word) { return std::hash<std::string_view>()(word); }

}  // namespace

GrowingSegment::GrowingSegment(Metric metric, VectorCodec codec)
    : Segment(metric, codec, BlockRowsFor(codec.dimensions())),
      capacity_(SegmentRows(codec.dimensions(), block_rows())),
      chunks_(capacity_ / block_rows()),
      by_word_(capacity_),
      by_row_id_(capacity_) {}

void GrowingSegment::Append(uint64_t row_id, std::string_view word, std::string_view codes) {
  const size_t chunk_index = slots_ / block_rows();
  const size_t offset = slots_ % block_rows();
  if (chunks_[chunk_index] == nullptr) {
    // A small table shall not cost a huge page.
    chunks_[chunk_index] = std::make_unique<Chunk>(coder(), codec(), block_rows(), chunk_index > 0);
  }
  Chunk& chunk = *chunks_[chunk_index];
  const auto slot = static_cast<uint32_t>(slots_);
  chunk.Append(offset, row_id, KeepWord(word), codes);
  if (coder().has_norms()) {
    max_norm_.store(std::max(MaxNorm(), std::sqrt(chunk.squared_norm(offset))),
                    std::memory_order_release);
  }
  uint32_t previous_of_word = kNoSlot;
  by_row_id_.Set(
      HashRowId(row_id), slot, [&](uint32_t other) { return HoldsRowId(other, row_id); },
      [&](uint32_t previous) {
        // Both links are in place before either map leads to the slot.
        previous_of_word =
            by_word_.Find(HashWord(word), [&](uint32_t other) { return HoldsWord(other, word); });
        chunk.set_previous(offset, previous_of_word, previous);
      });
  by_word_.Set(
      HashWord(word), slot, [&](uint32_t other) { return HoldsWord(other, word); },
      [](uint32_t /*previous*/) {});
  ++slots_;
}

void GrowingSegment::MarkDead(size_t slot, uint64_t version) {
  chunks_[slot / block_rows()]->MarkDead(slot % block_rows(), version);
  ++dead_slots_;
}

uint32_t GrowingSegment::FindWord(std::string_view word, size_t slots, uint64_t version) const {
  uint32_t slot =
      by_word_.Find(HashWord(word), [&](uint32_t other) { return HoldsWord(other, word); });
  while (slot != kNoSlot) {
    const Chunk& holder = chunk_of(slot);
    if (slot < slots && IsLive(slot, version)) return slot;
    slot = holder.previous_of_word(offset_of(slot));
  }
  return kNoSlot;
}

uint32_t GrowingSegment::FindRowId(uint64_t row_id, size_t slots, uint64_t version) const {
  uint32_t slot =
      by_row_id_.Find(HashRowId(row_id), [&](uint32_t other) { return HoldsRowId(other, row_id); });
  while (slot != kNoSlot) {
    const Chunk& holder = chunk_of(slot);
    if (slot < slots && IsLive(slot, version)) return slot;
    slot = holder.previous_of_row_id(offset_of(slot));
  }
  return kNoSlot;
}

IndexMemory GrowingSegment::Memory(size_t slots) const {
  IndexMemory memory;
  for (size_t begin = 0; begin < slots; begin += block_rows()) {
    chunks_[begin / block_rows()]->AddMemory(std::min(block_rows(), slots - begin), memory);
  }
  memory.words += word_bytes_.load(std::memory_order_relaxed);
  memory.id_maps += by_word_.TouchedBytes(slots) + by_row_id_.TouchedBytes(slots);
  return memory;
}

std::string_view GrowingSegment::KeepWord(std::string_view word) {
  if (word.size() > word_room_.size()) {
    const size_t bytes = std::max(kWordBlockBytes, word.size());
    word_blocks_.push_back(std::make_unique<char[]>(bytes));
    word_room_ = {word_blocks_.back().get(), bytes};
  }
  std::memcpy(word_room_.data(), word.data(), word.size());
  word_bytes_.fetch_add(word.size(), std::memory_order_relaxed);
  const std::string_view kept(word_room_.data(), word.size());
  word_room_ = word_room_.subspan(word.size());
  return kept;
}

bool GrowingSegment::HoldsWord(uint32_t slot, std::string_view word) const {
  return chunk_of(slot).word(offset_of(slot)) == word;
}

bool GrowingSegment::HoldsRowId(uint32_t slot, uint64_t row_id) const {
  return chunk_of(slot).row_id(offset_of(slot)) == row_id;
}

}  // namespace vectable

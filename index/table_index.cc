#include "index/table_index.h"

#include <algorithm>

#include "index/exact_search.h"
#include "index/segment.h"

namespace vectable {
namespace {

IndexedRow RowAt(const Segment& segment, size_t slot) {
  const Chunk& chunk = segment.chunk_of(slot);
  const size_t offset = segment.offset_of(slot);
  return {chunk.row_id(offset), chunk.word(offset), chunk.codes(offset),
          chunk.squared_norm(offset)};
}

}  // namespace

std::optional<IndexedRow> IndexSnapshot::FindWord(std::string_view word) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const uint32_t slot = part->segment->FindWord(word, part->slots, version_);
    if (slot != kNoSlot) return RowAt(*part->segment, slot);
  }
  return std::nullopt;
}

std::optional<IndexedRow> IndexSnapshot::FindRowId(uint64_t row_id) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const uint32_t slot = part->segment->FindRowId(row_id, part->slots, version_);
    if (slot != kNoSlot) return RowAt(*part->segment, slot);
  }
  return std::nullopt;
}

void IndexSnapshot::ForEachRow(const std::function<bool(const IndexedRow&)>& visit) const {
  for (const Part& part : parts_) {
    for (size_t slot = 0; slot < part.slots; ++slot) {
      const Segment& segment = *part.segment;
      if (!segment.chunk_of(slot).IsLive(segment.offset_of(slot), version_)) continue;
      if (!visit(RowAt(segment, slot))) return;
    }
  }
}

std::vector<IndexBlock> IndexSnapshot::Blocks() const {
  std::vector<IndexBlock> blocks;
  for (const Part& part : parts_) {
    const size_t chunk_rows = part.segment->chunk_rows();
    for (size_t begin = 0; begin < part.slots; begin += chunk_rows) {
      blocks.push_back(
          {&part.segment->chunk(begin / chunk_rows), std::min(chunk_rows, part.slots - begin)});
    }
  }
  return blocks;
}

IndexMemory IndexSnapshot::Memory() const {
  IndexMemory memory;
  for (const Part& part : parts_) {
    const IndexMemory of_part = part.segment->Memory(part.slots);
    memory.Add(of_part);
    memory.growing_segment = of_part.total();  // the last one
  }
  return memory;
}

absl::StatusOr<std::vector<IndexResult>> IndexSnapshot::Search(
    std::span<const IndexQuery> queries, const IndexSearchOptions& options) const {
  ExactSearch search(metric_, codec_.dimensions(), backend_, version_, queries, options);
  for (const IndexBlock& block : Blocks()) {
    if (absl::Status status = search.AddBlock(*block.chunk, block.rows); !status.ok()) {
      return status;
    }
  }
  return search.Finish();
}

TableIndex::TableIndex(Metric metric, VectorCodec codec, const BatchBackend& backend)
    : metric_(metric), codec_(codec), backend_(backend) {
  Publish(0);
}

TableIndex::~TableIndex() = default;

std::shared_ptr<const IndexSnapshot> TableIndex::snapshot() const {
  absl::MutexLock lock(&snapshot_mu_);
  return snapshot_;
}

void TableIndex::Put(uint64_t row_id, std::string_view word, std::string_view codes) {
  const bool replaces = MarkDead(row_id);
  Append(row_id, word, codes);
  if (!replaces) ++live_rows_;
}

void TableIndex::Append(uint64_t row_id, std::string_view word, std::string_view codes) {
  GrowingSegment().Append(row_id, word, codes);
}

void TableIndex::Erase(uint64_t row_id) {
  if (MarkDead(row_id)) --live_rows_;
}

bool TableIndex::MarkDead(uint64_t row_id) {
  for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
    const uint32_t slot = (*segment)->FindLiveRowId(row_id);
    if (slot == kNoSlot) continue;
    (*segment)->MarkDead(slot, version_);
    return true;
  }
  return false;
}

Segment& TableIndex::GrowingSegment() {
  if (segments_.empty() || segments_.back()->full()) {
    segments_.push_back(std::make_shared<Segment>(metric_, codec_));
  }
  return *segments_.back();
}

void TableIndex::Publish(uint64_t sequence) {
  Compact();
  std::vector<IndexSnapshot::Part> parts;
  parts.reserve(segments_.size());
  for (const std::shared_ptr<Segment>& segment : segments_) {
    parts.push_back({segment, segment->slots()});
  }
  auto snapshot = std::make_shared<const IndexSnapshot>(metric_, codec_, backend_, std::move(parts),
                                                        version_, sequence, live_rows_);
  ++version_;
  // The old snapshot may be the last to hold a segment: freed after the lock.
  absl::MutexLock lock(&snapshot_mu_);
  snapshot_.swap(snapshot);
}

void TableIndex::Compact() {
  // Each move costs at most as many rows as died in the segment, so the work per change is bounded.
  // Only full segments are moved; the growing one is at most one segment's worth of dead rows.
  for (size_t i = 0; i < segments_.size();) {
    const std::shared_ptr<Segment> segment = segments_[i];
    if (!segment->full() || segment->dead_slots() * 2 <= segment->slots()) {
      ++i;
      continue;
    }
    MoveLiveRows(*segment);
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void TableIndex::MoveLiveRows(const Segment& from) {
  // Snapshots taken before go on with the old segment, where these rows stay live.
  for (size_t slot = 0; slot < from.slots(); ++slot) {
    const Chunk& chunk = from.chunk_of(slot);
    const size_t offset = from.offset_of(slot);
    if (!chunk.IsLive(offset, kNeverDead - 1)) continue;
    Append(chunk.row_id(offset), chunk.word(offset),
           std::string_view(chunk.codes(offset), codec_.row_bytes()));
  }
}

}  // namespace vectable

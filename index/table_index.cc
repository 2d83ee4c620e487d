#include "index/table_index.h"

#include <algorithm>

#include "common/status_util.h"
#include "index/exact_search.h"
#include "index/growing_segment.h"
#include "index/row_filter.h"

namespace vectable {
std::optional<IndexedRow> IndexSnapshot::FindWord(std::string_view word) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const uint32_t slot = part->segment->FindWord(word, part->slots, version_);
    if (slot != kNoSlot) return part->segment->Row(slot);
  }
  return std::nullopt;
}

std::optional<IndexedRow> IndexSnapshot::FindRowId(uint64_t row_id) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const uint32_t slot = part->segment->FindRowId(row_id, part->slots, version_);
    if (slot != kNoSlot) return part->segment->Row(slot);
  }
  return std::nullopt;
}

void IndexSnapshot::ForEachRow(const std::function<bool(const IndexedRow&)>& visit) const {
  for (const RowBlock& block : Blocks()) {
    for (size_t offset = 0; offset < block.rows(); ++offset) {
      if (block.IsLive(offset, version_) && !visit(block.row(offset))) return;
    }
  }
}

std::vector<RowBlock> IndexSnapshot::Blocks() const {
  std::vector<RowBlock> blocks;
  for (const Part& part : parts_) {
    for (size_t i = 0; i < part.segment->BlockCount(part.slots); ++i) {
      blocks.push_back(part.segment->Block(i, part.slots));
    }
  }
  return blocks;
}

uint64_t IndexSnapshot::RowsBelow(std::optional<uint64_t> end) const {
  if (!end) return live_rows_;
  uint64_t rows = 0;
  for (const RowBlock& block : Blocks()) {
    for (size_t offset = 0; offset < block.rows(); ++offset) {
      rows += block.row_id(offset) < *end && block.IsLive(offset, version_) ? 1 : 0;
    }
  }
  return rows;
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
  ExactSearch search(metric_, version_, queries, options);
  for (const RowBlock& block : Blocks()) VT_RETURN_IF_ERROR(search.AddBlock(block));
  VT_ASSIGN_OR_RETURN(std::vector<IndexResult> results, search.Finish());
  const uint64_t rows = RowsBelow(options.first_n);
  for (size_t q = 0; q < queries.size(); ++q) {
    results[q].rows_searched = rows - RowFilter(queries[q], options, version_).excluded_rows();
  }
  return results;
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
  Growing().Append(row_id, word, codes);
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

GrowingSegment& TableIndex::Growing() {
  if (segments_.empty() || segments_.back()->full()) {
    segments_.push_back(std::make_shared<GrowingSegment>(metric_, codec_));
  }
  return *segments_.back();
}

void TableIndex::Publish(uint64_t sequence) {
  Compact();
  std::vector<IndexSnapshot::Part> parts;
  parts.reserve(segments_.size());
  for (const std::shared_ptr<GrowingSegment>& segment : segments_) {
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
    const std::shared_ptr<GrowingSegment> segment = segments_[i];
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
    if (!from.IsLive(slot, kLatestVersion)) continue;
    const IndexedRow row = from.Row(slot);
    Append(row.row_id, row.word, std::string_view(row.codes, codec_.row_bytes()));
  }
}

}  // namespace vectable

#include "index/table_index.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "index/growing_segment.h"
#include "index/sealed_segment.h"

namespace vectable {
namespace {

// While rows come in fast, so many full segments are let pile up before they are merged.
constexpr size_t kMostUnsealed = 8;

}  // namespace

std::optional<IndexedRow> IndexSnapshot::FindWord(std::string_view word) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const uint32_t slot = part->segment->FindWord(word, part->slots, version_);
    if (slot != kNoSlot) return RowAt(*part->segment, slot);
  }
  return std::nullopt;
}

IndexedRow IndexSnapshot::RowAt(const Segment& segment, uint32_t slot) {
  segment.IsWhole(slot);  // a search with it fails if it isn't
  return segment.Row(slot);
}

bool IndexSnapshot::damaged() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) {
    const SealedSegment* const sealed = part.segment->sealed();
    return sealed != nullptr && sealed->damaged();
  });
}

std::optional<IndexedRow> IndexSnapshot::FindRowId(uint64_t row_id) const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    const uint32_t slot = part->segment->FindRowId(row_id, part->slots, version_);
    if (slot != kNoSlot) return RowAt(*part->segment, slot);
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
  for (const Part& part : parts_) {
    std::vector<SlotRun> runs = {{0, part.slots}};
    if (const SealedSegment* sealed = part.segment->sealed()) {
      runs = sealed->SlotsBelow(*end);
      // Those in order are known to lie below, and nearly always to live.
      if (sealed->dead_slots() == 0 && !runs.empty() && runs.front().begin == 0) {
        rows += std::min(runs.front().end, sealed->sorted_slots());
        runs.erase(runs.begin());
      }
    }
    for (const SlotRun& run : runs) {
      for (size_t slot = run.begin; slot < run.end; ++slot) {
        const uint64_t row_id = *part.segment->Columns(slot).row_ids;
        rows += row_id < *end && part.segment->IsLive(slot, version_) ? 1 : 0;
      }
    }
  }
  return rows;
}

absl::Status IndexSnapshot::CheckSegments(const std::function<bool()>& stop) const {
  for (const Part& part : parts_) {
    if (stop()) break;
    if (const SealedSegment* sealed = part.segment->sealed()) {
      VT_RETURN_IF_ERROR(sealed->CheckCodes());
    }
  }
  return absl::OkStatus();
}

bool IndexSnapshot::MayMerge(size_t close_from) const {
  for (const Part& part : parts_) {
    const bool sealed = part.segment->sealed() != nullptr;
    const bool growing = !sealed && &part == &parts_.back();
    if (!sealed && (!growing || part.slots >= close_from)) return true;
    if (part.segment->dead_slots() * 2 > part.slots) return true;
  }
  return false;
}

IndexMemory IndexSnapshot::Memory() const {
  IndexMemory memory;
  for (const Part& part : parts_) {
    const IndexMemory of_part = part.segment->Memory(part.slots);
    memory.Add(of_part);
    const bool growing = part.segment->sealed() == nullptr;
    memory.growing_segment = growing ? of_part.total() : 0;  // the last one
  }
  return memory;
}

std::vector<SegmentDescription> IndexSnapshot::Segments() const {
  std::vector<SegmentDescription> all;
  for (const Part& part : parts_) {
    SegmentDescription& one = all.emplace_back();
    for (size_t slot = 0; slot < part.slots; ++slot) {
      ++(part.segment->IsLive(slot, version_) ? one.rows : one.dead_rows);
    }
    if (const SealedSegment* sealed = part.segment->sealed()) {
      one.sealed = true;
      one.graph = sealed->has_graph();
      one.recall = sealed->curve().points();
    }
  }
  return all;
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

void TableIndex::Insert(uint64_t row_id, std::string_view word, std::string_view codes) {
  Append(row_id, word, codes);
  ++live_rows_;
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
  if (growing_ == nullptr || growing_->full()) {
    growing_ = std::make_shared<GrowingSegment>(metric_, codec_);
    growing_->set_begins_after(sequence_);
    segments_.push_back(growing_);
  }
  return *growing_;
}

void TableIndex::Publish(uint64_t sequence) {
  Compact();
  sequence_ = sequence;
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

bool TableIndex::IsMerging(const Segment& segment) const {
  return std::find(merging_.begin(), merging_.end(), &segment) != merging_.end();
}

uint64_t TableIndex::LiveRows(const Segment& segment) const {
  return segment.slots() - segment.dead_slots();
}

void TableIndex::Compact() {
  // Each move costs at most as many rows as died in the segment, so the work per change is bounded.
  // Only full growing segments are moved; others wait for a merge.
  for (size_t i = 0; i < segments_.size();) {
    const std::shared_ptr<Segment> segment = segments_[i];
    const auto* const grown = dynamic_cast<const GrowingSegment*>(segment.get());
    if (grown == nullptr || !grown->full() || segment->dead_slots() * 2 <= segment->slots() ||
        IsMerging(*segment)) {
      ++i;
      continue;
    }
    if (segment == growing_) growing_.reset();  // full: what is moved goes to another
    MoveLiveRows(*grown);
    segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::optional<MergePlan> TableIndex::PlanMerge(const MergeWish& wish) {
  if (!merging_.empty()) return std::nullopt;
  if (growing_ != nullptr && (wish.everything || growing_->full() ||
                              growing_->slots() >= std::max<size_t>(wish.close_from, 1))) {
    growing_.reset();  // what comes next begins another
  }
  std::vector<std::shared_ptr<Segment>> chosen;
  std::vector<std::shared_ptr<Segment>> others;
  uint64_t rows = 0;
  size_t unsealed = 0;
  bool dead = false;
  for (const std::shared_ptr<Segment>& segment : segments_) {
    if (segment == growing_) continue;
    const bool sealed = segment->sealed() != nullptr;
    const bool mostly_dead = segment->dead_slots() * 2 > segment->slots();
    const bool any_dead = segment->dead_slots() > 0;
    unsealed += sealed ? 0 : 1;
    const bool wanted = !sealed || mostly_dead || (wish.everything && any_dead);
    if (wanted && (chosen.empty() || rows + LiveRows(*segment) <= kMostMergedRows)) {
      chosen.push_back(segment);
      rows += LiveRows(*segment);
      dead = dead || (sealed && any_dead);
    } else {
      others.push_back(segment);
    }
  }
  // While many rows come in, they are better merged all together a little later.
  if (!wish.everything && !wish.join && !wish.idle && unsealed < kMostUnsealed &&
      wish.close_from == std::numeric_limits<size_t>::max() && !dead) {
    return std::nullopt;
  }
  std::sort(others.begin(), others.end(),
            [this](const auto& a, const auto& b) { return LiveRows(*a) < LiveRows(*b); });
  const bool all = wish.everything || wish.join;
  if (chosen.empty() && all && others.size() > 1 &&
      LiveRows(*others[0]) + LiveRows(*others[1]) <= kMostMergedRows) {
    chosen.push_back(others[0]);
    rows = LiveRows(*others[0]);
    others.erase(others.begin());
  }
  if (chosen.empty()) return std::nullopt;
  if (wish.close && growing_ != nullptr) {
    const std::shared_ptr<Segment> closed = std::exchange(growing_, nullptr);
    if (rows + LiveRows(*closed) <= kMostMergedRows) {  // else it comes next
      chosen.push_back(closed);
      rows += LiveRows(*closed);
    }
  }
  for (const std::shared_ptr<Segment>& segment : others) {
    const uint64_t more = LiveRows(*segment);
    if (rows + more > kMostMergedRows) continue;
    if (!all && more > 2 * rows) break;
    chosen.push_back(segment);
    rows += more;
  }
  MergePlan plan;
  plan.version = version_ - 1;  // the last published
  plan.live_rows = rows;
  for (const std::shared_ptr<Segment>& segment : chosen) {
    plan.sources.push_back({segment, segment->slots()});
    merging_.push_back(segment.get());
  }
  return plan;
}

void TableIndex::InstallMerged(const MergePlan& plan, std::shared_ptr<SealedSegment> merged) {
  merging_.clear();
  if (merged == nullptr) return;
  // Rows that died meanwhile.
  for (const IndexSnapshot::Part& source : plan.sources) {
    for (size_t slot = 0; slot < source.slots; ++slot) {
      const RowColumns row = source.segment->Columns(slot);
      const uint64_t dead_at = row.dead_at->load(std::memory_order_relaxed);
      if (dead_at <= plan.version) continue;
      merged->MarkDead(merged->FindLiveRowId(*row.row_ids), dead_at);
    }
  }
  const auto is_source = [&](const std::shared_ptr<Segment>& segment) {
    return std::any_of(plan.sources.begin(), plan.sources.end(),
                       [&](const auto& source) { return source.segment == segment; });
  };
  std::erase_if(segments_, is_source);
  // Before the one that grows, if there is one.
  if (merged->slots() > 0) segments_.insert(segments_.begin(), std::move(merged));
  Publish(sequence_);
}

std::optional<IndexManifest> TableIndex::Manifest() const {
  IndexManifest manifest;
  manifest.covered = sequence_;
  manifest.written = sequence_;
  for (const std::shared_ptr<Segment>& segment : segments_) {
    if (const auto* grown = dynamic_cast<const GrowingSegment*>(segment.get())) {
      manifest.covered = std::min(manifest.covered, grown->begins_after());
      continue;
    }
    const auto& sealed = *segment->sealed();
    if (sealed.file() == 0) return std::nullopt;
    IndexManifest::Segment& named = manifest.segments.emplace_back();
    named.file = sealed.file();
    for (uint32_t slot = 0; sealed.dead_slots() > 0 && slot < sealed.slots(); ++slot) {
      if (!sealed.IsLive(slot, kLatestVersion)) named.dead.push_back(slot);
    }
  }
  return manifest;
}

absl::Status TableIndex::Restore(const IndexManifest& manifest,
                                 std::vector<std::shared_ptr<SealedSegment>> segments) {
  if (segments.size() != manifest.segments.size()) {
    return absl::DataLossError(absl::StrCat("the manifest names ", manifest.segments.size(),
                                            " segments; there are ", segments.size()));
  }
  for (size_t i = 0; i < segments.size(); ++i) {
    for (const uint32_t slot : manifest.segments[i].dead) {
      if (slot >= segments[i]->slots()) {
        return absl::DataLossError(
            absl::StrCat("slot ", slot, " of segment ", manifest.segments[i].file, " isn't there"));
      }
      segments[i]->MarkDead(slot, version_);
    }
    segments[i]->set_file(manifest.segments[i].file);
    live_rows_ += LiveRows(*segments[i]);
    segments_.push_back(std::move(segments[i]));
  }
  Publish(manifest.covered);
  return absl::OkStatus();
}

void TableIndex::MoveLiveRows(const GrowingSegment& from) {
  // Snapshots taken before go on with the old segment, where these rows stay live.
  for (size_t slot = 0; slot < from.slots(); ++slot) {
    if (!from.IsLive(slot, kLatestVersion)) continue;
    const IndexedRow row = from.Row(slot);
    Append(row.row_id, row.word, std::string_view(row.codes, codec_.row_bytes()));
    growing_->set_begins_after(std::min(growing_->begins_after(), from.begins_after()));
  }
}

}  // namespace vectable

#include "index/sealed_segment.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/vector_math.h"
#include "index/row_hash.h"

namespace vectable {
namespace {

template <typename T>
const T* As(const FileMapping& mapping) {
  return reinterpret_cast<const T*>(mapping.data());
}

template <typename Equals>
uint32_t FindInMap(const uint32_t* map, size_t entries, uint64_t hash, const Equals& equals) {
  const size_t mask = entries - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    if (map[i] == 0) return kNoSlot;
    if (equals(map[i] - 1)) return map[i] - 1;
  }
}

}  // namespace

size_t MapEntries(size_t slots) { return std::bit_ceil(std::max<size_t>(slots * 2, 1)); }

SealedSegment::SealedSegment(SegmentReader reader, Metric metric, VectorCodec codec)
    : Segment(metric, codec, BlockRowsFor(codec.dimensions())),
      reader_(std::move(reader)),
      facts_(reader_.facts()),
      scratch_(facts_.slots) {}

absl::StatusOr<std::shared_ptr<SealedSegment>> SealedSegment::Open(SegmentReader reader,
                                                                   Metric metric,
                                                                   VectorCodec codec) {
  const SegmentFacts& facts = reader.facts();
  if (facts.metric != metric || facts.precision != codec.precision() ||
      facts.dimensions != codec.dimensions()) {
    return absl::FailedPreconditionError("the segment file is that of a table of another shape");
  }
  if (facts.slots > kMaxSlots || facts.sorted_slots > facts.slots || facts.degree > kMostLinks ||
      facts.upper_degree > kMostLinks) {
    return absl::DataLossError("the segment file has impossible numbers");
  }
  std::shared_ptr<SealedSegment> segment(new SealedSegment(std::move(reader), metric, codec));
  VT_RETURN_IF_ERROR(segment->Load());
  return segment;
}

absl::StatusOr<FileMapping> SealedSegment::MapChecked(SegmentSection section, size_t bytes) const {
  VT_ASSIGN_OR_RETURN(FileMapping mapping, reader_.Map(section, bytes));
  VT_RETURN_IF_ERROR(reader_.Check(section, mapping));
  return mapping;
}

absl::Status SealedSegment::Load() {
  const size_t slots = facts_.slots;
  const auto read = [&](SegmentSection section, auto& array, size_t bytes) {
    using Value = std::remove_reference_t<decltype(array[0])>;
    array = AllocateLarge<Value>(bytes / sizeof(Value), true);
    return reader_.Read(section, array.get(), bytes);
  };
  const auto read_codes = [&](SegmentSection section, LargeArray<char>& codes, size_t stride) {
    codes = AllocateCodes(slots * stride, true);
    return reader_.Read(section, codes.get(), slots * stride);
  };
  VT_RETURN_IF_ERROR(read_codes(SegmentSection::kCoarseCodes, coarse_, coder().coarse_stride()));
  VT_RETURN_IF_ERROR(read_codes(SegmentSection::kFineCodes, fine_, coder().fine_stride()));
  VT_ASSIGN_OR_RETURN(codes_, reader_.Map(SegmentSection::kCodes, slots * codec().row_bytes()));
  if (reader_.Has(SegmentSection::kRowHashes)) {
    VT_ASSIGN_OR_RETURN(row_hashes_,
                        MapChecked(SegmentSection::kRowHashes, slots * sizeof(uint32_t)));
  }
  if (coder().has_norms()) {
    VT_RETURN_IF_ERROR(read(SegmentSection::kNorms, norms_, slots * sizeof(float)));
    if (slots > 0) max_norm_ = *std::max_element(norms_.get(), norms_.get() + slots);
  }
  VT_ASSIGN_OR_RETURN(squared_norms_,
                      MapChecked(SegmentSection::kSquaredNorms, slots * sizeof(double)));
  VT_ASSIGN_OR_RETURN(row_ids_, MapChecked(SegmentSection::kRowIds, slots * sizeof(uint64_t)));
  VT_ASSIGN_OR_RETURN(word_ends_, MapChecked(SegmentSection::kWordEnds, slots * sizeof(uint64_t)));
  const uint64_t word_bytes = slots == 0 ? 0 : As<uint64_t>(word_ends_)[slots - 1];
  VT_ASSIGN_OR_RETURN(words_, MapChecked(SegmentSection::kWords, word_bytes));
  const size_t map_bytes = MapEntries(slots) * sizeof(uint32_t);
  VT_ASSIGN_OR_RETURN(word_map_, MapChecked(SegmentSection::kWordMap, map_bytes));
  VT_ASSIGN_OR_RETURN(row_id_map_, MapChecked(SegmentSection::kRowIdMap, map_bytes));
  // Zeros, which mean that a row lives, cost no memory until they are written.
  dead_at_.reset(
      static_cast<DeathMark*>(std::calloc(std::max<size_t>(slots, 1), sizeof(DeathMark))));
  if (dead_at_ == nullptr) throw std::bad_alloc();
  return has_graph() ? LoadGraph() : absl::OkStatus();
}

absl::Status SealedSegment::LoadGraph() {
  const auto read = [&](SegmentSection section, std::vector<uint32_t>& out) {
    out.resize(reader_.Bytes(section) / sizeof(uint32_t));
    return reader_.Read(section, out.data(), out.size() * sizeof(uint32_t));
  };
  const size_t links = facts_.slots * facts_.degree;
  links_ = AllocateLarge<uint32_t>(links, true);
  VT_RETURN_IF_ERROR(reader_.Read(SegmentSection::kLinks, links_.get(), links * sizeof(uint32_t)));
  VT_RETURN_IF_ERROR(read(SegmentSection::kUpperSlots, upper_slots_));
  VT_RETURN_IF_ERROR(read(SegmentSection::kUpperOffsets, upper_offsets_));
  VT_RETURN_IF_ERROR(read(SegmentSection::kUpperLinks, upper_links_));
  std::vector<RecallPoint> points(reader_.Bytes(SegmentSection::kRecallCurve) /
                                  sizeof(RecallPoint));
  VT_RETURN_IF_ERROR(reader_.Read(SegmentSection::kRecallCurve, points.data(),
                                  points.size() * sizeof(RecallPoint)));
  curve_ = RecallCurve(std::move(points));
  graph_.degree = facts_.degree;
  graph_.upper_degree = facts_.upper_degree;
  graph_.top_level = facts_.top_level;
  graph_.entry_node = facts_.entry_node;
  graph_.entry_slot = facts_.entry_slot;
  graph_.links = links_.get();
  graph_.upper_slots = upper_slots_;
  graph_.upper_offsets = upper_offsets_;
  graph_.upper_links = upper_links_;
  return absl::OkStatus();
}

absl::Status SealedSegment::CheckCodes() const {
  VT_RETURN_IF_ERROR(reader_.Check(SegmentSection::kCodes, codes_));
  damaged_.store(false, std::memory_order_release);
  return absl::OkStatus();
}

bool SealedSegment::IsWhole(size_t slot) const {
  if (!row_hashes_) return true;
  const size_t bytes = codec().row_bytes();
  if (HashOfRow(codes_.data() + slot * bytes, bytes) == As<uint32_t>(*row_hashes_)[slot]) {
    return true;
  }
  damaged_.store(true, std::memory_order_release);
  return false;
}

void SealedSegment::MarkDead(size_t slot, uint64_t version) {
  dead_at_[slot].store(version, std::memory_order_release);
  ++dead_slots_;
}

RowColumns SealedSegment::Columns(size_t slot) const {
  const auto at = [slot](const auto& array) {
    return array == nullptr ? nullptr : array.get() + slot;
  };
  RowColumns columns;
  columns.codes = codes_.data() + slot * codec().row_bytes();
  columns.coarse = coder().coarse(coarse_.get() + slot * coder().coarse_stride());
  columns.fine = coder().fine(fine_.get() + slot * coder().fine_stride());
  columns.norms = at(norms_);
  columns.squared_norms = As<double>(squared_norms_) + slot;
  columns.row_ids = As<uint64_t>(row_ids_) + slot;
  columns.dead_at = at(dead_at_);
  return columns;
}

std::string_view SealedSegment::Word(size_t slot) const {
  const uint64_t* const ends = As<uint64_t>(word_ends_);
  const uint64_t begin = slot == 0 ? 0 : ends[slot - 1];
  return {words_.data() + begin, ends[slot] - begin};
}

uint32_t SealedSegment::FindWord(std::string_view word, size_t slots, uint64_t version) const {
  const uint32_t slot = FindInMap(As<uint32_t>(word_map_), MapEntries(facts_.slots),
                                  HashOfWord(word), [&](uint32_t s) { return Word(s) == word; });
  return slot < slots && IsLive(slot, version) ? slot : kNoSlot;
}

uint32_t SealedSegment::FindRowId(uint64_t row_id, size_t slots, uint64_t version) const {
  const uint64_t* const row_ids = As<uint64_t>(row_ids_);
  const uint32_t slot =
      FindInMap(As<uint32_t>(row_id_map_), MapEntries(facts_.slots), HashRowId(row_id),
                [&](uint32_t s) { return row_ids[s] == row_id; });
  return slot < slots && IsLive(slot, version) ? slot : kNoSlot;
}

std::vector<SlotRun> SealedSegment::SlotsBelow(uint64_t end) const {
  const uint64_t* const row_ids = As<uint64_t>(row_ids_);
  const size_t sorted = facts_.sorted_slots;
  const size_t below = std::lower_bound(row_ids, row_ids + sorted, end) - row_ids;
  std::vector<SlotRun> runs;
  if (below > 0) runs.push_back({0, below});
  if (sorted < facts_.slots) runs.push_back({sorted, facts_.slots});
  return runs;
}

WalkFilter SealedSegment::FilterOf(const IndexQuery& query, const RowFilter& filter) const {
  WalkFilter walk;
  if (dead_slots() > 0) walk.dead_at = dead_at_.get();
  walk.version = filter.version();
  if (filter.has_end()) walk.row_ids = As<uint64_t>(row_ids_);
  walk.end = filter.end();
  for (const uint64_t row_id : query.excluded_row_ids) {
    const uint32_t slot = FindRowId(row_id, slots(), filter.version());
    if (slot != kNoSlot) walk.excluded.push_back(slot);
  }
  std::sort(walk.excluded.begin(), walk.excluded.end());
  return walk;
}

bool SealedSegment::Walk(const IndexQuery& query, const CodedQuery& coded, const RowFilter& filter,
                         size_t width, size_t wanted, TopHits& top) const {
  const RowColumns columns = Columns(0);
  std::unique_ptr<WalkScratch> scratch = scratch_.Take();
  WalkGraph(graph_, WalkQuery(metric(), columns, coded), FilterOf(query, filter), width, *scratch);
  const WalkPool& pool = scratch->pool;
  const size_t most = CandidatesFor(wanted, width);
  std::vector<uint32_t> candidates;
  candidates.reserve(std::min(most, pool.size()));
  for (size_t i = 0; i < pool.size() && candidates.size() < most; ++i) {
    if (!pool.counts(i)) continue;
    candidates.push_back(pool.slot(i));
    __builtin_prefetch(columns.fine.row(pool.slot(i)));
  }
  scratch_.Return(std::move(scratch));
  const bool enough = candidates.size() >= wanted;
  KeepPossible(columns, coded, wanted, candidates);
  for (const uint32_t slot : candidates) {
    const char* const row = columns.codes + size_t{slot} * codec().row_bytes();
    for (size_t b = 0; b < codec().row_bytes(); b += kCacheLine) __builtin_prefetch(row + b);
  }
  const double squared_norm = SquaredNormInDouble(query.vector);
  std::vector<float> row_scratch;
  for (const uint32_t slot : candidates) {
    if (!IsWhole(slot)) continue;
    const char* const row = columns.codes + size_t{slot} * codec().row_bytes();
    const double score =
        Score(metric(), query.vector, squared_norm, RowBlock::VectorOf(codec(), row, row_scratch),
              columns.squared_norms[slot]);
    if (top.Admits(score, columns.row_ids[slot])) top.Add({Row(slot), score});
  }
  return enough;
}

void SealedSegment::KeepPossible(const RowColumns& columns, const CodedQuery& coded, size_t wanted,
                                 std::vector<uint32_t>& slots) const {
  if (slots.size() <= wanted || wanted == 0) return;
  std::vector<int32_t> dots(slots.size());
  DotHalvesAt(coded.query(), columns.coarse, columns.fine, slots.data(), slots.size(), dots.data());
  std::vector<float> least(slots.size());
  std::vector<float> most(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto [score, bound] =
        columns.ScoreOf(coded.bounds, metric() == Metric::kEuclidean, slots[i], dots[i]);
    least[i] = score - bound;
    most[i] = score + bound;
  }
  const auto last = least.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
  std::nth_element(least.begin(), last, least.end(), std::greater<>());
  size_t kept = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (most[i] >= *last) slots[kept++] = slots[i];
  }
  slots.resize(kept);
}

IndexMemory SealedSegment::Memory(size_t /*slots*/) const {
  const size_t slots = facts_.slots;
  IndexMemory memory;
  // Without a file on disk behind it, a mapping is memory like any other.
  const bool on_disk = reader_.on_disk();
  const auto add_mapped = [&](uint64_t& part, std::initializer_list<SegmentSection> sections) {
    for (const SegmentSection section : sections) {
      (on_disk ? memory.mapped : part) += reader_.Bytes(section);
    }
  };
  memory.search_codes += slots * (coder().coarse_stride() + coder().fine_stride());
  if (norms_ != nullptr) memory.search_codes += slots * sizeof(float);
  memory.graph +=
      slots * facts_.degree * sizeof(uint32_t) +
      (upper_slots_.size() + upper_offsets_.size() + upper_links_.size()) * sizeof(uint32_t) +
      scratch_.bytes();
  memory.row_state += std::min(dead_slots() * size_t{4096}, slots * sizeof(DeathMark));
  add_mapped(memory.row_state, {SegmentSection::kSquaredNorms, SegmentSection::kRowHashes});
  add_mapped(memory.words, {SegmentSection::kWordEnds, SegmentSection::kWords});
  add_mapped(memory.id_maps,
             {SegmentSection::kRowIds, SegmentSection::kWordMap, SegmentSection::kRowIdMap});
  add_mapped(memory.codes, {SegmentSection::kCodes});
  return memory;
}

}  // namespace vectable

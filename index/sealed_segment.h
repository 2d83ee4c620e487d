#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "index/graph.h"
#include "index/graph_walk.h"
#include "index/large_array.h"
#include "index/recall_curve.h"
#include "index/row_filter.h"
#include "index/segment.h"
#include "index/segment_file.h"
#include "index/table_index.h"
#include "index/top_hits.h"

namespace vectable {

// Slots that follow each other.
struct SlotRun {
  size_t begin = 0;
  size_t end = 0;
};

// Rows that were gathered once and written to a file, each word and row id once; large ones with a
// graph. Only the marks of dead rows change. What walks read, search codes and links, lies in
// memory of its own; the rest is mapped.
class SealedSegment final : public Segment {
 public:
  // Reads what a search needs and checks it, all but the rows' codes. DATA_LOSS for a damaged file,
  // FAILED_PRECONDITION for one of another table's shape.
  static absl::StatusOr<std::shared_ptr<SealedSegment>> Open(SegmentReader reader, Metric metric,
                                                             VectorCodec codec);

  // Checks the rows' codes against their checksum, which reads them all.
  absl::Status CheckCodes() const;
  // Whether a row was met that wasn't whole: what was found by it may be wrong.
  bool damaged() const { return damaged_.load(std::memory_order_acquire); }

  // The number of its file in the table's folder; 0 where it has none.
  uint64_t file() const { return file_; }
  void set_file(uint64_t file) { file_ = file; }

  bool has_graph() const { return facts_.degree > 0; }
  const RecallCurve& curve() const { return curve_; }
  uint64_t file_bytes() const { return reader_.file_bytes(); }

  // Adds to `top` the nearest rows that a walk of this width finds. False when fewer than
  // `wanted` rows came back, though more may qualify.
  bool Walk(const IndexQuery& query, const CodedQuery& coded, const RowFilter& filter, size_t width,
            size_t wanted, TopHits& top) const;

  // Runs of slots that together hold every row with an id below `end`: of the slots in the order of
  // their row ids those below it, and all that are in no order.
  std::vector<SlotRun> SlotsBelow(uint64_t end) const;
  // How many slots are in the order of their row ids: the first ones.
  size_t sorted_slots() const { return facts_.sorted_slots; }

  bool IsWhole(size_t slot) const override;
  const SealedSegment* sealed() const override { return this; }
  size_t slots() const override { return facts_.slots; }
  void MarkDead(size_t slot, uint64_t version) override;
  RowColumns Columns(size_t slot) const override;
  std::string_view Word(size_t slot) const override;
  uint32_t FindWord(std::string_view word, size_t slots, uint64_t version) const override;
  uint32_t FindRowId(uint64_t row_id, size_t slots, uint64_t version) const override;
  double MaxNorm() const override { return max_norm_; }
  IndexMemory Memory(size_t slots) const override;

 private:
  SealedSegment(SegmentReader reader, Metric metric, VectorCodec codec);
  absl::Status Load();
  absl::Status LoadGraph();
  WalkFilter FilterOf(const IndexQuery& query, const RowFilter& filter) const;
  // Drops slots that their whole codes rule out from the `wanted` nearest of these.
  void KeepPossible(const RowColumns& columns, const CodedQuery& coded, size_t wanted,
                    std::vector<uint32_t>& slots) const;
  absl::StatusOr<FileMapping> MapChecked(SegmentSection section, size_t bytes) const;

  const SegmentReader reader_;
  uint64_t file_ = 0;
  const SegmentFacts facts_;
  // In memory.
  LargeArray<char> coarse_;
  LargeArray<char> fine_;
  LargeArray<float> norms_;
  LargeArray<DeathMark> dead_at_;
  double max_norm_ = 0;
  // Mapped.
  FileMapping codes_;
  std::optional<FileMapping> row_hashes_;  // nothing in an older file
  mutable std::atomic<bool> damaged_{false};
  FileMapping squared_norms_;
  FileMapping row_ids_;
  FileMapping word_ends_;
  FileMapping words_;
  FileMapping word_map_;
  FileMapping row_id_map_;

  LargeArray<uint32_t> links_;
  std::vector<uint32_t> upper_slots_;
  std::vector<uint32_t> upper_offsets_;
  std::vector<uint32_t> upper_links_;
  Graph graph_;
  RecallCurve curve_;
  mutable WalkScratchPool scratch_;
};

// Entries of the maps of a segment of so many slots: a power of two.
size_t MapEntries(size_t slots);

}  // namespace vectable

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "index/graph.h"
#include "index/kernels/half_codes.h"
#include "index/row_block.h"
#include "index/search_codes.h"

namespace vectable {

// A query as a walk over rows with these columns compares it, by the upper halves of their codes.
// `coded` must outlive it.
CoarseQuery WalkQuery(Metric metric, const RowColumns& columns, const CodedQuery& coded);

// Marks of slots that a walk has met: a byte each, cleared all at once by counting walks.
class VisitMarks {
 public:
  explicit VisitMarks(size_t slots) : marks_(slots, 0) {}

  // Begins a walk: no slot is marked. Returns what its marks are.
  uint8_t Begin() {
    if (++walk_ == 0) {
      std::fill(marks_.begin(), marks_.end(), uint8_t{0});
      walk_ = 1;
    }
    return walk_;
  }
  // Whether it is the first time in this walk.
  bool Visit(uint32_t slot) {
    const bool first = marks_[slot] != walk_;
    marks_[slot] = walk_;
    return first;
  }
  uint8_t* marks() { return marks_.data(); }
  size_t bytes() const { return marks_.size(); }

 private:
  std::vector<uint8_t> marks_;
  uint8_t walk_ = 0;
};

// The nearest slots that a walk has met, in order. Holds at most `width` slots that count, and
// those that don't (dead or filtered rows, which are walked through) as far as they are nearer than
// the last that does.
class WalkPool {
 public:
  void Begin(size_t width);

  // Takes a slot in, where it is near enough.
  void Add(float score, uint32_t slot, bool counts);
  // Below it nothing is taken in.
  float worst() const { return worst_; }

  // The nearest slot that was not taken yet, or kNoSlot.
  uint32_t TakeNext();

  size_t size() const { return scores_.size(); }
  float score(size_t i) const { return scores_[i]; }
  uint32_t slot(size_t i) const { return slots_[i] & kSlotMask; }
  bool counts(size_t i) const { return (slots_[i] & kSkipped) == 0; }

 private:
  static constexpr uint32_t kTaken = 1U << 31;
  static constexpr uint32_t kSkipped = 1U << 30;
  static constexpr uint32_t kSlotMask = kSkipped - 1;

  void DropWorst();

  size_t width_ = 0;
  size_t counting_ = 0;  // slots that count
  size_t next_ = 0;      // none before it is left to take
  float worst_ = 0;
  std::vector<float> scores_;  // descending
  std::vector<uint32_t> slots_;
};

// How many of a walk's candidates are scored again from their vectors, for the `wanted` nearest:
// the upper halves of codes are rough.
constexpr size_t CandidatesFor(size_t wanted, size_t width) {
  constexpr size_t kSpareCandidates = 40;
  return std::max(wanted + kSpareCandidates, width / 2);
}

inline constexpr size_t kMaxSlots = size_t{1} << 30;  // that a walk can tell from its marks

// What a walk needs for itself.
struct WalkScratch {
  explicit WalkScratch(size_t slots) : marks(slots) {}

  VisitMarks marks;
  WalkPool pool;
};

// Scratch for as many walks as go on at once, kept for the next ones. Thread-safe.
class WalkScratchPool {
 public:
  explicit WalkScratchPool(size_t slots) : slots_(slots) {}

  std::unique_ptr<WalkScratch> Take() ABSL_LOCKS_EXCLUDED(mu_);
  void Return(std::unique_ptr<WalkScratch> scratch) ABSL_LOCKS_EXCLUDED(mu_);
  size_t bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const size_t slots_;
  mutable absl::Mutex mu_;
  std::vector<std::unique_ptr<WalkScratch>> free_ ABSL_GUARDED_BY(mu_);
  size_t made_ ABSL_GUARDED_BY(mu_) = 0;
};

// Which slots of a segment a query may have as hits: a RowFilter in terms of slots.
struct WalkFilter {
  const DeathMark* dead_at = nullptr;  // null: no slot is dead
  uint64_t version = 0;
  const uint64_t* row_ids = nullptr;  // null: any row id will do
  uint64_t end = 0;                   // row ids below it only
  std::vector<uint32_t> excluded;     // ascending

  bool all() const { return dead_at == nullptr && row_ids == nullptr && excluded.empty(); }
  bool Allows(uint32_t slot) const {
    if (dead_at != nullptr) {
      const uint64_t dead = dead_at[slot].load(std::memory_order_acquire);
      if (dead != 0 && dead <= version) return false;
    }
    if (row_ids != nullptr && row_ids[slot] >= end) return false;
    return excluded.empty() || !std::binary_search(excluded.begin(), excluded.end(), slot);
  }
};

// Walks the graph from its top to the slots nearest by code scores and leaves in `scratch.pool` at
// most `width` that the filter allows, among others that it doesn't.
void WalkGraph(const Graph& graph, const CoarseQuery& query, const WalkFilter& filter, size_t width,
               WalkScratch& scratch);

}  // namespace vectable

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "index/table_index.h"

namespace vectable {

// The k best hits seen so far, best first when taken: higher score, then lower row id.
class TopHits {
 public:
  explicit TopHits(size_t k) : k_(k) {}

  bool full() const { return hits_.size() >= k_; }
  size_t size() const { return hits_.size(); }
  // Whether the hit would be kept.
  bool Admits(double score, uint64_t row_id) const {
    if (!full()) return true;
    const IndexHit& worst = hits_.front();
    return score != worst.score ? score > worst.score : row_id < worst.row.row_id;
  }
  void Add(const IndexHit& hit) {
    if (full()) {
      std::pop_heap(hits_.begin(), hits_.end(), Better);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    std::push_heap(hits_.begin(), hits_.end(), Better);
  }
  std::vector<IndexHit> Take() {
    std::sort_heap(hits_.begin(), hits_.end(), Better);
    return std::move(hits_);
  }

 private:
  static bool Better(const IndexHit& a, const IndexHit& b) {
    return a.score != b.score ? a.score > b.score : a.row.row_id < b.row.row_id;
  }

  const size_t k_;
  std::vector<IndexHit> hits_;  // a heap, the worst in front
};

}  // namespace vectable

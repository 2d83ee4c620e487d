#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/metric.h"
#include "index/batch_backend.h"
#include "index/chunk.h"
#include "index/table_index.h"

namespace vectable {

// The k best hits seen so far, best first when taken.
class TopHits {
 public:
  explicit TopHits(size_t k) : k_(k) {}

  bool full() const { return hits_.size() >= k_; }
  // The score that a further row must reach; only when full.
  double worst_score() const { return hits_.front().score; }
  // Whether the hit would be kept.
  bool Admits(double score, uint64_t row_id) const;
  void Add(const IndexHit& hit);
  // The hits best first: higher score, then lower row id.
  std::vector<IndexHit> Take();
  const std::vector<IndexHit>& hits() const { return hits_; }

 private:
  const size_t k_;
  std::vector<IndexHit> hits_;  // a heap, the worst in front
};

// One exact search over blocks of rows, for a batch of queries.
//
// In each block a backend proposes some more than k candidates per query in float arithmetic. They
// are scored again in double. What a backend didn't propose can't score higher than its last
// proposal plus the rounding error of float sums, so a block whose bound lies below the k-th score
// is done with; the few others are scored in double whole. The answer is that of a scan in double.
class ExactSearch {
 public:
  // `queries` and `options` must outlive the search.
  ExactSearch(Metric metric, size_t dimensions, const BatchBackend& backend, uint64_t version,
              std::span<const IndexQuery> queries, const IndexSearchOptions& options);

  // Takes in the first `rows` rows of a chunk, which must outlive the search.
  absl::Status AddBlock(const Chunk& chunk, size_t rows);

  // Settles the blocks that are still open; one result per query.
  absl::StatusOr<std::vector<IndexResult>> Finish();

 private:
  // A block as the common filter sees it.
  struct Block {
    const Chunk* chunk = nullptr;
    size_t rows = 0;
    size_t allowed_rows = 0;
    std::vector<uint64_t> allowed;  // a bit per row; empty when all are allowed

    bool Allows(size_t offset) const {
      return allowed.empty() || (allowed[offset / 64] >> (offset % 64) & 1) != 0;
    }
  };
  // A block that a query may have to look at again.
  struct Open {
    const Chunk* chunk = nullptr;
    size_t rows = 0;
    double bound = 0;  // no score of a row not proposed is above it
  };
  struct QueryState {
    QueryState(const IndexQuery& asked, size_t k);

    std::span<const float> vector;
    double squared_norm = 0;
    double norm = 0;
    absl::flat_hash_set<uint64_t> excluded;
    TopHits top;
    std::vector<Open> open;
  };

  Block Filter(const Chunk& chunk, size_t rows) const;
  bool NeedsDouble(const Chunk& chunk) const;
  absl::Status ProposeIn(const Block& block, size_t k);
  void TakeProposals(QueryState& state, const Block& block, size_t q, size_t k);
  void ScanInDouble(QueryState& state, const Block& block);
  // Scores the blocks that the query left open and that may still hold a hit.
  absl::Status Settle(QueryState& state);
  uint64_t RowsSearched(const QueryState& state) const;
  void Consider(QueryState& state, const Chunk& chunk, size_t offset);
  // The highest final score that a row with this proposed score can have.
  double UpperBound(const QueryState& state, const Chunk& chunk, double proposed) const;

  const Metric metric_;
  const size_t dimensions_;
  const BatchBackend& backend_;
  const uint64_t version_;
  const IndexSearchOptions& options_;
  std::vector<QueryState> states_;
  std::vector<float> search_queries_;  // as the backend gets them
  size_t most_excluded_ = 0;
  uint64_t allowed_rows_ = 0;
  Proposals proposals_;
  std::vector<float> block_scratch_;
  std::vector<float> row_scratch_;
};

}  // namespace vectable

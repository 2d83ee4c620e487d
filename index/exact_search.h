#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/metric.h"
#include "index/row_block.h"
#include "index/row_filter.h"
#include "index/search_codes.h"
#include "index/table_index.h"
#include "index/top_hits.h"

namespace vectable {

// One exact search over blocks of rows, for a batch of queries.
//
// Rows are looked through by their codes, some hundred at a time for all queries. A row's codes
// give its score to within a bound, so k rows whose least possible scores are known rule out every
// row whose greatest possible score lies below them all. A query alone reads the upper halves of
// the codes of all rows and the lower ones where those leave a doubt; a batch, which has more to
// compute than to read, both at once. The rows that are left, few unless scores lie very close, are
// scored in double from their vectors. The answer is that of a scan in double.
class ExactSearch {
 public:
  // `queries` and `options` must outlive the search.
  ExactSearch(Metric metric, uint64_t version, std::span<const IndexQuery> queries,
              const IndexSearchOptions& options);

  // Takes in a block, which must outlive the search.
  absl::Status AddBlock(const RowBlock& block);

  // Scores what is left; one result per query.
  absl::StatusOr<std::vector<IndexResult>> Finish();

 private:
  // A row that may be a hit.
  struct Possible {
    float most = 0;  // that it can score
    uint32_t block = 0;
    uint32_t offset = 0;
  };
  struct QueryState {
    QueryState(Metric metric, const IndexQuery& asked, const IndexSearchOptions& options,
               uint64_t version);

    // A possible hit must reach it.
    float threshold() const;

    std::span<const float> vector;
    double squared_norm = 0;
    CodedQuery coded;
    RowFilter filter;
    TopHits top;
    size_t k;
    std::vector<float> least;  // the k highest least scores, a heap with the lowest in front
    std::vector<Possible> possible;
    size_t prune_at = 0;
  };

  RowNorms NormsFrom(const RowColumns& columns, size_t begin) const;
  bool NeedsDouble(const RowBlock& block) const;
  void LookThrough(const RowBlock& block, size_t begin, size_t count);
  void LookThroughInHalves(const RowBlock& block, size_t begin, size_t count);
  // Takes those of `places_` from `begin` on, with the products of `dots`, one per place.
  void TakePossible(QueryState& state, const RowBlock& block, size_t begin, size_t chosen,
                    const int32_t* dots);
  // Drops what can't be a hit any more; scores the rest when it is too much to keep.
  void Prune(QueryState& state);
  void ScorePossible(QueryState& state);
  void ScanInDouble(QueryState& state, const RowBlock& block);
  void Consider(QueryState& state, const RowBlock& block, size_t offset);

  const Metric metric_;
  const IndexSearchOptions& options_;
  std::vector<QueryState> states_;
  std::vector<int8_t> tile_;  // the codes of all queries
  std::vector<int32_t> tile_sums_;
  std::vector<RowBlock> blocks_;
  std::vector<float> scales_;
  std::vector<float> errors_;
  std::vector<int32_t> dots_;
  std::vector<int32_t> chosen_dots_;
  std::vector<uint32_t> places_;
  std::vector<float> row_scratch_;
};

}  // namespace vectable

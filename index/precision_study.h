#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/precision.h"
#include "common/vector_codec.h"
#include "index/batch_backend.h"
#include "index/table_index.h"

namespace vectable {

// The values of all queries of a study together, at most.
inline constexpr size_t kMaxStudyValues = size_t{4} << 20;

// A query whose neighbours differ.
struct ChangedWord {
  std::string word;
  uint32_t kept = 0;  // of its 10 nearest (or as many as there are), how many are still among them
};

// What answers cost at one precision, against those at the table's own.
struct PrecisionFigures {
  Precision precision = Precision::kFp32;
  // Rows that the precision can't hold (out of range, or all zero under cosine); they are left out.
  uint64_t rows_refused = 0;
  // The share of the true 1, 10 and 100 nearest rows (or of all others, where there are fewer) that
  // a search finds among its own, over the queries. Means nothing where there are no queries.
  double recall_at_1 = 0;
  double recall_at_10 = 0;
  double recall_at_100 = 0;
  // 1 - cosine between a row and itself at this precision: mean and greatest over all rows that
  // aren't zero; 1 for a row that becomes zero.
  double mean_cosine_error = 0;
  double worst_cosine_error = 0;
  std::vector<ChangedWord> most_changed;  // the most changed first; none that is unchanged
};

// Measures, on one snapshot, what each precision costs: the answers of a table with the same rows
// at that precision, where queries are rows and are coded like all others, against the answers of
// the table itself. Nothing is changed. Candidates are ranked in float and the best 109 of each
// query again in double; where more rows than that share a score, which of them count is arbitrary.
// Memory is bounded: a block of rows, the queries (at most kMaxStudyValues values at each
// precision) and their candidates. Not thread-safe.
class PrecisionStudy {
 public:
  // The queries are up to `queries` rows, fewer in very wide tables, chosen by a hash of their ids:
  // the same rows give the same figures whatever order they came in. Holds the snapshot.
  PrecisionStudy(std::shared_ptr<const IndexSnapshot> snapshot, size_t queries);
  ~PrecisionStudy();

  bool done() const { return steps_done_ == steps(); }
  // Does a part of the work, bounded whatever the table's width; not when done.
  absl::Status Step();

  // How much of the work is done, in steps.
  size_t steps_done() const { return steps_done_; }
  size_t steps() const {
    return contenders_.size() * (blocks_.size() * Slices(kSliceQueries) + Slices(rank_queries_));
  }

  uint64_t rows() const { return snapshot_->live_rows(); }
  size_t queries() const { return sample_.size(); }
  // The precision that the others are compared with: the table's own.
  Precision baseline() const { return codec_.precision(); }

  // From fp32 to int4, the baseline with them. When done.
  std::vector<PrecisionFigures> Figures() const;

 private:
  // A row's place among the blocks.
  struct Place {
    uint32_t block = 0;
    uint32_t offset = 0;
  };
  struct Candidate {
    float score = 0;
    Place place;
  };
  // A precision that is looked at.
  struct Contender {
    explicit Contender(VectorCodec codec) : codec(codec) {}

    VectorCodec codec;
    std::vector<float> search;        // the queries as a backend gets them, queries x dimensions
    std::vector<bool> query_refused;  // the precision can't hold the query
    std::vector<std::vector<Candidate>> best;    // per query, a heap with the worst in front
    std::vector<std::vector<uint64_t>> nearest;  // per query, row ids, nearest first
    uint64_t error_rows = 0;
    double error_sum = 0;
    PrecisionFigures figures;
  };
  // Some of the queries.
  struct Slice {
    size_t begin = 0;
    size_t end = 0;
  };

  static constexpr size_t kSliceQueries = 256;  // that look through a block in a step

  void ChooseQueries(size_t count);
  void ChooseScale();
  // Into how many slices of `at_once` queries the sample falls, at least 1; and the one of a step.
  size_t Slices(size_t at_once) const;
  Slice SliceOf(size_t step, size_t at_once) const;
  void PrepareQueries(Contender& contender);
  absl::Status LookThrough(Contender& contender, size_t block, Slice slice);
  // Fills `search_rows_` and `search_offsets_` with the block's live rows at the contender's
  // precision, without those that it can't hold.
  void CodeBlock(Contender& contender, size_t block);
  void AddError(Contender& contender, Place place, std::span<const float> coded);
  void TakeProposals(Contender& contender, size_t block, Slice slice, const Proposals& proposals);
  void Rank(Contender& contender, Slice slice);
  void Compare(Contender& contender);
  // The row at this codec's precision; false when it can't be held.
  bool Recode(const VectorCodec& codec, Place place, std::span<float> out);
  // Makes a vector what a backend ranks: of unit length under cosine, within float's range
  // otherwise.
  void MakeSearchable(std::span<float> vector) const;

  const std::shared_ptr<const IndexSnapshot> snapshot_;
  const VectorCodec codec_;  // the table's
  const std::vector<RowBlock> blocks_;
  const size_t rank_queries_;  // that are ranked in a step: fewer of wide vectors
  std::vector<Place> sample_;
  float scale_ = 1;                    // a power of two, of all vectors under dot and euclidean
  std::vector<Contender> contenders_;  // the baseline first
  size_t steps_done_ = 0;
  std::vector<float> search_rows_;
  std::vector<uint32_t> search_offsets_;  // of search_rows_ in the block
  std::vector<float> row_;
  std::string codes_;
};

}  // namespace vectable

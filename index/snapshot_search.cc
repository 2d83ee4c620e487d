// How a snapshot answers: by scans and walks over its segments.

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/status_util.h"
#include "common/vector_math.h"
#include "index/exact_search.h"
#include "index/row_filter.h"
#include "index/sealed_segment.h"
#include "index/table_index.h"
#include "index/top_hits.h"

namespace vectable {
namespace {

// A walk of width w costs about as much as a scan of so many rows times w, for one query.
constexpr size_t kScannedRowsPerWidth = 150;
// A segment is scanned where a filter by row id lets less than one row in so many through.
constexpr size_t kLetThrough = 4;

// The scans that so many queries cost together, in those of one alone: to bring the rows into the
// form that batches need is most of it.
double ScansFor(size_t queries) {
  const auto count = static_cast<double>(queries);
  return std::min(count, 2.8 + 0.15 * count);
}

// The width at which a segment can be walked as asked; nothing where it has to be scanned.
std::optional<ChosenWidth> WidthOf(const Segment& segment, const IndexSearchOptions& options) {
  if (!options.recall) return std::nullopt;
  const SealedSegment* const sealed = segment.sealed();
  if (sealed == nullptr || !sealed->has_graph()) return std::nullopt;
  return sealed->curve().WidthFor(*options.recall, options.k);
}

}  // namespace

// One request.
class IndexSnapshot::Request {
 public:
  Request(const IndexSnapshot& snapshot, std::span<const IndexQuery> queries,
          const IndexSearchOptions& options)
      : snapshot_(snapshot), queries_(queries), options_(options) {
    for (const Part& part : snapshot.parts_) {
      if (!PlanWalk(part)) PlanScan(part);
    }
  }

  absl::StatusOr<std::vector<IndexResult>> Run() {
    VT_ASSIGN_OR_RETURN(std::vector<IndexResult> results, Scan(queries_, scanned_));
    if (!walks_.empty()) {
      for (size_t q = 0; q < queries_.size(); ++q) {
        VT_RETURN_IF_ERROR(AddWalks(queries_[q], results[q]));
      }
    }
    const uint64_t rows = snapshot_.RowsBelow(options_.first_n);
    for (size_t q = 0; q < queries_.size(); ++q) {
      results[q].rows_searched =
          rows - RowFilter(queries_[q], options_, snapshot_.version_).excluded_rows();
    }
    return results;
  }

 private:
  struct PlannedWalk {
    const SealedSegment* segment;
    ChosenWidth width;
  };

  // Whether the part is better walked.
  bool PlanWalk(const Part& part) {
    const std::optional<ChosenWidth> width = WidthOf(*part.segment, options_);
    if (!width) return false;
    const SealedSegment* const sealed = part.segment->sealed();
    size_t rows = sealed->slots();
    if (options_.first_n) {
      rows = 0;
      for (const SlotRun& run : sealed->SlotsBelow(*options_.first_n)) {
        rows += run.end - run.begin;
      }
      if (rows * kLetThrough < sealed->slots()) return false;
    }
    const double scanned = static_cast<double>(rows) * ScansFor(queries_.size());
    const size_t walked = queries_.size() * width->width * kScannedRowsPerWidth;
    if (scanned < static_cast<double>(walked)) return false;
    walks_.push_back({sealed, *width});
    return true;
  }

  void PlanScan(const Part& part) { AddBlocks(part, scanned_); }

  void AddBlocks(const Part& part, std::vector<RowBlock>& blocks) const {
    const Segment& segment = *part.segment;
    std::vector<SlotRun> runs = {{0, part.slots}};
    const SealedSegment* const sealed = segment.sealed();
    if (sealed != nullptr && options_.first_n) runs = sealed->SlotsBelow(*options_.first_n);
    for (const SlotRun& run : runs) {
      for (size_t begin = run.begin; begin < run.end;) {
        // Columns lie side by side up to the next multiple of a block's rows.
        const size_t next = (begin / segment.block_rows() + 1) * segment.block_rows();
        const size_t end = std::min(next, run.end);
        blocks.emplace_back(segment, segment.codec(), begin, end - begin, segment.Columns(begin));
        begin = end;
      }
    }
  }

  absl::StatusOr<std::vector<IndexResult>> Scan(std::span<const IndexQuery> queries,
                                                const std::vector<RowBlock>& blocks) const {
    ExactSearch search(snapshot_.metric_, snapshot_.version_, queries, options_);
    for (const RowBlock& block : blocks) VT_RETURN_IF_ERROR(search.AddBlock(block));
    return search.Finish();
  }

  // Adds what walks find to what was scanned for.
  absl::Status AddWalks(const IndexQuery& query, IndexResult& result) const {
    if (options_.keep_going) VT_RETURN_IF_ERROR(options_.keep_going());
    if (snapshot_.metric_ == Metric::kEuclidean &&
        std::sqrt(SquaredNormInDouble(query.vector)) > MaxCodedNorm(snapshot_.metric_)) {
      return AnswerExactly(query, result);
    }
    const CodedQuery coded(snapshot_.metric_, query.vector);
    const RowFilter filter(query, options_, snapshot_.version_);
    TopHits top(options_.k);
    for (const IndexHit& hit : result.hits) top.Add(hit);
    bool enough = true;
    for (const PlannedWalk& walk : walks_) {
      enough =
          walk.segment->Walk(query, coded, filter, walk.width.width, options_.k, top) && enough;
      if (result.exact || walk.width.recall < result.recall) result.recall = walk.width.recall;
      result.width = std::max(result.width, walk.width.width);
      result.exact = false;
    }
    result.hits = top.Take();
    const auto good = [this](const IndexHit& hit) {
      return !options_.min_score || hit.score >= *options_.min_score;
    };
    enough = enough && static_cast<size_t>(std::count_if(result.hits.begin(), result.hits.end(),
                                                         good)) >= options_.k;
    return enough ? absl::OkStatus() : AnswerExactly(query, result);
  }

  absl::Status AnswerExactly(const IndexQuery& query, IndexResult& result) const {
    std::vector<RowBlock> blocks;
    for (const Part& part : snapshot_.parts_) AddBlocks(part, blocks);
    VT_ASSIGN_OR_RETURN(std::vector<IndexResult> results, Scan({&query, 1}, blocks));
    result = std::move(results.front());
    return absl::OkStatus();
  }

  const IndexSnapshot& snapshot_;
  const std::span<const IndexQuery> queries_;
  const IndexSearchOptions& options_;
  std::vector<RowBlock> scanned_;
  std::vector<PlannedWalk> walks_;
};

absl::StatusOr<std::vector<IndexResult>> IndexSnapshot::Search(
    std::span<const IndexQuery> queries, const IndexSearchOptions& options) const {
  absl::StatusOr<std::vector<IndexResult>> results =
      IndexSnapshot::Request(*this, queries, options).Run();
  if (damaged()) return absl::DataLossError("a row of the index isn't what was written");
  return results;
}

uint64_t IndexSnapshot::RowsScanned(const IndexSearchOptions& options) const {
  uint64_t rows = 0;
  for (const Part& part : parts_) {
    const std::optional<ChosenWidth> width = WidthOf(*part.segment, options);
    const uint64_t walked = width ? uint64_t{width->width} * kScannedRowsPerWidth : part.slots;
    rows += std::min<uint64_t>(walked, part.slots);
  }
  return rows;
}

}  // namespace vectable

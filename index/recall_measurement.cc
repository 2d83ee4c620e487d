#include "index/recall_measurement.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "common/status_util.h"
#include "common/vector_math.h"
#include "index/background_threads.h"
#include "index/exact_search.h"
#include "index/graph_walk.h"
#include "index/segment.h"

namespace vectable {
namespace {

constexpr size_t kQueriesAtOnce = 64;
constexpr size_t kDepth = 100;            // of the recalls
constexpr double kEnoughRecall = 0.9995;  // wider walks than that are of no use
constexpr uint32_t kFirstWidth = 10;
constexpr uint32_t kLastWidth = 2000;

// Marks of rows none of which is dead, and ids that are slots: a search over a segment that isn't
// there yet.
class PlainSegment final : public Segment {
 public:
  explicit PlainSegment(const RecallSample& sample)
      : Segment(sample.metric, sample.codec, BlockRowsFor(sample.codec.dimensions())),
        columns_(sample.columns),
        squared_norms_(sample.rows),
        row_ids_(sample.rows),
        dead_at_(sample.rows) {
    std::vector<float> scratch;
    for (size_t i = 0; i < sample.rows; ++i) {
      row_ids_[i] = i;
      squared_norms_[i] = SquaredNormInDouble(
          RowBlock::VectorOf(codec(), columns_.codes + i * codec().row_bytes(), scratch));
      if (columns_.norms != nullptr) max_norm_ = std::max<double>(max_norm_, columns_.norms[i]);
    }
  }

  RowColumns Columns(size_t slot) const override {
    RowColumns columns = columns_;
    columns.codes += slot * codec().row_bytes();
    columns.coarse.rows += slot * columns.coarse.stride;
    columns.fine.rows += slot * columns.fine.stride;
    if (columns.norms != nullptr) columns.norms += slot;
    columns.squared_norms = &squared_norms_[slot];
    columns.row_ids = &row_ids_[slot];
    columns.dead_at = &dead_at_[slot];
    return columns;
  }
  std::string_view Word(size_t /*slot*/) const override { return {}; }
  uint32_t FindWord(std::string_view, size_t, uint64_t) const override { return kNoSlot; }
  uint32_t FindRowId(uint64_t, size_t, uint64_t) const override { return kNoSlot; }
  double MaxNorm() const override { return max_norm_; }
  IndexMemory Memory(size_t) const override { return {}; }
  size_t slots() const override { return row_ids_.size(); }
  void MarkDead(size_t, uint64_t) override {}

 private:
  const RowColumns columns_;
  std::vector<double> squared_norms_;
  std::vector<uint64_t> row_ids_;
  std::vector<DeathMark> dead_at_;
  double max_norm_ = 0;
};

using Slots = std::vector<uint32_t>;

// Slots and their scores, best first.
using Ranking = std::vector<std::pair<double, uint32_t>>;

size_t CountFound(const Slots& truth, Ranking found, size_t k) {
  k = std::min(k, truth.size());
  std::sort(found.begin(), found.end());
  size_t count = 0;
  for (size_t i = 0; i < std::min(k, found.size()); ++i) {
    count +=
        std::count(truth.begin(), truth.begin() + static_cast<std::ptrdiff_t>(k), found[i].second);
  }
  return count;
}

class Measurement {
 public:
  Measurement(const RecallSample& sample, const Graph& graph)
      : sample_(sample), graph_(graph), truth_(sample.queries) {}

  absl::StatusOr<std::vector<RecallPoint>> Run() {
    VT_RETURN_IF_ERROR(FindTruth());
    std::vector<RecallPoint> points;
    double before = -1;
    for (uint32_t width = kFirstWidth; width <= kLastWidth; width += (width * 2 + 4) / 5) {
      VT_ASSIGN_OR_RETURN(const RecallPoint point, MeasureWidth(width));
      points.push_back(point);
      // What a walk hasn't found by now it won't find by being wider.
      if (point.at_10 >= kEnoughRecall && point.at_100 >= kEnoughRecall) break;
      if (width > 4 * kDepth && point.at_100 <= before) break;
      before = point.at_100;
    }
    return points;
  }

 private:
  // Calls `work` with ranges that together are all queries, on all threads.
  template <typename Work>
  absl::Status ForQueries(const Work& work) const {
    std::atomic<size_t> next = 0;
    std::atomic<bool> stopped = false;
    RunInBackground(sample_.threads, [&] {
      WalkScratch scratch(sample_.rows);
      while (!stopped) {
        const size_t begin = next.fetch_add(kQueriesAtOnce);
        if (begin >= sample_.queries) return;
        if (sample_.stop && sample_.stop()) {
          stopped = true;
        } else {
          work(begin, std::min(begin + kQueriesAtOnce, sample_.queries), scratch);
        }
      }
    });
    return stopped ? absl::CancelledError("the measurement was stopped") : absl::OkStatus();
  }

  std::span<const float> Vector(size_t slot, std::vector<float>& scratch) const {
    const size_t row_bytes = sample_.codec.row_bytes();
    return RowBlock::VectorOf(sample_.codec, sample_.columns.codes + slot * row_bytes, scratch);
  }
  std::span<const float> QueryVector(size_t q, std::vector<float>& scratch) const {
    return Vector(sample_.rows + q, scratch);
  }

  absl::Status FindTruth() {
    const PlainSegment segment(sample_);
    IndexSearchOptions options;
    options.k = kDepth;
    return ForQueries([&](size_t begin, size_t end, WalkScratch& /*scratch*/) {
      std::vector<std::vector<float>> vectors(end - begin);
      std::vector<IndexQuery> queries(end - begin);
      std::vector<float> scratch;
      for (size_t i = 0; i < queries.size(); ++i) {
        const std::span<const float> vector = QueryVector(begin + i, scratch);
        vectors[i].assign(vector.begin(), vector.end());
        queries[i].vector = vectors[i];
      }
      ExactSearch search(sample_.metric, kLatestVersion, queries, options);
      // Nothing fails without `keep_going`.
      for (size_t i = 0; i < segment.BlockCount(sample_.rows); ++i) {
        search.AddBlock(segment.Block(i, sample_.rows)).IgnoreError();
      }
      const absl::StatusOr<std::vector<IndexResult>> results = search.Finish();
      for (size_t i = 0; i < queries.size(); ++i) {
        for (const IndexHit& hit : (*results)[i].hits) {
          truth_[begin + i].push_back(static_cast<uint32_t>(hit.row.row_id));
        }
      }
    });
  }

  absl::StatusOr<RecallPoint> MeasureWidth(uint32_t width) const {
    std::atomic<size_t> found_10 = 0;
    std::atomic<size_t> found_100 = 0;
    VT_RETURN_IF_ERROR(ForQueries([&](size_t begin, size_t end, WalkScratch& scratch) {
      for (size_t q = begin; q < end; ++q) {
        const Ranking found = Walk(q, width, scratch);
        found_10 += CountFound(truth_[q], FirstOf(found, CandidatesFor(10, width)), 10);
        found_100 += CountFound(truth_[q], found, kDepth);
      }
    }));
    size_t wanted_10 = 0;
    size_t wanted_100 = 0;
    for (const Slots& truth : truth_) {
      wanted_10 += std::min<size_t>(10, truth.size());
      wanted_100 += truth.size();
    }
    return RecallPoint{width, static_cast<float>(found_10) / static_cast<float>(wanted_10),
                       static_cast<float>(found_100) / static_cast<float>(wanted_100)};
  }

  // A walk's candidates in its own order, as many as a search for kDepth looks at, with their
  // scores from vectors, turned round.
  Ranking Walk(size_t q, uint32_t width, WalkScratch& scratch) const {
    std::vector<float> query_scratch;
    std::vector<float> row_scratch;
    const std::span<const float> query = QueryVector(q, query_scratch);
    const CodedQuery coded(sample_.metric, query);
    WalkGraph(graph_, WalkQuery(sample_.metric, sample_.columns, coded), WalkFilter(), width,
              scratch);
    const double squared_norm = SquaredNormInDouble(query);
    Ranking found;
    const size_t depth = std::min(scratch.pool.size(), CandidatesFor(kDepth, width));
    for (size_t i = 0; i < depth; ++i) {
      const uint32_t slot = scratch.pool.slot(i);
      const std::span<const float> row = Vector(slot, row_scratch);
      found.emplace_back(-Score(sample_.metric, query, squared_norm, row, SquaredNormInDouble(row)),
                         slot);
    }
    return found;
  }

  static Ranking FirstOf(const Ranking& found, size_t most) {
    return {found.begin(),
            found.begin() + static_cast<std::ptrdiff_t>(std::min(found.size(), most))};
  }

  const RecallSample& sample_;
  const Graph& graph_;
  std::vector<Slots> truth_;  // of each query, nearest first
};

}  // namespace

absl::StatusOr<std::vector<RecallPoint>> MeasureRecall(const RecallSample& sample,
                                                       const Graph& graph) {
  return Measurement(sample, graph).Run();
}

}  // namespace vectable

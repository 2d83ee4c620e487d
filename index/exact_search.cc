#include "index/exact_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "common/status_util.h"
#include "common/vector_math.h"

namespace vectable {
namespace {

// Rows that are looked through at a time: their codes, and their products with a batch of queries,
// stay in the cache; fewer when they are wide.
constexpr size_t kStepBytes = size_t{32} << 10;
constexpr size_t kMinStepRows = 16;
constexpr size_t kMaxStepRows = 256;
// Between looks at whether to go on: products of codes.
constexpr size_t kProductsPerLook = size_t{1} << 28;
// Fewer queries look through the halves of codes one after the other.
constexpr size_t kBatch = 5;
// Possible hits of a query that are kept unscored at most.
constexpr size_t kMostPossible = 16'384;

}  // namespace

ExactSearch::QueryState::QueryState(Metric metric, const IndexQuery& asked,
                                    const IndexSearchOptions& options, uint64_t version)
    : vector(asked.vector),
      squared_norm(SquaredNormInDouble(asked.vector)),
      coded(metric, asked.vector),
      filter(asked, options, version),
      top(options.k),
      k(options.k) {}

float ExactSearch::QueryState::threshold() const {
  return least.size() < k ? -std::numeric_limits<float>::infinity() : least.front();
}

ExactSearch::ExactSearch(Metric metric, uint64_t version, std::span<const IndexQuery> queries,
                         const IndexSearchOptions& options)
    : metric_(metric), options_(options) {
  states_.reserve(queries.size());
  for (const IndexQuery& query : queries) {
    const QueryState& state = states_.emplace_back(metric, query, options, version);
    tile_.insert(tile_.end(), state.coded.codes.begin(), state.coded.codes.end());
    tile_sums_.push_back(state.coded.sum);
  }
  places_.resize(kMaxStepRows + 16);
  chosen_dots_.resize(kMaxStepRows);
}

bool ExactSearch::NeedsDouble(const RowBlock& block) const {
  if (metric_ == Metric::kCosine) return false;
  const double limit = MaxCodedNorm(metric_);
  if (block.max_norm() > limit) return true;
  return metric_ == Metric::kEuclidean &&
         std::any_of(states_.begin(), states_.end(), [&](const QueryState& state) {
           return std::sqrt(state.squared_norm) > limit;
         });
}

absl::Status ExactSearch::AddBlock(const RowBlock& block) {
  blocks_.push_back(block);
  const bool in_double = NeedsDouble(block);
  const size_t row_bytes = block.columns().coarse.stride + block.columns().fine.stride;
  const size_t step = std::clamp(kStepBytes / row_bytes, kMinStepRows, kMaxStepRows);
  const size_t look =
      std::max(kProductsPerLook / (row_bytes * std::max<size_t>(states_.size(), 1)), step);
  size_t next_look = 0;
  for (size_t begin = 0; begin < block.rows(); begin += step) {
    if (begin >= next_look) {
      next_look += look;
      if (options_.keep_going) VT_RETURN_IF_ERROR(options_.keep_going());
      if (in_double) break;
    }
    const size_t count = std::min(step, block.rows() - begin);
    if (states_.size() < kBatch) {
      LookThroughInHalves(block, begin, count);
    } else {
      LookThrough(block, begin, count);
    }
  }
  if (in_double) {
    for (QueryState& state : states_) ScanInDouble(state, block);
  }
  return absl::OkStatus();
}

void ExactSearch::LookThrough(const RowBlock& block, size_t begin, size_t count) {
  const RowColumns& columns = block.columns();
  CoarseRows coarse = columns.coarse;
  coarse.rows += begin * coarse.stride;
  FineRows fine = columns.fine;
  fine.rows += begin * fine.stride;
  dots_.resize(states_.size() * count);
  DotHalvesTile(tile_.data(), tile_sums_.data(), states_.size(), coarse, fine, count, dots_.data());
  scales_.resize(count);
  errors_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    scales_[i] = coarse.scale(i);
    errors_[i] = fine.error(i);
  }
  for (size_t q = 0; q < states_.size(); ++q) {
    QueryState& state = states_[q];
    const int32_t* const dots = dots_.data() + q * count;
    const size_t chosen =
        SelectByDots(dots, scales_.data(), errors_.data(), NormsFrom(columns, begin),
                     state.coded.bounds, count, state.threshold(), places_.data());
    if (chosen == 0) continue;
    for (size_t i = 0; i < chosen; ++i) chosen_dots_[i] = dots[places_[i]];
    TakePossible(state, block, begin, chosen, chosen_dots_.data());
  }
}

void ExactSearch::LookThroughInHalves(const RowBlock& block, size_t begin, size_t count) {
  const RowColumns& columns = block.columns();
  CoarseRows coarse = columns.coarse;
  coarse.rows += begin * coarse.stride;
  FineRows fine = columns.fine;
  fine.rows += begin * fine.stride;
  for (QueryState& state : states_) {
    const size_t chosen =
        SelectByCoarse(state.coded.query(), state.coded.bounds, coarse, NormsFrom(columns, begin),
                       count, state.threshold(), places_.data());
    if (chosen == 0) continue;
    for (size_t i = 0; i < chosen; ++i) __builtin_prefetch(fine.row(places_[i]));
    DotHalvesAt(state.coded.query(), coarse, fine, places_.data(), chosen, chosen_dots_.data());
    TakePossible(state, block, begin, chosen, chosen_dots_.data());
  }
}

RowNorms ExactSearch::NormsFrom(const RowColumns& columns, size_t begin) const {
  return {columns.norms == nullptr ? nullptr : columns.norms + begin,
          metric_ == Metric::kEuclidean};
}

void ExactSearch::TakePossible(QueryState& state, const RowBlock& block, size_t begin,
                               size_t chosen, const int32_t* dots) {
  const RowColumns& columns = block.columns();
  for (size_t i = 0; i < chosen; ++i) {
    const size_t offset = begin + places_[i];
    const auto [score, bound] =
        columns.ScoreOf(state.coded.bounds, metric_ == Metric::kEuclidean, offset, dots[i]);
    if (score + bound < state.threshold()) continue;
    if (!state.filter.Allows(block, offset)) continue;
    state.possible.push_back(
        {score + bound, static_cast<uint32_t>(blocks_.size() - 1), static_cast<uint32_t>(offset)});
    const float least = score - bound;
    if (state.least.size() < state.k) {
      state.least.push_back(least);
      std::push_heap(state.least.begin(), state.least.end(), std::greater<>());
    } else if (least > state.least.front()) {
      std::pop_heap(state.least.begin(), state.least.end(), std::greater<>());
      state.least.back() = least;
      std::push_heap(state.least.begin(), state.least.end(), std::greater<>());
    }
  }
  if (state.possible.size() >= std::max(state.prune_at, kMostPossible / 4)) Prune(state);
}

void ExactSearch::Prune(QueryState& state) {
  const float threshold = state.threshold();
  std::erase_if(state.possible, [&](const Possible& row) { return row.most < threshold; });
  if (state.possible.size() > std::max(kMostPossible, 2 * state.k)) ScorePossible(state);
  state.prune_at = 2 * state.possible.size();
}

void ExactSearch::ScorePossible(QueryState& state) {
  for (const Possible& row : state.possible) Consider(state, blocks_[row.block], row.offset);
  state.possible.clear();
}

void ExactSearch::Consider(QueryState& state, const RowBlock& block, size_t offset) {
  if (!block.IsWhole(offset)) return;
  const double score = Score(metric_, state.vector, state.squared_norm,
                             block.Vector(offset, row_scratch_), block.squared_norm(offset));
  if (!state.top.Admits(score, block.row_id(offset))) return;
  state.top.Add({block.row(offset), score});
}

void ExactSearch::ScanInDouble(QueryState& state, const RowBlock& block) {
  for (size_t offset = 0; offset < block.rows(); ++offset) {
    if (state.filter.Allows(block, offset)) Consider(state, block, offset);
  }
}

absl::StatusOr<std::vector<IndexResult>> ExactSearch::Finish() {
  std::vector<IndexResult> results(states_.size());
  for (size_t q = 0; q < states_.size(); ++q) {
    QueryState& state = states_[q];
    if (options_.keep_going) VT_RETURN_IF_ERROR(options_.keep_going());
    Prune(state);
    ScorePossible(state);
    results[q].hits = state.top.Take();
  }
  return results;
}

}  // namespace vectable

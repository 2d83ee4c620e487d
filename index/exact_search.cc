#include "index/exact_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/vector_math.h"

namespace vectable {
namespace {

// Candidates beyond k: enough that near ties rarely leave a block open.
constexpr size_t kSpare = 8;
// Up to this many filtered rows are asked for on top and dropped; more of them go to the backend as
// a bitmap.
constexpr size_t kFewFiltered = 32;
// Above these norms float sums could overflow (under euclidean, of squared differences).
constexpr double kMaxDotNorm = 1e37;
constexpr double kMaxEuclideanNorm = 4e18;

// Whether `a` comes before `b` in an answer.
bool Better(const IndexHit& a, const IndexHit& b) {
  return a.score != b.score ? a.score > b.score : a.row.row_id < b.row.row_id;
}

}  // namespace

bool TopHits::Admits(double score, uint64_t row_id) const {
  if (!full()) return true;
  const IndexHit& worst = hits_.front();
  return score != worst.score ? score > worst.score : row_id < worst.row.row_id;
}

void TopHits::Add(const IndexHit& hit) {
  if (full()) {
    std::pop_heap(hits_.begin(), hits_.end(), Better);
    hits_.back() = hit;
  } else {
    hits_.push_back(hit);
  }
  std::push_heap(hits_.begin(), hits_.end(), Better);
}

std::vector<IndexHit> TopHits::Take() {
  std::sort_heap(hits_.begin(), hits_.end(), Better);
  return std::move(hits_);
}

ExactSearch::QueryState::QueryState(const IndexQuery& asked, size_t k)
    : vector(asked.vector),
      squared_norm(SquaredNormInDouble(asked.vector)),
      norm(std::sqrt(squared_norm)),
      excluded(asked.excluded_row_ids.begin(), asked.excluded_row_ids.end()),
      top(k) {}

ExactSearch::ExactSearch(Metric metric, size_t dimensions, const BatchBackend& backend,
                         uint64_t version, std::span<const IndexQuery> queries,
                         const IndexSearchOptions& options)
    : metric_(metric),
      dimensions_(dimensions),
      backend_(backend),
      version_(version),
      options_(options) {
  states_.reserve(queries.size());
  search_queries_.reserve(queries.size() * dimensions);
  for (const IndexQuery& query : queries) {
    const QueryState& state = states_.emplace_back(query, options.k);
    most_excluded_ = std::max(most_excluded_, state.excluded.size());
    // The length of a query doesn't change the order under cosine and dot; unit length keeps sums
    // in range.
    const double divisor = metric == Metric::kEuclidean || state.norm == 0 ? 1.0 : state.norm;
    for (const float value : query.vector) {
      search_queries_.push_back(static_cast<float>(value / divisor));
    }
  }
}

ExactSearch::Block ExactSearch::Filter(const Chunk& chunk, size_t rows) const {
  Block block{&chunk, rows, rows, {}};
  const bool cut = options_.first_n && chunk.max_row_id() >= *options_.first_n;
  if (cut && chunk.min_row_id() >= *options_.first_n) {
    block.allowed_rows = 0;
    return block;
  }
  if (!cut && !chunk.has_dead()) return block;
  block.allowed.assign((rows + 63) / 64, 0);
  block.allowed_rows = 0;
  for (size_t offset = 0; offset < rows; ++offset) {
    if (!chunk.IsLive(offset, version_)) continue;
    if (cut && chunk.row_id(offset) >= *options_.first_n) continue;
    block.allowed[offset / 64] |= uint64_t{1} << (offset % 64);
    ++block.allowed_rows;
  }
  if (block.allowed_rows == rows) block.allowed.clear();
  return block;
}

bool ExactSearch::NeedsDouble(const Chunk& chunk) const {
  if (metric_ == Metric::kCosine) return false;
  const double limit = metric_ == Metric::kDot ? kMaxDotNorm : kMaxEuclideanNorm;
  if (chunk.max_search_norm() > limit) return true;
  return metric_ == Metric::kEuclidean &&
         std::any_of(states_.begin(), states_.end(),
                     [&](const QueryState& state) { return state.norm > limit; });
}

absl::Status ExactSearch::AddBlock(const Chunk& chunk, size_t rows) {
  if (options_.keep_going) {
    if (absl::Status status = options_.keep_going(); !status.ok()) return status;
  }
  const Block block = Filter(chunk, rows);
  allowed_rows_ += block.allowed_rows;
  if (block.allowed_rows == 0) return absl::OkStatus();
  const size_t k = options_.k + most_excluded_ + kSpare;
  // A backend's selection gains nothing where most rows would be selected.
  if (k * 4 >= block.allowed_rows || NeedsDouble(chunk)) {
    for (QueryState& state : states_) ScanInDouble(state, block);
    return absl::OkStatus();
  }
  return ProposeIn(block, k);
}

absl::Status ExactSearch::ProposeIn(const Block& block, size_t k) {
  const size_t filtered = block.rows - block.allowed_rows;
  const bool few = filtered <= kFewFiltered;
  const size_t asked = few ? k + filtered : k;
  if (absl::Status status = backend_.Propose(
          metric_, search_queries_.data(), states_.size(), dimensions_,
          RowBlock{block.chunk->SearchVectors(block.rows, block_scratch_), block.rows},
          few ? std::span<const uint64_t>() : std::span<const uint64_t>(block.allowed), asked,
          proposals_);
      !status.ok()) {
    return status;
  }
  for (size_t q = 0; q < states_.size(); ++q) TakeProposals(states_[q], block, q, asked);
  return absl::OkStatus();
}

void ExactSearch::TakeProposals(QueryState& state, const Block& block, size_t q, size_t k) {
  const Chunk& chunk = *block.chunk;
  const int64_t* offsets = proposals_.offsets.data() + q * k;
  const float* scores = proposals_.scores.data() + q * k;
  const size_t count = proposals_.counts[q];
  for (size_t i = 0; i < count; ++i) {
    const double bound = UpperBound(state, chunk, scores[i]);
    // Proposals come best first: all that follow are ruled out as this one is.
    if (state.top.full() && bound < state.top.worst_score()) return;
    const auto offset = static_cast<size_t>(offsets[i]);
    if (block.Allows(offset)) Consider(state, chunk, offset);
  }
  const double bound = count == 0 ? std::numeric_limits<double>::infinity()
                                  : UpperBound(state, chunk, scores[count - 1]);
  if (state.top.full() && bound < state.top.worst_score()) return;
  state.open.push_back({&chunk, block.rows, bound});
}

double ExactSearch::UpperBound(const QueryState& state, const Chunk& chunk, double proposed) const {
  // A float sum of d products is off by at most d/(1 - du) u times the sum of their sizes, u =
  // 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); converting the
  // query adds u, and a row up to 3u. Products below float's range may vanish. The factor 2 covers
  // higher terms and the order of evaluation.
  const double d = static_cast<double>(dimensions_);
  const double unit = 2 * (d + 8) * 0x1p-24;
  const double vanished = d * 0x1p-125;
  const double norm = chunk.max_search_norm();
  switch (metric_) {
    case Metric::kCosine:
      return proposed + unit + vanished;
    case Metric::kDot: {
      const double bound = proposed + unit * norm + vanished;
      return bound * state.norm + std::abs(bound * state.norm) * 0x1p-40;
    }
    case Metric::kEuclidean: {
      // Covers both the sum of squared differences and |q|^2 - 2qx + |x|^2.
      const double span = state.norm + norm;
      const double squared = -proposed - 4 * unit * span * span - vanished;
      return squared <= 0 ? 0.0 : -std::sqrt(squared) * (1 - 0x1p-40);
    }
  }
  return std::numeric_limits<double>::infinity();
}

void ExactSearch::Consider(QueryState& state, const Chunk& chunk, size_t offset) {
  const IndexedRow row{chunk.row_id(offset), chunk.word(offset), chunk.codes(offset),
                       chunk.squared_norm(offset)};
  const double score = Score(metric_, state.vector, state.squared_norm,
                             chunk.Vector(offset, row_scratch_), row.squared_norm);
  if (!state.top.Admits(score, row.row_id)) return;
  if (!state.excluded.empty() && state.excluded.contains(row.row_id)) return;
  state.top.Add({row, score});
}

void ExactSearch::ScanInDouble(QueryState& state, const Block& block) {
  for (size_t offset = 0; offset < block.rows; ++offset) {
    if (block.Allows(offset)) Consider(state, *block.chunk, offset);
  }
}

absl::Status ExactSearch::Settle(QueryState& state) {
  for (const Open& open : state.open) {
    if (state.top.full() && open.bound < state.top.worst_score()) continue;
    if (options_.keep_going) {
      if (absl::Status status = options_.keep_going(); !status.ok()) return status;
    }
    // Rows already among the hits must not come in twice.
    absl::flat_hash_set<uint64_t> excluded = state.excluded;
    for (const IndexHit& hit : state.top.hits()) excluded.insert(hit.row.row_id);
    excluded.swap(state.excluded);
    ScanInDouble(state, Filter(*open.chunk, open.rows));
    excluded.swap(state.excluded);
  }
  return absl::OkStatus();
}

uint64_t ExactSearch::RowsSearched(const QueryState& state) const {
  const uint64_t end = options_.first_n.value_or(std::numeric_limits<uint64_t>::max());
  const auto filtered = std::count_if(state.excluded.begin(), state.excluded.end(),
                                      [end](uint64_t row_id) { return row_id < end; });
  return allowed_rows_ - static_cast<uint64_t>(filtered);
}

absl::StatusOr<std::vector<IndexResult>> ExactSearch::Finish() {
  std::vector<IndexResult> results(states_.size());
  for (size_t q = 0; q < states_.size(); ++q) {
    if (absl::Status status = Settle(states_[q]); !status.ok()) return status;
    results[q].hits = states_[q].top.Take();
    results[q].rows_searched = RowsSearched(states_[q]);
  }
  return results;
}

}  // namespace vectable

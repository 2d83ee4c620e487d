#include "index/precision_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/status_util.h"
#include "common/vector_math.h"
#include "index/row_block.h"
#include "index/row_hash.h"

namespace vectable {
namespace {

constexpr size_t kDeepest = 100;            // of the recalls
constexpr size_t kKept = kDeepest + 1 + 8;  // the query's own row, and near ties of float sums
constexpr size_t kChangedWords = 5;
constexpr size_t kRankValues = 16'384;   // of the queries that are ranked in a step
constexpr size_t kQueriesOneByOne = 16;  // below FAISS's threshold of 20
constexpr int kSafeExponent = 40;        // of norms that need no scaling

// Of the first `k` of `truth`, how many are among the first k of `found`.
size_t Common(const std::vector<uint64_t>& truth, const std::vector<uint64_t>& found, size_t k) {
  const absl::flat_hash_set<uint64_t> known(truth.begin(),
                                            truth.begin() + std::min(k, truth.size()));
  return std::count_if(found.begin(), found.begin() + std::min(k, found.size()),
                       [&](uint64_t row_id) { return known.contains(row_id); });
}

}  // namespace

PrecisionStudy::PrecisionStudy(std::shared_ptr<const IndexSnapshot> snapshot, size_t queries)
    : snapshot_(std::move(snapshot)),
      codec_(snapshot_->codec()),
      blocks_(snapshot_->Blocks()),
      rank_queries_(std::clamp<size_t>(kRankValues / codec_.dimensions(), 1, kSliceQueries)),
      row_(codec_.dimensions()) {
  ChooseQueries(std::min(queries, std::max<size_t>(kMaxStudyValues / codec_.dimensions(), 1)));
  ChooseScale();
  contenders_.emplace_back(codec_);
  for (const Precision precision : kAllPrecisions) {
    if (precision != codec_.precision()) {
      contenders_.emplace_back(VectorCodec(precision, codec_.dimensions()));
    }
  }
}

PrecisionStudy::~PrecisionStudy() = default;

size_t PrecisionStudy::Slices(size_t at_once) const {
  return std::max<size_t>((sample_.size() + at_once - 1) / at_once, 1);
}

PrecisionStudy::Slice PrecisionStudy::SliceOf(size_t step, size_t at_once) const {
  const size_t begin = step % Slices(at_once) * at_once;
  return {begin, std::min(begin + at_once, sample_.size())};
}

// Sums of squares of all that a backend gets stay within float's range.
void PrecisionStudy::ChooseScale() {
  if (snapshot_->metric() == Metric::kCosine) return;
  double largest = 0;
  for (const RowBlock& block : blocks_) largest = std::max(largest, block.max_norm());
  if (largest == 0) return;
  const int exponent = std::ilogb(largest);
  if (std::abs(exponent) > kSafeExponent) scale_ = std::ldexp(1.0F, -exponent);
}

void PrecisionStudy::ChooseQueries(size_t count) {
  struct Hashed {
    uint64_t hash;
    Place place;
    bool operator<(const Hashed& other) const { return hash < other.hash; }
  };
  std::vector<Hashed> least;  // a heap, the greatest in front
  for (uint32_t block = 0; block < blocks_.size() && count > 0; ++block) {
    const RowBlock& rows = blocks_[block];
    for (uint32_t offset = 0; offset < rows.rows(); ++offset) {
      if (!rows.IsLive(offset, snapshot_->version())) continue;
      const uint64_t hash = HashRowId(rows.row_id(offset));
      if (least.size() == count) {
        if (hash >= least.front().hash) continue;
        std::pop_heap(least.begin(), least.end());
        least.pop_back();
      }
      least.push_back({hash, {block, offset}});
      std::push_heap(least.begin(), least.end());
    }
  }
  std::sort_heap(least.begin(), least.end());
  for (const Hashed& one : least) sample_.push_back(one.place);
}

bool PrecisionStudy::Recode(const VectorCodec& codec, Place place, std::span<float> out) {
  const std::span<const float> vector = blocks_[place.block].Vector(place.offset, row_);
  if (codec.precision() == codec_.precision()) {
    std::copy(vector.begin(), vector.end(), out.begin());
    return true;
  }
  codes_.clear();
  if (!codec.Encode(vector, codes_).ok()) return false;
  codec.Decode(codes_.data(), 1, out.data());
  return snapshot_->metric() != Metric::kCosine ||
         std::any_of(out.begin(), out.end(), [](float value) { return value != 0; });
}

void PrecisionStudy::MakeSearchable(std::span<float> vector) const {
  if (snapshot_->metric() != Metric::kCosine) {
    for (float& value : vector) value *= scale_;
    return;
  }
  const double norm = std::sqrt(SquaredNormInDouble(vector));
  for (float& value : vector) value = static_cast<float>(value / norm);
}

void PrecisionStudy::PrepareQueries(Contender& contender) {
  const size_t dimensions = codec_.dimensions();
  contender.search.resize(sample_.size() * dimensions);
  contender.query_refused.resize(sample_.size());
  contender.best.resize(sample_.size());
  contender.nearest.resize(sample_.size());
  for (size_t q = 0; q < sample_.size(); ++q) {
    const std::span<float> query(contender.search.data() + q * dimensions, dimensions);
    contender.query_refused[q] = !Recode(contender.codec, sample_[q], query);
    if (contender.query_refused[q]) {
      std::fill(query.begin(), query.end(), 0.0F);
    } else {
      MakeSearchable(query);
    }
  }
}

// Block by block, in each one precision after another, and of each some queries after others; then
// precision by precision.
absl::Status PrecisionStudy::Step() {
  const size_t slices = Slices(kSliceQueries);
  const size_t per_block = contenders_.size() * slices;
  if (const size_t block = steps_done_ / per_block; block < blocks_.size()) {
    VT_RETURN_IF_ERROR(LookThrough(contenders_[steps_done_ % per_block / slices], block,
                                   SliceOf(steps_done_, kSliceQueries)));
  } else {
    const size_t ranked = steps_done_ - blocks_.size() * per_block;
    Contender& contender = contenders_[ranked / Slices(rank_queries_)];
    const Slice slice = SliceOf(ranked, rank_queries_);
    Rank(contender, slice);
    if (slice.end == sample_.size()) Compare(contender);
  }
  ++steps_done_;
  return absl::OkStatus();
}

absl::Status PrecisionStudy::LookThrough(Contender& contender, size_t block, Slice slice) {
  if (block == 0 && slice.begin == 0) PrepareQueries(contender);
  if (slice.begin == 0) CodeBlock(contender, block);
  // FAISS gives more than so many queries to a matrix product, which under euclidean loses what
  // |q|^2 - 2qx + |x|^2 cancels.
  const bool one_by_one = snapshot_->metric() == Metric::kEuclidean;
  const size_t at_once = one_by_one ? kQueriesOneByOne : kSliceQueries;
  Proposals proposals;
  for (size_t begin = slice.begin; begin < slice.end; begin += at_once) {
    const Slice part{begin, std::min(begin + at_once, slice.end)};
    VT_RETURN_IF_ERROR(snapshot_->backend().Propose(
        snapshot_->metric(), contender.search.data() + part.begin * codec_.dimensions(),
        part.end - part.begin, codec_.dimensions(),
        FloatRows{search_rows_.data(), search_offsets_.size()}, {}, kKept, proposals));
    TakeProposals(contender, block, part, proposals);
  }
  return absl::OkStatus();
}

void PrecisionStudy::CodeBlock(Contender& contender, size_t block) {
  const RowBlock& rows = blocks_[block];
  const size_t dimensions = codec_.dimensions();
  search_rows_.resize(rows.rows() * dimensions);
  search_offsets_.clear();
  for (uint32_t offset = 0; offset < rows.rows(); ++offset) {
    if (!rows.IsLive(offset, snapshot_->version())) continue;
    const std::span<float> row(search_rows_.data() + search_offsets_.size() * dimensions,
                               dimensions);
    const Place place{static_cast<uint32_t>(block), offset};
    if (!Recode(contender.codec, place, row)) {
      ++contender.figures.rows_refused;
      continue;
    }
    search_offsets_.push_back(offset);
    if (&contender != &contenders_.front()) AddError(contender, place, row);
    MakeSearchable(row);
  }
}

void PrecisionStudy::AddError(Contender& contender, Place place, std::span<const float> coded) {
  const RowBlock& rows = blocks_[place.block];
  const double true_norm = rows.squared_norm(place.offset);
  if (true_norm == 0) return;
  const double coded_norm = SquaredNormInDouble(coded);
  const std::span<const float> exact = rows.Vector(place.offset, row_);
  const double error =
      coded_norm == 0 ? 1 : 1 - CosineFromSums(DotInDouble(exact, coded), true_norm, coded_norm);
  ++contender.error_rows;
  contender.error_sum += error;
  contender.figures.worst_cosine_error = std::max(contender.figures.worst_cosine_error, error);
}

void PrecisionStudy::TakeProposals(Contender& contender, size_t block, Slice slice,
                                   const Proposals& proposals) {
  const auto worse = [](const Candidate& a, const Candidate& b) { return a.score > b.score; };
  for (size_t q = slice.begin; q < slice.end; ++q) {
    if (contender.query_refused[q]) continue;
    std::vector<Candidate>& best = contender.best[q];
    const size_t first = (q - slice.begin) * proposals.k;
    for (size_t i = 0; i < proposals.counts[q - slice.begin]; ++i) {
      const float score = proposals.scores[first + i];
      if (best.size() == kKept) {
        if (score <= best.front().score) break;  // proposals come best first
        std::pop_heap(best.begin(), best.end(), worse);
        best.pop_back();
      }
      const uint32_t offset = search_offsets_[static_cast<size_t>(proposals.offsets[first + i])];
      best.push_back({score, {static_cast<uint32_t>(block), offset}});
      std::push_heap(best.begin(), best.end(), worse);
    }
  }
}

// The candidates in the order of answers: by scores in double, equal ones by row id.
void PrecisionStudy::Rank(Contender& contender, Slice slice) {
  std::vector<float> query(codec_.dimensions());
  std::vector<float> row(codec_.dimensions());
  for (size_t q = slice.begin; q < slice.end; ++q) {
    if (contender.query_refused[q]) continue;
    Recode(contender.codec, sample_[q], query);
    const double squared_norm = SquaredNormInDouble(query);
    const uint64_t self = blocks_[sample_[q].block].row_id(sample_[q].offset);
    std::vector<std::pair<double, uint64_t>> scored;
    for (const Candidate& candidate : contender.best[q]) {
      const uint64_t row_id = blocks_[candidate.place.block].row_id(candidate.place.offset);
      if (row_id == self) continue;
      Recode(contender.codec, candidate.place, row);
      scored.emplace_back(
          -Score(snapshot_->metric(), query, squared_norm, row, SquaredNormInDouble(row)), row_id);
    }
    std::sort(scored.begin(), scored.end());
    scored.resize(std::min(scored.size(), kDeepest));
    for (const auto& [score, row_id] : scored) contender.nearest[q].push_back(row_id);
    contender.best[q] = {};
  }
}

void PrecisionStudy::Compare(Contender& contender) {
  PrecisionFigures& figures = contender.figures;
  figures.precision = contender.codec.precision();
  if (contender.error_rows > 0) {
    figures.mean_cosine_error = contender.error_sum / static_cast<double>(contender.error_rows);
  }
  struct Changed {
    size_t kept;
    size_t query;
    bool operator<(const Changed& other) const {
      return kept != other.kept ? kept < other.kept : query < other.query;
    }
  };
  std::vector<Changed> changed;
  uint64_t found[3] = {};
  uint64_t wanted[3] = {};
  for (size_t q = 0; q < sample_.size(); ++q) {
    const std::vector<uint64_t>& truth = contenders_.front().nearest[q];
    size_t at = 0;
    for (const size_t depth : {size_t{1}, size_t{10}, kDeepest}) {
      const size_t k = std::min(depth, truth.size());
      const size_t common = Common(truth, contender.nearest[q], k);
      found[at] += common;
      wanted[at++] += k;
      if (depth == 10 && common < k) changed.push_back({common, q});
    }
  }
  if (wanted[0] == 0) return;
  // Divided once, so that 886 of 1,000 is 0.886.
  figures.recall_at_1 = static_cast<double>(found[0]) / static_cast<double>(wanted[0]);
  figures.recall_at_10 = static_cast<double>(found[1]) / static_cast<double>(wanted[1]);
  figures.recall_at_100 = static_cast<double>(found[2]) / static_cast<double>(wanted[2]);
  std::sort(changed.begin(), changed.end());
  changed.resize(std::min(changed.size(), kChangedWords));
  for (const Changed& one : changed) {
    const Place place = sample_[one.query];
    figures.most_changed.push_back(
        {std::string(blocks_[place.block].word(place.offset)), static_cast<uint32_t>(one.kept)});
  }
}

std::vector<PrecisionFigures> PrecisionStudy::Figures() const {
  std::vector<PrecisionFigures> all;
  for (const Contender& contender : contenders_) all.push_back(contender.figures);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.precision < b.precision; });
  return all;
}

}  // namespace vectable

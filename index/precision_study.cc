#include "index/precision_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/status_util.h"
#include "common/vector_math.h"
#include "index/chunk.h"
#include "index/row_hash.h"

namespace vectable {
namespace {

constexpr size_t kDeepest = 100;            // of the recalls
constexpr size_t kKept = kDeepest + 1 + 8;  // the query's own row, and near ties of float sums
constexpr size_t kChangedWords = 5;

// Of the first `k` of `truth`, how many are among the first k of `found`.
size_t Common(const std::vector<uint64_t>& truth, const std::vector<uint64_t>& found, size_t k) {
  const absl::flat_hash_set<uint64_t> known(truth.begin(),
                                            truth.begin() + std::min(k, truth.size()));
  return std::count_if(found.begin(), found.begin() + std::min(k, found.size()),
                       [&](uint64_t row_id) { return known.contains(row_id); });
}

void ScaleToUnit(std::span<float> vector) {
  const double norm = std::sqrt(SquaredNormInDouble(vector));
  for (float& value : vector) value = static_cast<float>(value / norm);
}

}  // namespace

PrecisionStudy::PrecisionStudy(std::shared_ptr<const IndexSnapshot> snapshot, size_t queries)
    : snapshot_(std::move(snapshot)),
      codec_(snapshot_->codec()),
      blocks_(snapshot_->Blocks()),
      row_(codec_.dimensions()) {
  ChooseQueries(queries);
  contenders_.emplace_back(codec_);
  for (const Precision precision : kAllPrecisions) {
    if (precision != codec_.precision()) {
      contenders_.emplace_back(VectorCodec(precision, codec_.dimensions()));
    }
  }
  for (Contender& contender : contenders_) PrepareQueries(contender);
}

PrecisionStudy::~PrecisionStudy() = default;

void PrecisionStudy::ChooseQueries(size_t count) {
  struct Hashed {
    uint64_t hash;
    Place place;
    bool operator<(const Hashed& other) const { return hash < other.hash; }
  };
  std::vector<Hashed> least;  // a heap, the greatest in front
  for (uint32_t block = 0; block < blocks_.size() && count > 0; ++block) {
    const Chunk& chunk = *blocks_[block].chunk;
    for (uint32_t offset = 0; offset < blocks_[block].rows; ++offset) {
      if (!chunk.IsLive(offset, snapshot_->version())) continue;
      const uint64_t hash = HashRowId(chunk.row_id(offset));
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
  const std::span<const float> vector = blocks_[place.block].chunk->Vector(place.offset, row_);
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

void PrecisionStudy::PrepareQueries(Contender& contender) {
  const size_t dimensions = codec_.dimensions();
  contender.queries.resize(sample_.size() * dimensions);
  contender.query_refused.resize(sample_.size());
  contender.best.resize(sample_.size());
  contender.nearest.resize(sample_.size());
  for (size_t q = 0; q < sample_.size(); ++q) {
    const std::span<float> query(contender.queries.data() + q * dimensions, dimensions);
    contender.query_refused[q] = !Recode(contender.codec, sample_[q], query);
  }
  contender.search = contender.queries;
  if (snapshot_->metric() == Metric::kEuclidean) return;
  for (size_t q = 0; q < sample_.size(); ++q) {
    const std::span<float> query(contender.search.data() + q * dimensions, dimensions);
    if (SquaredNormInDouble(query) > 0) ScaleToUnit(query);
  }
}

absl::Status PrecisionStudy::Step() {
  const size_t step = next_step_;
  if (step < blocks_.size()) {
    VT_RETURN_IF_ERROR(LookThrough(step));
  } else {
    Contender& contender = contenders_[step - blocks_.size()];
    Rank(contender);
    Compare(contender);
  }
  ++next_step_;
  return absl::OkStatus();
}

absl::Status PrecisionStudy::LookThrough(size_t block) {
  std::vector<uint64_t> allowed;
  Proposals proposals;
  for (Contender& contender : contenders_) {
    CodeBlock(contender, block, allowed);
    VT_RETURN_IF_ERROR(snapshot_->backend().Propose(
        snapshot_->metric(), contender.search.data(), sample_.size(), codec_.dimensions(),
        RowBlock{search_rows_.data(), blocks_[block].rows}, allowed, kKept, proposals));
    TakeProposals(contender, block, proposals);
  }
  return absl::OkStatus();
}

void PrecisionStudy::CodeBlock(Contender& contender, size_t block, std::vector<uint64_t>& allowed) {
  const auto [chunk, rows] = blocks_[block];
  const size_t dimensions = codec_.dimensions();
  const bool is_baseline = &contender == &contenders_.front();
  search_rows_.resize(rows * dimensions);
  allowed.assign((rows + 63) / 64, 0);
  std::vector<float> exact;
  for (uint32_t offset = 0; offset < rows; ++offset) {
    const std::span<float> row(search_rows_.data() + offset * dimensions, dimensions);
    std::fill(row.begin(), row.end(), 0.0F);
    if (!chunk->IsLive(offset, snapshot_->version())) continue;
    if (!Recode(contender.codec, {static_cast<uint32_t>(block), offset}, row)) {
      ++contender.figures.rows_refused;
      std::fill(row.begin(), row.end(), 0.0F);
      continue;
    }
    allowed[offset / 64] |= uint64_t{1} << (offset % 64);
    ++contender.rows;
    const double squared_norm = SquaredNormInDouble(row);
    if (!is_baseline && squared_norm > 0 && chunk->squared_norm(offset) > 0) {
      const double cosine = CosineFromSums(DotInDouble(chunk->Vector(offset, exact), row),
                                           chunk->squared_norm(offset), squared_norm);
      contender.error_sum += 1 - cosine;
      contender.figures.worst_cosine_error =
          std::max(contender.figures.worst_cosine_error, 1 - cosine);
    }
    if (snapshot_->metric() == Metric::kCosine) ScaleToUnit(row);
  }
}

void PrecisionStudy::TakeProposals(Contender& contender, size_t block, const Proposals& proposals) {
  const auto worse = [](const Candidate& a, const Candidate& b) { return a.score > b.score; };
  for (size_t q = 0; q < sample_.size(); ++q) {
    if (contender.query_refused[q]) continue;
    std::vector<Candidate>& best = contender.best[q];
    for (size_t i = 0; i < proposals.counts[q]; ++i) {
      const float score = proposals.scores[q * proposals.k + i];
      if (best.size() == kKept) {
        if (score <= best.front().score) break;  // proposals come best first
        std::pop_heap(best.begin(), best.end(), worse);
        best.pop_back();
      }
      const auto offset = static_cast<uint32_t>(proposals.offsets[q * proposals.k + i]);
      best.push_back({score, {static_cast<uint32_t>(block), offset}});
      std::push_heap(best.begin(), best.end(), worse);
    }
  }
}

// The candidates in the order of answers: by scores in double, equal ones by row id.
void PrecisionStudy::Rank(Contender& contender) {
  const size_t dimensions = codec_.dimensions();
  std::vector<float> row(dimensions);
  for (size_t q = 0; q < sample_.size(); ++q) {
    const std::span<const float> query(contender.queries.data() + q * dimensions, dimensions);
    const double squared_norm = SquaredNormInDouble(query);
    const uint64_t self = blocks_[sample_[q].block].chunk->row_id(sample_[q].offset);
    std::vector<std::pair<double, uint64_t>> scored;
    for (const Candidate& candidate : contender.best[q]) {
      const uint64_t row_id = blocks_[candidate.place.block].chunk->row_id(candidate.place.offset);
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
  if (contender.rows > 0) {
    figures.mean_cosine_error = contender.error_sum / static_cast<double>(contender.rows);
  }
  struct Changed {
    size_t kept;
    size_t query;
    bool operator<(const Changed& other) const {
      return kept != other.kept ? kept < other.kept : query < other.query;
    }
  };
  std::vector<Changed> changed;
  double sums[3] = {};
  size_t compared = 0;
  for (size_t q = 0; q < sample_.size(); ++q) {
    const std::vector<uint64_t>& truth = contenders_.front().nearest[q];
    if (truth.empty()) continue;
    ++compared;
    size_t at = 0;
    for (const size_t depth : {size_t{1}, size_t{10}, kDeepest}) {
      const size_t k = std::min(depth, truth.size());
      const size_t common = Common(truth, contender.nearest[q], k);
      sums[at++] += static_cast<double>(common) / static_cast<double>(k);
      if (depth == 10 && common < k) changed.push_back({common, q});
    }
  }
  if (compared == 0) return;
  figures.recall_at_1 = sums[0] / static_cast<double>(compared);
  figures.recall_at_10 = sums[1] / static_cast<double>(compared);
  figures.recall_at_100 = sums[2] / static_cast<double>(compared);
  std::sort(changed.begin(), changed.end());
  changed.resize(std::min(changed.size(), kChangedWords));
  for (const Changed& one : changed) {
    const Place place = sample_[one.query];
    figures.most_changed.push_back({std::string(blocks_[place.block].chunk->word(place.offset)),
                                    static_cast<uint32_t>(one.kept)});
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

// The searching part of Table.

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/names.h"
#include "common/status_util.h"
#include "common/vector_math.h"
#include "engine/near_words.h"
#include "engine/row_checks.h"
#include "engine/table.h"

namespace vectable {
namespace {

// Queries that are searched together; more of them are taken in turns, so that memory stays
// bounded.
constexpr size_t kQueriesAtOnce = 128;
// Words that are looked at for near spellings, and unknown words of a request that get them.
constexpr size_t kMostSpellings = 200'000;
constexpr size_t kMostSpelledQueries = 3;
// A search is short up to so many hits, and as many components of rows as are scanned in half a
// millisecond.
constexpr uint32_t kShortHits = 100;
constexpr uint64_t kShortScanComponents = 12'000'000;

std::string SpellingHint(const IndexSnapshot& snapshot, std::string_view word) {
  NearWords near(word);
  size_t seen = 0;
  snapshot.ForEachRow([&](const IndexedRow& row) {
    near.Offer(row.word);
    return ++seen < kMostSpellings;
  });
  return near.Hint();
}

absl::Status NoSuchWord(std::string_view word, const std::string& hint) {
  return absl::NotFoundError(absl::StrCat("no word ", Quoted(word), hint));
}

absl::Status NoSuchRow(uint64_t row_id) {
  return absl::NotFoundError(absl::StrCat("no row with id ", row_id));
}

// One request on one snapshot.
class Search {
 public:
  Search(const TableSpec& shape, const IndexSnapshot& snapshot, const SearchOptions& options)
      : shape_(shape),
        codec_(shape.precision, shape.dimensions),
        snapshot_(snapshot),
        options_(options) {
    for (const std::string_view word : options.exclude_words) {
      if (const std::optional<IndexedRow> row = snapshot.FindWord(word))
        excluded_.push_back(row->row_id);
    }
    std::sort(excluded_.begin(), excluded_.end());
    excluded_.erase(std::unique(excluded_.begin(), excluded_.end()), excluded_.end());
  }

  absl::StatusOr<std::vector<QueryOutcome>> Run(std::span<const QueryTarget> targets) {
    std::vector<QueryOutcome> outcomes(targets.size());
    for (size_t begin = 0; begin < targets.size(); begin += kQueriesAtOnce) {
      const size_t count = std::min(kQueriesAtOnce, targets.size() - begin);
      VT_RETURN_IF_ERROR(
          RunSome(targets.subspan(begin, count), std::span(outcomes).subspan(begin, count)));
    }
    return outcomes;
  }

 private:
  absl::Status RunSome(std::span<const QueryTarget> targets, std::span<QueryOutcome> outcomes) {
    row_vectors_.clear();
    std::vector<IndexQuery> queries;
    std::vector<size_t> places;
    for (size_t i = 0; i < targets.size(); ++i) {
      absl::StatusOr<IndexQuery> query = Resolve(targets[i]);
      if (!query.ok()) {
        outcomes[i].status = query.status();
        continue;
      }
      queries.push_back(*std::move(query));
      places.push_back(i);
    }
    IndexSearchOptions options;
    options.k = options_.k;
    options.first_n = options_.first_n;
    options.min_score = options_.min_score;
    if (!options_.exact && options_.recall < 1) options.recall = options_.recall;
    options.keep_going = [this] { return KeepGoing(); };
    VT_ASSIGN_OR_RETURN(const std::vector<IndexResult> results, snapshot_.Search(queries, options));
    for (size_t q = 0; q < results.size(); ++q) Fill(results[q], outcomes[places[q]]);
    if (options_.max_hits > 0 && hits_ > options_.max_hits) {
      return absl::ResourceExhaustedError(absl::StrCat("the queries have more than ",
                                                       options_.max_hits,
                                                       " hits together; ask for fewer at once"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<IndexQuery> Resolve(const QueryTarget& target) {
    IndexQuery query;
    query.excluded_row_ids = excluded_;
    if (const auto* vector = std::get_if<std::span<const float>>(&target)) {
      VT_RETURN_IF_ERROR(CheckVector(*vector, shape_.dimensions, shape_.metric));
      query.vector = *vector;
      return query;
    }
    std::optional<IndexedRow> row;
    if (const auto* word = std::get_if<std::string_view>(&target)) {
      row = snapshot_.FindWord(*word);
      if (!row)
        return NoSuchWord(*word,
                          spelled_++ < kMostSpelledQueries ? SpellingHint(snapshot_, *word) : "");
    } else {
      row = snapshot_.FindRowId(std::get<uint64_t>(target));
      if (!row) return NoSuchRow(std::get<uint64_t>(target));
    }
    query.vector = row_vectors_.emplace_back(VectorOf(*row));
    if (!options_.include_self &&
        !std::binary_search(excluded_.begin(), excluded_.end(), row->row_id)) {
      query.excluded_row_ids.push_back(row->row_id);
    }
    return query;
  }

  void Fill(const IndexResult& result, QueryOutcome& outcome) {
    outcome.rows_searched = result.rows_searched;
    outcome.exact = result.exact;
    outcome.width = result.width;
    outcome.recall = result.recall;
    for (const IndexHit& hit : result.hits) {
      if (options_.min_score && hit.score < *options_.min_score) break;  // best first
      SearchHit out{hit.row.row_id, std::string(hit.row.word), hit.score, std::nullopt, {}};
      if (shape_.metric == Metric::kEuclidean) out.distance = -hit.score;
      if (options_.include_vectors) out.vector = VectorOf(hit.row);
      outcome.hits.push_back(std::move(out));
    }
    hits_ += outcome.hits.size();
    outcome.short_reason = WhyShort(outcome, result);
  }

  ShortReason WhyShort(const QueryOutcome& outcome, const IndexResult& result) const {
    if (outcome.hits.size() >= options_.k) return ShortReason::kNone;
    if (outcome.hits.size() < result.hits.size()) return ShortReason::kMinScore;
    return snapshot_.live_rows() < options_.k ? ShortReason::kTableSmaller : ShortReason::kFiltered;
  }

  absl::Status KeepGoing() const {
    if (options_.cancelled && options_.cancelled())
      return absl::CancelledError("the search was cancelled");
    if (absl::Now() > options_.deadline) {
      return absl::DeadlineExceededError("the deadline passed during the search");
    }
    return absl::OkStatus();
  }

  std::vector<float> VectorOf(const IndexedRow& row) const {
    std::vector<float> vector(shape_.dimensions);
    codec_.Decode(row.codes, 1, vector.data());
    return vector;
  }

  const TableSpec& shape_;
  const VectorCodec codec_;
  const IndexSnapshot& snapshot_;
  const SearchOptions& options_;
  std::vector<uint64_t> excluded_;
  size_t spelled_ = 0;
  uint64_t hits_ = 0;
  std::deque<std::vector<float>> row_vectors_;  // of the queries that name a row
};

}  // namespace

absl::StatusOr<SearchOutcome> Table::Nearest(std::span<const QueryTarget> queries,
                                             const SearchOptions& options) const {
  VT_RETURN_IF_ERROR(Annotate(CheckSearch(queries.size(), options, parts_.limits), Label()));
  absl::StatusOr<std::shared_ptr<const IndexSnapshot>> snapshot = index_.WaitForSnapshot(
      options.deadline, options.cancelled, [this] { return writer_.record().rows; });
  if (!snapshot.ok()) return Annotate(snapshot.status(), Label());
  absl::StatusOr<std::vector<QueryOutcome>> outcomes =
      Search(shape_, **snapshot, options).Run(queries);
  if (absl::IsDataLoss(outcomes.status())) {
    unchecked_ = true;  // the Maintainer looks at all of it, and has it made anew
    return absl::UnavailableError(
        absl::StrCat(Label(), ": its index is damaged and is made anew; try again"));
  }
  if (!outcomes.ok()) return Annotate(outcomes.status(), Label());
  for (QueryOutcome& outcome : *outcomes) {
    if (!outcome.status.ok()) outcome.status = Annotate(outcome.status, Label());
  }
  const bool exact = std::all_of(outcomes->begin(), outcomes->end(),
                                 [](const QueryOutcome& outcome) { return outcome.exact; });
  return SearchOutcome{*std::move(outcomes), exact, std::string(parts_.backend.device()),
                       (*snapshot)->sequence()};
}

bool Table::IsShortSearch(const QueryTarget& query, const SearchOptions& options) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = index_.snapshot();
  // What may end in a scan of all rows isn't short, nor is looking for words spelled alike.
  if (snapshot == nullptr || options.exact || options.k > kShortHits || options.include_vectors ||
      options.min_score || options.first_n) {
    return false;
  }
  const auto* const word = std::get_if<std::string_view>(&query);
  if (word != nullptr && !snapshot->FindWord(*word)) return false;
  IndexSearchOptions asked;
  asked.k = options.k;
  if (options.recall < 1) asked.recall = options.recall;
  return snapshot->RowsScanned(asked) * shape_.dimensions <= kShortScanComponents;
}

absl::StatusOr<std::unique_ptr<PrecisionStudy>> Table::StudyPrecisions(uint32_t queries) const {
  if (queries == 0 || queries > parts_.limits.max_measure_queries) {
    return absl::InvalidArgumentError(absl::StrCat(Label(), ": ", queries,
                                                   " queries to measure with; it must be 1 to ",
                                                   parts_.limits.max_measure_queries));
  }
  absl::StatusOr<std::shared_ptr<const IndexSnapshot>> snapshot = index_.WaitForSnapshot(
      absl::InfinitePast(), nullptr, [this] { return writer_.record().rows; });
  if (!snapshot.ok()) return Annotate(snapshot.status(), Label());
  if ((*snapshot)->live_rows() < 2) {
    return absl::FailedPreconditionError(
        absl::StrCat(Label(), " has ", (*snapshot)->live_rows(),
                     " rows; to measure what a precision costs takes at least 2"));
  }
  return std::make_unique<PrecisionStudy>(*std::move(snapshot), queries);
}

absl::Status Table::UnknownWord(std::string_view word) const {
  const std::shared_ptr<const IndexSnapshot> snapshot = index_.snapshot();
  return NoSuchWord(word, snapshot == nullptr ? "" : SpellingHint(*snapshot, word));
}

absl::StatusOr<std::vector<float>> Table::VectorOf(const QueryTarget& target) const {
  if (const auto* vector = std::get_if<std::span<const float>>(&target)) {
    VT_RETURN_IF_ERROR(CheckVector(*vector, shape_.dimensions, shape_.metric));
    return std::vector<float>(vector->begin(), vector->end());
  }
  const auto* word = std::get_if<std::string_view>(&target);
  const RowKeys key = word != nullptr ? RowKeys(std::vector<std::string_view>{*word})
                                      : RowKeys(std::vector<uint64_t>{std::get<uint64_t>(target)});
  using Rows = std::vector<std::optional<StoredRow>>;
  VT_ASSIGN_OR_RETURN(const Rows rows, ReadRows(key));
  if (!rows[0]) return word != nullptr ? UnknownWord(*word) : NoSuchRow(std::get<uint64_t>(target));
  VT_RETURN_IF_ERROR(codec_.CheckLength(rows[0]->codes));
  std::vector<float> vector(shape_.dimensions);
  codec_.Decode(rows[0]->codes.data(), 1, vector.data());
  return vector;
}

absl::StatusOr<SimilarityOutcome> Table::Similarity(const QueryTarget& a,
                                                    const QueryTarget& b) const {
  const absl::StatusOr<std::vector<float>> left = VectorOf(a);
  if (!left.ok()) return Annotate(left.status(), Label());
  const absl::StatusOr<std::vector<float>> right = VectorOf(b);
  if (!right.ok()) return Annotate(right.status(), Label());
  SimilarityOutcome outcome;
  outcome.score =
      Score(shape_.metric, *left, SquaredNormInDouble(*left), *right, SquaredNormInDouble(*right));
  if (shape_.metric == Metric::kEuclidean) outcome.distance = -outcome.score;
  return outcome;
}

}  // namespace vectable

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/engine/mixed_rows.h"
#include "tests/support/status_matchers.h"

namespace vectable {

// Searches a table that others change and checks what must hold of every answer, at any moment.
class MixedSearcher {
 public:
  explicit MixedSearcher(Dice& dice) : dice_(dice) {}

  void Search(const MixedTable& table) {
    Request request(table);
    Ask(request);
    const auto found = table.table->Nearest(request.targets, request.options);
    if (!found.ok()) {
      const absl::StatusCode code = found.status().code();
      ASSERT_TRUE((request.options.cancelled && code == absl::StatusCode::kCancelled) ||
                  (request.options.max_hits > 0 && code == absl::StatusCode::kResourceExhausted))
          << found.status();
      return;
    }
    ASSERT_EQ(found->queries.size(), request.targets.size());
    uint64_t& last = last_sequence_[table.table->Describe().created_unix_micros];
    ASSERT_GE(found->sequence, last);
    last = found->sequence;
    bool exact = true;
    for (size_t q = 0; q < found->queries.size(); ++q) {
      SCOPED_TRACE(absl::StrCat("query ", q, " of ", found->queries.size(), ", k ",
                                request.options.k, ", recall ",
                                request.options.exact ? 1 : request.options.recall));
      exact = exact && found->queries[q].exact;
      ASSERT_NO_FATAL_FAILURE(Check(request, request.queries[q], found->queries[q]));
    }
    ASSERT_EQ(found->exact, exact);
  }

  uint64_t answers() const { return answers_; }
  uint64_t walked() const { return walked_; }

 private:
  // A query as it was asked: a vector, or a word's number, or neither (no such word or row).
  struct Query {
    std::vector<float> vector;
    std::optional<size_t> number;
    bool by_row_id = false;
  };
  struct Request {
    explicit Request(const MixedTable& the_table) : table(the_table) {}
    const MixedTable& table;
    std::vector<Query> queries;
    std::vector<QueryTarget> targets;  // into `queries`
    SearchOptions options;
    std::set<std::string_view> excluded;
  };

  void Ask(Request& request) {
    const MixedTable& table = request.table;
    const size_t count = dice_.OneIn(2) ? 1 : 1 + dice_.Below(dice_.OneIn(8) ? 40 : 5);
    for (size_t q = 0; q < count; ++q) request.queries.push_back(RandomQuery(table));
    for (const Query& query : request.queries) {
      if (!query.vector.empty()) {
        request.targets.emplace_back(std::span<const float>(query.vector));
      } else if (!query.number) {
        request.targets.push_back(query.by_row_id ? QueryTarget(kMaxRowId)
                                                  : QueryTarget(std::string_view("nobody")));
      } else if (query.by_row_id) {
        request.targets.emplace_back(*table.steady_ids[*query.number]);
      } else {
        request.targets.emplace_back(std::string_view(table.pool.Word(*query.number)));
      }
    }
    SearchOptions& options = request.options;
    options.k = static_cast<uint32_t>(1 + dice_.Below(dice_.OneIn(2) ? 10 : 50));
    options.exact = dice_.OneIn(4);
    options.recall = dice_.Pick(std::array{0.5, 0.8, 0.9, 0.95, 0.98, 1.0});
    options.include_self = dice_.OneIn(3);
    options.include_vectors = true;
    if (dice_.OneIn(5)) {
      options.first_n = dice_.OneIn(8) || table.steady.empty()
                            ? dice_.Below(3)
                            : dice_.Pick(table.steady).row_id + dice_.Below(2);
    }
    if (dice_.OneIn(5)) {
      // What some row would have.
      const std::vector<float> query = dice_.Vector(table.spec.dimensions);
      options.min_score = table.pool.ScoreOf(query, RandomVersion(table));
    }
    if (dice_.OneIn(4)) {
      for (size_t i = 0, count_of = 1 + dice_.Below(30); i < count_of; ++i) {
        options.exclude_words.emplace_back(table.pool.Word(dice_.Below(table.pool.size())));
      }
      options.exclude_words.emplace_back("nobody");
      request.excluded.insert(options.exclude_words.begin(), options.exclude_words.end());
    }
    if (dice_.OneIn(20)) options.max_hits = 1 + dice_.Below(100);
    if (dice_.OneIn(40)) {
      options.cancelled = [left = dice_.Below(4)]() mutable { return left-- == 0; };
    }
  }

  const WordPool::Version& RandomVersion(const MixedTable& table) {
    return table.pool.Of(dice_.Below(table.pool.size()), dice_.Below(WordPool::kVersions));
  }
  Query RandomQuery(const MixedTable& table) {
    Query query;
    if (dice_.OneIn(40)) {
      query.by_row_id = dice_.OneIn(2);
    } else if (dice_.OneIn(3)) {
      query.number = dice_.Below(table.pool.size());
      // A row id names the same word throughout where the row is a steady one.
      query.by_row_id = dice_.OneIn(2) && table.steady_ids[*query.number];
    } else if (dice_.OneIn(2)) {
      query.vector = RandomVersion(table).stored;
    } else {
      query.vector = dice_.Vector(table.spec.dimensions);
    }
    return query;
  }

  void Check(const Request& request, const Query& query, const QueryOutcome& outcome) {
    const MixedTable& table = request.table;
    const SearchOptions& options = request.options;
    const bool by_vector = !query.vector.empty();
    if (!outcome.status.ok()) {
      ASSERT_EQ(outcome.status.code(), absl::StatusCode::kNotFound) << outcome.status;
      ASSERT_FALSE(by_vector || (query.number && table.steady_ids[*query.number]))
          << outcome.status;
      return;
    }
    ASSERT_TRUE(by_vector || query.number);
    ++answers_;
    walked_ += outcome.exact ? 0 : 1;
    if (options.exact || options.recall == 1) {
      ASSERT_TRUE(outcome.exact);
    }
    ASSERT_LE(outcome.hits.size(), options.k);
    ASSERT_EQ(outcome.short_reason == ShortReason::kNone, outcome.hits.size() == options.k);
    const size_t left_out = request.excluded.size() + 1;
    const size_t steady = table.SteadyBelow(options.first_n);
    const size_t sure = steady - std::min(steady, left_out);
    ASSERT_GE(outcome.rows_searched, sure);
    if (!options.min_score) {
      ASSERT_GE(outcome.hits.size(), std::min<size_t>(options.k, sure));
    }
    ASSERT_NO_FATAL_FAILURE(CheckHits(request, query, outcome.hits));
    ASSERT_TRUE(ScoresFit(request.table, query, outcome.hits));
  }

  static void CheckHits(const Request& request, const Query& query,
                        const std::vector<SearchHit>& hits) {
    const MixedTable& table = request.table;
    const SearchOptions& options = request.options;
    std::set<std::string_view> words;
    std::set<uint64_t> row_ids;
    for (size_t i = 0; i < hits.size(); ++i) {
      const SearchHit& hit = hits[i];
      SCOPED_TRACE(absl::StrCat("hit ", i, " '", hit.word, "', row id ", hit.row_id));
      const std::optional<size_t> number = table.pool.Find(hit.word);
      ASSERT_TRUE(number.has_value()) << "never put";
      ASSERT_TRUE(table.pool.HasVersion(*number, hit.vector));
      if (table.steady_ids[*number]) {
        ASSERT_EQ(hit.row_id, *table.steady_ids[*number]);
      }
      ASSERT_TRUE(words.insert(hit.word).second);
      ASSERT_TRUE(row_ids.insert(hit.row_id).second);
      ASSERT_FALSE(request.excluded.contains(hit.word));
      ASSERT_TRUE(query.number != number || options.include_self);
      if (options.first_n) {
        ASSERT_LT(hit.row_id, *options.first_n);
      }
      if (options.min_score) {
        ASSERT_GE(hit.score, *options.min_score);
      }
      ASSERT_EQ(hit.distance.has_value(), table.spec.metric == Metric::kEuclidean);
      if (i == 0) continue;
      ASSERT_TRUE(hits[i - 1].score > hit.score ||
                  (hits[i - 1].score == hit.score && hits[i - 1].row_id < hit.row_id));
    }
  }

  // Whether the scores are those of the hits' vectors: to the query's or, where it names a word, to
  // one of the word's vectors, the same for all hits.
  static bool ScoresFit(const MixedTable& table, const Query& query,
                        const std::vector<SearchHit>& hits) {
    const auto fit = [&](const std::vector<float>& vector) {
      const double norm = SquaredNormInDouble(vector);
      return std::all_of(hits.begin(), hits.end(), [&](const SearchHit& hit) {
        const double score =
            Score(table.spec.metric, vector, norm, hit.vector, SquaredNormInDouble(hit.vector));
        return hit.score == score && (!hit.distance || *hit.distance == -score);
      });
    };
    if (!query.number) return fit(query.vector);
    for (size_t v = 0; v < WordPool::kVersions; ++v) {
      if (fit(table.pool.Of(*query.number, v).stored)) return true;
    }
    return false;
  }

  Dice& dice_;
  std::map<int64_t, uint64_t> last_sequence_;  // seen, by the table's time of creation
  uint64_t answers_ = 0;
  uint64_t walked_ = 0;
};

// Reads rows by word, by id and in order from a table that others change.
class MixedReader {
 public:
  explicit MixedReader(Dice& dice) : dice_(dice) {}

  void Read(const MixedTable& table) {
    switch (dice_.Below(8)) {
      case 0:
        return ScanWords(table);
      case 1:
        return ScanRowIds(table);
      case 2:
        return Compare(table);
      case 3:
      case 4:
        return GetByRowIds(table);
      default:
        return GetByWords(table);
    }
  }

 private:
  // That it is a row that may be there.
  static void CheckRow(const MixedTable& table, const RowValue& row) {
    SCOPED_TRACE(absl::StrCat("row '", row.word, "', id ", row.row_id));
    const std::optional<size_t> number = table.pool.Find(row.word);
    ASSERT_TRUE(number.has_value()) << "never put";
    ASSERT_TRUE(table.pool.HasVersion(*number, row.vector));
    if (table.steady_ids[*number]) {
      ASSERT_EQ(row.row_id, *table.steady_ids[*number]);
    }
  }

  void GetByWords(const MixedTable& table) {
    std::vector<size_t> numbers(1 + dice_.Below(60));
    std::vector<std::string_view> words;
    for (size_t& number : numbers) {
      number = dice_.Below(table.pool.size());
      words.emplace_back(table.pool.Word(number));
    }
    const auto got = table.table->Get(words);
    ASSERT_THAT(got, IsOk());
    ASSERT_EQ(got->rows.size() + got->missing.size(), words.size());
    size_t row = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("word '", table.pool.Word(numbers[i]), "'"));
      if (std::binary_search(got->missing.begin(), got->missing.end(), i)) {
        ASSERT_FALSE(table.steady_ids[numbers[i]].has_value());
        continue;
      }
      ASSERT_EQ(got->rows[row].word, words[i]);
      ASSERT_NO_FATAL_FAILURE(CheckRow(table, got->rows[row++]));
    }
  }

  void GetByRowIds(const MixedTable& table) {
    if (table.steady.empty()) return;
    std::vector<MixedTable::Steady> asked(1 + dice_.Below(60));
    std::vector<uint64_t> row_ids;
    for (MixedTable::Steady& one : asked) {
      one = dice_.Pick(table.steady);
      row_ids.push_back(one.row_id);
    }
    row_ids.push_back(kMaxRowId);  // nobody's
    const auto got = table.table->Get(row_ids);
    ASSERT_THAT(got, IsOk());
    ASSERT_EQ(got->missing, std::vector<size_t>{asked.size()});
    ASSERT_EQ(got->rows.size(), asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      ASSERT_EQ(got->rows[i].word, table.pool.Word(asked[i].number));
      ASSERT_NO_FATAL_FAILURE(CheckRow(table, got->rows[i]));
    }
  }

  // All words of an owner.
  void ScanWords(const MixedTable& table) {
    const size_t owners = table.pool.size() / table.pool.words_per_owner();
    const std::string prefix = WordPool::Prefix(dice_.Below(owners));
    const auto scan = table.table->Scan(WordPrefix{prefix, std::nullopt}, true);
    ASSERT_THAT(scan, IsOk());
    std::string last;
    size_t steady = 0;
    while (true) {
      const auto next = (*scan)->Next();
      ASSERT_THAT(next, IsOk());
      if (!next->has_value()) break;
      const RowValue& row = **next;
      ASSERT_NO_FATAL_FAILURE(CheckRow(table, row));
      ASSERT_TRUE(absl::StartsWith(row.word, prefix)) << row.word;
      ASSERT_LT(last, row.word);
      last = row.word;
      steady += table.steady_ids[*table.pool.Find(row.word)] ? 1 : 0;
    }
    const auto expected = std::count_if(
        table.steady.begin(), table.steady.end(),
        [&](const auto& row) { return absl::StartsWith(table.pool.Word(row.number), prefix); });
    ASSERT_EQ(steady, static_cast<size_t>(expected)) << "of prefix " << prefix;
  }

  void ScanRowIds(const MixedTable& table) {
    if (table.steady.empty()) return;
    RowIdRange range;
    range.begin = dice_.Pick(table.steady).row_id;
    range.end = range.begin + 1 + dice_.Below(2000);
    const auto scan = table.table->Scan(range, true);
    ASSERT_THAT(scan, IsOk());
    uint64_t from = range.begin;
    size_t steady = 0;
    while (true) {
      const auto next = (*scan)->Next();
      ASSERT_THAT(next, IsOk());
      if (!next->has_value()) break;
      const RowValue& row = **next;
      ASSERT_NO_FATAL_FAILURE(CheckRow(table, row));
      ASSERT_GE(row.row_id, from);
      ASSERT_LT(row.row_id, *range.end);
      from = row.row_id + 1;
      steady += table.steady_ids[*table.pool.Find(row.word)] ? 1 : 0;
    }
    ASSERT_EQ(steady, table.SteadyBelow(range.end) - table.SteadyBelow(range.begin));
  }

  void Compare(const MixedTable& table) {
    if (table.steady.empty()) return;
    const size_t number = dice_.Pick(table.steady).number;
    SCOPED_TRACE(absl::StrCat("word '", table.pool.Word(number), "'"));
    const std::vector<float> vector = dice_.Vector(table.spec.dimensions);
    const auto compared = table.table->Similarity(std::string_view(table.pool.Word(number)),
                                                  std::span<const float>(vector));
    ASSERT_THAT(compared, IsOk());
    bool fits = false;
    for (size_t v = 0; v < WordPool::kVersions; ++v) {
      fits = fits || table.pool.ScoreOf(vector, table.pool.Of(number, v)) == compared->score;
    }
    ASSERT_TRUE(fits) << compared->score;
    ASSERT_GE(table.table->Describe().rows, table.steady.size());
  }

  Dice& dice_;
};

}  // namespace vectable

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/mixed_rows.h"
#include "tests/support/status_matchers.h"

namespace vectable {

// Writes and deletes the words of one owner in a table, keeps the model, and checks each
// acknowledgement against it: nobody else touches these words, so that what must come is known.
class RowOwner {
 public:
  RowOwner(MixedTable& table, size_t owner, Dice& dice)
      : table_(table), dice_(dice), first_(table.pool.FirstOf(owner)) {}

  // Puts a batch of new and of existing words, of up to `most` rows.
  void Write(size_t most) {
    const std::vector<Asked> asked = Choose(most);
    UpsertMode mode = UpsertMode::kUpsert;
    if (dice_.OneIn(8)) {
      mode = dice_.OneIn(2) ? UpsertMode::kInsertOnly : UpsertMode::kUpdateOnly;
    }
    bool any_id = false;
    std::vector<RowInput> inputs;
    for (const Asked& row : asked) {
      inputs.push_back({table_.pool.Word(row.number), table_.pool.Of(row.number, row.version).given,
                        row.row_id});
      any_id = any_id || row.row_id.has_value();
    }
    const std::vector<bool> bad = BadRows(asked, mode);
    const bool skip_bad = any_id || dice_.OneIn(3);
    const auto outcome = skip_bad ? T().UpsertSkippingBad(inputs, mode) : T().Upsert(inputs, mode);
    if (!skip_bad && std::find(bad.begin(), bad.end(), true) != bad.end()) {
      const absl::StatusCode code = outcome.status().code();
      ASSERT_TRUE(code == absl::StatusCode::kInvalidArgument ||
                  code == absl::StatusCode::kAlreadyExists || code == absl::StatusCode::kNotFound)
          << outcome.status();
      return;
    }
    ASSERT_THAT(outcome, IsOk());
    ASSERT_NO_FATAL_FAILURE(TakeIn(asked, bad, *outcome));
    if (dice_.OneIn(4)) CheckOwn(asked, outcome->sequence);
  }

  // Deletes some of the owner's words, up to `most`, by word or by row id, with some that aren't
  // there.
  void Delete(size_t most) {
    std::vector<size_t> numbers;
    for (size_t i = 0, count = 1 + dice_.Below(most); i < count; ++i) {
      numbers.push_back(RandomNumber());
    }
    DeleteThese(numbers);
  }

  // Deletes half of the rows where there are more than three quarters of what there may be.
  void Trim() {
    std::vector<size_t> live;
    for (size_t i = 0; i < table_.pool.words_per_owner(); ++i) {
      if (Model(first_ + i)) live.push_back(first_ + i);
    }
    if (live.size() * 4 < table_.pool.words_per_owner() * 3) return;
    std::vector<size_t> chosen;
    for (const size_t number : live) {
      if (dice_.OneIn(2)) chosen.push_back(number);
    }
    if (!chosen.empty()) DeleteThese(chosen);
  }

 private:
  struct Asked {
    size_t number = 0;
    size_t version = 0;
    std::optional<uint64_t> row_id;
  };

  Table& T() const { return *table_.table; }
  std::optional<MixedTable::Row>& Model(size_t number) const { return table_.rows[number]; }
  size_t RandomNumber() { return first_ + dice_.Below(table_.pool.words_per_owner()); }

  // Different words, but now and then one twice; now and then row ids.
  std::vector<Asked> Choose(size_t most) {
    std::vector<Asked> asked;
    std::set<size_t> seen;
    uint64_t next_id = T().Describe().next_row_id + dice_.Below(500);
    const bool with_ids = dice_.OneIn(10);
    for (size_t i = 0, count = 1 + dice_.Below(most); i < count; ++i) {
      const size_t number = RandomNumber();
      if (!seen.insert(number).second) continue;
      std::optional<uint64_t> row_id;
      if (with_ids && dice_.OneIn(3)) row_id = Model(number) ? Model(number)->row_id : next_id++;
      asked.push_back({number, dice_.Below(WordPool::kVersions), row_id});
    }
    if (dice_.OneIn(8)) {
      asked.push_back({dice_.Pick(asked).number, dice_.Below(WordPool::kVersions), std::nullopt});
    }
    return asked;
  }

  // Which rows can't be written, but for row ids that others may have taken meanwhile.
  std::vector<bool> BadRows(const std::vector<Asked>& asked, UpsertMode mode) const {
    std::vector<bool> bad;
    std::set<size_t> seen;
    for (const Asked& row : asked) {
      const bool there = Model(row.number).has_value();
      bad.push_back(!seen.insert(row.number).second || (mode == UpsertMode::kInsertOnly && there) ||
                    (mode == UpsertMode::kUpdateOnly && !there));
    }
    return bad;
  }

  void TakeIn(const std::vector<Asked>& asked, const std::vector<bool>& bad,
              const UpsertOutcome& outcome) {
    std::vector<bool> rejected(asked.size());
    for (const RejectedRow& row : outcome.rejected) {
      ASSERT_LT(row.index, asked.size());
      rejected[row.index] = true;
      const Asked& one = asked[row.index];
      ASSERT_TRUE(bad[row.index] || (one.row_id && !Model(one.number) &&
                                     row.reason.code() == absl::StatusCode::kAlreadyExists))
          << table_.pool.Word(one.number) << ": " << row.reason;
    }
    size_t written = 0;
    size_t replaced = 0;
    for (size_t i = 0; i < asked.size(); ++i) {
      const Asked& one = asked[i];
      SCOPED_TRACE(table_.pool.Word(one.number));
      ASSERT_TRUE(rejected[i] || !bad[i]);
      if (rejected[i]) continue;
      ASSERT_LT(written, outcome.row_ids.size());
      const uint64_t row_id = outcome.row_ids[written++];
      std::optional<MixedTable::Row>& row = Model(one.number);
      if (row) {
        ASSERT_EQ(row_id, row->row_id);
        ++replaced;
      } else if (one.row_id) {
        ASSERT_EQ(row_id, *one.row_id);
      }
      row = {row_id, one.version};
    }
    ASSERT_EQ(outcome.row_ids.size(), written);
    ASSERT_EQ(outcome.replaced, replaced);
    ASSERT_EQ(outcome.inserted, written - replaced);
    ASSERT_EQ(outcome.sequence > 0, written > 0);
  }

  void DeleteThese(const std::vector<size_t>& numbers) {
    const bool by_id = dice_.OneIn(3);
    std::vector<std::string_view> words;
    std::vector<uint64_t> row_ids;
    std::vector<size_t> missing;
    std::set<size_t> there;
    std::set<size_t> seen;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const std::optional<MixedTable::Row>& row = Model(numbers[i]);
      words.push_back(table_.pool.Word(numbers[i]));
      // An id that no row has, for a word that isn't there.
      row_ids.push_back(row ? row->row_id : kMaxRowId - numbers[i]);
      if (!seen.insert(numbers[i]).second) continue;
      if (row) {
        there.insert(numbers[i]);
      } else {
        missing.push_back(i);
      }
    }
    const auto outcome = T().Delete(by_id ? RowKeys(row_ids) : RowKeys(words));
    ASSERT_THAT(outcome, IsOk());
    ASSERT_EQ(outcome->deleted, there.size());
    ASSERT_EQ(outcome->missing, missing);
    for (const size_t number : there) Model(number).reset();
    std::vector<Asked> touched;
    for (const size_t number : numbers) touched.push_back({number, 0, std::nullopt});
    if (dice_.OneIn(4)) CheckOwn(touched, outcome->sequence);
  }

  // What was acknowledged is there, or gone, for everybody from now on.
  void CheckOwn(const std::vector<Asked>& touched, uint64_t sequence) {
    for (size_t i = 0; i < 3; ++i) {
      const size_t number = dice_.Pick(touched).number;
      SCOPED_TRACE(table_.pool.Word(number));
      ASSERT_NO_FATAL_FAILURE(CheckGet(number));
      ASSERT_NO_FATAL_FAILURE(CheckNearest(number, sequence));
    }
  }
  void CheckGet(size_t number) const {
    const auto got = T().Get(std::vector<std::string_view>{table_.pool.Word(number)});
    ASSERT_THAT(got, IsOk());
    const std::optional<MixedTable::Row>& row = Model(number);
    ASSERT_EQ(got->rows.size(), row ? 1U : 0U);
    if (!row) return;
    ASSERT_EQ(got->rows[0].row_id, row->row_id);
    ASSERT_EQ(got->rows[0].word, table_.pool.Word(number));
    ASSERT_EQ(got->rows[0].vector, table_.pool.Of(number, row->version).stored);
  }
  void CheckNearest(size_t number, uint64_t sequence) const {
    const std::optional<MixedTable::Row>& row = Model(number);
    const WordPool::Version& version = table_.pool.Of(number, row ? row->version : 0);
    const std::vector<QueryTarget> targets = {std::string_view(table_.pool.Word(number)),
                                              std::span<const float>(version.stored)};
    SearchOptions options;
    options.k = 8;
    options.exact = true;
    options.include_self = true;
    const auto found = T().Nearest(targets, options);
    ASSERT_THAT(found, IsOk());
    ASSERT_GE(found->sequence, sequence);
    ASSERT_EQ(found->queries[0].status.code(),
              row ? absl::StatusCode::kOk : absl::StatusCode::kNotFound);
    ASSERT_THAT(found->queries[1].status, IsOk());
    const double own = table_.pool.ScoreOf(version.stored, version);
    for (const QueryOutcome& query : found->queries) {
      if (!query.status.ok()) continue;
      const auto hit = std::find_if(query.hits.begin(), query.hits.end(), [&](const auto& one) {
        return one.word == table_.pool.Word(number);
      });
      if (!row) {
        ASSERT_TRUE(hit == query.hits.end());
      } else if (hit == query.hits.end()) {
        ASSERT_EQ(query.hits.size(), options.k);
        ASSERT_GE(query.hits.back().score, own);
      } else {
        ASSERT_EQ(hit->score, own);
        ASSERT_EQ(hit->row_id, row->row_id);
      }
    }
  }

  MixedTable& table_;
  Dice& dice_;
  const size_t first_;  // of its words
};

}  // namespace vectable

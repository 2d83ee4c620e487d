#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "common/vector_codec.h"
#include "common/vector_math.h"
#include "engine/table.h"
#include "engine/types.h"
#include "gtest/gtest.h"

namespace vectable {

// The random choices of one thread.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  size_t Below(size_t n) { return random_() % n; }
  bool OneIn(size_t n) { return Below(n) == 0; }
  template <typename List>
  const auto& Pick(const List& list) {
    return list[Below(list.size())];
  }
  std::vector<float> Vector(size_t dimensions) {
    std::normal_distribution<float> normal;
    std::vector<float> vector(dimensions);
    for (float& value : vector) value = normal(random_);
    return vector;
  }

 private:
  std::mt19937_64 random_;
};

// All words that a mixed run may put into a table, and the few vectors that each may have there. It
// is made beforehand and doesn't change, so that every thread can tell, without a lock, whether a
// row that it was given is one that may be there. Words are known by number; each owner has an
// equal part of them.
class WordPool {
 public:
  static constexpr size_t kVersions = 3;  // of a word's vector

  struct Version {
    std::vector<float> given;
    std::vector<float> stored;  // what the table makes of it
    double squared_norm = 0;    // of `stored`
  };

  WordPool(const TableSpec& shape, size_t owners, size_t words_per_owner, Dice& dice)
      : metric_(shape.metric), words_per_owner_(words_per_owner) {
    const VectorCodec codec(shape.precision, shape.dimensions);
    for (size_t owner = 0; owner < owners; ++owner) {
      for (size_t i = 0; i < words_per_owner; ++i) {
        words_.push_back(absl::StrCat(Prefix(owner), i, Ending(i)));
        // One in eight has the vectors of the word before: equal scores.
        const bool twin = i > 0 && dice.OneIn(8);
        for (size_t v = 0; v < kVersions; ++v) {
          versions_.push_back(twin ? versions_[versions_.size() - kVersions]
                                   : MakeVersion(codec, dice.Vector(shape.dimensions)));
        }
      }
    }
    for (size_t number = 0; number < words_.size(); ++number) numbers_[words_[number]] = number;
  }

  WordPool(const WordPool&) = delete;
  WordPool& operator=(const WordPool&) = delete;

  // That the words of an owner, and no others, begin with.
  static std::string Prefix(size_t owner) { return std::string(1, static_cast<char>('a' + owner)); }

  size_t size() const { return words_.size(); }
  size_t FirstOf(size_t owner) const { return owner * words_per_owner_; }
  size_t words_per_owner() const { return words_per_owner_; }

  const std::string& Word(size_t number) const { return words_[number]; }
  const Version& Of(size_t number, size_t version) const {
    return versions_[number * kVersions + version];
  }
  std::optional<size_t> Find(std::string_view word) const {
    const auto found = numbers_.find(word);
    return found == numbers_.end() ? std::nullopt : std::optional<size_t>(found->second);
  }
  bool HasVersion(size_t number, std::span<const float> stored) const {
    for (size_t v = 0; v < kVersions; ++v) {
      if (std::equal(stored.begin(), stored.end(), Of(number, v).stored.begin(),
                     Of(number, v).stored.end())) {
        return true;
      }
    }
    return false;
  }

  double ScoreOf(std::span<const float> query, const Version& version) const {
    return Score(metric_, query, SquaredNormInDouble(query), version.stored, version.squared_norm);
  }

 private:
  // Most words are short; some are long, or have more than ASCII in them.
  static std::string Ending(size_t i) {
    if (i % 97 == 5) return std::string(300, 'x');
    return i % 10 == 3 ? " \xC3\xA9" : "";
  }
  static Version MakeVersion(const VectorCodec& codec, std::vector<float> given) {
    Version version;
    version.given = std::move(given);
    std::string codes;
    const absl::Status status = codec.Encode(version.given, codes);
    EXPECT_TRUE(status.ok()) << status;
    version.stored.resize(version.given.size());
    codec.Decode(codes.data(), 1, version.stored.data());
    version.squared_norm = SquaredNormInDouble(version.stored);
    return version;
  }

  const Metric metric_;
  const size_t words_per_owner_;
  std::vector<std::string> words_;
  std::vector<Version> versions_;
  absl::flat_hash_map<std::string_view, size_t> numbers_;  // into `words_`
};

// A table of a mixed run, and what it should hold.
struct MixedTable {
  struct Row {
    uint64_t row_id = 0;
    size_t version = 0;
  };
  struct Near {
    double score = 0;
    uint64_t row_id = 0;
    size_t number = 0;
  };
  struct Steady {
    uint64_t row_id = 0;
    size_t number = 0;
  };

  MixedTable(TableSpec the_spec, size_t owners, size_t words_per_owner, Dice& dice)
      : spec(std::move(the_spec)),
        pool(spec, owners, words_per_owner, dice),
        rows(pool.size()),
        steady_ids(pool.size()) {}

  const TableSpec spec;
  const WordPool pool;
  std::shared_ptr<Table> table;  // null while the database is closed
  // The rows that were acknowledged, by the word's number. Each owner's part is for its thread
  // alone until the round ends.
  std::vector<std::optional<Row>> rows;
  // Rows that stay through the round with their row ids, whatever vectors they get; by row id, and
  // by the word's number. Set between rounds.
  std::vector<Steady> steady;
  std::vector<std::optional<uint64_t>> steady_ids;

  // Takes what the first `owners` have as steady.
  void SetSteady(size_t owners) {
    steady.clear();
    steady_ids.assign(pool.size(), std::nullopt);
    for (size_t number = 0; number < pool.FirstOf(owners); ++number) {
      if (!rows[number]) continue;
      steady.push_back({rows[number]->row_id, number});
      steady_ids[number] = rows[number]->row_id;
    }
    std::sort(steady.begin(), steady.end(),
              [](const Steady& a, const Steady& b) { return a.row_id < b.row_id; });
  }
  size_t SteadyBelow(std::optional<uint64_t> end) const {
    if (!end) return steady.size();
    const auto first = std::partition_point(steady.begin(), steady.end(),
                                            [end](const Steady& row) { return row.row_id < *end; });
    return static_cast<size_t>(first - steady.begin());
  }

  size_t RowCount() const {
    return static_cast<size_t>(
        std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.has_value(); }));
  }

  // The right answer for a query, by a scan in double. `skipped` are words' numbers.
  std::vector<Near> Nearest(std::span<const float> query, const SearchOptions& options,
                            const std::vector<size_t>& skipped) const {
    std::vector<Near> all;
    for (size_t number = 0; number < rows.size(); ++number) {
      const std::optional<Row>& row = rows[number];
      if (!row || (options.first_n && row->row_id >= *options.first_n)) continue;
      if (std::find(skipped.begin(), skipped.end(), number) != skipped.end()) continue;
      const double score = pool.ScoreOf(query, pool.Of(number, row->version));
      if (options.min_score && score < *options.min_score) continue;
      all.push_back({score, row->row_id, number});
    }
    const size_t count = std::min<size_t>(options.k, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                      [](const Near& a, const Near& b) {
                        return a.score != b.score ? a.score > b.score : a.row_id < b.row_id;
                      });
    all.resize(count);
    return all;
  }
};

}  // namespace vectable

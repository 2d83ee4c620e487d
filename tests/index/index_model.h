#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/vector_codec.h"
#include "common/vector_math.h"
#include "gtest/gtest.h"
#include "index/batch_backend.h"
#include "index/faiss_backend.h"
#include "index/table_index.h"

namespace vectable {

using Vector = std::vector<float>;

// The codes of a vector that the codec can hold.
inline std::string CodesOf(const VectorCodec& codec, const Vector& vector) {
  std::string codes;
  const absl::Status status = codec.Encode(vector, codes);
  EXPECT_TRUE(status.ok()) << status;
  return codes;
}

inline std::string Fp32Codes(const Vector& vector) {
  return CodesOf({Precision::kFp32, vector.size()}, vector);
}

inline Vector VectorOf(const VectorCodec& codec, const char* codes) {
  Vector vector(codec.dimensions());
  codec.Decode(codes, 1, vector.data());
  return vector;
}

// What an index should hold, by row id.
struct ModelRow {
  std::string word;
  Vector vector;
  double squared_norm = 0;
};
using IndexModel = std::map<uint64_t, ModelRow>;

struct ModelHit {
  uint64_t row_id;
  std::string word;
  double score;

  friend bool operator==(const ModelHit&, const ModelHit&) = default;
};

inline void PrintTo(const ModelHit& hit, std::ostream* out) {
  *out << absl::StrCat(hit.row_id, ":", hit.word, ":") << hit.score;
}

// The answer by the book: every row scored in double, sorted, cut to k.
inline std::vector<ModelHit> BruteForce(const IndexModel& model, Metric metric,
                                        const IndexQuery& query,
                                        const IndexSearchOptions& options) {
  const double squared_norm = SquaredNormInDouble(query.vector);
  std::vector<std::pair<double, IndexModel::const_iterator>> scored;
  for (auto row = model.begin(); row != model.end(); ++row) {
    if (options.first_n && row->first >= *options.first_n) break;
    const auto& excluded = query.excluded_row_ids;
    if (std::find(excluded.begin(), excluded.end(), row->first) != excluded.end()) continue;
    scored.emplace_back(
        Score(metric, query.vector, squared_norm, row->second.vector, row->second.squared_norm),
        row);
  }
  const size_t k = std::min(options.k, scored.size());
  std::partial_sort(
      scored.begin(), scored.begin() + k, scored.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second->first < b.second->first;
      });
  std::vector<ModelHit> hits;
  for (size_t i = 0; i < k; ++i) {
    const auto& [score, row] = scored[i];
    hits.push_back({row->first, row->second.word, score});
  }
  return hits;
}

inline std::vector<ModelHit> HitsOf(const IndexResult& result) {
  std::vector<ModelHit> hits;
  for (const IndexHit& hit : result.hits) {
    hits.push_back({hit.row.row_id, std::string(hit.row.word), hit.score});
  }
  return hits;
}

// Checks each answer of a search against the model.
inline void CheckSearch(const IndexSnapshot& snapshot, const IndexModel& model, Metric metric,
                        const std::vector<IndexQuery>& queries, const IndexSearchOptions& options) {
  const auto results = snapshot.Search(queries, options);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), queries.size());
  const uint64_t end = options.first_n.value_or(~uint64_t{0});
  const auto let_through = std::distance(model.begin(), model.lower_bound(end));
  for (size_t q = 0; q < queries.size(); ++q) {
    ASSERT_EQ(HitsOf((*results)[q]), BruteForce(model, metric, queries[q], options))
        << "query " << q << " of " << queries.size() << ", k " << options.k;
    const auto& excluded = queries[q].excluded_row_ids;
    ASSERT_EQ((*results)[q].rows_searched,
              let_through - std::count_if(excluded.begin(), excluded.end(),
                                          [end](uint64_t id) { return id < end; }));
  }
}

// Checks that the snapshot holds the model's rows and no others.
inline void CheckRows(const IndexSnapshot& snapshot, const IndexModel& model,
                      const VectorCodec& codec) {
  ASSERT_EQ(snapshot.live_rows(), model.size());
  uint64_t seen = 0;
  bool all_right = true;
  snapshot.ForEachRow([&](const IndexedRow& row) {
    ++seen;
    const auto expected = model.find(row.row_id);
    all_right = all_right && expected != model.end() && row.word == expected->second.word &&
                VectorOf(codec, row.codes) == expected->second.vector;
    return all_right;
  });
  ASSERT_TRUE(all_right);
  ASSERT_EQ(seen, model.size());
  for (const auto& [row_id, row] : model) {
    const std::optional<IndexedRow> by_word = snapshot.FindWord(row.word);
    ASSERT_TRUE(by_word) << row.word;
    ASSERT_EQ(by_word->row_id, row_id);
    const std::optional<IndexedRow> by_id = snapshot.FindRowId(row_id);
    ASSERT_TRUE(by_id) << row_id;
    ASSERT_EQ(by_id->word, row.word);
    ASSERT_EQ(by_id->squared_norm, row.squared_norm);
  }
}

}  // namespace vectable

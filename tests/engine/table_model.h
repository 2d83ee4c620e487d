#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/vector_math.h"

namespace vectable {

// What a table should hold, kept the simplest way, and its answers by a plain scan in double.
class TableModel {
 public:
  struct Row {
    uint64_t row_id;
    std::vector<float> vector;
  };

  explicit TableModel(Metric metric) : metric_(metric) {}

  void Upsert(const std::string& word, std::vector<float> vector) {
    if (const auto found = rows_.find(word); found != rows_.end()) {
      found->second.vector = std::move(vector);
    } else {
      rows_[word] = {next_row_id_++, std::move(vector)};
    }
  }
  bool Delete(const std::string& word) { return rows_.erase(word) > 0; }

  const std::map<std::string, Row>& rows() const { return rows_; }
  uint64_t next_row_id() const { return next_row_id_; }

  // The k best (word, score), best first, equal scores by lower id; without the row that `skip`
  // names.
  std::vector<std::pair<std::string, double>> Nearest(const std::vector<float>& query, size_t k,
                                                      const std::optional<std::string>& skip,
                                                      std::optional<uint64_t> first_n) const {
    struct Scored {
      double score;
      uint64_t row_id;
      std::string word;
    };
    std::vector<Scored> all;
    for (const auto& [word, row] : rows_) {
      if (word == skip || (first_n && row.row_id >= *first_n)) continue;
      all.push_back({Score(metric_, query, SquaredNormInDouble(query), row.vector,
                           SquaredNormInDouble(row.vector)),
                     row.row_id, word});
    }
    std::sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) {
      return a.score != b.score ? a.score > b.score : a.row_id < b.row_id;
    });
    std::vector<std::pair<std::string, double>> best;
    for (size_t i = 0; i < std::min(k, all.size()); ++i)
      best.emplace_back(all[i].word, all[i].score);
    return best;
  }

 private:
  const Metric metric_;
  std::map<std::string, Row> rows_;
  uint64_t next_row_id_ = 0;
};

}  // namespace vectable

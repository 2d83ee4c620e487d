#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

inline constexpr size_t kTruthDepth = 10;  // true nearest rows known of each query

// What to make of the words of a text.
struct DataSetOptions {
  size_t rows = 0;         // of the base; 0: every word that isn't a query
  size_t dimensions = 0;   // 0: those of the text
  size_t queries = 2'000;  // words held out of the base
  uint64_t seed = 42;
};

// Rows to search, queries that aren't among them, and their true nearest rows: all vectors of unit
// length. It lies in a file, which is mapped.
//
// The queries are words drawn by the seed, and the base is the others. Fewer rows are a draw of
// them. More rows are sums of random pairs of words, and then as large a share of the queries are
// sums of pairs of held-out words. More dimensions are a random projection, the same for all rows.
class DataSet {
 public:
  static absl::StatusOr<DataSet> Open(const std::string& path);
  ~DataSet();
  DataSet(DataSet&& other) noexcept;
  DataSet& operator=(DataSet&&) = delete;

  size_t dimensions() const { return dimensions_; }
  size_t rows() const { return rows_; }
  size_t queries() const { return queries_; }

  const float* base() const { return base_; }  // rows x dimensions, row-major
  std::span<const float> row(size_t i) const { return {base_ + i * dimensions_, dimensions_}; }
  std::span<const float> query(size_t i) const {
    return {query_vectors_ + i * dimensions_, dimensions_};
  }
  const float* query_vectors() const { return query_vectors_; }  // queries x dimensions
  // The rows nearest to a query by inner product in double, nearest first.
  std::span<const uint32_t> truth(size_t i) const {
    return {truth_ + i * kTruthDepth, kTruthDepth};
  }

 private:
  DataSet() = default;

  const char* start_ = nullptr;
  size_t bytes_ = 0;
  size_t dimensions_ = 0;
  size_t rows_ = 0;
  size_t queries_ = 0;
  const float* base_ = nullptr;
  const float* query_vectors_ = nullptr;
  const uint32_t* truth_ = nullptr;
};

// Makes a data set of a GloVe text (no header) and writes it to `path`; where `words_path` isn't
// empty, its base as GloVe text there: lines as they were, and made-up words for what was made up.
absl::Status MakeDataSet(const std::string& text_path, const DataSetOptions& options,
                         const std::string& path, const std::string& words_path);

}  // namespace vectable

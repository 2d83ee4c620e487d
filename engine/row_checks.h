#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "common/limits.h"
#include "common/vector_codec.h"
#include "engine/types.h"

namespace vectable {

// Checks that need nothing but the request and the table's shape.

// "row 17 ('cat')", for messages.
std::string RowLabel(size_t index, std::string_view word);

// Checks the rows of one batch. Keeps views of their words.
class BatchChecker {
 public:
  BatchChecker(const TableSpec& spec, const Limits& limits)
      : spec_(spec), limits_(limits), codec_(spec.precision, spec.dimensions) {}

  // Makes room for so many rows.
  void Reserve(size_t rows) { words_.reserve(rows); }

  // Appends the vector's codes, at the table's precision, to `codes`; or says why this row can't be
  // written: its word, vector or id, or that a row before it has the same word or id. A refused row
  // counts as not seen. INVALID_ARGUMENT with the row's label.
  absl::Status Encode(size_t index, const RowInput& row, std::string& codes);

 private:
  absl::Status CheckKeys(const RowInput& row);

  const TableSpec& spec_;
  const Limits& limits_;
  const VectorCodec codec_;
  absl::flat_hash_set<std::string_view> words_;
  absl::flat_hash_set<uint64_t> row_ids_;
};

// INVALID_ARGUMENT for no keys or more than the limit.
absl::Status CheckKeyCount(size_t count, const Limits& limits);

// INVALID_ARGUMENT for a k, a number of queries or a min_score out of range.
absl::Status CheckSearch(size_t queries, const SearchOptions& options, const Limits& limits);

}  // namespace vectable

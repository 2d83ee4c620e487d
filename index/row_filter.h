#pragma once

#include <cstdint>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "index/row_block.h"
#include "index/table_index.h"

namespace vectable {

// Which rows a query may have as hits: what every search asks before it keeps one.
class RowFilter {
 public:
  RowFilter(const IndexQuery& query, const IndexSearchOptions& options, uint64_t version)
      : version_(version),
        end_(options.first_n.value_or(std::numeric_limits<uint64_t>::max())),
        excluded_(query.excluded_row_ids.begin(), query.excluded_row_ids.end()) {}

  uint64_t version() const { return version_; }
  // Row ids below it only.
  uint64_t end() const { return end_; }
  bool has_end() const { return end_ != std::numeric_limits<uint64_t>::max(); }
  // How many rows below the end are excluded.
  uint64_t excluded_rows() const {
    uint64_t rows = 0;
    for (const uint64_t row_id : excluded_) rows += row_id < end_ ? 1 : 0;
    return rows;
  }

  bool Allows(uint64_t row_id) const {
    return row_id < end_ && (excluded_.empty() || !excluded_.contains(row_id));
  }
  bool Allows(const RowBlock& block, size_t offset) const {
    return block.IsLive(offset, version_) && Allows(block.row_id(offset));
  }

 private:
  const uint64_t version_;
  const uint64_t end_;
  const absl::flat_hash_set<uint64_t> excluded_;
};

}  // namespace vectable

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/metric.h"
#include "common/precision.h"

namespace vectable {

// A row of the catalogue: what a table is, and its counters as of its last mutation.
struct TableRecord {
  uint32_t table_id = 0;  // given by the store, never used again
  std::string name;
  uint32_t dimensions = 0;
  Precision precision = Precision::kFp32;
  Metric metric = Metric::kCosine;
  std::vector<std::string> dimension_names;
  int64_t created_unix_micros = 0;

  uint64_t rows = 0;              // live rows
  uint64_t next_row_id = 0;       // the id of the next new row
  uint64_t applied_sequence = 0;  // sequence of the last mutation, 0 before the first

  friend bool operator==(const TableRecord&, const TableRecord&) = default;
};

}  // namespace vectable

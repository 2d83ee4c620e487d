#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/text_table.h"
#include "sizing/model_report.h"

namespace vectable {

// A model's report as aligned tables, with notes under them. `bold` for a terminal.
std::string ModelText(const ModelReport& report, bool bold);

// Nominal bytes per precision.
TextTable WeightsTable(const std::vector<WeightsEntry>& weights);

// A line per named count, and in the end their total.
struct NamedCount {
  std::string name;
  uint64_t count = 0;
};
TextTable CountsTable(const std::string& title, const std::vector<NamedCount>& counts,
                      uint64_t total);

absl::StatusOr<TextTable> PresetsTable();

}  // namespace vectable

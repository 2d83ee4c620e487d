#include "client/cli/named_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/names.h"

namespace vectable {

absl::StatusOr<std::vector<float>> OrderByName(const std::string& table,
                                               std::span<const std::string> names,
                                               std::span<const NamedValue> values) {
  if (names.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("table {} has no dimension names; give plain values in order", Quoted(table)));
  }
  std::vector<float> ordered(names.size(), 0);
  std::vector<bool> given(names.size(), false);
  for (const NamedValue& value : values) {
    const auto found = std::find(names.begin(), names.end(), value.name);
    if (found == names.end()) {
      return absl::InvalidArgumentError(fmt::format("table {} has no dimension {}; it has {}",
                                                    Quoted(table), Quoted(value.name),
                                                    fmt::join(names, ", ")));
    }
    const size_t at = static_cast<size_t>(found - names.begin());
    if (given[at]) {
      return absl::InvalidArgumentError(
          fmt::format("dimension {} is given twice", Quoted(value.name)));
    }
    given[at] = true;
    ordered[at] = value.value;
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!given[i]) missing.push_back(names[i]);
  }
  if (!missing.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("no value for {} of table {} (expected {}, found {})", fmt::join(missing, ", "),
                    Quoted(table), names.size(), values.size()));
  }
  return ordered;
}

}  // namespace vectable

#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vectable {

// A value given by the name of its dimension.
struct NamedValue {
  std::string name;
  float value = 0;
};

// The values in the order of `names`, the dimension names of `table`. FAILED_PRECONDITION: the
// table has no names; INVALID_ARGUMENT: a name is unknown, comes twice, or is missing; the message
// says which.
absl::StatusOr<std::vector<float>> OrderByName(const std::string& table,
                                               std::span<const std::string> names,
                                               std::span<const NamedValue> values);

}  // namespace vectable

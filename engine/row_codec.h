#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/precision.h"

namespace vectable {

// Between vectors and the codes that are stored for them at a precision.

// Whether rows can be kept at this precision: UNIMPLEMENTED for all but fp32.
absl::Status CheckPrecision(Precision precision);

// Appends the codes of a checked vector.
void EncodeVector(std::string& out, std::span<const float> vector);

// The vector of `dimensions` values that the codes hold. DATA_LOSS when their length is another.
absl::Status DecodeVector(std::string_view codes, size_t dimensions, std::vector<float>& out);

}  // namespace vectable

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "vectable/v1/types.pb.h"

namespace vectable {

// Columns that `text` takes on a terminal: combining marks 0, East Asian wide characters 2.
size_t DisplayWidth(std::string_view text);

// `text` for people: control characters and invalid bytes become \x1b and the like.
std::string Printable(std::string_view text);

// The shortest text that reads back to the same fp32 value: "0.1", "1e-45", "-0".
std::string ShortFloat(float value);

// All values of a vector, separated by blanks.
std::string VectorText(const v1::Vector& vector);

}  // namespace vectable

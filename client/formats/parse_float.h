#pragma once

#include <string_view>

namespace vectable {

// What ParseFloat made of a text.
enum class FloatText {
  kOk,          // a finite number
  kNotFinite,   // NaN or infinity, spelled out
  kOutOfRange,  // a number whose size fp32 can't hold
  kNotANumber,  // anything else
};

// Reads the whole of `text` as an fp32 number, rounded to nearest, whatever the locale: "1", "-.5",
// "5.",
// "+2", "1e-3", subnormals; what is too small for those becomes zero. `value` is set for kOk, and
// to the NaN or infinity for kNotFinite.
FloatText ParseFloat(std::string_view text, float& value);

}  // namespace vectable

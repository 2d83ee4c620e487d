#include "client/formats/parse_float.h"

#include <fast_float/fast_float.h>

#include <cmath>
#include <system_error>

namespace vectable {

FloatText ParseFloat(std::string_view text, float& value) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '-' || text.front() == '+'))
      return FloatText::kNotANumber;
  }
  float parsed = 0;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return FloatText::kNotANumber;
  }
  if (!std::isfinite(parsed)) {
    const char last =
        text.back();  // "nan", "inf" and "infinity" end in a letter (or in ")"), numbers don't
    if ((last < '0' || last > '9') && last != '.') {
      value = parsed;
      return FloatText::kNotFinite;
    }
    return FloatText::kOutOfRange;
  }
  value = parsed;
  return FloatText::kOk;
}

}  // namespace vectable

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"

namespace vectable {

// One value of a JSON text that is neither object nor array.
using JsonScalar = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string>;

// "null", "true or false", "a number", "a string".
const char* JsonKind(const JsonScalar& scalar);

// Takes the values of a JSON text in their order, so that no tree of it is ever made. An error ends
// the scan. `depth` is 0 for the outermost value, 1 for its members, and so on.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual absl::Status OnKey(size_t depth, std::string& key) = 0;
  virtual absl::Status OnScalar(size_t depth, JsonScalar scalar) = 0;
  virtual absl::Status OnBegin(size_t depth, bool object) = 0;
  virtual absl::Status OnEnd(size_t depth, bool object) = 0;
};

inline constexpr size_t kMaxJsonDepth = 64;

// Feeds `text` to `visitor`. INVALID_ARGUMENT for a text that isn't one JSON document, with the
// place of the fault, or that is nested deeper than kMaxJsonDepth. Memory: one string of the text
// at a time.
absl::Status ScanJson(std::string_view text, JsonVisitor& visitor);

}  // namespace vectable

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace vectable {

// Whether `bytes` is well-formed UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates).
bool IsValidUtf8(std::string_view bytes);

// Whether `word` may be a row's word: valid UTF-8 without NUL, 1 to `max_bytes` bytes.
// INVALID_ARGUMENT says what is wrong with it and names it.
absl::Status CheckWord(std::string_view word, size_t max_bytes);

// Whether `name` may be a table's name: [A-Za-z0-9_.-], 1 to 128 bytes, not starting with '.' or
// '-'. INVALID_ARGUMENT says which rule it breaks.
absl::Status CheckTableName(std::string_view name);

// Whether `names` may name the `dimensions` components of a table: none at all, or one each, not
// empty, unique, valid words.
absl::Status CheckDimensionNames(const std::vector<std::string>& names, size_t dimensions);

// `text` in single quotes as a message may show it: control and invalid bytes escaped (\x01),
// cut with "..." after about 64 bytes at a character's border.
std::string Quoted(std::string_view text);

}  // namespace vectable

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vectable {

// `text` with every byte that isn't part of well-formed UTF-8 replaced by U+FFFD; what a proto3
// string may hold.
std::string ReplaceInvalidUtf8(std::string_view text);

// `text`, which is valid UTF-8, cut at a character's border to at most `max_bytes` bytes, of which
// "..." are the last when something was cut.
std::string CutUtf8(std::string_view text, size_t max_bytes);

}  // namespace vectable

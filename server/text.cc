#include "server/text.h"

#include <algorithm>

#include "common/names.h"

namespace vectable {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "...";
constexpr size_t kMaxCharacterBytes = 4;

// Bytes of the character at the start of `text`, or 0 when there is none.
size_t CharacterBytes(std::string_view text) {
  for (size_t bytes = 1; bytes <= std::min(text.size(), kMaxCharacterBytes); ++bytes) {
    if (IsValidUtf8(text.substr(0, bytes))) return bytes;
  }
  return 0;
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

std::string ReplaceInvalidUtf8(std::string_view text) {
  if (IsValidUtf8(text)) return std::string(text);
  std::string valid;
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    valid.append(bytes == 0 ? kReplacement : text.substr(0, bytes));
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return valid;
}

std::string CutUtf8(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t keep = max_bytes - std::min(max_bytes, kEllipsis.size());
  while (keep > 0 && ContinuesCharacter(text[keep])) --keep;
  std::string cut(text.substr(0, keep));
  cut.append(kEllipsis.substr(0, max_bytes));
  return cut;
}

}  // namespace vectable

#include "client/formats/word_text.h"

#include <utf8proc.h>

#include <string_view>

#include "absl/strings/cord.h"
#include "common/limits.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr char kLeaveOutUrl[] = "vectable/leave-out";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

std::string FromLatin1(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xC0 | byte >> 6);
      out += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

// Bytes of the longest beginning of `text`, which begins with no whole character, that a whole one
// could begin with; at least 1 (Unicode 15, table 3-7).
size_t IllFormedLength(std::string_view text) {
  const auto at = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto within = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned lead = at(0);
  if (!within(lead, 0xE0, 0xF4)) return 1;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!within(at(1), low, high)) return 1;
  return lead >= 0xF0 && within(at(2), 0x80, 0xBF) ? 3 : 2;
}

// Each maximal part of an ill-formed sequence becomes U+FFFD (Unicode 15, section 3.9, U+FFFD
// Substitution of Maximal Subparts), as Python's "replace" does.
std::string Repaired(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = 1;
    while (length <= 4 && length <= text.size() && !IsValidUtf8(text.substr(0, length))) ++length;
    if (length <= 4 && length <= text.size()) {
      out += text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    out += kReplacement;
    text.remove_prefix(IllFormedLength(text));
  }
  return out;
}

}  // namespace

absl::Status WordRules::ToUtf8(std::string& text) const {
  if (IsAscii(text)) return absl::OkStatus();
  if (encoding == TextEncoding::kLatin1) {
    text = FromLatin1(text);
    return absl::OkStatus();
  }
  if (IsValidUtf8(text)) return absl::OkStatus();
  if (on_bad_utf8 == OnBadUtf8::kReplace) {
    text = Repaired(text);
    return absl::OkStatus();
  }
  absl::Status bad = absl::InvalidArgumentError("word " + Quoted(text) + " is not valid UTF-8");
  if (on_bad_utf8 == OnBadUtf8::kSkip) bad.SetPayload(kLeaveOutUrl, absl::Cord());
  return bad;
}

absl::Status WordRules::ToWord(std::string& text) const {
  VT_RETURN_IF_ERROR(ToUtf8(text));
  return CheckWord(text, Limits().max_word_bytes);
}

bool IsToLeaveOut(const absl::Status& bad) { return bad.GetPayload(kLeaveOutUrl).has_value(); }

std::string Lowercase(std::string_view text) {
  std::string out;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(at, left, &character);
    if (length <= 0) return std::string(text);  // no UTF-8: kept as it is
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t made = utf8proc_encode_char(utf8proc_tolower(character), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(made));
    at += length;
    left -= length;
  }
  return out;
}

}  // namespace vectable

#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace vectable {

// How the bytes of words are to be understood.
enum class TextEncoding : uint8_t { kUtf8, kLatin1 };

// What becomes of a word whose bytes aren't UTF-8.
enum class OnBadUtf8 : uint8_t {
  kError,    // the row is bad
  kReplace,  // each ill-formed sequence becomes U+FFFD
  kSkip,     // the row is left out, also where other bad rows are errors
};

// Turns a file's words into UTF-8 that can be stored. A copyable value.
struct WordRules {
  TextEncoding encoding = TextEncoding::kUtf8;  // kLatin1: ISO 8859-1
  OnBadUtf8 on_bad_utf8 = OnBadUtf8::kError;

  // Changes `text` to UTF-8. INVALID_ARGUMENT when it isn't; see IsToLeaveOut.
  absl::Status ToUtf8(std::string& text) const;
  // The same, and whether the text may be a row's word (CheckWord).
  absl::Status ToWord(std::string& text) const;
};

// Whether the error of a bad row asks for it to be left out, whatever becomes of other bad rows.
bool IsToLeaveOut(const absl::Status& bad);

// `text`, valid UTF-8, with each character in lower case (Unicode's simple mapping, one character
// to one, whatever the language).
std::string Lowercase(std::string_view text);

}  // namespace vectable

#include "common/names.h"

#include <cstdint>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "common/limits.h"

namespace vectable {
namespace {

constexpr size_t kQuotedBytes = 64;

bool InRange(unsigned char c, unsigned char low, unsigned char high) {
  return c >= low && c <= high;
}

// Length of the well-formed sequence at the start of `bytes`, or 0. `bytes` is not empty.
size_t Utf8SequenceLength(std::string_view bytes) {
  const auto at = [bytes](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto continues = [&](size_t i) { return i < bytes.size() && InRange(at(i), 0x80, 0xBF); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (InRange(lead, 0xC2, 0xDF)) return continues(1) ? 2 : 0;
  if (bytes.size() < 2) return 0;
  const unsigned char second = at(1);
  if (InRange(lead, 0xE0, 0xEF)) {
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    return InRange(second, low, high) && continues(2) ? 3 : 0;
  }
  if (InRange(lead, 0xF0, 0xF4)) {
    const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
    return InRange(second, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool IsTableNameByte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = Utf8SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

absl::Status CheckWord(std::string_view word, size_t max_bytes) {
  if (word.empty()) return absl::InvalidArgumentError("the word is empty");
  if (word.size() > max_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("word ", Quoted(word), " has ", word.size(),
                                                   " bytes; the limit is ", max_bytes));
  }
  if (word.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("word ", Quoted(word), " holds a NUL byte"));
  }
  if (!IsValidUtf8(word)) {
    return absl::InvalidArgumentError(absl::StrCat("word ", Quoted(word), " is not valid UTF-8"));
  }
  return absl::OkStatus();
}

absl::Status CheckTableName(std::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError("the table name is empty");
  if (name.size() > kMaxTableNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("table name ", Quoted(name), " has ",
                                                   name.size(), " bytes; the limit is ",
                                                   kMaxTableNameBytes));
  }
  if (name[0] == '.' || name[0] == '-') {
    return absl::InvalidArgumentError(
        absl::StrCat("table name ", Quoted(name), " must not start with '.' or '-'"));
  }
  for (const char c : name) {
    if (!IsTableNameByte(c)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "table name ", Quoted(name), " may hold only letters, digits, '_', '.' and '-'"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDimensionNames(const std::vector<std::string>& names, size_t dimensions) {
  if (names.empty()) return absl::OkStatus();
  if (names.size() != dimensions) {
    return absl::InvalidArgumentError(
        absl::StrCat(names.size(), " dimension names for ", dimensions, " dimensions"));
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (absl::Status status = CheckWord(name, kMaxTableNameBytes); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("dimension name: ", status.message()));
    }
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension name ", Quoted(name), " is given twice"));
    }
  }
  return absl::OkStatus();
}

std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  while (!text.empty()) {
    if (quoted.size() > kQuotedBytes) {
      quoted += "...";
      break;
    }
    const size_t length = Utf8SequenceLength(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    if (length == 0 || lead < 0x20 || lead == 0x7F) {
      absl::StrAppendFormat(&quoted, "\\x%02x", lead);
      text.remove_prefix(1);
    } else {
      quoted.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return quoted + "'";
}

}  // namespace vectable

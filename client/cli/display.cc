#include "client/cli/display.h"

#include <fmt/format.h>
#include <locale.h>
#include <wchar.h>

#include <memory>
#include <type_traits>

#include "common/names.h"

namespace vectable {
namespace {

// Makes UTF-8 the thread's character set while it lives; the process keeps its locale, and with it
// the form of numbers.
class Utf8Scope {
 public:
  Utf8Scope() {
    if (Utf8() != nullptr) before_ = uselocale(Utf8());
  }
  ~Utf8Scope() {
    if (Utf8() != nullptr) uselocale(before_);
  }
  Utf8Scope(const Utf8Scope&) = delete;
  Utf8Scope& operator=(const Utf8Scope&) = delete;

 private:
  // Read from the disk once; a table has thousands of cells.
  static locale_t Utf8() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return utf8;
  }

  locale_t before_ = nullptr;
};

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

// Length of the character at the start of `text` and its code point; 0 for bytes that are none.
size_t NextCharacter(std::string_view text, wchar_t& character) {
  mbstate_t state{};
  const size_t length = mbrtowc(&character, text.data(), text.size(), &state);
  return length == static_cast<size_t>(-1) || length == static_cast<size_t>(-2) ? 0 : length;
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  if (IsAscii(text)) return text.size();
  const Utf8Scope scope;
  size_t width = 0;
  while (!text.empty()) {
    wchar_t character = 0;
    const size_t length = NextCharacter(text, character);
    const int columns = length == 0 ? 1 : wcwidth(character);
    width += columns < 0 ? 1 : static_cast<size_t>(columns);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return width;
}

std::string Printable(std::string_view text) {
  const Utf8Scope scope;
  std::string out;
  while (!text.empty()) {
    wchar_t character = 0;
    const size_t length = NextCharacter(text, character);
    const bool control = character < 0x20 || (character >= 0x7F && character < 0xA0) ||
                         (character >= 0x2028 && character <= 0x202E) ||  // breaks, directions
                         (character >= 0x2066 && character <= 0x2069);
    const size_t bytes = length == 0 ? 1 : length;
    if (length > 0 && !control) {
      out += text.substr(0, bytes);
    } else {
      for (const char c : text.substr(0, bytes)) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string ShortFloat(float value) { return fmt::format("{}", value); }

std::string VectorText(const v1::Vector& vector) {
  return fmt::format("{}", fmt::join(vector.values(), " "));
}

}  // namespace vectable

#include "server/config_file.h"

#include <set>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/names.h"

namespace vectable {
namespace {

[[noreturn]] void Fail(size_t line, const std::string& what) {
  throw CLI::ConfigError(absl::StrCat("config file, line ", line, ": ", what),
                         CLI::ExitCodes::ConfigError);
}

std::string Stripped(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

// The value that a text stands for.
std::string ValueOf(size_t line, const std::string& text) {
  if (text.empty()) Fail(line, "there is no value");
  const char first = text.front();
  if (first == '"' || first == '\'') {
    const size_t end = text.find(first, 1);
    if (end != text.size() - 1 || end == 0)
      Fail(line, "the quotes must be around all of the value");
    return text.substr(1, text.size() - 2);
  }
  if (text.find_first_of(" \t\"'#[]") != std::string::npos) {
    Fail(line, "a value with blanks, quotes, brackets or # must stand in quotes");
  }
  return text;
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  std::vector<CLI::ConfigItem> items;
  std::set<std::string> seen;
  std::string text;
  for (size_t line = 1; std::getline(input, text); ++line) {
    text = Stripped(text);
    if (text.empty() || text.front() == '#') continue;
    const size_t equals = text.find('=');
    if (equals == std::string::npos) Fail(line, Quoted(text) + " isn't \"name = value\"");
    CLI::ConfigItem& item = items.emplace_back();
    item.name = Stripped(absl::string_view(text).substr(0, equals));
    if (item.name.starts_with('-') || app_.get_option_no_throw("--" + item.name) == nullptr) {
      Fail(line, Quoted(item.name) + " is no option");
    }
    if (!seen.insert(item.name).second) Fail(line, Quoted(item.name) + " was given before");
    item.inputs = {ValueOf(line, Stripped(absl::string_view(text).substr(equals + 1)))};
  }
  return items;
}

}  // namespace vectable

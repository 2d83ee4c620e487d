#include "client/cli/arguments.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <system_error>

#include "client/formats/parse_float.h"
#include "common/names.h"

namespace vectable {
namespace {

constexpr char kMark = '\x01';

bool LooksLikeNumber(std::string_view text) {
  if (text.size() < 2 || text.front() != '-') return false;
  const char second = text[1];
  if ((second >= '0' && second <= '9') || second == '.') return true;
  float ignored = 0;
  return ParseFloat(text, ignored) == FloatText::kNotFinite;
}

bool NeedsMark(std::string_view text) {
  if (text.empty()) return false;
  return text.front() == '[' || text.front() == kMark || text == "{}" || text == "++" ||
         text == "%%" || LooksLikeNumber(text);
}

[[noreturn]] void Refuse(const std::string& name, const std::string& text,
                         const std::string& expected) {
  throw CLI::ValidationError(name, fmt::format("{} is not {}", Quoted(text), expected));
}

uint64_t ParseCount(const std::string& name, const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) Refuse(name, text, "below 2^64");
  if (error != std::errc() || stop != end) Refuse(name, text, "a whole number of 0 or more");
  return value;
}

double ParseDouble(const std::string& name, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) Refuse(name, text, "a number");
  return value;
}

// An option that takes one value at a time and hands its raw texts, unmarked, to `take`.
template <typename Take>
CLI::Option* AddRaw(CLI::App& app, const std::string& name, const std::string& help, Take take) {
  CLI::callback_t callback = [take](const CLI::results_t& results) {
    std::vector<std::string> texts;
    for (const std::string& result : results) texts.push_back(Unprotect(result));
    take(texts);
    return true;
  };
  return app.add_option(name, std::move(callback), help)
      ->type_size(1)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* Many(CLI::Option* option) {
  return option->expected(1, CLI::detail::expected_max_vector_size)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args();
}

}  // namespace

std::vector<std::string> ProtectArguments(std::span<const std::string> arguments) {
  std::vector<std::string> safe;
  bool options_ended = false;
  for (const std::string& argument : arguments) {
    if (!options_ended && argument == "--") {
      options_ended = true;
      safe.push_back(argument);  // ends the values of an option that takes many
      continue;
    }
    if ((options_ended && argument.starts_with('-')) || NeedsMark(argument)) {
      safe.push_back(kMark + argument);
      continue;
    }
    const size_t equals = argument.find('=');
    if (argument.starts_with("--") && equals != std::string::npos &&
        NeedsMark(std::string_view(argument).substr(equals + 1))) {
      safe.push_back(argument.substr(0, equals + 1) + kMark + argument.substr(equals + 1));
      continue;
    }
    safe.push_back(argument);
  }
  return safe;
}

std::string Unprotect(const std::string& argument) {
  return argument.starts_with(kMark) ? argument.substr(1) : argument;
}

CLI::Option* AddText(CLI::App& app, const std::string& name, std::string& out,
                     const std::string& help) {
  return AddRaw(app, name, help,
                [&out](const std::vector<std::string>& texts) { out = texts.back(); })
      ->type_name("TEXT");
}

CLI::Option* AddTexts(CLI::App& app, const std::string& name, std::vector<std::string>& out,
                      const std::string& help) {
  return Many(AddRaw(app, name, help,
                     [&out](const std::vector<std::string>& texts) { out = texts; }))
      ->type_name("TEXT");
}

CLI::Option* AddNumber(CLI::App& app, const std::string& name, std::optional<uint64_t>& out,
                       const std::string& help) {
  return AddRaw(app, name, help,
                [&out, name](const std::vector<std::string>& texts) {
                  out = ParseCount(name, texts.back());
                })
      ->type_name("N");
}

CLI::Option* AddNumber(CLI::App& app, const std::string& name, std::optional<double>& out,
                       const std::string& help) {
  return AddRaw(app, name, help,
                [&out, name](const std::vector<std::string>& texts) {
                  out = ParseDouble(name, texts.back());
                })
      ->type_name("NUMBER");
}

CLI::Option* AddNumbers(CLI::App& app, const std::string& name, std::vector<uint64_t>& out,
                        const std::string& help) {
  return Many(AddRaw(app, name, help,
                     [&out, name](const std::vector<std::string>& texts) {
                       out.clear();
                       for (const std::string& text : texts) out.push_back(ParseCount(name, text));
                     }))
      ->type_name("N");
}

CLI::Option* AddChoice(CLI::App& app, const std::string& name, std::string& out,
                       const std::vector<std::string>& choices, const std::string& help) {
  const std::string list = fmt::format("{}", fmt::join(choices, ", "));
  return AddRaw(app, name, help + " (" + list + ")",
                [&out, name, choices, list](const std::vector<std::string>& texts) {
                  out = texts.back();
                  if (std::find(choices.begin(), choices.end(), out) != choices.end()) return;
                  Refuse(name, out, "one of " + list);
                })
      ->type_name("NAME");
}

std::vector<float> ParseValues(const std::string& what, std::span<const std::string> texts) {
  std::vector<float> values;
  values.reserve(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    float value = 0;
    const FloatText kind = ParseFloat(texts[i], value);
    const char* problem = kind == FloatText::kOutOfRange   ? "beyond the range of fp32"
                          : kind == FloatText::kNotANumber ? "not a number"
                                                           : nullptr;
    if (problem != nullptr) {
      throw CLI::ValidationError(what, fmt::format("value {} of {}, {}, is {}", i + 1, texts.size(),
                                                   Quoted(texts[i]), problem));
    }
    values.push_back(value);
  }
  return values;
}

std::vector<double> ParseNumbers(const std::string& name, const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : SplitAtCommas(text)) numbers.push_back(ParseDouble(name, part));
  return numbers;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace vectable

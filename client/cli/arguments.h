#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vectable {

// Makes arguments safe for CLI11, which reads more into some of them than we want: what looks like
// a negative number ("-.5") is no option, what follows "--" is no option either, and "[CLS]", "++"
// or "{}" are plain words. Those get a mark in front, which the functions below take off again.
// "--" itself is dropped.
std::vector<std::string> ProtectArguments(std::span<const std::string> arguments);

// The argument as it was typed.
std::string Unprotect(const std::string& argument);

// Each of the following declares an option ("--name,-n") or a positional ("name") of `app` whose
// text arrives byte for byte in `out`, which must outlive the parse. A bad number is a
// CLI::ValidationError that names the option.
CLI::Option* AddText(CLI::App& app, const std::string& name, std::string& out,
                     const std::string& help);
// One or more values; may be repeated.
CLI::Option* AddTexts(CLI::App& app, const std::string& name, std::vector<std::string>& out,
                      const std::string& help);
CLI::Option* AddNumber(CLI::App& app, const std::string& name, std::optional<uint64_t>& out,
                       const std::string& help);
CLI::Option* AddNumber(CLI::App& app, const std::string& name, std::optional<double>& out,
                       const std::string& help);
CLI::Option* AddNumbers(CLI::App& app, const std::string& name, std::vector<uint64_t>& out,
                        const std::string& help);
// One of `choices`.
CLI::Option* AddChoice(CLI::App& app, const std::string& name, std::string& out,
                       const std::vector<std::string>& choices, const std::string& help);

// Reads each of `texts` as an fp32 value. NaN and infinity pass: the server refuses them with its
// own words. Throws CLI::ValidationError for any other text that isn't a number, naming `what`, its
// place and the text.
std::vector<float> ParseValues(const std::string& what, std::span<const std::string> texts);

// Reads numbers between commas: "0.9,0.95". Throws CLI::ValidationError, naming `name`, for a text
// that isn't one. NaN and infinity pass.
std::vector<double> ParseNumbers(const std::string& name, const std::string& text);

// The parts of `text` between commas.
std::vector<std::string> SplitAtCommas(const std::string& text);

}  // namespace vectable

#include "client/formats/text_fields.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <system_error>

#include "client/formats/parse_float.h"

namespace vectable {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Cuts the last field off `text`, which is trimmed and not empty, and trims the rest.
std::string_view CutLastField(std::string_view& text) {
  size_t start = text.size();
  while (start > 0 && !IsBlank(text[start - 1])) --start;
  const std::string_view field = text.substr(start);
  while (start > 0 && IsBlank(text[start - 1])) --start;
  text = text.substr(0, start);
  return field;
}

std::optional<uint64_t> ParseUnsigned(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string_view> SplitLastFields(std::string_view line, size_t count,
                                                std::vector<std::string_view>& fields) {
  fields.resize(count);
  std::string_view rest = Trim(line);
  for (size_t i = count; i > 0; --i) {
    if (rest.empty()) return std::nullopt;
    fields[i - 1] = CutLastField(rest);
  }
  if (rest.empty()) return std::nullopt;
  return rest;
}

bool ParsePlainRow(std::string_view line, std::string_view& word, std::span<float> values) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto skip_blanks = [&] {
    while (at < end && IsBlank(*at)) ++at;
  };
  skip_blanks();
  const char* const word_end = std::find_if(at, end, IsBlank);
  word = std::string_view(at, static_cast<size_t>(word_end - at));
  at = word_end;
  for (float& value : values) {
    skip_blanks();
    if (end - at > 1 && at[0] == '+' && at[1] != '+' && at[1] != '-') ++at;
    const auto [stop, error] = fast_float::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value)) return false;
    if (stop < end && !IsBlank(*stop)) return false;
    at = stop;
  }
  skip_blanks();
  return at == end;
}

size_t CountFields(std::string_view line) {
  size_t count = 0;
  for (std::string_view rest = Trim(line); !rest.empty(); ++count) CutLastField(rest);
  return count;
}

size_t CountValues(std::string_view line) {
  size_t values = 0;
  float ignored = 0;
  std::string_view rest = Trim(line);
  while (!rest.empty()) {
    const FloatText kind = ParseFloat(CutLastField(rest), ignored);
    if (kind != FloatText::kOk && kind != FloatText::kOutOfRange) return values;
    ++values;
  }
  return values == 0 ? 0 : values - 1;  // all are numbers: the first is the word
}

std::optional<std::pair<uint64_t, uint64_t>> ParseCountHeader(std::string_view line) {
  std::string_view rest = Trim(line);
  if (rest.empty()) return std::nullopt;
  const std::optional<uint64_t> second = ParseUnsigned(CutLastField(rest));
  const std::optional<uint64_t> first = ParseUnsigned(rest);
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

size_t MostFrequent(std::span<const size_t> counts, size_t likely) {
  std::map<size_t, size_t> votes;
  for (const size_t count : counts) {
    if (count > 0) ++votes[count];
  }
  size_t best = 0;
  size_t best_votes = 0;
  for (const auto& [count, number] : votes) {
    if (number > best_votes || (number == best_votes && best != likely)) {
      best = count;
      best_votes = number;
    }
  }
  return best;
}

}  // namespace vectable

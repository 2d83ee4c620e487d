#include "client/formats/text_fields.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <map>

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

constexpr size_t kDigitsAtOnce = sizeof(uint64_t);
constexpr uint64_t kLargestExact = uint64_t{1} << 24;  // integers up to it are floats
constexpr float kPowersOfTen[] = {1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F, 1e8F};
constexpr uint32_t kWholePowersOfTen[] = {1,       10,        100,        1'000,      10'000,
                                          100'000, 1'000'000, 10'000'000, 100'000'000};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits, up to eight, at the start of [begin, end), as a number. Returns how many they are.
size_t ReadDigits(const char* begin, const char* end, uint32_t& number) {
  if constexpr (std::endian::native == std::endian::little) {
    if (end - begin >= static_cast<ptrdiff_t>(kDigitsAtOnce)) {
      // Eight characters at once, the first in the lowest byte: digits become 0 to 9.
      uint64_t digits;
      std::memcpy(&digits, begin, sizeof(digits));
      digits ^= 0x3030303030303030;
      // The highest bit of each byte above 9. A carry spoils only bytes behind one of those.
      const uint64_t others = (digits | (digits + 0x7676767676767676)) & 0x8080808080808080;
      const size_t count = static_cast<size_t>(std::countr_zero(others)) / 8;
      if (count == 0) {
        number = 0;
        return 0;
      }
      digits <<= 64 - 8 * count;             // zeros stand before them, nothing behind
      digits = digits * 10 + (digits >> 8);  // each even byte: a pair
      constexpr uint64_t kEveryOther = 0x000000FF000000FF;
      number =
          static_cast<uint32_t>(((digits & kEveryOther) * (100 + (uint64_t{1'000'000} << 32)) +
                                 (digits >> 16 & kEveryOther) * (1 + (uint64_t{10'000} << 32))) >>
                                32);
      return count;
    }
  }
  number = 0;
  size_t count = 0;
  for (; count < kDigitsAtOnce && begin + count < end && IsDigit(begin[count]); ++count) {
    number = number * 10 + static_cast<uint32_t>(begin[count] - '0');
  }
  return count;
}

// Reads a number like "-0.01234" at `begin`, digits on both sides of the point or no point. Returns
// where it ends; or null for another notation, and where there are too many digits for the one
// division to round as it should.
const char* ReadPlainNumber(const char* begin, const char* end, float& value) {
  const bool negative = begin < end && *begin == '-';
  const char* at = begin + (negative ? 1 : 0);
  uint32_t whole = 0;
  // Nearly always a single digit.
  if (end - at >= 2 && IsDigit(at[0]) && !IsDigit(at[1])) {
    whole = static_cast<uint32_t>(*at++ - '0');
  } else {
    const size_t digits = ReadDigits(at, end, whole);
    if (digits == 0 || digits == kDigitsAtOnce) return nullptr;
    at += digits;
  }
  uint64_t number = whole;
  size_t places = 0;
  if (at < end && *at == '.') {
    uint32_t fraction = 0;
    places = ReadDigits(at + 1, end, fraction);
    if (places == 0) return nullptr;
    at += 1 + places;
    number = number * kWholePowersOfTen[places] + fraction;
  }
  if (number > kLargestExact || (at < end && !IsBlank(*at))) return nullptr;
  // Both are exact, so that the quotient is the number rounded once.
  const float magnitude = static_cast<float>(number) / kPowersOfTen[places];
  value = negative ? -magnitude : magnitude;
  return at;
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
  const auto field_end = [&] {
    const char* stop = at;
    while (stop < end && !IsBlank(*stop)) ++stop;
    return stop;
  };
  skip_blanks();
  const char* const word_end = field_end();
  word = std::string_view(at, static_cast<size_t>(word_end - at));
  at = word_end;
  for (float& value : values) {
    skip_blanks();
    if (const char* const stop = ReadPlainNumber(at, end, value)) {
      at = stop;
      continue;
    }
    const char* const stop = field_end();
    const std::string_view field(at, static_cast<size_t>(stop - at));
    if (ParseFloat(field, value) != FloatText::kOk) return false;
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

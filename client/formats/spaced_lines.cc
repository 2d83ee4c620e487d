#include <fmt/format.h>

#include "client/formats/line_format.h"
#include "client/formats/parse_float.h"
#include "client/formats/text_fields.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

class SpacedLineFormat final : public LineFormat {
 public:
  explicit SpacedLineFormat(const WordRules& rules) : rules_(rules) {}

  size_t CountValues(std::string_view line) const override { return vectable::CountValues(line); }

  absl::Status Parse(std::string_view line, LineScratch& scratch, VectorRow& row) const override {
    std::string_view plain_word;
    const bool plain = ParsePlainRow(line, plain_word, row.vector);
    const std::optional<std::string_view> word =
        plain ? plain_word : SplitLastFields(line, row.vector.size(), scratch.fields);
    if (!word) {
      const size_t found = CountFields(line);
      return absl::InvalidArgumentError(
          fmt::format("the line has too few fields (expected a word and {} values, found {} {} in "
                      "all)",
                      row.vector.size(), found, found == 1 ? "field" : "fields"));
    }
    row.word.assign(*word);
    VT_RETURN_IF_ERROR(rules_.ToWord(row.word));
    if (plain) return absl::OkStatus();
    for (size_t i = 0; i < scratch.fields.size(); ++i) {
      VT_RETURN_IF_ERROR(
          ParseValue(row.word, scratch.fields[i], i, scratch.fields.size(), row.vector[i]));
    }
    return absl::OkStatus();
  }

  const char* Expected() const override { return "a word and its numbers"; }

  bool IsNumber(std::string_view word) const override {
    float ignored = 0;
    return word.find_first_not_of("+-.0123456789eE") == word.npos &&
           ParseFloat(word, ignored) == FloatText::kOk;
  }

  // "cat 0.5" in a file of fewer values than the line has numbers.
  bool IsDoubtful(std::string_view word) const override {
    const size_t blank = word.find_last_of(" \t");
    if (blank == word.npos) return false;
    float ignored = 0;
    return ParseFloat(word.substr(blank + 1), ignored) == FloatText::kOk;
  }

 private:
  const WordRules rules_;
};

class NumberLineFormat final : public LineFormat {
 public:
  size_t CountValues(std::string_view line) const override {
    std::vector<std::string_view> fields;
    SplitValues(line, fields);
    float ignored = 0;
    for (const std::string_view field : fields) {
      const FloatText kind = ParseFloat(field, ignored);
      if (kind == FloatText::kNotANumber) return 0;
    }
    return fields.size();
  }

  absl::Status Parse(std::string_view line, LineScratch& scratch, VectorRow& row) const override {
    SplitValues(line, scratch.fields);
    const size_t count = row.vector.size();
    if (scratch.fields.size() != count) {
      return absl::InvalidArgumentError(
          fmt::format("the line has another number of values than those before (expected {}, found "
                      "{})",
                      count, scratch.fields.size()));
    }
    for (size_t i = 0; i < count; ++i) {
      VT_RETURN_IF_ERROR(ParseValue({}, scratch.fields[i], i, count, row.vector[i]));
    }
    return absl::OkStatus();
  }

  const char* Expected() const override { return "a row's numbers"; }
  bool has_words() const override { return false; }

 private:
  static void SplitValues(std::string_view line, std::vector<std::string_view>& fields) {
    fields.clear();
    size_t at = 0;
    while ((at = line.find_first_not_of(" \t,", at)) != line.npos) {
      const size_t end = std::min(line.find_first_of(" \t,", at), line.size());
      fields.push_back(line.substr(at, end - at));
      at = end;
    }
  }
};

}  // namespace

absl::Status ParseValue(std::string_view word, std::string_view field, size_t index, size_t count,
                        float& value) {
  const FloatText kind = ParseFloat(field, value);
  if (kind == FloatText::kOk) return absl::OkStatus();
  const char* expected = kind == FloatText::kOutOfRange  ? "a number within the range of fp32"
                         : kind == FloatText::kNotFinite ? "a finite number"
                                                         : "a number";
  return absl::InvalidArgumentError(
      fmt::format("{}value {} of {} is bad (expected {}, found {})",
                  word.empty() ? "" : fmt::format("word {}: ", Quoted(word)), index + 1, count,
                  expected, Quoted(field)));
}

std::unique_ptr<LineFormat> SpacedLines(const WordRules& rules) {
  return std::make_unique<SpacedLineFormat>(rules);
}

std::unique_ptr<LineFormat> NumberLines() { return std::make_unique<NumberLineFormat>(); }

}  // namespace vectable

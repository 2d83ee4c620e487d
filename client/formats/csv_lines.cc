#include <fmt/format.h>

#include "client/formats/line_format.h"
#include "client/formats/parse_float.h"
#include "client/formats/text_fields.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Splits a record at its commas outside quotes. The fields keep their quotes.
void SplitFields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  bool quoted = false;
  bool begins = true;  // nothing of the field was seen yet
  size_t start = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && (quoted || begins)) {
      quoted = !quoted;
      begins = !quoted;
    } else if (c == ',' && !quoted) {
      fields.push_back(line.substr(start, i - start));
      start = i + 1;
      begins = true;
    } else {
      begins = false;
    }
  }
  fields.push_back(line.substr(start));
}

// The content of a field; `text` holds it where it had to be changed.
std::string_view Unquoted(std::string_view field, std::string& text) {
  const std::string_view trimmed = Trimmed(field);
  if (trimmed.size() < 2 || !trimmed.starts_with('"') || !trimmed.ends_with('"')) return trimmed;
  const std::string_view inner = trimmed.substr(1, trimmed.size() - 2);
  if (inner.find('"') == inner.npos) return inner;
  text.clear();
  for (size_t i = 0; i < inner.size(); ++i) {
    text += inner[i];
    if (inner[i] == '"' && i + 1 < inner.size() && inner[i + 1] == '"') ++i;
  }
  return text;
}

// "word,0,1,2" or ",0,1,2", as pandas names the columns of a matrix.
bool IsNumbered(const std::vector<std::string_view>& fields) {
  std::string text;
  const std::string_view first = Unquoted(fields[0], text);
  if (!first.empty() && first != "word" && first != "token") return false;
  for (size_t i = 1; i < fields.size(); ++i) {
    if (Unquoted(fields[i], text) != fmt::format("{}", i - 1)) return false;
  }
  return true;
}

class CsvLineFormat final : public LineFormat {
 public:
  explicit CsvLineFormat(const WordRules& rules) : rules_(rules) {}

  size_t CountValues(std::string_view line) const override {
    std::vector<std::string_view> fields;
    std::string text;
    SplitFields(line, fields);
    size_t values = 0;
    float ignored = 0;
    while (values < fields.size()) {
      const FloatText kind =
          ParseFloat(Unquoted(fields[fields.size() - 1 - values], text), ignored);
      if (kind != FloatText::kOk && kind != FloatText::kOutOfRange) return values;
      ++values;
    }
    return values - 1;  // all are numbers: the first is the word
  }

  absl::Status Parse(std::string_view line, LineScratch& scratch, VectorRow& row) const override {
    std::vector<std::string_view>& fields = scratch.fields;
    SplitFields(line, fields);
    const size_t count = row.vector.size();
    if (fields.size() <= count) {
      return absl::InvalidArgumentError(
          fmt::format("the line has too few fields (expected a word and {} values, found {} {} in "
                      "all)",
                      count, fields.size(), fields.size() == 1 ? "field" : "fields"));
    }
    const size_t first = fields.size() - count;
    if (first == 1) {
      // Blanks around a field are its own, unless quotes say where it begins.
      const bool quoted = Trimmed(fields[0]).starts_with('"');
      row.word.assign(quoted ? Unquoted(fields[0], scratch.text) : fields[0]);
    } else {
      const char* const end = fields[first - 1].data() + fields[first - 1].size();
      row.word.assign(Trimmed({line.data(), static_cast<size_t>(end - line.data())}));
    }
    VT_RETURN_IF_ERROR(rules_.ToWord(row.word));
    for (size_t i = 0; i < count; ++i) {
      VT_RETURN_IF_ERROR(
          ParseValue(row.word, Unquoted(fields[first + i], scratch.text), i, count, row.vector[i]));
    }
    return absl::OkStatus();
  }

  const char* Expected() const override { return "a word and its numbers between commas"; }
  bool has_quotes() const override { return true; }

  std::optional<std::vector<std::string>> ParseNames(std::string_view line) const override {
    std::vector<std::string_view> fields;
    std::string text;
    SplitFields(line, fields);
    if (fields.size() < 2) return std::nullopt;
    if (IsNumbered(fields)) return std::vector<std::string>();
    std::vector<std::string> names;
    for (size_t i = 1; i < fields.size(); ++i) {
      float ignored = 0;
      const std::string_view name = Unquoted(fields[i], text);
      if (name.empty() || ParseFloat(name, ignored) != FloatText::kNotANumber) {
        return std::nullopt;
      }
      names.emplace_back(name);
    }
    return names;
  }

  bool IsDoubtful(std::string_view word) const override {
    const size_t comma = word.rfind(',');
    if (comma == word.npos) return false;
    float ignored = 0;
    return ParseFloat(Trimmed(word.substr(comma + 1)), ignored) == FloatText::kOk;
  }

 private:
  const WordRules rules_;
};

}  // namespace

std::unique_ptr<LineFormat> CsvLines(const WordRules& rules) {
  return std::make_unique<CsvLineFormat>(rules);
}

}  // namespace vectable

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "client/formats/line_format.h"
#include "client/formats/parse_float.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

// Takes "word" and "vector" out of a line as a parser meets them.
class RowTaker final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit RowTaker(VectorRow& row) : row_(row), wanted_(row.vector.size()) {}

  absl::Status status() const { return status_; }
  size_t values() const { return values_; }
  bool has_word() const { return has_word_; }
  bool has_vector() const { return has_vector_; }

  bool null() override { return Other("null"); }
  bool boolean(bool /*value*/) override { return Other("a truth value"); }
  bool number_integer(number_integer_t value) override {
    return Number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Number(static_cast<double>(value), fmt::format("{}", value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return Number(value, text);
  }
  bool string(string_t& value) override {
    if (depth_ == 1 && key_ == "word") {
      has_word_ = true;
      row_.word = std::move(value);
      return true;
    }
    return Other("a text");
  }
  bool binary(binary_t& /*value*/) override { return Other("bytes"); }
  bool start_object(size_t /*elements*/) override { return Open("an object", false); }
  bool key(string_t& value) override {
    if (depth_ == 1) key_ = std::move(value);
    return true;
  }
  bool end_object() override { return Close(); }
  bool start_array(size_t /*elements*/) override { return Open("an array", true); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) override {
    const std::string_view text = error.what();
    const size_t colon = text.find(": ");
    return Fail(fmt::format("the line is not JSON, at byte {} of it ({})", position,
                            colon == text.npos ? text : text.substr(colon + 2)));
  }

 private:
  bool InVector() const { return depth_ == 2 && in_vector_; }

  bool Number(double value, const std::string& text) {
    if (!InVector()) return Other("a number");
    if (values_ < wanted_) {
      // From the text: by way of a double it would be rounded twice.
      float parsed = 0;
      if (ParseFloat(text, parsed) != FloatText::kOk) parsed = static_cast<float>(value);
      if (!std::isfinite(parsed)) {
        return Fail(fmt::format(
            "value {} of {} is bad (expected a number within the range of fp32, found {})",
            values_ + 1, wanted_, text));
      }
      row_.vector[values_] = parsed;
    }
    ++values_;
    return true;
  }

  // A value that is neither of the two that count.
  bool Other(std::string_view kind) {
    if (depth_ == 0) return Fail(fmt::format("the line is {} (expected an object)", kind));
    if (InVector()) {
      return Fail(
          fmt::format("value {} of {} is {} (expected a number)", values_ + 1, wanted_, kind));
    }
    if (depth_ == 1 && key_ == "word") return Fail(Is("word", kind, "a text"));
    if (depth_ == 1 && key_ == "vector") return Fail(Is("vector", kind, "an array of numbers"));
    return true;
  }

  bool Open(std::string_view kind, bool array) {
    const bool vector = array && depth_ == 1 && key_ == "vector";
    const bool outermost = !array && depth_ == 0;
    if (!vector && !outermost && !Other(kind)) return false;
    if (depth_ >= kMostDepth) return Fail(fmt::format("nested deeper than {}", kMostDepth));
    if (vector) {
      in_vector_ = true;
      has_vector_ = true;
      values_ = 0;
    }
    ++depth_;
    return true;
  }

  bool Close() {
    --depth_;
    if (depth_ == 1) in_vector_ = false;
    return true;
  }

  static std::string Is(std::string_view name, std::string_view found, std::string_view expected) {
    return fmt::format("member \"{}\" is {} (expected {})", name, found, expected);
  }

  bool Fail(std::string_view reason) {
    status_ = absl::InvalidArgumentError({reason.data(), reason.size()});
    return false;
  }

  static constexpr size_t kMostDepth = 64;

  VectorRow& row_;
  const size_t wanted_;
  absl::Status status_;
  std::string key_;
  size_t depth_ = 0;
  bool in_vector_ = false;
  bool has_word_ = false;
  bool has_vector_ = false;
  size_t values_ = 0;
};

// Reads a line as nearly all of them are written: {"word": "...", "vector": [...]}, without
// escapes. False, with the row undefined, for whatever else.
class PlainJson {
 public:
  explicit PlainJson(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool Parse(VectorRow& row) {
    if (!Take("{") || !Take("\"word\"") || !Take(":") || !Word(row.word) || !Take(","))
      return false;
    if (!Take("\"vector\"") || !Take(":") || !Take("[")) return false;
    for (size_t i = 0; i < row.vector.size(); ++i) {
      if (i > 0 && !Take(",")) return false;
      if (!Value(row.vector[i])) return false;
    }
    if (!Take("]") || !Take("}")) return false;
    SkipBlanks();
    return at_ == end_;
  }

 private:
  void SkipBlanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }

  bool Take(std::string_view token) {
    SkipBlanks();
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  bool Word(std::string& word) {
    if (!Take("\"")) return false;
    const char* const begin = at_;
    while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) {
      ++at_;
    }
    if (at_ == end_ || *at_ != '"') return false;
    word.assign(begin, at_);
    ++at_;
    return true;
  }

  bool Value(float& value) {
    SkipBlanks();
    // What doesn't begin as JSON's numbers do ("nan", ".5") is left to the parser.
    const char* const digits = at_ < end_ && *at_ == '-' ? at_ + 1 : at_;
    if (digits >= end_ || *digits < '0' || *digits > '9') return false;
    const auto [stop, error] = fast_float::from_chars(at_, end_, value);
    if (error != std::errc() || !std::isfinite(value)) return false;
    at_ = stop;
    return true;
  }

  const char* at_;
  const char* const end_;
};

class JsonLineFormat final : public LineFormat {
 public:
  explicit JsonLineFormat(const WordRules& rules) : rules_(rules) {}

  size_t CountValues(std::string_view line) const override {
    VectorRow row;
    RowTaker taker(row);
    std::string text(line);
    if (!rules_.ToUtf8(text).ok() || !nlohmann::json::sax_parse(text, &taker)) return 0;
    return taker.has_word() ? taker.values() : 0;
  }

  absl::Status Parse(std::string_view line, LineScratch& scratch, VectorRow& row) const override {
    const bool plain = PlainJson(line).Parse(row);
    if (plain) return rules_.ToWord(row.word);
    scratch.text.assign(line);
    VT_RETURN_IF_ERROR(rules_.ToUtf8(scratch.text));
    RowTaker taker(row);
    if (!nlohmann::json::sax_parse(scratch.text, &taker)) return taker.status();
    for (const auto& [there, name] :
         {std::pair(taker.has_word(), "word"), std::pair(taker.has_vector(), "vector")}) {
      if (!there) {
        return absl::InvalidArgumentError(fmt::format(
            "the line has no member \"{}\" (expected {{\"word\": TEXT, \"vector\": [NUMBERS]}})",
            name));
      }
    }
    if (taker.values() != row.vector.size()) {
      return absl::InvalidArgumentError(
          fmt::format("word {}: the vector has another number of values than those before "
                      "(expected {}, found {})",
                      Quoted(row.word), row.vector.size(), taker.values()));
    }
    // The line, and with it the word, is UTF-8 by now.
    return WordRules().ToWord(row.word);
  }

  const char* Expected() const override { return "{\"word\": TEXT, \"vector\": [NUMBERS]}"; }

 private:
  const WordRules rules_;
};

}  // namespace

std::unique_ptr<LineFormat> JsonLines(const WordRules& rules) {
  return std::make_unique<JsonLineFormat>(rules);
}

}  // namespace vectable

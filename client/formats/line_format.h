#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// Memory that is used again from line to line.
struct LineScratch {
  std::vector<std::string_view> fields;
  std::string text;
};

// How one format of text writes a row in a line. Thread-safe.
class LineFormat {
 public:
  virtual ~LineFormat() = default;

  // How many values the line seems to hold; 0 for a line that can't be a row. For the first lines,
  // before the number is known.
  virtual size_t CountValues(std::string_view line) const = 0;

  // Reads a row: its word, if the format has words, and row.vector, which has as many elements as
  // there are to be read. INVALID_ARGUMENT without the place, with what was expected and found.
  virtual absl::Status Parse(std::string_view line, LineScratch& scratch, VectorRow& row) const = 0;

  // What a line is expected to be, for messages.
  virtual const char* Expected() const = 0;

  // Whether lines have the row's word, instead of a list beside the file.
  virtual bool has_words() const { return true; }
  // Whether breaks in quotes belong to a field.
  virtual bool has_quotes() const { return false; }
  // The names of the dimensions, where the line may be a header that gives them; none where it only
  // numbers them.
  virtual std::optional<std::vector<std::string>> ParseNames(std::string_view /*line*/) const {
    return std::nullopt;
  }
  // Whether the word of a row that was read may have been meant as something else.
  virtual bool IsDoubtful(std::string_view /*word*/) const { return false; }
  // Whether the word may have been meant as a value.
  virtual bool IsNumber(std::string_view /*word*/) const { return false; }
};

// A word, then its values, separated by blanks and tabs: the text of GloVe, word2vec and fastText.
// What the line means is decided from its end: the last fields are the values, all before them is
// the word, blanks included. Other white space of Unicode (U+00A0, U+3000) is part of a word.
std::unique_ptr<LineFormat> SpacedLines(const WordRules& rules);

// Values alone, separated by blanks, tabs or commas: the vectors of TensorFlow's projector, and
// what numpy.savetxt writes.
std::unique_ptr<LineFormat> NumberLines();

// CSV (RFC 4180): a word, in double quotes where it holds any of ",\n\"", then its values. All but
// the last fields are the word, also where a comma in it isn't quoted.
std::unique_ptr<LineFormat> CsvLines(const WordRules& rules);

// JSON lines: {"word": TEXT, "vector": [NUMBER, ...]}; other members are passed over.
std::unique_ptr<LineFormat> JsonLines(const WordRules& rules);

// Reads `field` as the value at `index` (from 0) of `count`, or says what is wrong with it.
absl::Status ParseValue(std::string_view word, std::string_view field, size_t index, size_t count,
                        float& value);

}  // namespace vectable

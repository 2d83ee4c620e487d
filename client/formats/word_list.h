#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/formats/word_text.h"

namespace vectable {

// The words of a file's rows, in order, where they stand apart from the vectors. Not thread-safe.
class WordList {
 public:
  virtual ~WordList() = default;

  // Reads the list in `path`, one of these by its content:
  //   - text: one word per line, each kept byte for byte; blank lines at the end don't count. With
  //     tabs in its first line it is the metadata of TensorFlow's projector: of several columns
  //     the first line names them, and the words are in "word", "label", "name" or else the first;
  //   - vocab.json: {WORD: row, ...};
  //   - tokenizer.json of Hugging Face: its model's vocabulary and its added tokens.
  // Text is read as it is needed; JSON, up to 128 MiB of it, is kept in memory, a few times as
  // large. Errors: those of ByteSource; INVALID_ARGUMENT for JSON of another form, or a row that
  // two words claim.
  static absl::StatusOr<std::unique_ptr<WordList>> Open(const std::string& path,
                                                        const WordRules& rules);

  // Words that stand in the file of the vectors itself.
  static std::unique_ptr<WordList> Of(std::vector<std::optional<std::string>> words,
                                      const std::string& description, const WordRules& rules);
  // The rows' numbers from 0.
  static std::unique_ptr<WordList> Numbers();

  // What Next found.
  enum class Found : uint8_t {
    kWord,
    kHole,  // the vocabulary has no word for the row, as for the rows that fill up a model's table
    kEnd,   // nor for any after it
  };
  // Reads the word of the next row. INVALID_ARGUMENT: the word can't be a row's. Other errors are
  // final. A text's messages begin with its place.
  virtual absl::StatusOr<Found> Next(std::string& word) = 0;

  // Rows that it names; nothing where that isn't known before its end.
  virtual std::optional<uint64_t> size() const = 0;
  // Whether rows beyond the list have no word, instead of showing that the list isn't theirs.
  virtual bool may_be_short() const { return false; }
  // Whether it never ends.
  virtual bool is_endless() const { return false; }
  // For people: "words from words.txt", "rows are named by their numbers".
  virtual std::string Description() const = 0;
};

// A file of words that stands beside `path` as our writers and others' name it: for X.npy
// X.npy.words.txt or X.words.txt, and the same with .metadata.tsv; for a .tsv also metadata.tsv;
// for models tokenizer.json, vocab.json or vocab.txt in the same folder. Empty when there is none.
std::string FindWordsBeside(const std::string& path, bool model);

}  // namespace vectable

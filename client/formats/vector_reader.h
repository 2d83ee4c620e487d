#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/formats/word_text.h"

namespace vectable {

// One row of a file of vectors.
struct VectorRow {
  std::string word;           // UTF-8, may be stored (CheckWord)
  std::vector<float> vector;  // as many as the reader's dimensions(); of a text all finite
  uint64_t place = 0;         // where it stands in the file, rising from row to row, above 0
};

// How to read a file.
struct ReadOptions {
  std::string format = "auto";  // one of VectorFormats()
  // Values per row; absent: found out.
  std::optional<uint32_t> dimensions = {};
  // Number of dimensions to prefer where a text's first lines leave a choice; 0 for none.
  uint32_t likely_dimensions = 0;
  WordRules words = {};
  // The words of the rows, for formats without words (see WordList); empty: a file beside, or the
  // rows' numbers.
  std::string vocabulary = {};
  // Which tensor or dataset of the file; empty: found out.
  std::string tensor = {};
  // Threads that parse text; 0: one per processor.
  size_t threads = 0;
  // Asked while Next waits; true ends it with CANCELLED. May be empty.
  std::function<bool()> interrupted = {};
};

// Reads a file of word vectors row by row, in memory that doesn't grow with the file (with a
// vocabulary in JSON: with its words). Not thread-safe: one thread at a time.
class VectorReader {
 public:
  virtual ~VectorReader() = default;

  // Reads the next row into `row`, whose buffers are reused. False at the end of the file.
  // INVALID_ARGUMENT: this row is bad, the reader stands behind it, and the next call goes on; its
  // place is in `row`. Any other error is final: the file can't be read on, or doesn't hold what it
  // promised; CANCELLED as the options say. Every message begins with the place.
  virtual absl::StatusOr<bool> Next(VectorRow& row) = 0;

  // Values per row, known as soon as the reader is open; 1 or more.
  virtual uint32_t dimensions() const = 0;

  // The place of a row as messages show it: "FILE:12" for a line, "FILE: row 12" where rows aren't
  // lines, both from 1.
  virtual std::string Position(uint64_t place) const = 0;

  // What a place is, for messages: "line" or "row".
  virtual const char* place_name() const { return "row"; }

  // Bytes of the file (packed, where it is) that were read so far.
  virtual uint64_t bytes_read() const = 0;

  // Bytes of the whole file; nothing for a pipe.
  virtual std::optional<uint64_t> total_bytes() const = 0;

  // What the file turned out to be, for people: "word2vec text, 4 rows of 3 values by its header".
  virtual std::string Description() const = 0;

  // The names that the file gives its dimensions; empty where it gives none.
  virtual std::vector<std::string> dimension_names() const { return {}; }

  // What is odd in the rows so far and may be meant otherwise, for people; empty where nothing is.
  virtual std::string Doubts() const { return {}; }
};

}  // namespace vectable

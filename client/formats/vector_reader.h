#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vectable {

// One row of a file of vectors.
struct VectorRow {
  std::string word;
  std::vector<float> vector;  // finite values, as many as the reader's dimensions()
  uint64_t line = 0;          // where it stands in the file, from 1
};

// Reads a file of word vectors row by row, in memory that doesn't grow with the file.
// Not thread-safe: one thread at a time.
class VectorReader {
 public:
  virtual ~VectorReader() = default;

  // Reads the next row into `row`, whose buffers are reused. False at the end of the file.
  // INVALID_ARGUMENT: this row is bad, the reader stands behind it, and the next call goes on.
  // Any other error is final: the file can't be read on, or doesn't hold what it promised.
  // Every message begins with "FILE:LINE: ".
  virtual absl::StatusOr<bool> Next(VectorRow& row) = 0;

  // Values per row, known as soon as the reader is open; 1 or more.
  virtual uint32_t dimensions() const = 0;

  // "FILE:LINE" of a row.
  virtual std::string Position(uint64_t line) const = 0;

  // Bytes of the file (compressed, where it is) that were read so far.
  virtual uint64_t bytes_read() const = 0;

  // Bytes of the whole file; nothing for a pipe.
  virtual std::optional<uint64_t> total_bytes() const = 0;
};

}  // namespace vectable

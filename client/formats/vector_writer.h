#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/metric.h"
#include "common/precision.h"

namespace vectable {

// What is to be written.
struct WriteOptions {
  uint32_t dimensions = 0;
  uint64_t rows = 0;  // expected; what came is what the file says, where it can be written over
  Precision precision = Precision::kFp32;  // of the table: which values there may be
  Metric metric = Metric::kCosine;
};

// Writes a file of vectors, row by row. What is read back by OpenVectorReader are the same words in
// the same order with the same bits. Not thread-safe.
class VectorWriter {
 public:
  // Leaves nothing behind unless Finish was called and went well.
  virtual ~VectorWriter() = default;

  // Adds a row of `dimensions` values. INVALID_ARGUMENT: the format can't hold the word (the
  // message says why); it is left out, and others may follow. Other errors are final.
  virtual absl::Status Add(std::string_view word, std::span<const float> vector) = 0;

  // Ends the file and gives it its name. ABORTED: on a pipe, where the header with the expected
  // number of rows is out already, when others came. Call once, last.
  virtual absl::Status Finish() = 0;

  // The files that are written, of some formats a second one with the words.
  virtual std::vector<std::string> files() const = 0;
};

// The formats that OpenVectorWriter knows.
std::vector<std::string> WriterFormats();

// The format that the ending of a file's name stands for; nothing for an unknown one.
std::optional<std::string> WriterFormatFor(const std::string& path);

// Begins a file at `path` ("-" for standard output) in `format`, one of WriterFormats().
// INVALID_ARGUMENT: unknown format, or a pipe for one of two files; otherwise the errors of
// OutputFile.
absl::StatusOr<std::unique_ptr<VectorWriter>> OpenVectorWriter(const std::string& path,
                                                               const std::string& format,
                                                               const WriteOptions& options);

}  // namespace vectable

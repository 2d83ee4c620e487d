#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// The lines of a text file, plain or gzip (told by its content), or of standard input ("-"). Memory
// is bounded by the longest line that is allowed. Not thread-safe.
class LineSource {
 public:
  // Opens `path`. NOT_FOUND: no such file; INVALID_ARGUMENT: a directory, an empty file, or bytes
  // that are no text (another compression, UTF-16, a binary file); PERMISSION_DENIED; UNKNOWN:
  // other failures of the system.
  static absl::StatusOr<std::unique_ptr<LineSource>> Open(const std::string& path,
                                                          size_t max_line_bytes);
  ~LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  // Sets `line` to the next line, without its "\n" or "\r\n" (and without a byte order mark before
  // the first); valid until the next call. False at the end. INVALID_ARGUMENT: the line is longer
  // than allowed; it is passed over and reading may go on. DATA_LOSS: the gzip data is truncated or
  // corrupt. Messages begin with "FILE:LINE: ".
  absl::StatusOr<bool> Next(std::string_view& line);

  // Number of the line that Next read last, from 1.
  uint64_t line_number() const { return line_number_; }
  // The file's name as messages show it, "<stdin>" for standard input.
  const std::string& name() const { return name_; }
  // Bytes of the file (compressed, where it is) read so far.
  uint64_t bytes_read() const;
  // Size of the file; nothing where it isn't a regular file.
  std::optional<uint64_t> total_bytes() const { return total_bytes_; }

 private:
  LineSource(std::string name, gzFile file, size_t max_line_bytes);

  // Reads more bytes behind end_; false at the end of the file.
  absl::StatusOr<bool> Fill();
  absl::Status CheckStart();
  absl::StatusOr<bool> SkipLongLine();
  absl::Status Error(absl::StatusCode code, const std::string& reason) const;

  const std::string name_;
  const gzFile file_;
  const size_t max_line_bytes_;
  std::optional<uint64_t> total_bytes_;
  std::string buffer_;  // bytes [begin_, end_) are still to be given out
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  uint64_t line_number_ = 0;
};

}  // namespace vectable

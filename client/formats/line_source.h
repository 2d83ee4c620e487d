#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/formats/byte_source.h"

namespace vectable {

// What ends a line.
enum class LineEnds {
  kEveryBreak,
  kBreakOutsideQuotes,  // a break inside a field in double quotes is the field's (RFC 4180)
};

// The lines of a text. Memory is bounded by the longest line that is allowed. Not thread-safe.
class LineSource {
 public:
  // Looks at the beginning of `bytes`. INVALID_ARGUMENT: it is no text that is read here (UTF-16, a
  // binary file); and the errors of ByteSource.
  static absl::StatusOr<std::unique_ptr<LineSource>> Open(std::unique_ptr<ByteSource> bytes,
                                                          size_t max_line_bytes,
                                                          LineEnds ends = LineEnds::kEveryBreak);
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  // Sets `line` to the next line, without its "\n" or "\r\n" (and without a byte order mark before
  // the first); valid until the next call. False at the end. INVALID_ARGUMENT: the line is longer
  // than allowed; it is passed over and reading may go on. DATA_LOSS: what is packed is truncated
  // or corrupt. Messages begin with "FILE:LINE: ".
  absl::StatusOr<bool> Next(std::string_view& line);

  // The first line, cut at 64 KiB, without taking it; only before the first Next.
  absl::StatusOr<std::string_view> PeekLine();

  // Number of the line that Next read last, from 1; of a line with breaks in quotes, its first.
  uint64_t line_number() const { return line_number_; }
  const std::string& name() const { return bytes_->name(); }
  ByteSource& bytes() { return *bytes_; }
  const ByteSource& bytes() const { return *bytes_; }

 private:
  LineSource(std::unique_ptr<ByteSource> bytes, size_t max_line_bytes, LineEnds ends)
      : bytes_(std::move(bytes)), max_line_bytes_(max_line_bytes), ends_(ends) {}

  // Reads more bytes behind end_; false at the end of the file.
  absl::StatusOr<bool> Fill();
  absl::Status CheckStart();
  size_t FindEnd(size_t from);
  absl::StatusOr<bool> SkipLongLine();
  absl::Status Error(absl::StatusCode code, std::string_view reason) const;

  const std::unique_ptr<ByteSource> bytes_;
  const size_t max_line_bytes_;
  const LineEnds ends_;
  std::string buffer_;  // bytes [begin_, end_) are still to be given out
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
  uint64_t line_number_ = 0;
  uint64_t breaks_ = 0;  // inside the quotes of the line that was given out last

  // Where the search for the end of the line stands.
  bool quoted_ = false;
  bool field_begins_ = true;
};

}  // namespace vectable

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

class Unpacker;

// The bytes of a file or of standard input ("-"), from front to back; those of gzip and zstd files
// (told by their content) come unpacked. Files are read, not mapped: one that another program cuts
// meanwhile ends early instead of ending this process. Memory doesn't grow with the file.
// One thread reads; Cancel, bytes_read and the sizes may be called from any.
class ByteSource {
 public:
  // Opens `path`. NOT_FOUND: no such file; INVALID_ARGUMENT: a directory, a device, an empty file,
  // or one packed in another way (bzip2, xz, zip); PERMISSION_DENIED; UNKNOWN: other failures of
  // the system. Messages begin with "FILE: ". `interrupted`, if given, is asked while bytes are
  // waited for, on the thread that reads; true ends the wait with CANCELLED.
  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(const std::string& path,
                                                          std::function<bool()> interrupted = {});
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Reads at least one byte and at most out.size(), not empty, and gives their number; 0 at the
  // end. DATA_LOSS: what is packed is truncated or corrupt; UNKNOWN: the system's error; CANCELLED.
  // The messages lack the place.
  absl::StatusOr<size_t> ReadSome(std::span<char> out);

  // Fills `out`; fewer bytes only at the end, or where what follows can't be read: the next call
  // then gives the error.
  absl::StatusOr<size_t> ReadFull(std::span<char> out);

  // Why ReadFull gave fewer bytes: OK at the end.
  absl::Status CheckEnds();

  // The next `bytes` bytes, fewer at the end, without taking them; valid until the next call.
  absl::StatusOr<std::string_view> Peek(size_t bytes);

  // Bytes given out so far, unpacked.
  uint64_t offset() const { return offset_; }
  // Bytes of the file (packed, where it is) that were read so far.
  uint64_t bytes_read() const { return bytes_read_; }
  // Size of the file; nothing for standard input and where it isn't a regular file.
  std::optional<uint64_t> total_bytes() const { return total_bytes_; }
  // The same, where its bytes aren't packed: what can be checked before anything is read.
  std::optional<uint64_t> unpacked_bytes() const;
  // Whether parts of the file can be read in any order: a regular file that isn't packed.
  bool plain() const { return unpacked_bytes().has_value(); }
  // The file's name as messages show it, "<stdin>" for standard input.
  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }

  // Ends a read that waits, and all that come after, with CANCELLED.
  void Cancel();

 private:
  ByteSource(std::string path, int fd, std::function<bool()> interrupted);

  absl::Status FindPacking();
  absl::Status FillRaw();
  absl::StatusOr<size_t> ReadRaw(std::span<char> out);
  absl::StatusOr<size_t> ReadUnpacked(std::span<char> out);
  absl::StatusOr<size_t> Unpack(std::span<char> out);
  bool WaitForBytes();

  const std::string path_;
  const std::string name_;
  const int fd_;
  const std::function<bool()> interrupted_;
  int wake_[2] = {-1, -1};  // a pipe that Cancel writes to
  std::atomic<bool> cancelled_{false};
  std::optional<uint64_t> total_bytes_;
  std::atomic<uint64_t> bytes_read_{0};

  std::string raw_;  // bytes [raw_begin_, raw_end_) of the file are still to be unpacked
  size_t raw_begin_ = 0;
  size_t raw_end_ = 0;
  bool raw_ended_ = false;
  std::unique_ptr<Unpacker> unpacker_;  // none for a plain file
  absl::Status fault_;                  // what ended the reading

  std::string ahead_;  // unpacked and not given out yet, from ahead_begin_
  size_t ahead_begin_ = 0;
  uint64_t offset_ = 0;
};

// "FILE: what: the system's reason", with a code that fits errno.
absl::Status SystemError(const std::string& name, std::string_view what);

}  // namespace vectable

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// A file that is there whole or not at all: written under a name of its own beside, and renamed in
// place of an older one at the end. Standard output ("-"), pipes and devices are written to as it
// goes. Not thread-safe.
class OutputFile {
 public:
  // NOT_FOUND: no such folder; PERMISSION_DENIED; INVALID_ARGUMENT: a directory; UNKNOWN: other
  // failures of the system. Messages begin with "FILE: ".
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);
  // Removes what was written, unless it was committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // RESOURCE_EXHAUSTED: the disk is full.
  absl::Status Write(std::string_view bytes);
  // Writes over bytes that were written before. FAILED_PRECONDITION where there is no going back.
  absl::Status WriteAt(uint64_t offset, std::string_view bytes);
  // Makes all durable that was written.
  absl::Status Sync();
  // The same, and gives the file its name.
  absl::Status Commit();

  // Whether WriteAt works.
  bool seekable() const { return !partial_.empty(); }
  const std::string& name() const { return name_; }
  uint64_t bytes() const { return bytes_; }

 private:
  OutputFile(std::string name, std::string target, std::string partial, int fd);

  absl::Status Flush();
  absl::Status Failed(std::string_view what) const;

  const std::string name_;
  const std::string target_;   // where it belongs, links followed
  const std::string partial_;  // where it is until then; empty: written to directly
  const int fd_;
  std::string buffer_;
  uint64_t bytes_ = 0;
  bool committed_ = false;
};

}  // namespace vectable

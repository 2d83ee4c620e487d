#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// A file of which parts are read, each only when asked for. Not thread-safe.
class PartialFile {
 public:
  // NOT_FOUND or FAILED_PRECONDITION, with the system's reason, when it can't be opened;
  // INVALID_ARGUMENT when it isn't a regular file.
  static absl::StatusOr<std::unique_ptr<PartialFile>> Open(const std::string& path);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  uint64_t size() const { return size_; }

  // `bytes` bytes from `offset`. OUT_OF_RANGE when the file ends before, DATA_LOSS when the system
  // can't read them. The caller bounds `bytes`.
  absl::StatusOr<std::string> Read(uint64_t offset, size_t bytes) const;

 private:
  PartialFile(int descriptor, uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  uint64_t size_;
};

// The whole of a small file. INVALID_ARGUMENT when it is over `max_bytes`.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes);

}  // namespace vectable

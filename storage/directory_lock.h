#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace vectable {

// Holds a data directory for this process until destroyed.
class DirectoryLock {
 public:
  // Makes the directory when absent and locks it. FAILED_PRECONDITION when another open store has
  // it; PERMISSION_DENIED, INVALID_ARGUMENT (not a directory) or INTERNAL when it can't be made or
  // written.
  static absl::StatusOr<std::unique_ptr<DirectoryLock>> Acquire(const std::string& directory);

  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}

  const int fd_;
};

}  // namespace vectable

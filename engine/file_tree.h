#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// Folders of files, for snapshots. Errors name the file; a full disk is RESOURCE_EXHAUSTED, other
// trouble INTERNAL.

// Makes a folder and those above it; fine where it is there.
absl::Status MakeFolder(const std::string& path);

// Gives a file that is never changed a second name, or copies it where that can't be (another
// disk).
absl::Status LinkOrCopyFile(const std::string& from, const std::string& to);
absl::Status CopyFile(const std::string& from, const std::string& to);

// Removes a folder with all that is in it; fine where there is none.
absl::Status RemoveTree(const std::string& path);

// Renames a file or folder, for good: the folder above is synced.
absl::Status RenameDurably(const std::string& from, const std::string& to);

// Makes all there is under a folder durable: files with no other name, and folders.
absl::Status SyncTree(const std::string& path);

// The bytes of all files under a folder.
struct TreeBytes {
  uint64_t all = 0;
  uint64_t own = 0;  // of those with no other name
};
TreeBytes MeasureTree(const std::string& path);

// A file's bytes. NOT_FOUND, INTERNAL; RESOURCE_EXHAUSTED above `max_bytes`.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t max_bytes);
// Writes a new file, not synced yet.
absl::Status WriteWholeFile(const std::string& path, const std::string& bytes);

}  // namespace vectable

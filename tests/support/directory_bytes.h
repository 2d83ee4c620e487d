#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace vectable {

// The sizes of all regular files under a directory, added up; each name counts. Files that vanish
// meanwhile, as a running store removes some, count as nothing.
inline uint64_t DirectoryBytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    std::error_code gone;
    if (!entry->is_regular_file(gone) || entry->is_symlink(gone)) continue;
    const uintmax_t size = entry->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace vectable

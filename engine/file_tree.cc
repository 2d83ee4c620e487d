#include "engine/file_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const std::string& what, const std::string& path, int error) {
  const std::string text =
      absl::StrCat(what, " ", path, ": ", std::generic_category().message(error));
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(text);
  if (error == ENOENT) return absl::NotFoundError(text);
  return absl::InternalError(text);
}

absl::Status Sync(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failed("opening", path, errno);
  const int failed = fsync(fd) != 0 ? errno : 0;
  close(fd);
  return failed == 0 ? absl::OkStatus() : Failed("syncing", path, failed);
}

}  // namespace

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? Failed("making", path, error.value()) : absl::OkStatus();
}

absl::Status CopyFile(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  return error ? Failed("copying " + from + " to", to, error.value()) : absl::OkStatus();
}

absl::Status LinkOrCopyFile(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  return error ? CopyFile(from, to) : absl::OkStatus();
}

absl::Status RemoveTree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? Failed("removing", path, error.value()) : absl::OkStatus();
}

absl::Status RenameDurably(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) return Failed("renaming " + from + " to", to, error.value());
  VT_RETURN_IF_ERROR(Sync(fs::path(from).parent_path().string()));
  return Sync(fs::path(to).parent_path().string());
}

absl::Status SyncTree(const std::string& path) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const bool folder = entry->is_directory(gone);
    if (folder || (entry->is_regular_file(gone) && entry->hard_link_count(gone) == 1)) {
      VT_RETURN_IF_ERROR(Sync(entry->path().string()));
    }
  }
  if (error) return Failed("listing", path, error.value());
  return Sync(path);
}

TreeBytes MeasureTree(const std::string& path) {
  TreeBytes bytes;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    struct stat file {};
    if (lstat(entry->path().c_str(), &file) != 0 || !S_ISREG(file.st_mode)) continue;
    bytes.all += static_cast<uint64_t>(file.st_size);
    if (file.st_nlink == 1) bytes.own += static_cast<uint64_t>(file.st_size);
  }
  return bytes;
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path, uint64_t max_bytes) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) return Failed("reading", path, error.value());
  if (size > max_bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " has ", size, " bytes; the limit is ", max_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    return absl::InternalError(absl::StrCat("reading ", path, " failed"));
  }
  return bytes;
}

absl::Status WriteWholeFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Failed("writing", path, errno);
  return absl::OkStatus();
}

}  // namespace vectable

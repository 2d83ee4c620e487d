#include "storage/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/names.h"

namespace vectable {
namespace {

absl::Status CannotUse(const std::string& directory, const char* what, int error) {
  const std::string text = absl::StrCat("data directory ", Quoted(directory), " ", what, ": ",
                                        std::generic_category().message(error));
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOTDIR:
    case EEXIST:
    case ENOENT:
    case ENAMETOOLONG:
      return absl::InvalidArgumentError(text);
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<DirectoryLock>> DirectoryLock::Acquire(
    const std::string& directory) {
  if (directory.empty()) return absl::InvalidArgumentError("the data directory's name is empty");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return CannotUse(directory, "can't be made", error.value());
  const std::string path = absl::StrCat(directory, "/LOCK");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return CannotUse(directory, "isn't writable", errno);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int lock_error = errno;
    close(fd);
    if (lock_error == EWOULDBLOCK) {
      return absl::FailedPreconditionError(absl::StrCat("data directory ", Quoted(directory),
                                                        " is in use by another vectable-server"));
    }
    return CannotUse(directory, "can't be locked", lock_error);
  }
  return std::unique_ptr<DirectoryLock>(new DirectoryLock(fd));
}

DirectoryLock::~DirectoryLock() { close(fd_); }

}  // namespace vectable

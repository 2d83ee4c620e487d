#include "client/formats/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "client/formats/byte_source.h"
#include "common/status_util.h"

namespace vectable {
namespace {

namespace fs = std::filesystem;

constexpr size_t kOutputBufferBytes = size_t{1} << 20;

// Writes all bytes; false, with errno, when that fails.
bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The permissions of the file that is replaced, or those that a new one gets.
mode_t ModeOf(const fs::file_status& replaced) {
  if (fs::exists(replaced)) return static_cast<mode_t>(replaced.permissions()) & 0777U;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path) {
  if (path.empty()) return absl::NotFoundError("the file's name is empty");
  if (path == "-") {
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0) return SystemError("<stdout>", "cannot write");
    return std::unique_ptr<OutputFile>(new OutputFile("<stdout>", "", "", fd));
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    return absl::InvalidArgumentError(path + ": is a directory, not a file");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return SystemError(path, "cannot open the file");
    return std::unique_ptr<OutputFile>(new OutputFile(path, path, "", fd));
  }
  const fs::path whole = fs::canonical(path, error);
  const std::string target = error ? path : whole.string();
  std::string partial = target + ".XXXXXX";  // mkostemp's pattern
  const int fd = mkostemp(partial.data(), O_CLOEXEC);
  if (fd < 0) return SystemError(path, "cannot make a file beside");
  if (fchmod(fd, ModeOf(status)) != 0) {
    const absl::Status bad = SystemError(path, "cannot make a file beside");
    close(fd);
    unlink(partial.c_str());
    return bad;
  }
  return std::unique_ptr<OutputFile>(new OutputFile(path, target, partial, fd));
}

OutputFile::OutputFile(std::string name, std::string target, std::string partial, int fd)
    : name_(std::move(name)), target_(std::move(target)), partial_(std::move(partial)), fd_(fd) {}

OutputFile::~OutputFile() {
  close(fd_);
  if (!committed_ && !partial_.empty()) unlink(partial_.c_str());
}

absl::Status OutputFile::Failed(std::string_view what) const {
  if (errno == ENOSPC || errno == EDQUOT) {
    return absl::ResourceExhaustedError(
        fmt::format("{}: {}: the disk is full, after {} bytes", name_, what, bytes_));
  }
  return SystemError(name_, what);
}

absl::Status OutputFile::Flush() {
  if (!WriteAll(fd_, buffer_)) return Failed("cannot write");
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status OutputFile::Write(std::string_view bytes) {
  buffer_ += bytes;
  bytes_ += bytes.size();
  return buffer_.size() < kOutputBufferBytes ? absl::OkStatus() : Flush();
}

absl::Status OutputFile::WriteAt(uint64_t offset, std::string_view bytes) {
  if (!seekable()) {
    return absl::FailedPreconditionError(name_ + ": what was written can't be written over");
  }
  VT_RETURN_IF_ERROR(Flush());
  if (lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0 || !WriteAll(fd_, bytes) ||
      lseek(fd_, 0, SEEK_END) < 0) {
    return Failed("cannot write");
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Sync() {
  VT_RETURN_IF_ERROR(Flush());
  if (!partial_.empty() && fsync(fd_) != 0) return Failed("cannot write");
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  VT_RETURN_IF_ERROR(Sync());
  if (partial_.empty()) return absl::OkStatus();
  if (rename(partial_.c_str(), target_.c_str()) != 0) return Failed("cannot rename the file");
  committed_ = true;
  return absl::OkStatus();
}

}  // namespace vectable

#include "storage/disk_room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "storage/data_directory.h"

namespace vectable {
namespace {

constexpr uint64_t kReserveShare = 8;  // one in so many of the disk's bytes at most

}  // namespace

DiskRoom::DiskRoom(std::string directory, uint64_t reserve_bytes)
    : directory_(std::move(directory)),
      path_(directory_ + "/" + kReserveFile),
      reserve_bytes_(reserve_bytes) {
  reserve_bytes_ = std::min(reserve_bytes_, DiskBytes(directory_) / kReserveShare);
  absl::MutexLock lock(&mu_);
  struct stat file {};
  held_ = stat(path_.c_str(), &file) == 0 &&
          static_cast<uint64_t>(file.st_blocks) * 512 >= reserve_bytes_;
  if (!held_ && FreeBytes() > 2 * reserve_bytes_) TakeReserve();
}

uint64_t DiskBytes(const std::string& directory) {
  struct statvfs disk {};
  if (statvfs(directory.c_str(), &disk) != 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(disk.f_blocks) * disk.f_frsize;
}

uint64_t DiskRoom::FreeBytes() const {
  struct statvfs disk {};
  if (statvfs(directory_.c_str(), &disk) != 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
}

bool DiskRoom::TakeReserve() {
  const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  held_ = reserve_bytes_ == 0 || posix_fallocate(fd, 0, static_cast<off_t>(reserve_bytes_)) == 0;
  close(fd);
  if (!held_) unlink(path_.c_str());
  return held_;
}

absl::Status DiskRoom::TooFew(uint64_t free, uint64_t bytes) const {
  return absl::ResourceExhaustedError(absl::StrCat(
      "the disk of data directory ", Quoted(directory_), " is full: ", free, " bytes are free, ",
      bytes, " are needed; deletes and drops go on, and so does all else when there is room"));
}

absl::Status DiskRoom::CheckGrowth(uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  const uint64_t free = FreeBytes();
  const uint64_t needed = held_ ? bytes : bytes + reserve_bytes_;
  if (free < needed) return TooFew(free, needed);
  if (!held_ && !TakeReserve()) return TooFew(free, needed);
  return absl::OkStatus();
}

absl::Status DiskRoom::MakeRoom(uint64_t bytes) {
  absl::MutexLock lock(&mu_);
  uint64_t free = FreeBytes();
  if (free < bytes && held_) {
    unlink(path_.c_str());
    held_ = false;
    free = FreeBytes();
  }
  return free < bytes ? TooFew(free, bytes) : absl::OkStatus();
}

}  // namespace vectable

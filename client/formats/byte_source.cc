#include "client/formats/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "client/formats/unpacker.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr int kLookEveryMs = 100;  // at an interruption, while waiting
constexpr size_t kRawBytes = size_t{256} << 10;

struct Signature {
  std::string_view bytes;
  std::string_view what;
};

// Beginnings of files that are packed in other ways.
constexpr std::array<Signature, 4> kPacked = {{
    {"PK\x03\x04", "a zip archive (also .npz is one); unpack it first"},
    {"BZh91AY&SY", "compressed with bzip2; gzip and zstd are read"},
    {"\xFD\x37zXZ", "compressed with xz; gzip and zstd are read"},
    {"7z\xBC\xAF\x27\x1C", "a 7z archive; unpack it first"},
}};

// An open descriptor of a file that can be read.
absl::StatusOr<int> OpenDescriptor(const std::string& path, const std::string& name,
                                   const std::function<bool()>& interrupted,
                                   std::optional<uint64_t>& size) {
  const bool standard_input = path == "-";
  int fd = -1;
  do {
    // To open a pipe waits for who writes to it.
    fd = standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                        : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == EINTR && interrupted && interrupted()) {
      return absl::CancelledError(name + ": the reading was cancelled");
    }
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return SystemError(name, "cannot open the file");
  struct stat info {};
  absl::Status bad;
  if (fstat(fd, &info) != 0) {
    bad = SystemError(name, "cannot look at the file");
  } else if (S_ISDIR(info.st_mode)) {
    bad = absl::InvalidArgumentError(name + ": is a directory, not a file");
  } else if ((S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) && !standard_input) {
    bad = absl::InvalidArgumentError(name + ": is a device, not a file");
  } else if (S_ISREG(info.st_mode) && !standard_input) {
    size = static_cast<uint64_t>(info.st_size);
  }
  if (bad.ok()) return fd;
  close(fd);
  return bad;
}

}  // namespace

absl::Status SystemError(const std::string& name, std::string_view what) {
  const int error = errno;
  const std::string message = fmt::format("{}: {}: {}", name, what, std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES) return absl::PermissionDeniedError(message);
  return absl::UnknownError(message);
}

absl::StatusOr<std::unique_ptr<ByteSource>> ByteSource::Open(const std::string& path,
                                                             std::function<bool()> interrupted) {
  if (path.empty()) return absl::NotFoundError("the file's name is empty");
  std::optional<uint64_t> size;
  const std::string name = path == "-" ? "<stdin>" : path;
  VT_ASSIGN_OR_RETURN(const int fd, OpenDescriptor(path, name, interrupted, size));
  std::unique_ptr<ByteSource> source(new ByteSource(path, fd, std::move(interrupted)));
  source->total_bytes_ = size;
  if (pipe2(source->wake_, O_CLOEXEC | O_NONBLOCK) != 0) {
    return SystemError(name, "cannot make a pipe");
  }
  VT_RETURN_IF_ERROR(source->FindPacking());
  return source;
}

ByteSource::ByteSource(std::string path, int fd, std::function<bool()> interrupted)
    : path_(std::move(path)),
      name_(path_ == "-" ? "<stdin>" : path_),
      fd_(fd),
      interrupted_(std::move(interrupted)) {}

ByteSource::~ByteSource() {
  close(fd_);
  for (const int end : wake_) {
    if (end >= 0) close(end);
  }
}

// Reads on until there are enough bytes to tell, which a pipe may give one by one.
absl::Status ByteSource::FindPacking() {
  while (raw_end_ < 16 && !raw_ended_) {
    if (absl::Status bad = FillRaw(); !bad.ok()) return Annotate(bad, name_);
  }
  const std::string_view start(raw_.data(), raw_end_);
  if (start.empty()) return absl::InvalidArgumentError(name_ + ": the file is empty");
  for (const Signature& signature : kPacked) {
    if (start.starts_with(signature.bytes)) {
      return absl::InvalidArgumentError(fmt::format("{}: is {}", name_, signature.what));
    }
  }
  unpacker_ = UnpackerFor(start);
  return absl::OkStatus();
}

std::optional<uint64_t> ByteSource::unpacked_bytes() const {
  return unpacker_ == nullptr ? total_bytes_ : std::nullopt;
}

// False when the source is cancelled.
bool ByteSource::WaitForBytes() {
  if (cancelled_) return false;
  if (total_bytes_) return true;  // a regular file never waits
  std::array<pollfd, 2> both = {{{fd_, POLLIN, 0}, {wake_[0], POLLIN, 0}}};
  while (true) {
    const int ready = poll(both.data(), both.size(), kLookEveryMs);
    if (cancelled_ || (interrupted_ && interrupted_())) return false;
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // the read says what is wrong
  }
}

void ByteSource::Cancel() {
  cancelled_ = true;
  while (write(wake_[1], "", 1) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<size_t> ByteSource::ReadRaw(std::span<char> out) {
  while (true) {
    if (!WaitForBytes()) return absl::CancelledError("the reading was cancelled");
    const ssize_t got = read(fd_, out.data(), out.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return absl::UnknownError(fmt::format("cannot read: {}", std::strerror(errno)));
    raw_ended_ = got == 0;
    bytes_read_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
}

// More raw bytes behind those that are there.
absl::Status ByteSource::FillRaw() {
  if (raw_begin_ == raw_end_) raw_begin_ = raw_end_ = 0;
  raw_.resize(kRawBytes);
  VT_ASSIGN_OR_RETURN(const size_t got, ReadRaw(std::span(raw_).subspan(raw_end_)));
  raw_end_ += got;
  return absl::OkStatus();
}

absl::StatusOr<size_t> ByteSource::ReadUnpacked(std::span<char> out) {
  VT_RETURN_IF_ERROR(fault_);
  if (unpacker_ == nullptr) {
    if (raw_begin_ == raw_end_) {
      if (raw_ended_) return 0;
      absl::StatusOr<size_t> read = ReadRaw(out);
      fault_ = read.status();
      return read;
    }
    const size_t got = std::min(out.size(), raw_end_ - raw_begin_);
    std::memcpy(out.data(), raw_.data() + raw_begin_, got);
    raw_begin_ += got;
    return got;
  }
  absl::StatusOr<size_t> made = Unpack(out);
  fault_ = made.status();
  return made;
}

absl::StatusOr<size_t> ByteSource::Unpack(std::span<char> out) {
  while (true) {
    if (raw_begin_ == raw_end_ && !raw_ended_) VT_RETURN_IF_ERROR(FillRaw());
    const std::string_view in(raw_.data() + raw_begin_, raw_end_ - raw_begin_);
    VT_ASSIGN_OR_RETURN(const Unpacker::Step step, unpacker_->Unpack(in, out));
    raw_begin_ += step.taken;
    if (step.made > 0) return step.made;
    if (in.empty() && raw_ended_) {
      VT_RETURN_IF_ERROR(unpacker_->CheckEnd());
      return 0;
    }
  }
}

absl::StatusOr<size_t> ByteSource::ReadSome(std::span<char> out) {
  size_t got = std::min(out.size(), ahead_.size() - ahead_begin_);
  if (got > 0) {
    std::memcpy(out.data(), ahead_.data() + ahead_begin_, got);
    ahead_begin_ += got;
  } else {
    VT_ASSIGN_OR_RETURN(got, ReadUnpacked(out));
  }
  offset_ += got;
  return got;
}

absl::StatusOr<size_t> ByteSource::ReadFull(std::span<char> out) {
  size_t filled = 0;
  while (filled < out.size()) {
    const absl::StatusOr<size_t> got = ReadSome(out.subspan(filled));
    if (!got.ok() && filled == 0) return got;
    if (!got.ok() || *got == 0) break;
    filled += *got;
  }
  return filled;
}

absl::Status ByteSource::CheckEnds() {
  char more = 0;
  return ReadSome({&more, 1}).status();
}

absl::StatusOr<std::string_view> ByteSource::Peek(size_t bytes) {
  ahead_.erase(0, ahead_begin_);
  ahead_begin_ = 0;
  while (ahead_.size() < bytes) {
    const size_t had = ahead_.size();
    ahead_.resize(bytes);
    const absl::StatusOr<size_t> got = ReadUnpacked(std::span(ahead_).subspan(had));
    ahead_.resize(had + (got.ok() ? *got : 0));
    if (!got.ok()) {
      // What was read before a fault can still be looked at; who reads on meets the fault.
      if (had > 0 && !absl::IsCancelled(got.status())) break;
      return got.status();
    }
    if (*got == 0) break;
  }
  return std::string_view(ahead_).substr(0, bytes);
}

}  // namespace vectable

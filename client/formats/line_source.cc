#include "client/formats/line_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kChunkBytes = 256 * 1024;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Signature {
  std::string_view bytes;
  std::string_view what;
};

// Beginnings of files that are often taken for text by mistake.
constexpr std::array<Signature, 8> kNoText = {{
    {"PK\x03\x04", "a zip archive; unpack it first"},
    {"BZh91AY&SY", "compressed with bzip2; only gzip is read"},
    {"\xFD\x37zXZ", "compressed with xz; only gzip is read"},
    {"\x28\xB5\x2F\xFD", "compressed with zstd; only gzip is read"},
    {"\xFF\xFE", "UTF-16 text; convert it to UTF-8"},
    {"\xFE\xFF", "UTF-16 text; convert it to UTF-8"},
    {"\x93NUMPY", "a NumPy array, not text"},
    {"\x89HDF", "an HDF5 file, not text"},
}};

absl::Status SystemError(const std::string& name, std::string_view what) {
  const int error = errno;
  const std::string message = fmt::format("{}: {}: {}", name, what, std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EACCES) return absl::PermissionDeniedError(message);
  return absl::UnknownError(message);
}

// An open descriptor of a readable file; `size` is set for a regular file.
absl::StatusOr<int> OpenDescriptor(const std::string& path, const std::string& name,
                                   std::optional<uint64_t>& size) {
  const int fd = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError(name, "cannot open the file");
  struct stat info {};
  if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    const bool directory = S_ISDIR(info.st_mode);
    absl::Status error = directory
                             ? absl::InvalidArgumentError(name + ": is a directory, not a file")
                             : SystemError(name, "cannot look at the file");
    close(fd);
    return error;
  }
  if (S_ISREG(info.st_mode)) size = static_cast<uint64_t>(info.st_size);
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LineSource>> LineSource::Open(const std::string& path,
                                                             size_t max_line_bytes) {
  const std::string name = path == "-" ? "<stdin>" : path;
  if (path.empty()) return absl::NotFoundError("the file's name is empty");
  std::optional<uint64_t> size;
  VT_ASSIGN_OR_RETURN(const int fd, OpenDescriptor(path, name, size));
  gzFile file = gzdopen(fd, "rb");
  if (file == nullptr) {
    close(fd);
    return absl::ResourceExhaustedError(name + ": not enough memory to read it");
  }
  gzbuffer(file, kChunkBytes);
  std::unique_ptr<LineSource> source(new LineSource(name, file, max_line_bytes));
  source->total_bytes_ = size;
  VT_RETURN_IF_ERROR(source->CheckStart());
  return source;
}

LineSource::LineSource(std::string name, gzFile file, size_t max_line_bytes)
    : name_(std::move(name)), file_(file), max_line_bytes_(max_line_bytes) {}

LineSource::~LineSource() { gzclose_r(file_); }

absl::Status LineSource::CheckStart() {
  VT_ASSIGN_OR_RETURN(const bool some, Fill());
  if (!some) return absl::InvalidArgumentError(name_ + ": the file is empty");
  const std::string_view start(buffer_.data(), end_);
  for (const Signature& signature : kNoText) {
    if (start.starts_with(signature.bytes)) {
      return absl::InvalidArgumentError(fmt::format("{}: is {}", name_, signature.what));
    }
  }
  if (start.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(name_ + ": holds NUL bytes: a binary file, not text");
  }
  if (start.starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
  return absl::OkStatus();
}

absl::StatusOr<bool> LineSource::Fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kChunkBytes) buffer_.resize(end_ + kChunkBytes);
  const int got = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(kChunkBytes));
  int code = Z_OK;
  const char* text = gzerror(file_, &code);
  if (got < 0 || (got == 0 && code != Z_OK && code != Z_STREAM_END)) {
    ++line_number_;  // the line that was being read
    if (code == Z_ERRNO) return Error(absl::StatusCode::kUnknown, std::strerror(errno));
    return Error(absl::StatusCode::kDataLoss,
                 code == Z_BUF_ERROR ? "the gzip data is truncated: it ends in the middle"
                                     : fmt::format("the gzip data is corrupt ({})", text));
  }
  end_ += static_cast<size_t>(got);
  at_end_ = got == 0;
  return got > 0;
}

absl::StatusOr<bool> LineSource::Next(std::string_view& line) {
  size_t searched = begin_;
  while (true) {
    const void* found = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
    const size_t stop =
        found ? static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) : end_;
    if (stop - begin_ > max_line_bytes_) return SkipLongLine();
    if (found != nullptr || at_end_) {
      if (found == nullptr && begin_ == end_) return false;
      line = std::string_view(buffer_.data() + begin_, stop - begin_);
      if (line.ends_with('\r')) line.remove_suffix(1);
      begin_ = found != nullptr ? stop + 1 : end_;
      ++line_number_;
      return true;
    }
    const size_t kept = end_ - begin_;
    VT_ASSIGN_OR_RETURN(const bool more, Fill());
    (void)more;  // at_end_ tells the same
    searched = begin_ + (at_end_ ? 0 : kept);
  }
}

absl::StatusOr<bool> LineSource::SkipLongLine() {
  ++line_number_;
  while (true) {
    const void* found = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (found != nullptr) {
      begin_ = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      break;
    }
    begin_ = end_;
    --line_number_;  // Fill counts the line itself when it fails
    VT_ASSIGN_OR_RETURN(const bool more, Fill());
    ++line_number_;
    if (!more) break;
  }
  return Error(
      absl::StatusCode::kInvalidArgument,
      fmt::format("the line is too long (expected at most {} bytes, found more)", max_line_bytes_));
}

uint64_t LineSource::bytes_read() const {
  const z_off_t offset = gzoffset(file_);
  return offset < 0 ? 0 : static_cast<uint64_t>(offset);
}

absl::Status LineSource::Error(absl::StatusCode code, const std::string& reason) const {
  return absl::Status(code, fmt::format("{}:{}: {}", name_, line_number_, reason));
}

}  // namespace vectable

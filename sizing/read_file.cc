#include "sizing/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"

namespace vectable {

absl::StatusOr<std::unique_ptr<PartialFile>> PartialFile::Open(const std::string& path) {
  // Without O_NONBLOCK a named pipe would wait here for a writer.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int code = errno;
    const std::string text = absl::StrCat("cannot open: ", std::strerror(code));
    if (code == ENOENT) return absl::NotFoundError(text);
    return absl::FailedPreconditionError(text);
  }
  struct stat facts = {};
  if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    close(descriptor);
    return absl::InvalidArgumentError("not a regular file");
  }
  return std::unique_ptr<PartialFile>(
      new PartialFile(descriptor, static_cast<uint64_t>(facts.st_size)));
}

PartialFile::~PartialFile() { close(descriptor_); }

absl::StatusOr<std::string> PartialFile::Read(uint64_t offset, size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) {
    return absl::OutOfRangeError(absl::StrCat("the file ends at byte ", size_, ", but ", bytes,
                                              " bytes from byte ", offset, " are needed"));
  }
  std::string content(bytes, '\0');
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(descriptor_, content.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return absl::DataLossError(
          absl::StrCat("cannot read: ", got == 0 ? "the file was cut" : std::strerror(errno)));
    }
    done += static_cast<size_t>(got);
  }
  return content;
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t max_bytes) {
  VT_ASSIGN_OR_RETURN(const std::unique_ptr<PartialFile> file, PartialFile::Open(path));
  if (file->size() > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", file->size(), " bytes; the limit is ", max_bytes));
  }
  return file->Read(0, file->size());
}

}  // namespace vectable

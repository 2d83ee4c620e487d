#include "common/file_or_pipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

// Closes at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  const int value_;
};

}  // namespace

absl::StatusOr<std::string> ReadFileOrPipe(const std::string& path, size_t most_bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) return absl::ErrnoToStatus(errno, "cannot be opened");
  struct stat facts {};
  if (fstat(file.value(), &facts) != 0) return absl::ErrnoToStatus(errno, "cannot be read");
  if (S_ISDIR(facts.st_mode)) return absl::InvalidArgumentError("is a directory");
  std::string text(most_bytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(file.value(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, "cannot be read");
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size > most_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("is larger than ", most_bytes, " bytes"));
  }
  text.resize(size);
  return text;
}

}  // namespace vectable

#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace vectable {

// All bytes of a small file or of a pipe, such as a certificate or a list of tokens. NOT_FOUND,
// PERMISSION_DENIED; INVALID_ARGUMENT for a directory, a file over `most_bytes` or one that can't
// be read. The path isn't in the error.
absl::StatusOr<std::string> ReadFileOrPipe(const std::string& path, size_t most_bytes);

}  // namespace vectable

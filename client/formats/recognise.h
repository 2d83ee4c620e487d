#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/formats/byte_source.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// The name of the format (one of VectorFormats) that the beginning of `bytes` shows, and the length
// of the file and the ending of its name where the beginning doesn't. Takes nothing from `bytes`.
// INVALID_ARGUMENT: none of those that are read; the message says what it seems to be.
absl::StatusOr<std::string> RecogniseFormat(ByteSource& bytes, const ReadOptions& options);

// The name of the binary format that the beginning certainly shows, where it isn't `format`; for a
// binary `format`, also "text". Empty where nothing speaks against it.
std::string OtherFormat(ByteSource& bytes, const std::string& format);

}  // namespace vectable

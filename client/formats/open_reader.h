#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// The formats that OpenVectorReader knows, "auto" first.
std::vector<std::string> VectorFormats();

// Opens the file of vectors at `path` ("-" for standard input) in options.format, which is told by
// the file's content if it is "auto". INVALID_ARGUMENT: unknown format, or content that is none of
// those known; otherwise the errors of ByteSource and of the format's reader.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenVectorReader(const std::string& path,
                                                               const ReadOptions& options);

}  // namespace vectable

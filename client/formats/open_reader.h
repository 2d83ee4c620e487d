#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/formats/glove_reader.h"
#include "client/formats/vector_reader.h"

namespace vectable {

// The formats that OpenVectorReader knows, "auto" first.
std::vector<std::string> VectorFormats();

// Opens the file of vectors at `path` ("-" for standard input) in `format`, one of VectorFormats().
// INVALID_ARGUMENT: unknown format; otherwise the errors of the format's reader.
absl::StatusOr<std::unique_ptr<VectorReader>> OpenVectorReader(const std::string& path,
                                                               const std::string& format,
                                                               const GloveOptions& options);

}  // namespace vectable

#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "spdlog/logger.h"

namespace vectable {

// A logger that writes lines to stderr, at once, from the level on. Thread-safe.
std::shared_ptr<spdlog::logger> MakeStderrLogger(spdlog::level::level_enum level);

// A logger that appends lines to the file, at once. INVALID_ARGUMENT when it can't be opened.
// Thread-safe.
absl::StatusOr<std::shared_ptr<spdlog::logger>> MakeFileLogger(const std::string& path);

// Sends the messages of gRPC and Protocol Buffers themselves to `logger`: gRPC's errors as
// warnings, since they are about one connection, and the rest, such as a client's bad requests, for
// debugging. For the whole process; the logger is kept.
void LogLibrariesTo(std::shared_ptr<spdlog::logger> logger);

}  // namespace vectable

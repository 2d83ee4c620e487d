#pragma once

#include <memory>

#include "spdlog/logger.h"

namespace vectable {

// A logger that writes lines to stderr, at once, from the level on. Thread-safe.
std::shared_ptr<spdlog::logger> MakeStderrLogger(spdlog::level::level_enum level);

// Sends gRPC's own messages to `logger`: its errors as warnings, since they are about one
// connection, and the rest for debugging. For the whole process; the logger is kept.
void LogGrpcTo(std::shared_ptr<spdlog::logger> logger);

}  // namespace vectable

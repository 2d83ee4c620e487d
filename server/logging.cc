#include "server/logging.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc/support/log.h"
#include "spdlog/sinks/basic_file_sink.h"
#include "spdlog/sinks/stdout_color_sinks.h"

namespace vectable {
namespace {

constexpr const char* kPattern = "%Y-%m-%dT%H:%M:%S.%e%z %^%L%$ %v";

// The libraries take plain functions, so what they log to is global.
std::shared_ptr<spdlog::logger>& LibraryLogger() {
  static auto* logger = new std::shared_ptr<spdlog::logger>();
  return *logger;
}

void LogGrpcMessage(gpr_log_func_args* args) {
  const bool is_error = args->severity == GPR_LOG_SEVERITY_ERROR;
  LibraryLogger()->log(is_error ? spdlog::level::warn : spdlog::level::debug, "gRPC: {}",
                       args->message);
}

void LogProtobufMessage(google::protobuf::LogLevel, const char*, int, const std::string& message) {
  LibraryLogger()->debug("Protocol Buffers: {}", message);
}

}  // namespace

std::shared_ptr<spdlog::logger> MakeStderrLogger(spdlog::level::level_enum level) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("vectable", std::move(sink));
  logger->set_pattern(kPattern);
  logger->set_level(level);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

absl::StatusOr<std::shared_ptr<spdlog::logger>> MakeFileLogger(const std::string& path) {
  // The library would make the folder of a mistyped path.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    return absl::NotFoundError(absl::StrCat(Quoted(path), ": there is no such folder"));
  }
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    auto logger = std::make_shared<spdlog::logger>("file", std::move(sink));
    logger->set_pattern(kPattern);
    logger->flush_on(spdlog::level::trace);
    return logger;
  } catch (const spdlog::spdlog_ex& exception) {
    return absl::InvalidArgumentError(exception.what());
  }
}

void LogLibrariesTo(std::shared_ptr<spdlog::logger> logger) {
  LibraryLogger() = std::move(logger);
  gpr_set_log_function(&LogGrpcMessage);
  google::protobuf::SetLogHandler(&LogProtobufMessage);
}

}  // namespace vectable

#pragma once

#include <string_view>

#include "common/events.h"
#include "spdlog/logger.h"

namespace vectable {

// Logs what the inner folders report. Thread-safe as its logger is, which outlives it.
class LogEventSink final : public EventSink {
 public:
  explicit LogEventSink(spdlog::logger& logger) : logger_(logger) {}

  void Report(Level level, std::string_view text) override;

 private:
  spdlog::logger& logger_;
};

}  // namespace vectable

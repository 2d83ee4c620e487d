#include "server/log_event_sink.h"

namespace vectable {

void LogEventSink::Report(Level level, std::string_view text) {
  switch (level) {
    case Level::kInfo:
      return logger_.log(spdlog::level::info, "{}", text);
    case Level::kWarning:
      return logger_.log(spdlog::level::warn, "{}", text);
    case Level::kError:
      return logger_.log(spdlog::level::err, "{}", text);
  }
}

}  // namespace vectable

#pragma once

#include <cstdarg>

#include "common/events.h"
#include "rocksdb/env.h"

namespace vectable {

// Passes what RocksDB has to say on to an event sink. In place of its file LOG: the distribution's
// build, which has its assertions, ends the process when that can't be written, as on a full disk.
class RocksLogger final : public rocksdb::Logger {
 public:
  // `events` outlives the logger.
  explicit RocksLogger(EventSink& events)
      : Logger(rocksdb::InfoLogLevel::WARN_LEVEL), events_(events) {}

  using Logger::Logv;
  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override;
  void Logv(const char* format, va_list arguments) override;

 private:
  EventSink& events_;
};

}  // namespace vectable

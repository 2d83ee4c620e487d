#pragma once

#include <string_view>

namespace vectable {

// Where the inner folders report progress and trouble; the server logs it.
// Thread-safe; must outlive whatever it is given to.
class EventSink {
 public:
  enum class Level { kInfo, kWarning, kError };

  virtual ~EventSink() = default;

  // One line of text for people, without a line break.
  virtual void Report(Level level, std::string_view text) = 0;
};

// Drops every event.
class NullEventSink final : public EventSink {
 public:
  void Report(Level level, std::string_view text) override;
};

}  // namespace vectable

#pragma once

#include <functional>

namespace vectable {

// Turns SIGINT, SIGTERM and SIGHUP from interruptions into something the main thread waits for.
// Made in the main thread before any other thread begins, since threads inherit what is blocked.
class ProcessSignals {
 public:
  // Blocks the signals; one that comes from now on is kept. Ignores SIGPIPE.
  ProcessSignals();

  // Waits for SIGINT or SIGTERM and returns its name; calls `on_hangup` for each SIGHUP until then.
  // After that the next SIGINT or SIGTERM ends the process at once.
  const char* WaitForStop(const std::function<void()>& on_hangup);
};

}  // namespace vectable

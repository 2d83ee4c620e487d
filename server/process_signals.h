#pragma once

#include <functional>

namespace vectable {

// Turns SIGINT, SIGTERM and SIGHUP from interruptions into something the main thread waits for. One
// to a process, made before it does anything that a signal mustn't end.
class ProcessSignals {
 public:
  // From now on a signal is kept until it is waited for. Ignores SIGPIPE.
  ProcessSignals();

  // Waits for SIGINT or SIGTERM and returns its name; calls `on_hangup` for each SIGHUP until then.
  // After that the next SIGINT or SIGTERM ends the process at once.
  const char* WaitForStop(const std::function<void()>& on_hangup);
};

}  // namespace vectable

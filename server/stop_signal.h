#pragma once

namespace vectable {

// Turns SIGINT and SIGTERM from interruptions into something the main thread waits for. Made in the
// main thread before any other thread begins, since threads inherit what is blocked.
class StopSignal {
 public:
  // Blocks the signals; one that comes from now on is kept for Wait. Ignores SIGPIPE.
  StopSignal();

  // Waits for a signal and returns its name. After that the next signal ends the process at once.
  const char* Wait();
};

}  // namespace vectable

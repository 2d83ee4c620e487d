#pragma once

namespace vectable {

// While one lives, the first SIGINT or SIGTERM is only noted, so that work can end in good order;
// the second ends the process as usual. At most one at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  // Whether a signal has come since the guard was made.
  static bool interrupted();
};

}  // namespace vectable

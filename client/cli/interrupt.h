#pragma once

namespace vectable {

// While one lives, the first SIGINT or SIGTERM is noted and ends the system call that this thread
// waits in, so that work can end in good order; the second ends the process as usual. At most one
// at a time. Uses SIGALRM.
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

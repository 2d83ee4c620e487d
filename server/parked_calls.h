#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace vectable {

// When a call that came at `now` and waits for something should give up: so long before its
// deadline that the client gets our reason instead of its own DEADLINE_EXCEEDED (a tenth of what is
// left, at most 100 ms), and after 60 s in any case.
absl::Time GiveUpTime(absl::Time now, absl::Time deadline);

// Calls that wait until they can be worked on, so that no worker has to. One thread looks at them
// every 10 ms. Thread-safe.
class ParkedCalls {
 public:
  enum class Wake {
    kReady,    // what the call waited for is there
    kGaveUp,   // it wasn't in time
    kStopped,  // the server shuts down
  };

  struct Call {
    std::function<bool()> ready;     // cheap; asked again and again
    absl::Time give_up;              // see GiveUpTime
    std::function<void(Wake)> wake;  // called once, from the inner thread, and brief
  };

  explicit ParkedCalls(size_t max_parked);
  // As Stop.
  ~ParkedCalls();

  ParkedCalls(const ParkedCalls&) = delete;
  ParkedCalls& operator=(const ParkedCalls&) = delete;

  // Keeps `call` until it can be woken. RESOURCE_EXHAUSTED when too many are parked, UNAVAILABLE
  // after Stop; then `wake` is never called.
  absl::Status Park(Call call) ABSL_LOCKS_EXCLUDED(mu_);

  // The calls that are parked now.
  size_t count() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return parked_;
  }

  // Wakes every call with kStopped and takes no more. Returns when the last one is woken.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopped_ || !calls_.empty(); }

  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // Wakes what can be woken, and returns the others.
  static std::vector<Call> WakeSome(std::vector<Call> calls, bool stopped);

  const size_t max_parked_;

  mutable absl::Mutex mu_;
  std::vector<Call> calls_ ABSL_GUARDED_BY(mu_);
  size_t parked_ ABSL_GUARDED_BY(mu_) = 0;  // calls_, and those that the thread looks at just now
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace vectable

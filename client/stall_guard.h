#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace vectable {

// Calls a function once when the other side has been silent for too long. Between Arm and Disarm
// the time runs; each Arm starts it anew. Thread-safe.
class StallGuard {
 public:
  // `on_stall` runs on the guard's own thread and must not call the guard. An infinite `patience`
  // never fires.
  StallGuard(absl::Duration patience, std::function<void()> on_stall);
  ~StallGuard();
  StallGuard(const StallGuard&) = delete;
  StallGuard& operator=(const StallGuard&) = delete;

  void Arm() ABSL_LOCKS_EXCLUDED(mutex_);
  void Disarm() ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether on_stall was called.
  bool fired() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Watch() ABSL_LOCKS_EXCLUDED(mutex_);

  const absl::Duration patience_;
  const std::function<void()> on_stall_;
  mutable absl::Mutex mutex_;
  absl::CondVar changed_;
  absl::Time deadline_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool fired_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace vectable

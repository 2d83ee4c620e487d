#include "client/stall_guard.h"

#include <utility>

#include "absl/time/clock.h"

namespace vectable {

StallGuard::StallGuard(absl::Duration patience, std::function<void()> on_stall)
    : patience_(patience), on_stall_(std::move(on_stall)), thread_([this] { Watch(); }) {}

StallGuard::~StallGuard() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
    changed_.Signal();
  }
  thread_.join();
}

void StallGuard::Arm() {
  absl::MutexLock lock(&mutex_);
  const bool sleeping_forever = deadline_ == absl::InfiniteFuture();
  deadline_ = absl::Now() + patience_;
  if (sleeping_forever) changed_.Signal();  // otherwise the thread wakes early and sleeps again
}

void StallGuard::Disarm() {
  absl::MutexLock lock(&mutex_);
  deadline_ = absl::InfiniteFuture();
}

bool StallGuard::fired() const {
  absl::MutexLock lock(&mutex_);
  return fired_;
}

void StallGuard::Watch() {
  {
    absl::MutexLock lock(&mutex_);
    while (!stop_ && absl::Now() < deadline_) changed_.WaitWithDeadline(&mutex_, deadline_);
    if (stop_) return;
    fired_ = true;
  }
  on_stall_();
}

}  // namespace vectable

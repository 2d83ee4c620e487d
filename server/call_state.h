#pragma once

#include <atomic>
#include <chrono>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"

namespace vectable {

// The deadline that the client gave its call, or InfiniteFuture.
absl::Time DeadlineOf(const grpc::CallbackServerContext& context);

// Whether somebody still waits for a call's answer, and how long it was held back. Thread-safe but
// for the waits.
class CallState {
 public:
  explicit CallState(absl::Time deadline) : deadline_(deadline) {}

  absl::Time deadline() const { return deadline_; }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // The client went away, or the server ends the call.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // Around a wait for a table that loads; not to be called from two threads at once.
  void BeginWait() { wait_begin_ = Clock::now(); }
  void EndWait() { waited_ += Clock::now() - wait_begin_; }
  std::chrono::steady_clock::duration waited() const { return waited_; }

  // DEADLINE_EXCEEDED or CANCELLED when work on the call would be in vain.
  absl::Status CheckWanted() const;

 private:
  using Clock = std::chrono::steady_clock;

  const absl::Time deadline_;
  Clock::time_point wait_begin_;
  Clock::duration waited_{};
  std::atomic<bool> cancelled_ = false;
};

}  // namespace vectable

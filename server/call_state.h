#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"

namespace vectable {

// Whether somebody still waits for a call's answer, and how long it was held back. Thread-safe but
// for the waits.
class CallState {
 public:
  // `cancelled` is asked again and again, from any thread.
  CallState(absl::Time deadline, std::function<bool()> cancelled)
      : deadline_(deadline), cancelled_(std::move(cancelled)) {}

  // Of a call that gRPC isn't done with as long as the state is asked.
  explicit CallState(const grpc::CallbackServerContext& context);

  // The deadline that the client gave, or InfiniteFuture.
  absl::Time deadline() const { return deadline_; }

  // Whether the client went away or the server ends the call.
  bool cancelled() const { return cancelled_(); }

  // Around a wait for a table that loads; not to be called from two threads at once.
  void BeginWait() { wait_begin_ = Clock::now(); }
  void EndWait() { waited_ += Clock::now() - wait_begin_; }
  std::chrono::steady_clock::duration waited() const { return waited_; }

  // DEADLINE_EXCEEDED or CANCELLED when work on the call would be in vain.
  absl::Status CheckWanted() const;

 private:
  using Clock = std::chrono::steady_clock;

  const absl::Time deadline_;
  const std::function<bool()> cancelled_;
  Clock::time_point wait_begin_;
  Clock::duration waited_{};
};

}  // namespace vectable

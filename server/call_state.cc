#include "server/call_state.h"

#include "absl/time/clock.h"

namespace vectable {
namespace {

absl::Time DeadlineOf(const grpc::CallbackServerContext& context) {
  const std::chrono::system_clock::time_point deadline = context.deadline();
  if (deadline == std::chrono::system_clock::time_point::max()) return absl::InfiniteFuture();
  return absl::FromChrono(deadline);
}

}  // namespace

CallState::CallState(const grpc::CallbackServerContext& context)
    : CallState(DeadlineOf(context), [&context] { return context.IsCancelled(); }) {}

absl::Status CallState::CheckWanted() const {
  if (absl::Now() >= deadline_) {
    return absl::DeadlineExceededError("the deadline passed before the server got to the call");
  }
  if (cancelled()) return absl::CancelledError("the call was cancelled");
  return absl::OkStatus();
}

}  // namespace vectable

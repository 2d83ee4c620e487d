#include "server/parked_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr absl::Duration kLookInterval = absl::Milliseconds(10);
constexpr absl::Duration kLongestMargin = absl::Milliseconds(100);
constexpr absl::Duration kLongestWait = absl::Seconds(60);

// How long to sleep before the next look: no call should give up late.
absl::Duration UntilNextLook(absl::Time first_give_up) {
  return std::clamp(first_give_up - absl::Now(), absl::ZeroDuration(), kLookInterval);
}

}  // namespace

absl::Time GiveUpTime(absl::Time now, absl::Time deadline) {
  const absl::Duration left = std::max(deadline - now, absl::ZeroDuration());
  const absl::Time in_time = deadline - std::min(left / 10, kLongestMargin);
  return std::min(in_time, now + kLongestWait);
}

ParkedCalls::ParkedCalls(size_t max_parked) : max_parked_(max_parked) {
  thread_ = std::thread([this] { Watch(); });
}

ParkedCalls::~ParkedCalls() { Stop(); }

absl::Status ParkedCalls::Park(Call call) {
  absl::MutexLock lock(&mu_);
  if (stopped_) return absl::UnavailableError("the server is shutting down");
  if (parked_ >= max_parked_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server has ", WithThousands(parked_),
                     " requests waiting for tables that load, its limit"));
  }
  calls_.push_back(std::move(call));
  ++parked_;
  return absl::OkStatus();
}

void ParkedCalls::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void ParkedCalls::Watch() {
  bool stopped = false;
  while (!stopped) {
    std::vector<Call> calls;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &ParkedCalls::HasNews));
      stopped = stopped_;
      calls.swap(calls_);
    }
    calls = WakeSome(std::move(calls), stopped);
    absl::Time first_give_up = absl::InfiniteFuture();
    for (const Call& call : calls) first_give_up = std::min(first_give_up, call.give_up);

    absl::MutexLock lock(&mu_);
    parked_ = calls_.size() + calls.size();
    std::move(calls.begin(), calls.end(), std::back_inserter(calls_));
    if (!calls_.empty()) {
      mu_.AwaitWithTimeout(absl::Condition(&stopped_), UntilNextLook(first_give_up));
    }
  }
}

std::vector<ParkedCalls::Call> ParkedCalls::WakeSome(std::vector<Call> calls, bool stopped) {
  std::vector<Call> waiting;
  const absl::Time now = absl::Now();
  for (Call& call : calls) {
    if (stopped) {
      call.wake(Wake::kStopped);
    } else if (call.ready()) {
      call.wake(Wake::kReady);
    } else if (call.give_up <= now) {
      call.wake(Wake::kGaveUp);
    } else {
      waiting.push_back(std::move(call));
    }
  }
  return waiting;
}

}  // namespace vectable

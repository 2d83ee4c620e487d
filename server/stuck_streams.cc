#include "server/stuck_streams.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace vectable {

StuckStreams::Watched::Watched(StuckStreams& streams, grpc::CallbackServerContext& context)
    : streams_(streams), context_(context) {
  absl::MutexLock lock(&streams_.mu_);
  streams_.all_.insert(this);
}

StuckStreams::Watched::~Watched() {
  absl::MutexLock lock(&streams_.mu_);
  streams_.all_.erase(this);
}

void StuckStreams::Watched::BeginWrite() {
  absl::MutexLock lock(&streams_.mu_);
  since_ = absl::Now();
}

void StuckStreams::Watched::EndWrite() {
  absl::MutexLock lock(&streams_.mu_);
  since_ = absl::InfiniteFuture();
}

StuckStreams::StuckStreams(absl::Duration patience)
    : patience_(patience), thread_([this] { Run(); }) {}

StuckStreams::~StuckStreams() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

void StuckStreams::Run() {
  const absl::Duration between =
      std::clamp(patience_ / 4, absl::Milliseconds(50), absl::Seconds(5));
  absl::MutexLock lock(&mu_);
  while (!mu_.AwaitWithTimeout(absl::Condition(&stopping_), between)) {
    for (Watched* const stream : all_) {
      if (absl::Now() - stream->since_ > patience_) stream->context_.TryCancel();
    }
  }
}

}  // namespace vectable

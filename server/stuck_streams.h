#pragma once

#include <set>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"

namespace vectable {

// Cancels streams whose client doesn't take an answer for long: the answer, and what the stream
// reads from, would be held as long as the client likes. Thread-safe.
class StuckStreams {
 public:
  // A stream's part, for as long as it lives.
  class Watched {
   public:
    Watched(StuckStreams& streams, grpc::CallbackServerContext& context);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    // To be called around each write.
    void BeginWrite() ABSL_LOCKS_EXCLUDED(streams_.mu_);
    void EndWrite() ABSL_LOCKS_EXCLUDED(streams_.mu_);

   private:
    friend class StuckStreams;
    StuckStreams& streams_;
    grpc::CallbackServerContext& context_;
    absl::Time since_ = absl::InfiniteFuture();  // guarded by the streams' mutex
  };

  explicit StuckStreams(absl::Duration patience);
  ~StuckStreams();
  StuckStreams(const StuckStreams&) = delete;
  StuckStreams& operator=(const StuckStreams&) = delete;

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  const absl::Duration patience_;
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::set<Watched*> all_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace vectable

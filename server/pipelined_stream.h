#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/call_state.h"
#include "server/unary_call.h"

namespace vectable {

// A call that takes a stream of requests and answers each, in order. While some are worked on, the
// next ones are read, as far as the limits allow; further ones wait in the network. What is done
// with a request, and when, is the derived class's; the first failure in order ends the call.
// Deletes itself when gRPC is done with it.
class PipelinedStream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  // Begins to read.
  void Start() ABSL_LOCKS_EXCLUDED(mu_);

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override { delete this; }

 protected:
  struct Options {
    const char* noun = "";    // what a request is called in errors: "batch"
    size_t most_items = 0;    // requests in memory
    size_t most_bytes = 0;    // of them and their replies, but for one request and one reply
    size_t most_workers = 0;  // of the pool's, at once
  };

  // Stages that every request has; a derived class adds its own in between.
  static constexpr int kRead = 0;
  static constexpr int kDone = 1'000;

  // A request on its way. Derived classes add to it.
  struct Item {
    virtual ~Item() = default;

    uint64_t number = 0;
    grpc::ByteBuffer bytes;  // of the request; who parses it may give them up
    size_t size = 0;         // of these
    grpc::ByteBuffer reply;
    absl::Status after_reply;  // ends the call after the reply

    int stage = kRead;     // guarded by mu_, as what follows
    absl::Status failure;  // ends the call in place of a reply
  };
  using Items = std::deque<std::unique_ptr<Item>>;  // not answered yet, in order

  // A request to go on with: its stage is set already, and `run`, on a worker, ends in EndWork.
  struct Work {
    Item* item = nullptr;  // null: there is nothing to do just now
    std::function<void()> run;
  };

  // A caller who may not call `method` gets the error of the admission.
  PipelinedStream(const CallEnvironment& calls, const RpcMethod& method,
                  grpc::CallbackServerContext& context, const Options& options);
  ~PipelinedStream() override = default;

  virtual std::unique_ptr<Item> NewItem() const = 0;
  // Chooses among the requests on their way, before the first that has failed.
  virtual Work NextWork(const Items& items) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) = 0;

  // Ends a piece of work: the request is in `next`, or has failed.
  void EndWork(Item& item, int next, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // Moves a request on in the middle of its work.
  void SetStage(Item& item, int stage) ABSL_LOCKS_EXCLUDED(mu_);

  const CallEnvironment& calls() const { return calls_; }
  const CallState& state() const { return state_; }

  mutable absl::Mutex mu_;

 private:
  enum class Action { kNone, kRead, kWork, kReply, kFinish };
  struct Step {
    Action action = Action::kNone;
    Work work;            // or the request to answer
    absl::Status result;  // of the call
  };

  // Does all that can be done now. The caller counts in `busy_`, which keeps the call alive, and is
  // gone from it at the return.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether one more request may be read or worked on.
  bool HoldsTooMuch() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Do(Step step) ABSL_LOCKS_EXCLUDED(mu_);
  // Queues work; a queue that is full is the request's failure.
  void Submit(Work work) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Label(const Item& item, const absl::Status& status) const;

  const CallEnvironment& calls_;
  const Options options_;
  const CallTicket ticket_;
  CallState state_;
  StuckStreams::Watched watched_;

  grpc::ByteBuffer incoming_;  // gRPC's while a read is under way

  Items items_ ABSL_GUARDED_BY(mu_);
  uint64_t next_number_ ABSL_GUARDED_BY(mu_) = 0;
  size_t working_ ABSL_GUARDED_BY(mu_) = 0;  // pieces of work, waiting ones too
  size_t busy_ ABSL_GUARDED_BY(mu_) = 0;  // threads in Advance or on their way there, and working_
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool reads_ended_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);  // of the call
};

}  // namespace vectable

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/limits.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/access_tokens.h"
#include "server/call_reporter.h"
#include "server/call_state.h"
#include "server/call_ticket.h"
#include "server/calls_under_way.h"
#include "server/memory_budget.h"
#include "server/messages.h"
#include "server/parked_calls.h"
#include "server/stuck_streams.h"
#include "server/worker_pool.h"

namespace vectable {

// What calls need of the server; outlives them all.
struct CallEnvironment {
  WorkerPool& pool;
  ParkedCalls& parked;
  CallsUnderWay& under_way;
  const Limits& limits;
  const AccessTokens& access;
  CallReporter& reporter;
  const MemoryBudget& memory;
  StuckStreams& stuck_streams;
};

// Returns what `work` returns, or its exception as a status.
absl::Status Guarded(const std::function<absl::Status()>& work);

// A unary call as gRPC hands it over; its bytes live until the call is finished.
struct UnaryIo {
  grpc::CallbackServerContext* context;
  const grpc::ByteBuffer* request;
  grpc::ByteBuffer* reply;
};

// The part of a unary call that doesn't depend on its messages. On a worker, or, where it is short
// work, on the thread that gRPC brings the call on: is it still wanted, parse, wait for the gate,
// work, write. Deletes itself when it has answered.
class UnaryCallBase {
 public:
  UnaryCallBase(const CallEnvironment& environment, const RpcMethod& method, UnaryIo io);
  virtual ~UnaryCallBase() = default;

  UnaryCallBase(const UnaryCallBase&) = delete;
  UnaryCallBase& operator=(const UnaryCallBase&) = delete;

  // Answers the call here and now if its work is short: to wake up a worker would take as long.
  // Else queues it, and finishes it with an error when that fails. A caller who may not make the
  // call gets the error of its admission. The call may be gone on return.
  void Start();

  // What gRPC is given; a reactor of our own would cost every call one more change of threads.
  grpc::ServerUnaryReactor* reactor() const { return reactor_; }

 protected:
  // Fills and checks the request.
  virtual absl::Status Parse(const grpc::ByteBuffer& bytes) = 0;
  virtual absl::Status DoWork() = 0;
  virtual const google::protobuf::Message& reply() const = 0;
  // What the parsed request is about, for logs.
  virtual std::string Subject() const = 0;
  // Whether the work can begin, and what the client is told when it never could.
  virtual bool GateIsOpen() const = 0;
  virtual absl::Status GateError() const = 0;
  // Whether the work takes well under a millisecond and waits for nothing, once the gate is open.
  virtual bool IsShort() const = 0;

  const CallEnvironment& environment() const { return environment_; }
  const CallState& state() const { return state_; }

 private:
  // Answers if that is short work.
  bool RunIfShort();
  void Queue();
  void Run();
  // Goes on after the gate was found closed.
  void Park();
  void Wake(ParkedCalls::Wake wake);
  absl::Status ParseOnce();
  absl::Status Answer();
  // Answers and deletes.
  void End(const absl::Status& status);

  const CallEnvironment& environment_;
  const CallTicket ticket_;
  const UnaryIo io_;
  grpc::ServerUnaryReactor* const reactor_;  // gRPC's
  CallState state_;
  bool parsed_ = false;
};

// Holds calls back while their table can't answer: they are parked until the gate opens.
template <class Request>
struct Gate {
  std::function<bool(const Request&)> is_open;        // cheap; empty: always open
  std::function<absl::Status(const Request&)> error;  // for the client when it didn't open in time
  // Whether the work for this request is short, the gate being open; cheap. Empty: never.
  std::function<bool(const Request&)> is_short;
};

// A unary call with its messages.
template <class Request, class Response>
class UnaryCall final : public UnaryCallBase {
 public:
  using Work = std::function<absl::Status(const CallState&, const Request&, Response&)>;

  UnaryCall(const CallEnvironment& environment, const RpcMethod& method, UnaryIo io, Work work,
            Gate<Request> gate)
      : UnaryCallBase(environment, method, io),
        work_(std::move(work)),
        gate_(std::move(gate)),
        request_(google::protobuf::Arena::CreateMessage<Request>(&arena_)),
        response_(google::protobuf::Arena::CreateMessage<Response>(&arena_)) {}

 private:
  absl::Status Parse(const grpc::ByteBuffer& bytes) override {
    if (absl::Status status = ParseMessage(bytes, *request_); !status.ok()) return status;
    return CheckRequestBytes(bytes.Length(), environment().limits.max_message_bytes,
                             BatchOf(*request_));
  }
  absl::Status DoWork() override { return work_(state(), *request_, *response_); }
  const google::protobuf::Message& reply() const override { return *response_; }
  std::string Subject() const override { return SubjectOf(*request_); }
  bool GateIsOpen() const override { return !gate_.is_open || gate_.is_open(*request_); }
  absl::Status GateError() const override { return gate_.error(*request_); }
  bool IsShort() const override { return gate_.is_short && gate_.is_short(*request_); }

  const Work work_;
  const Gate<Request> gate_;
  google::protobuf::Arena arena_;
  Request* const request_;    // in the arena
  Response* const response_;  // in the arena
};

// Runs `work` on a worker and answers with the response it filled, or its error. UNAUTHENTICATED or
// PERMISSION_DENIED when the caller may not call `method`, which lives for ever; RESOURCE_EXHAUSTED
// for a full queue, a request over max_message_bytes or a reply over max_reply_bytes;
// DEADLINE_EXCEEDED or CANCELLED when nobody waits any more. The caller returns the reactor to
// gRPC.
template <class Request, class Response>
grpc::ServerUnaryReactor* StartUnary(const CallEnvironment& environment, const RpcMethod& method,
                                     UnaryIo io, typename UnaryCall<Request, Response>::Work work,
                                     Gate<Request> gate = {}) {
  auto* call =
      new UnaryCall<Request, Response>(environment, method, io, std::move(work), std::move(gate));
  grpc::ServerUnaryReactor* reactor = call->reactor();
  call->Start();
  return reactor;
}

}  // namespace vectable

#pragma once

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/server_context.h"
#include "server/access_tokens.h"
#include "server/calls_under_way.h"
#include "server/rpc_method.h"

namespace vectable {

struct CallEnvironment;

// A call's stay in the server, from its beginning until it has given gRPC its answer: counted among
// those under way, and admitted or not.
class CallTicket {
 public:
  // `method` and `environment` outlive it; `context` is of a call that gRPC isn't done with.
  CallTicket(const CallEnvironment& environment, const RpcMethod& method,
             const grpc::CallbackServerContext& context);

  // OK, or why the caller may not make this call, see AccessTokens::Admit; RESOURCE_EXHAUSTED for
  // one stream too many.
  const absl::Status& admission() const { return admission_.status; }
  const RpcMethod& method() const { return method_; }

  // Reports how the call ended; called once, before gRPC is given the answer. `subject` says what
  // it was about, as in "table 'glove'"; empty when that isn't known.
  void End(const absl::Status& outcome, absl::FunctionRef<std::string()> subject) const;
  void End(const absl::Status& outcome) const {
    End(outcome, [] { return std::string(); });
  }

 private:
  const CallEnvironment& environment_;
  const RpcMethod& method_;
  const CallsUnderWay::Ticket counted_;
  std::optional<CallsUnderWay::Stream> stream_;  // of a stream
  const absl::Time begin_;
  std::string peer_;  // "ipv4:127.0.0.1:40000", of calls that are audited
  Admission admission_;
};

}  // namespace vectable

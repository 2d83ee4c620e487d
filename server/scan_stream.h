#pragma once

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/call_state.h"
#include "server/scan_lister.h"
#include "server/unary_call.h"

namespace vectable {

// One Scan call: a worker makes a reply, gRPC takes it, then the next is made, so that a slow
// reader holds one reply and no worker. Deletes itself when gRPC is done with it.
class ScanStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ScanStream(Database& database, const CallEnvironment& calls, grpc::CallbackServerContext& context,
             const grpc::ByteBuffer& request);

  // Queues the first step; ends the call with an error when that fails.
  void Start();

  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  // On a worker: makes and sends one reply.
  void Step();
  absl::Status Open();
  absl::Status MakeReply();
  void End(const absl::Status& status);

  Database& database_;
  const CallEnvironment& calls_;
  const CallTicket ticket_;
  const grpc::ByteBuffer request_;
  CallState state_;
  StuckStreams::Watched watched_;
  std::shared_ptr<Table> table_;
  std::optional<ScanLister> lister_;
  grpc::ByteBuffer reply_;
};

}  // namespace vectable

#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/call_state.h"
#include "server/unary_call.h"

namespace vectable {

// One MeasurePrecisions call: a worker does one step of the study and says so, then lets others
// have its turn; a slow reader holds it up. Deletes itself when gRPC is done with it.
class MeasureStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  MeasureStream(Database& database, const CallEnvironment& calls,
                grpc::CallbackServerContext& context, const grpc::ByteBuffer& request);

  // Queues the first step; ends the call with an error when that fails.
  void Start();

  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  // On a worker: does and reports one step.
  void Step();
  absl::Status Open();
  absl::Status MakeReply();
  void End(const absl::Status& status);

  Database& database_;
  const CallEnvironment& calls_;
  const CallTicket ticket_;
  const grpc::ByteBuffer request_;
  const absl::Time begin_;
  CallState state_;
  StuckStreams::Watched watched_;
  std::shared_ptr<Table> table_;
  std::unique_ptr<PrecisionStudy> study_;
  grpc::ByteBuffer reply_;
};

}  // namespace vectable

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/call_state.h"
#include "server/unary_call.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// One UpsertStream call. One batch at a time is applied on a worker and acknowledged, in order,
// while the next is read; further ones wait in the network. Deletes itself when gRPC is done with
// it.
class UpsertStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  UpsertStream(Database& database, const CallEnvironment& calls,
               grpc::CallbackServerContext& context);

  // Begins to read.
  void Start();

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWriteDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  enum class Step { kNone, kBatch, kFinish };

  // Begins the next batch or ends the call, if it is time to.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Reads on, and queues the batch.
  void BeginBatch();
  // Ends the batch begun last; the call ends with `status` unless it is OK.
  void EndBatch(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // On a worker: applies batch_bytes_ and sends the acknowledgement.
  void RunBatch();
  absl::Status ApplyBatch();
  std::string BatchLabel() const;  // "batch 3"
  absl::Status TooManyRejected(size_t listed, size_t rejected) const;
  // Finds the stream's table at the first batch, and checks the name given by later ones.
  absl::Status BindTable(const std::string& name);

  Database& database_;
  const CallEnvironment& calls_;
  const CallsUnderWay::Ticket ticket_;
  CallState state_;

  // Of the batch in work.
  grpc::ByteBuffer batch_bytes_;
  grpc::ByteBuffer reply_;
  uint64_t batch_ = 0;
  absl::Status after_reply_;  // ends the call after the acknowledgement
  std::string table_name_;
  std::shared_ptr<Table> table_;

  grpc::ByteBuffer incoming_;  // gRPC's while a read is under way

  absl::Mutex mu_;
  bool has_incoming_ ABSL_GUARDED_BY(mu_) = false;
  bool reads_ended_ ABSL_GUARDED_BY(mu_) = false;
  bool in_batch_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable

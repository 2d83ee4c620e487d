#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/database.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/call_state.h"
#include "server/unary_call.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// One UpsertStream call. A batch is prepared (parsed, checked, encoded) and then committed, each on
// a worker, and acknowledged in order. While one is committed the next is prepared, and once the
// store has a batch the next is written while the index takes that one in; a batch isn't committed
// unless those before it are sure to stand. At most two workers are busy with a stream, and at most
// three batches are in memory; further ones wait in the network. Deletes itself when gRPC is done
// with it.
class UpsertStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  UpsertStream(Database& database, const CallEnvironment& calls,
               grpc::CallbackServerContext& context);

  // Begins to read.
  void Start() ABSL_LOCKS_EXCLUDED(mu_);

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override { delete this; }

 private:
  // One after the other; kStored is passed over where a batch's success isn't sure before its end.
  enum class Stage { kRead, kPreparing, kPrepared, kCommitting, kStored, kDone };

  struct Batch {
    uint64_t number = 0;
    grpc::ByteBuffer bytes;  // until it is parsed
    size_t size = 0;         // of these
    google::protobuf::Arena arena;
    v1::UpsertStreamRequest* request = nullptr;  // in the arena
    PreparedUpsert prepared;
    grpc::ByteBuffer reply;
    absl::Status after_reply;  // ends the call after the acknowledgement

    Stage stage = Stage::kRead;  // guarded by mu_, as what follows
    absl::Status failure;        // ends the call in place of an acknowledgement
  };

  enum class Action { kNone, kRead, kPrepare, kCommit, kAcknowledge, kFinish };
  struct Step {
    Action action = Action::kNone;
    Batch* batch = nullptr;  // unless the step is to read
    absl::Status result;     // of the call
  };

  // Does all that can be done now. The caller counts in `busy_`, which keeps the call alive, and is
  // gone from it at the return.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  Step NextStep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The batch that a worker can take on, and what it does with it.
  Step NextWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Do(const Step& step) ABSL_LOCKS_EXCLUDED(mu_);
  // Queues work on a batch; a queue that is full is the batch's failure.
  void Submit(Batch& batch, void (UpsertStream::*work)(Batch&)) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends a worker's part: the batch is in `next` or has failed.
  void EndWork(Batch& batch, Stage next, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // The batch is sure to stand.
  void MarkStored(Batch& batch) ABSL_LOCKS_EXCLUDED(mu_);

  // On a worker.
  void RunPrepare(Batch& batch);
  void RunCommit(Batch& batch);
  absl::Status Prepare(Batch& batch);
  absl::Status Commit(Batch& batch);
  // Finds the stream's table at the first batch, and checks the name given by later ones.
  absl::Status BindTable(const std::string& name);

  Database& database_;
  const CallEnvironment& calls_;
  const CallsUnderWay::Ticket ticket_;
  CallState state_;

  // Of the batch that is prepared; the table stays once it is found.
  std::string table_name_;
  std::shared_ptr<Table> table_;

  grpc::ByteBuffer incoming_;  // gRPC's while a read is under way

  absl::Mutex mu_;
  std::deque<std::unique_ptr<Batch>> batches_ ABSL_GUARDED_BY(mu_);  // not acknowledged, in order
  uint64_t next_number_ ABSL_GUARDED_BY(mu_) = 0;
  size_t working_ ABSL_GUARDED_BY(mu_) = 0;  // workers' tasks, waiting ones too
  size_t busy_ ABSL_GUARDED_BY(mu_) = 0;  // threads in Advance or on their way there, and working_
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool reads_ended_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);  // of the call
};

}  // namespace vectable

#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "engine/database.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "server/pipelined_stream.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// One UpsertStream call. A batch is prepared (parsed, checked, encoded) and then committed, each on
// a worker, and acknowledged in order. While one is committed the next is prepared, and once the
// store has a batch the next is written while the index takes that one in; a batch isn't committed
// unless those before it are sure to stand. At most two workers are busy with a stream, and at most
// three batches are in memory.
class UpsertStream final : public PipelinedStream {
 public:
  UpsertStream(Database& database, const CallEnvironment& calls,
               grpc::CallbackServerContext& context);

 private:
  // In order; kStored is passed over where a batch's success isn't sure before its end.
  enum Stage { kPreparing = kRead + 1, kPrepared, kCommitting, kStored };

  struct Batch : Item {
    google::protobuf::Arena arena;
    v1::UpsertStreamRequest* request = nullptr;  // in the arena
    PreparedUpsert prepared;
  };

  std::unique_ptr<Item> NewItem() const override { return std::make_unique<Batch>(); }
  Work NextWork(const Items& items) override;

  // On a worker.
  void RunPrepare(Batch& batch);
  void RunCommit(Batch& batch);
  absl::Status Prepare(Batch& batch);
  absl::Status Commit(Batch& batch);
  // Finds the stream's table at the first batch, and checks the name given by later ones.
  absl::Status BindTable(const std::string& name);

  Database& database_;

  // Of the batch that is prepared; the table stays once it is found.
  std::string table_name_;
  std::shared_ptr<Table> table_;
};

}  // namespace vectable

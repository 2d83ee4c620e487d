#pragma once

#include <grpcpp/client_context.h>

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/client.h"
#include "client/row_uploader.h"
#include "client/stall_guard.h"
#include "vectable/v1/row.grpc.pb.h"

namespace vectable {

// What is kept of a batch until it is acknowledged.
struct UploadedBatch {
  std::vector<uint64_t> positions;       // of its rows
  uint64_t replaced_before_sending = 0;  // rows whose place a later one took
};

// The transport of a RowUploader: sends batches and, on a thread of its own, takes
// acknowledgements.
class RowUploader::Stream {
 public:
  Stream(v1::RowService::Stub& stub, const ClientOptions& client, const UploadOptions& options);
  // Cancels the call if it is still open.
  ~Stream();

  // Sends a batch, first waiting while too many are in flight. An error when the stream has ended.
  absl::Status Send(const v1::UpsertStreamRequest& request, UploadedBatch batch)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for the batches in flight, ends the stream and gives its status; the same at each call.
  absl::Status Close() ABSL_LOCKS_EXCLUDED(mutex_);
  UploadCounts counts() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Call = grpc::ClientReaderWriter<v1::UpsertStreamRequest, v1::UpsertStreamResponse>;

  std::unique_ptr<Call> Begin(v1::RowService::Stub& stub, const ClientOptions& client);
  void ReadAcknowledgements() ABSL_LOCKS_EXCLUDED(mutex_);
  void Acknowledge(const v1::UpsertStreamResponse& reply) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Describe(absl::Status status) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasRoom() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return ended_ || in_flight_.size() < max_in_flight_;
  }

  const size_t max_in_flight_;
  const size_t max_rejections_kept_;
  const absl::Duration stall_timeout_;
  const std::string position_name_;
  grpc::ClientContext context_;
  const std::unique_ptr<Call> call_;
  StallGuard guard_;

  mutable absl::Mutex mutex_;
  std::deque<UploadedBatch> in_flight_ ABSL_GUARDED_BY(mutex_);
  UploadCounts counts_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // the server sends nothing more

  bool closed_ = false;  // of the adding thread
  absl::Status status_;
  std::thread reader_;
};

}  // namespace vectable

#include "client/upload_stream.h"

#include <fmt/format.h>

#include <utility>

#include "absl/time/time.h"
#include "client/connection.h"
#include "client/grpc_status.h"
#include "common/status_util.h"

namespace vectable {

RowUploader::Stream::Stream(v1::RowService::Stub& stub, const ClientOptions& client,
                            const UploadOptions& options)
    : max_in_flight_(options.max_in_flight),
      max_rejections_kept_(options.max_rejections_kept),
      stall_timeout_(options.stall_timeout),
      position_name_(options.position_name),
      call_(Begin(stub, client)),
      guard_(options.stall_timeout, [this] { context_.TryCancel(); }),
      reader_([this] { ReadAcknowledgements(); }) {}

std::unique_ptr<RowUploader::Stream::Call> RowUploader::Stream::Begin(v1::RowService::Stub& stub,
                                                                      const ClientOptions& client) {
  ShowToken(client, context_);
  return stub.UpsertStream(&context_);
}

RowUploader::Stream::~Stream() {
  if (closed_) return;
  context_.TryCancel();
  IgnoreStatus(Close(), "the upload was given up");
}

absl::Status RowUploader::Stream::Send(const v1::UpsertStreamRequest& request,
                                       UploadedBatch batch) {
  if (closed_)
    return status_.ok() ? absl::FailedPreconditionError("the upload has ended") : status_;
  bool ended = false;
  {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(
        +[](Stream* stream) ABSL_NO_THREAD_SAFETY_ANALYSIS { return stream->HasRoom(); }, this));
    ended = ended_;
    if (!ended) {
      if (in_flight_.empty()) guard_.Arm();
      in_flight_.push_back(std::move(batch));
    }
  }
  if (!ended && call_->Write(request)) return absl::OkStatus();
  const absl::Status status = Close();
  return status.ok() ? absl::InternalError("the server ended the upload without an error") : status;
}

absl::Status RowUploader::Stream::Close() {
  if (closed_) return status_;
  closed_ = true;
  call_->WritesDone();
  reader_.join();
  guard_.Disarm();
  const absl::Status status = FromGrpcStatus(call_->Finish());
  absl::MutexLock lock(&mutex_);
  status_ = Describe(status);
  return status_;
}

void RowUploader::Stream::ReadAcknowledgements() {
  v1::UpsertStreamResponse reply;
  while (call_->Read(&reply)) {
    absl::MutexLock lock(&mutex_);
    Acknowledge(reply);
    if (in_flight_.empty()) {
      guard_.Disarm();
    } else {
      guard_.Arm();
    }
  }
  absl::MutexLock lock(&mutex_);
  ended_ = true;
}

void RowUploader::Stream::Acknowledge(const v1::UpsertStreamResponse& reply) {
  if (in_flight_.empty()) return;
  const UploadedBatch batch = std::move(in_flight_.front());
  in_flight_.pop_front();
  if (!batch.positions.empty()) counts_.through = batch.positions.back();
  counts_.inserted += reply.inserted();
  counts_.replaced += reply.replaced() + batch.replaced_before_sending;
  counts_.rejected += static_cast<uint64_t>(reply.rejected_size());
  for (const v1::RejectedRow& row : reply.rejected()) {
    if (counts_.rejections.size() >= max_rejections_kept_) break;
    const bool known = row.index() < batch.positions.size();
    counts_.rejections.push_back(
        {known ? batch.positions[row.index()] : 0, row.word(), row.reason()});
  }
}

// Adds what the status doesn't know: the batch that it met.
absl::Status RowUploader::Stream::Describe(absl::Status status) const {
  if (guard_.fired()) {
    return absl::DeadlineExceededError(fmt::format("the server acknowledged nothing for {:g} s",
                                                   absl::ToDoubleSeconds(stall_timeout_)));
  }
  if (status.ok()) {
    if (in_flight_.empty()) return status;
    return absl::InternalError(
        fmt::format("the server left {} batches without an answer", in_flight_.size()));
  }
  if (absl::IsUnavailable(status)) status = Annotate(status, "the connection to the server broke");
  if (in_flight_.empty() || in_flight_.front().positions.empty()) return status;
  const std::vector<uint64_t>& positions = in_flight_.front().positions;
  if (positions.front() == positions.back()) {
    if (positions.front() == 0) return status;
    return Annotate(status,
                    fmt::format("in the batch of {} {}", position_name_, positions.front()));
  }
  return Annotate(status, fmt::format("in the batch of {}s {} to {}", position_name_,
                                      positions.front(), positions.back()));
}

UploadCounts RowUploader::Stream::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

}  // namespace vectable

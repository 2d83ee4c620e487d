#include "server/upsert_stream.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "google/protobuf/arena.h"
#include "server/enums.h"
#include "server/grpc_status.h"
#include "server/messages.h"
#include "server/row_messages.h"
#include "sizing/footprint.h"

namespace vectable {

UpsertStream::UpsertStream(Database& database, const CallEnvironment& calls,
                           grpc::CallbackServerContext& context)
    : database_(database), calls_(calls), ticket_(calls.under_way), state_(context) {}

void UpsertStream::Start() { StartRead(&incoming_); }

void UpsertStream::OnReadDone(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    (ok ? has_incoming_ : reads_ended_) = true;
  }
  Advance();
}

void UpsertStream::OnWriteDone(bool ok) {
  EndBatch(ok ? after_reply_ : absl::CancelledError("the client went away"));
}

void UpsertStream::EndBatch(const absl::Status& status) {
  ++batch_;
  {
    absl::MutexLock lock(&mu_);
    in_batch_ = false;
    failure_ = status;
  }
  Advance();
}

UpsertStream::Step UpsertStream::NextStep() {
  if (finished_ || in_batch_) return Step::kNone;
  if (!failure_.ok()) return Step::kFinish;
  if (has_incoming_) return Step::kBatch;
  return reads_ended_ ? Step::kFinish : Step::kNone;
}

void UpsertStream::Advance() {
  absl::Status result;
  Step step = Step::kNone;
  {
    absl::MutexLock lock(&mu_);
    step = NextStep();
    if (step == Step::kFinish) {
      finished_ = true;
      result = failure_;
    } else if (step == Step::kBatch) {
      in_batch_ = true;
      has_incoming_ = false;
      batch_bytes_.Swap(&incoming_);
    }
  }
  if (step == Step::kBatch) BeginBatch();
  if (step == Step::kFinish) {
    if (result.ok() && state_.cancelled()) result = absl::CancelledError("the call was cancelled");
    Finish(ToGrpcStatus(result));
  }
}

void UpsertStream::BeginBatch() {
  StartRead(&incoming_);
  const absl::Status status = calls_.pool.Submit([this] { RunBatch(); }, batch_bytes_.Length());
  if (!status.ok()) EndBatch(Annotate(status, BatchLabel()));
}

std::string UpsertStream::BatchLabel() const { return "batch " + std::to_string(batch_); }

void UpsertStream::RunBatch() {
  const absl::Status status = Guarded([this] { return ApplyBatch(); });
  if (status.ok()) {
    StartWrite(&reply_);
  } else {
    EndBatch(Annotate(status, BatchLabel()));
  }
}

absl::Status UpsertStream::ApplyBatch() {
  VT_RETURN_IF_ERROR(state_.CheckWanted());
  google::protobuf::Arena arena;
  auto* request = google::protobuf::Arena::CreateMessage<v1::UpsertStreamRequest>(&arena);
  VT_RETURN_IF_ERROR(ParseMessage(batch_bytes_, *request));
  VT_RETURN_IF_ERROR(
      CheckRequestBytes(batch_bytes_.Length(), calls_.limits.max_message_bytes, BatchOf(*request)));
  VT_RETURN_IF_ERROR(BindTable(request->table()));
  VT_ASSIGN_OR_RETURN(const UpsertMode mode, UpsertModeFromProto(request->mode()));
  VT_ASSIGN_OR_RETURN(const bool skip_bad, SkipsBadRows(request->on_bad()));
  const std::vector<RowInput> rows = RowInputsFromProto(request->rows());
  VT_ASSIGN_OR_RETURN(const UpsertOutcome outcome, skip_bad ? table_->UpsertSkippingBad(rows, mode)
                                                            : table_->Upsert(rows, mode));
  auto* response = google::protobuf::Arena::CreateMessage<v1::UpsertStreamResponse>(&arena);
  response->set_batch(batch_);
  if (!FillUpsertStreamResponse(outcome, request->rows(), calls_.limits.max_reply_bytes,
                                *response)) {
    after_reply_ = TooManyRejected(response->rejected_size(), outcome.rejected.size());
  }
  return SerializeMessage(*response, reply_);
}

absl::Status UpsertStream::TooManyRejected(size_t listed, size_t rejected) const {
  return absl::ResourceExhaustedError(absl::StrCat(
      BatchLabel(), ": ", WithThousands(rejected), " of its rows were left out, and only ",
      WithThousands(listed), " fit in its reply; what the reply counts is written"));
}

absl::Status UpsertStream::BindTable(const std::string& name) {
  if (table_ == nullptr) {
    VT_ASSIGN_OR_RETURN(table_, database_.FindTable(name));
    table_name_ = name;
    return absl::OkStatus();
  }
  if (name.empty() || name == table_name_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "table ", Quoted(name), " is named in a stream that began with table ", Quoted(table_name_)));
}

}  // namespace vectable

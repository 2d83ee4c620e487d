#include "server/upsert_stream.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "server/enums.h"
#include "server/grpc_status.h"
#include "server/messages.h"
#include "server/row_messages.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr size_t kMostWorkers = 2;  // so that others are free for other calls
constexpr size_t kMostBatches = 3;

std::string BatchLabel(uint64_t number) { return absl::StrCat("batch ", number); }

absl::Status TooManyRejected(uint64_t batch, int listed, size_t rejected) {
  return absl::ResourceExhaustedError(absl::StrCat(
      BatchLabel(batch), ": ", WithThousands(rejected), " of its rows were left out, and only ",
      WithThousands(static_cast<size_t>(listed)),
      " fit in its reply; what the reply counts is written"));
}

}  // namespace

UpsertStream::UpsertStream(Database& database, const CallEnvironment& calls,
                           grpc::CallbackServerContext& context)
    : database_(database), calls_(calls), ticket_(calls.under_way), state_(context) {}

void UpsertStream::Start() {
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
  }
  Advance();
}

void UpsertStream::OnReadDone(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    reading_ = false;
    if (ok) {
      Batch& batch = *batches_.emplace_back(std::make_unique<Batch>());
      batch.number = next_number_++;
      batch.bytes.Swap(&incoming_);
      batch.size = batch.bytes.Length();
    } else {
      reads_ended_ = true;
    }
  }
  Advance();
}

void UpsertStream::OnWriteDone(bool ok) {
  std::unique_ptr<Batch> acknowledged;  // given up last: it holds much
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    writing_ = false;
    acknowledged = std::move(batches_.front());
    batches_.pop_front();
    failure_ = ok ? acknowledged->after_reply : absl::CancelledError("the client went away");
  }
  Advance();
}

void UpsertStream::Advance() {
  while (true) {
    Step step;
    {
      absl::MutexLock lock(&mu_);
      step = NextStep();
      if (step.action == Action::kNone || step.action == Action::kFinish) --busy_;
    }
    if (step.action == Action::kNone) return;
    Do(step);
    if (step.action == Action::kFinish) return;
  }
}

UpsertStream::Step UpsertStream::NextStep() {
  if (finished_) return {};
  if (failure_.ok() && !batches_.empty()) failure_ = batches_.front()->failure;
  const bool ended = !failure_.ok() || (reads_ended_ && batches_.empty());
  if (ended) {
    // This thread alone is left: no other touches the call once gRPC may delete it.
    if (busy_ > 1 || writing_) return {};
    finished_ = true;
    const bool cancelled = failure_.ok() && state_.cancelled();
    return {Action::kFinish, nullptr,
            cancelled ? absl::CancelledError("the call was cancelled") : failure_};
  }
  if (!batches_.empty() && batches_.front()->stage == Stage::kDone && !writing_) {
    writing_ = true;
    return {Action::kAcknowledge, batches_.front().get(), {}};
  }
  if (Step work = NextWork(); work.action != Action::kNone) {
    ++working_;
    ++busy_;
    return work;
  }
  if (!reading_ && !reads_ended_ && batches_.size() < kMostBatches) {
    reading_ = true;
    return {Action::kRead, nullptr, {}};
  }
  return {};
}

UpsertStream::Step UpsertStream::NextWork() {
  if (working_ >= kMostWorkers) return {};
  // Commits first: they are what the stream waits for.
  bool sure = true;  // that all before stand
  bool preparing = false;
  Batch* unprepared = nullptr;
  for (const std::unique_ptr<Batch>& batch : batches_) {
    if (!batch->failure.ok()) break;
    if (batch->stage == Stage::kPrepared && sure) {
      batch->stage = Stage::kCommitting;
      return {Action::kCommit, batch.get(), {}};
    }
    preparing = preparing || batch->stage == Stage::kPreparing;
    if (batch->stage == Stage::kRead && unprepared == nullptr) unprepared = batch.get();
    sure = sure && (batch->stage == Stage::kStored ||
                    (batch->stage == Stage::kDone && batch->after_reply.ok()));
  }
  if (unprepared == nullptr || preparing) return {};
  unprepared->stage = Stage::kPreparing;
  return {Action::kPrepare, unprepared, {}};
}

void UpsertStream::Do(const Step& step) {
  switch (step.action) {
    case Action::kNone:
      break;
    case Action::kRead:
      StartRead(&incoming_);
      break;
    case Action::kPrepare:
      Submit(*step.batch, &UpsertStream::RunPrepare);
      break;
    case Action::kCommit:
      Submit(*step.batch, &UpsertStream::RunCommit);
      break;
    case Action::kAcknowledge:
      StartWrite(&step.batch->reply);
      break;
    case Action::kFinish:
      Finish(ToGrpcStatus(step.result));
      break;
  }
}

void UpsertStream::Submit(Batch& batch, void (UpsertStream::*work)(Batch&)) {
  const absl::Status status =
      calls_.pool.Submit([this, &batch, work] { (this->*work)(batch); }, batch.size);
  if (status.ok()) return;
  absl::MutexLock lock(&mu_);
  --working_;
  --busy_;
  batch.failure = Annotate(status, BatchLabel(batch.number));
}

void UpsertStream::EndWork(Batch& batch, Stage next, const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    --working_;  // but busy until Advance returns
    batch.stage = next;
    if (!status.ok()) batch.failure = Annotate(status, BatchLabel(batch.number));
  }
  Advance();
}

void UpsertStream::MarkStored(Batch& batch) {
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    batch.stage = Stage::kStored;
  }
  Advance();
}

void UpsertStream::RunPrepare(Batch& batch) {
  const absl::Status status = Guarded([&] { return Prepare(batch); });
  EndWork(batch, Stage::kPrepared, status);
}

void UpsertStream::RunCommit(Batch& batch) {
  const absl::Status status = Guarded([&] { return Commit(batch); });
  EndWork(batch, Stage::kDone, status);
}

absl::Status UpsertStream::Prepare(Batch& batch) {
  VT_RETURN_IF_ERROR(state_.CheckWanted());
  batch.request = google::protobuf::Arena::CreateMessage<v1::UpsertStreamRequest>(&batch.arena);
  VT_RETURN_IF_ERROR(ParseMessage(batch.bytes, *batch.request));
  batch.bytes.Clear();
  VT_RETURN_IF_ERROR(
      CheckRequestBytes(batch.size, calls_.limits.max_message_bytes, BatchOf(*batch.request)));
  VT_RETURN_IF_ERROR(BindTable(batch.request->table()));
  VT_ASSIGN_OR_RETURN(const UpsertMode mode, UpsertModeFromProto(batch.request->mode()));
  VT_ASSIGN_OR_RETURN(const bool skip_bad, SkipsBadRows(batch.request->on_bad()));
  const std::vector<RowInput> rows = RowInputsFromProto(batch.request->rows());
  VT_ASSIGN_OR_RETURN(batch.prepared, table_->PrepareUpsert(rows, mode, skip_bad));
  return absl::OkStatus();
}

absl::Status UpsertStream::Commit(Batch& batch) {
  VT_RETURN_IF_ERROR(state_.CheckWanted());
  // Of rows left out there may be more than a reply can list, which ends the stream.
  std::function<void()> on_stored;
  if (!batch.prepared.skip_bad) on_stored = [this, &batch] { MarkStored(batch); };
  VT_ASSIGN_OR_RETURN(const UpsertOutcome outcome,
                      table_->CommitUpsert(std::move(batch.prepared), on_stored));
  auto* response = google::protobuf::Arena::CreateMessage<v1::UpsertStreamResponse>(&batch.arena);
  response->set_batch(batch.number);
  if (!FillUpsertStreamResponse(outcome, batch.request->rows(), calls_.limits.max_reply_bytes,
                                *response)) {
    batch.after_reply =
        TooManyRejected(batch.number, response->rejected_size(), outcome.rejected.size());
  }
  return SerializeMessage(*response, batch.reply);
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

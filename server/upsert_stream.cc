#include "server/upsert_stream.h"

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "server/enums.h"
#include "server/messages.h"
#include "server/row_messages.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

constexpr size_t kMostWorkers = 2;  // so that others are free for other calls
constexpr size_t kMostBatches = 3;
constexpr size_t kMostBytes = std::numeric_limits<size_t>::max();  // as three batches have

absl::Status TooManyRejected(uint64_t batch, int listed, size_t rejected) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "batch ", batch, ": ", WithThousands(rejected), " of its rows were left out, and only ",
      WithThousands(static_cast<size_t>(listed)),
      " fit in its reply; what the reply counts is written"));
}

}  // namespace

UpsertStream::UpsertStream(Database& database, const CallEnvironment& calls,
                           grpc::CallbackServerContext& context)
    : PipelinedStream(calls, rpcs::kUpsertStream, context,
                      {.noun = "batch",
                       .most_items = kMostBatches,
                       .most_bytes = kMostBytes,
                       .most_workers = kMostWorkers}),
      database_(database) {}

PipelinedStream::Work UpsertStream::NextWork(const Items& items) {
  // Commits first: they are what the stream waits for.
  bool sure = true;  // that all before stand
  bool preparing = false;
  Batch* unprepared = nullptr;
  for (const std::unique_ptr<Item>& item : items) {
    if (!item->failure.ok()) break;
    auto& batch = static_cast<Batch&>(*item);
    if (batch.stage == kPrepared && sure) {
      batch.stage = kCommitting;
      return {&batch, [this, &batch] { RunCommit(batch); }};
    }
    preparing = preparing || batch.stage == kPreparing;
    if (batch.stage == kRead && unprepared == nullptr) unprepared = &batch;
    sure = sure && (batch.stage == kStored || (batch.stage == kDone && batch.after_reply.ok()));
  }
  if (unprepared == nullptr || preparing) return {};
  unprepared->stage = kPreparing;
  return {unprepared, [this, unprepared] { RunPrepare(*unprepared); }};
}

void UpsertStream::RunPrepare(Batch& batch) {
  const absl::Status status = Guarded([&] { return Prepare(batch); });
  EndWork(batch, kPrepared, status);
}

void UpsertStream::RunCommit(Batch& batch) {
  const absl::Status status = Guarded([&] { return Commit(batch); });
  EndWork(batch, kDone, status);
}

absl::Status UpsertStream::Prepare(Batch& batch) {
  VT_RETURN_IF_ERROR(state().CheckWanted());
  VT_RETURN_IF_ERROR(calls().memory.Check());
  batch.request = google::protobuf::Arena::CreateMessage<v1::UpsertStreamRequest>(&batch.arena);
  VT_RETURN_IF_ERROR(ParseMessage(batch.bytes, *batch.request));
  batch.bytes.Clear();
  VT_RETURN_IF_ERROR(
      CheckRequestBytes(batch.size, calls().limits.max_message_bytes, BatchOf(*batch.request)));
  VT_RETURN_IF_ERROR(BindTable(batch.request->table()));
  VT_ASSIGN_OR_RETURN(const UpsertMode mode, UpsertModeFromProto(batch.request->mode()));
  VT_ASSIGN_OR_RETURN(const bool skip_bad, SkipsBadRows(batch.request->on_bad()));
  const std::vector<RowInput> rows = RowInputsFromProto(batch.request->rows());
  VT_ASSIGN_OR_RETURN(batch.prepared, table_->PrepareUpsert(rows, mode, skip_bad));
  return absl::OkStatus();
}

absl::Status UpsertStream::Commit(Batch& batch) {
  VT_RETURN_IF_ERROR(state().CheckWanted());
  // Of rows left out there may be more than a reply can list, which ends the stream.
  std::function<void()> on_stored;
  if (!batch.prepared.skip_bad) on_stored = [this, &batch] { SetStage(batch, kStored); };
  VT_ASSIGN_OR_RETURN(const UpsertOutcome outcome,
                      table_->CommitUpsert(std::move(batch.prepared), on_stored));
  auto* response = google::protobuf::Arena::CreateMessage<v1::UpsertStreamResponse>(&batch.arena);
  response->set_batch(batch.number);
  if (!FillUpsertStreamResponse(outcome, batch.request->rows(), calls().limits.max_reply_bytes,
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

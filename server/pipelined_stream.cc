#include "server/pipelined_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "server/grpc_status.h"

namespace vectable {

PipelinedStream::PipelinedStream(const CallEnvironment& calls, const RpcMethod& method,
                                 grpc::CallbackServerContext& context, const Options& options)
    : calls_(calls),
      options_(options),
      ticket_(calls, method, context),
      state_(context),
      watched_(calls.stuck_streams, context) {}

void PipelinedStream::Start() {
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    failure_ = ticket_.admission();
  }
  Advance();
}

void PipelinedStream::OnReadDone(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    reading_ = false;
    if (ok) {
      Item& item = *items_.emplace_back(NewItem());
      item.number = next_number_++;
      item.bytes.Swap(&incoming_);
      item.size = item.bytes.Length();
    } else {
      reads_ended_ = true;
    }
  }
  Advance();
}

void PipelinedStream::OnWriteDone(bool ok) {
  watched_.EndWrite();
  std::unique_ptr<Item> answered;  // given up last: it holds much
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    writing_ = false;
    answered = std::move(items_.front());
    items_.pop_front();
    failure_ = ok ? answered->after_reply : absl::CancelledError("the client went away");
  }
  Advance();
}

void PipelinedStream::Advance() {
  while (true) {
    Step step;
    {
      absl::MutexLock lock(&mu_);
      step = NextStep();
      if (step.action == Action::kNone || step.action == Action::kFinish) --busy_;
    }
    const Action action = step.action;
    if (action == Action::kNone) return;
    Do(std::move(step));
    if (action == Action::kFinish) return;
  }
}

PipelinedStream::Step PipelinedStream::NextStep() {
  if (finished_) return {};
  if (failure_.ok() && !items_.empty()) failure_ = items_.front()->failure;
  const bool ended = !failure_.ok() || (reads_ended_ && items_.empty());
  if (ended) {
    // This thread alone is left: no other touches the call once gRPC may delete it.
    if (busy_ > 1 || writing_) return {};
    finished_ = true;
    const bool cancelled = failure_.ok() && state_.cancelled();
    return {
        Action::kFinish, {}, cancelled ? absl::CancelledError("the call was cancelled") : failure_};
  }
  if (!items_.empty() && items_.front()->stage == kDone && !writing_) {
    writing_ = true;
    return {Action::kReply, {items_.front().get(), {}}, {}};
  }
  // The first in line is worked on in any case, so that there is always a way on.
  const bool stuck = working_ == 0 && !items_.empty() && items_.front()->stage != kDone;
  if (working_ < options_.most_workers && (!HoldsTooMuch() || stuck)) {
    if (Work work = NextWork(items_); work.item != nullptr) {
      ++working_;
      ++busy_;
      return {Action::kWork, std::move(work), {}};
    }
  }
  if (!reading_ && !reads_ended_ && items_.size() < options_.most_items && !HoldsTooMuch()) {
    reading_ = true;
    return {Action::kRead, {}, {}};
  }
  return {};
}

bool PipelinedStream::HoldsTooMuch() const {
  size_t bytes = 0;
  for (const std::unique_ptr<Item>& item : items_) {
    // What a worker has in hand isn't looked at.
    bytes += item->stage == kDone ? item->reply.Length() : item->size;
  }
  return bytes >= options_.most_bytes;
}

void PipelinedStream::Do(Step step) {
  switch (step.action) {
    case Action::kNone:
      break;
    case Action::kRead:
      StartRead(&incoming_);
      break;
    case Action::kWork:
      Submit(std::move(step.work));
      break;
    case Action::kReply:
      watched_.BeginWrite();
      StartWrite(&step.work.item->reply);
      break;
    case Action::kFinish:
      ticket_.End(step.result);
      Finish(ToGrpcStatus(step.result));
      break;
  }
}

void PipelinedStream::Submit(Work work) {
  Item& item = *work.item;
  const absl::Status status = calls_.pool.Submit(std::move(work.run), item.size);
  if (status.ok()) return;
  absl::MutexLock lock(&mu_);
  --working_;
  --busy_;
  item.failure = Label(item, status);
}

void PipelinedStream::EndWork(Item& item, int next, const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    --working_;  // but busy until Advance returns
    item.stage = next;
    if (!status.ok()) item.failure = Label(item, status);
  }
  Advance();
}

void PipelinedStream::SetStage(Item& item, int stage) {
  {
    absl::MutexLock lock(&mu_);
    ++busy_;
    item.stage = stage;
  }
  Advance();
}

absl::Status PipelinedStream::Label(const Item& item, const absl::Status& status) const {
  return Annotate(status, absl::StrCat(options_.noun, " ", item.number));
}

}  // namespace vectable

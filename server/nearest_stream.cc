#include "server/nearest_stream.h"

#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "common/status_util.h"
#include "server/grpc_status.h"
#include "server/messages.h"
#include "server/nearest_reply.h"
#include "server/search_gate.h"

namespace vectable {
namespace {

constexpr size_t kMostWorkers = 2;  // so that others are free for other calls
constexpr size_t kMostSearches = 64;
constexpr size_t kMostBytes = size_t{16} << 20;

}  // namespace

NearestStream::NearestStream(Database& database, const CallEnvironment& calls,
                             grpc::CallbackServerContext& context)
    : PipelinedStream(calls, rpcs::kNearestStream, context,
                      {.noun = "request",
                       .most_items = kMostSearches,
                       .most_bytes = kMostBytes,
                       .most_workers = kMostWorkers}),
      database_(database) {}

PipelinedStream::Work NearestStream::NextWork(const Items& items) {
  for (const std::unique_ptr<Item>& item : items) {
    if (!item->failure.ok()) break;
    if (item->stage != kRead) continue;
    auto& search = static_cast<Search&>(*item);
    search.stage = kSearching;
    return {&search, [this, &search] { Run(search); }};
  }
  return {};
}

void NearestStream::Run(Search& search) {
  const absl::Status parsed = Guarded([&] { return Parse(search); });
  if (parsed.ok() && !TableCanAnswer(search)) return Park(search);
  EndWork(search, kDone, Guarded([&] { return Answer(search, parsed); }));
}

absl::Status NearestStream::Parse(Search& search) {
  search.request = google::protobuf::Arena::CreateMessage<v1::NearestRequest>(&search.arena);
  VT_RETURN_IF_ERROR(ParseMessage(search.bytes, *search.request));
  search.bytes.Clear();
  return CheckRequestBytes(search.size, calls().limits.max_message_bytes, BatchOf(*search.request));
}

bool NearestStream::TableCanAnswer(const Search& search) const {
  return IsSearchable(database_, *search.request);
}

void NearestStream::Park(Search& search) {
  const absl::Status status = calls().parked.Park(
      {.ready = [this, &search] { return state().cancelled() || TableCanAnswer(search); },
       .give_up = GiveUpTime(absl::Now(), state().deadline()),
       .wake = [this, &search](ParkedCalls::Wake wake) { Wake(search, wake); }});
  if (!status.ok()) EndWork(search, kDone, status);
}

void NearestStream::Wake(Search& search, ParkedCalls::Wake wake) {
  switch (wake) {
    case ParkedCalls::Wake::kReady: {
      const absl::Status status = calls().pool.Submit([this, &search] {
        EndWork(search, kDone, Guarded([&] { return Answer(search, absl::OkStatus()); }));
      });
      if (!status.ok()) EndWork(search, kDone, status);
      return;
    }
    case ParkedCalls::Wake::kGaveUp:
      return EndWork(search, kDone, Guarded([&] {
                       return Answer(search, StillLoadingError(database_, *search.request));
                     }));
    case ParkedCalls::Wake::kStopped:
      return EndWork(search, kDone, absl::UnavailableError("the server is shutting down"));
  }
}

absl::Status NearestStream::Answer(Search& search, const absl::Status& so_far) {
  VT_RETURN_IF_ERROR(state().CheckWanted());
  auto* response = google::protobuf::Arena::CreateMessage<v1::NearestStreamResponse>(&search.arena);
  response->set_request(search.number);
  absl::Status status = so_far;
  if (status.ok()) status = FillAnswer(*search.request, *response->mutable_answer());
  if (absl::IsCancelled(status)) return status;
  if (!status.ok()) {
    response->clear_answer();
    response->set_code(ToRpcCode(status));
    response->set_error(ToErrorText(status));
  }
  return SerializeMessage(*response, search.reply);
}

absl::Status NearestStream::FillAnswer(const v1::NearestRequest& request,
                                       v1::NearestResponse& answer) const {
  const auto begin = std::chrono::steady_clock::now();
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(request.table()));
  VT_RETURN_IF_ERROR(AnswerNearest(*table, request, state(), calls().limits, answer));
  SetEngineMicros(begin, answer);
  return absl::OkStatus();
}

}  // namespace vectable

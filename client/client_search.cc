#include <algorithm>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/client.h"
#include "client/client_impl.h"
#include "client/request_parts.h"
#include "client/stall_guard.h"
#include "common/limits.h"
#include "common/names.h"

namespace vectable {
namespace {

absl::Status CheckTerm(const v1::Term& term) {
  return term.has_word() ? CheckText("word", term.word()) : absl::OkStatus();
}

absl::Status CheckNearest(const v1::NearestRequest& request) {
  VT_RETURN_IF_ERROR(CheckText("table name", request.table()));
  for (const v1::Query& query : request.queries()) {
    if (query.has_word()) VT_RETURN_IF_ERROR(CheckText("word", query.word()));
  }
  for (const std::string& word : request.exclude_words()) {
    VT_RETURN_IF_ERROR(CheckText("word", word));
  }
  return absl::OkStatus();
}

// How many queries go into one request, so that it and its reply stay under their limits.
size_t QueriesPerRequest(const v1::NearestRequest& request, size_t dimensions) {
  size_t largest = 1;
  for (const v1::Query& query : request.queries()) {
    largest = std::max(largest, query.ByteSizeLong() + 8);
  }
  const Limits limits;
  const size_t hits = std::clamp<size_t>(request.k(), 1, limits.max_k);
  const size_t hit_bytes = kUsualRowBytes + dimensions * sizeof(float);
  const size_t by_reply = RowsPerReply(hits * hit_bytes, limits.max_queries);
  return std::clamp<size_t>(limits.max_message_bytes / 2 / largest, 1, by_reply);
}

// Puts the answers of one part behind those of the parts before.
void Append(v1::NearestResponse part, v1::NearestResponse& all) {
  const bool graph = all.method() == v1::SEARCH_METHOD_GRAPH;
  const uint64_t micros = all.engine_micros();
  all.MergeFrom(part);
  all.set_engine_micros(micros + part.engine_micros());
  if (graph) all.set_method(v1::SEARCH_METHOD_GRAPH);
}

// Lets a guard watch while the server owes something: an answer, or, once all is asked, the end.
// Thread-safe.
class OwedAnswers {
 public:
  explicit OwedAnswers(StallGuard& guard) : guard_(guard) {}

  void Add() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (count_++ == 0) guard_.Arm();
  }
  // An answer came and was dealt with.
  void Take() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (--count_ > 0 || ended_) guard_.Arm();
  }
  void End() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    ended_ = true;
    guard_.Arm();
  }

 private:
  StallGuard& guard_;
  absl::Mutex mutex_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::StatusOr<v1::NearestResponse> Client::Nearest(const v1::NearestRequest& request) {
  VT_RETURN_IF_ERROR(CheckNearest(request));
  size_t dimensions = 0;
  if (request.include_vectors()) {
    VT_ASSIGN_OR_RETURN(const v1::Table table, GetTable(request.table()));
    dimensions = table.dimensions();
  }
  v1::NearestResponse all;
  const auto ask = [&](std::span<const v1::Query* const> some) -> absl::Status {
    v1::NearestRequest part = request;
    part.clear_queries();
    for (const v1::Query* query : some) *part.add_queries() = *query;
    VT_ASSIGN_OR_RETURN(v1::NearestResponse reply,
                        impl_->Call(impl_->search, &v1::SearchService::Stub::Nearest, part));
    Append(std::move(reply), all);
    return absl::OkStatus();
  };
  std::vector<const v1::Query*> queries;
  for (const v1::Query& query : request.queries()) queries.push_back(&query);
  const std::span<const v1::Query* const> span(queries);
  VT_RETURN_IF_ERROR(
      queries.empty() ? ask(span) : AskInParts(span, QueriesPerRequest(request, dimensions), ask));
  return all;
}

absl::Status Client::NearestStream(
    const std::function<bool(v1::NearestRequest&)>& next,
    const std::function<absl::Status(const v1::NearestStreamResponse&)>& on_answer) {
  grpc::ClientContext context;
  ShowToken(impl_->options, context);
  StallGuard guard(impl_->options.timeout, [&context] { context.TryCancel(); });
  OwedAnswers owed(guard);
  const auto call = impl_->search.NearestStream(&context);
  absl::Status bad_request;  // of the writer until it is joined
  std::thread writer([&] {
    v1::NearestRequest request;
    while (next(request)) {
      bad_request = CheckNearest(request);
      if (!bad_request.ok()) break;
      owed.Add();
      if (!call->Write(request)) break;
      request.Clear();
    }
    owed.End();
    call->WritesDone();
  });
  v1::NearestStreamResponse reply;
  absl::Status stopped;
  while (stopped.ok() && call->Read(&reply)) {
    guard.Disarm();
    stopped = on_answer(reply);
    owed.Take();
  }
  if (!stopped.ok()) context.TryCancel();
  writer.join();
  const grpc::Status status = call->Finish();
  guard.Disarm();
  if (!stopped.ok()) return stopped;
  VT_RETURN_IF_ERROR(bad_request);
  if (guard.fired()) return impl_->Explain(absl::DeadlineExceededError("the searches stand still"));
  return impl_->Explain(FromGrpcStatus(status));
}

absl::StatusOr<v1::SimilarityResponse> Client::Similarity(const v1::SimilarityRequest& request) {
  VT_RETURN_IF_ERROR(CheckText("table name", request.table()));
  VT_RETURN_IF_ERROR(CheckTerm(request.a()));
  VT_RETURN_IF_ERROR(CheckTerm(request.b()));
  return impl_->Call(impl_->search, &v1::SearchService::Stub::Similarity, request);
}

}  // namespace vectable

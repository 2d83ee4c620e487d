#include "server/search_service.h"

#include <chrono>
#include <memory>

#include "common/status_util.h"
#include "server/nearest_reply.h"
#include "server/nearest_stream.h"
#include "server/search_gate.h"
#include "server/search_messages.h"

namespace vectable {

Gate<v1::NearestRequest> SearchServiceImpl::SearchableGate() const {
  return {
      .is_open = [this](const v1::NearestRequest& asked) { return IsSearchable(database_, asked); },
      .error =
          [this](const v1::NearestRequest& asked) { return StillLoadingError(database_, asked); },
      .is_short =
          [this](const v1::NearestRequest& asked) { return IsShortSearch(database_, asked); }};
}

grpc::ServerUnaryReactor* SearchServiceImpl::Nearest(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* reply) {
  return StartUnary<v1::NearestRequest, v1::NearestResponse>(
      calls_, rpcs::kNearest, {context, request, reply},
      [this](const CallState& call, const auto& asked, auto& answer) -> absl::Status {
        const auto begin = std::chrono::steady_clock::now() - call.waited();
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        VT_RETURN_IF_ERROR(AnswerNearest(*table, asked, call, calls_.limits, answer));
        SetEngineMicros(begin, answer);
        return absl::OkStatus();
      },
      SearchableGate());
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* SearchServiceImpl::NearestStream(
    grpc::CallbackServerContext* context) {
  auto* stream = new vectable::NearestStream(database_, calls_, *context);
  stream->Start();
  return stream;
}

grpc::ServerUnaryReactor* SearchServiceImpl::Similarity(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* reply) {
  return StartUnary<v1::SimilarityRequest, v1::SimilarityResponse>(
      calls_, rpcs::kSimilarity, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        VT_ASSIGN_OR_RETURN(const QueryTarget a, TargetFromProto(asked.a(), "a"));
        VT_ASSIGN_OR_RETURN(const QueryTarget b, TargetFromProto(asked.b(), "b"));
        VT_ASSIGN_OR_RETURN(const SimilarityOutcome outcome, table->Similarity(a, b));
        answer.set_score(outcome.score);
        if (outcome.distance.has_value()) answer.set_distance(*outcome.distance);
        return absl::OkStatus();
      });
}

}  // namespace vectable

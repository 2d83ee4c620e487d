#include "server/search_service.h"

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "server/nearest_reply.h"
#include "server/search_messages.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

absl::Status StillLoading(const TableDescription& table) {
  return absl::UnavailableError(absl::StrCat(
      "table ", Quoted(table.spec.name), " is still loading: ", WithThousands(table.indexed_rows),
      " of ", WithThousands(table.rows), " rows are searchable"));
}

uint64_t MicrosSince(std::chrono::steady_clock::time_point begin) {
  const auto passed = std::chrono::steady_clock::now() - begin;
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
}

}  // namespace

Gate<v1::NearestRequest> SearchServiceImpl::SearchableGate() const {
  return {.is_open =
              [this](const v1::NearestRequest& asked) {
                const auto table = database_.FindTable(asked.table());
                return !table.ok() || (*table)->searchable();
              },
          .error =
              [this](const v1::NearestRequest& asked) {
                const auto table = database_.FindTable(asked.table());
                return table.ok() ? StillLoading((*table)->Describe()) : table.status();
              }};
}

grpc::ServerUnaryReactor* SearchServiceImpl::Nearest(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request,
                                                     grpc::ByteBuffer* reply) {
  return StartUnary<v1::NearestRequest, v1::NearestResponse>(
      calls_, {context, request, reply},
      [this](const CallState& call, const auto& asked, auto& answer) -> absl::Status {
        const auto begin = std::chrono::steady_clock::now() - call.waited();
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        VT_RETURN_IF_ERROR(AnswerNearest(*table, asked, call, calls_.limits, answer));
        answer.set_engine_micros(MicrosSince(begin));
        return absl::OkStatus();
      },
      SearchableGate());
}

grpc::ServerUnaryReactor* SearchServiceImpl::Similarity(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* reply) {
  return StartUnary<v1::SimilarityRequest, v1::SimilarityResponse>(
      calls_, {context, request, reply},
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

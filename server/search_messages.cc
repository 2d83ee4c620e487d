#include "server/search_messages.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/enums.h"
#include "server/grpc_status.h"

namespace vectable {
namespace {

std::span<const float> Values(const v1::Vector& vector) {
  return {vector.values().data(), static_cast<size_t>(vector.values_size())};
}

// Both kinds of target have the same cases.
template <class Message>
QueryTarget TargetOf(const Message& message) {
  switch (message.target_case()) {
    case Message::kWord:
      return std::string_view(message.word());
    case Message::kRowId:
      return uint64_t{message.row_id()};
    case Message::kVector:
      return Values(message.vector());
    case Message::TARGET_NOT_SET:
      break;
  }
  return std::span<const float>();
}

constexpr char kNoTarget[] = "has no word, row id or vector";

void FillHit(SearchHit hit, v1::Hit& proto) {
  proto.set_word(std::move(hit.word));
  proto.set_row_id(hit.row_id);
  proto.set_score(hit.score);
  if (hit.distance.has_value()) proto.set_distance(*hit.distance);
  if (hit.vector.empty()) return;
  proto.mutable_vector()->mutable_values()->Add(hit.vector.begin(), hit.vector.end());
}

void FillError(const absl::Status& status, v1::QueryResult& result) {
  result.set_code(ToRpcCode(status));
  result.set_error(ToErrorText(status));
}

}  // namespace

QueryTarget TargetFromProto(const v1::Query& query) { return TargetOf(query); }

absl::StatusOr<QueryTarget> TargetFromProto(const v1::Term& term, const std::string& side) {
  if (term.target_case() == v1::Term::TARGET_NOT_SET) {
    return absl::InvalidArgumentError(absl::StrCat("side ", side, " ", kNoTarget));
  }
  return TargetOf(term);
}

SearchOptions SearchOptionsFromProto(const v1::NearestRequest& request, const CallState& call) {
  SearchOptions options;
  options.k = request.k();
  options.exact = request.exact();
  if (request.recall() != 0) options.recall = request.recall();
  if (request.has_min_score()) options.min_score = request.min_score();
  options.exclude_words.assign(request.exclude_words().begin(), request.exclude_words().end());
  if (request.first_n() != 0) options.first_n = request.first_n();
  options.include_self = request.include_self();
  options.include_vectors = request.include_vectors();
  options.deadline = call.deadline();
  options.cancelled = [&call] { return call.cancelled(); };
  return options;
}

void FillQueryResult(const v1::Query& query, QueryOutcome outcome, v1::QueryResult& result) {
  if (query.target_case() == v1::Query::TARGET_NOT_SET) {
    return FillError(absl::InvalidArgumentError(absl::StrCat("the query ", kNoTarget)), result);
  }
  if (!outcome.status.ok()) return FillError(outcome.status, result);
  result.mutable_hits()->Reserve(static_cast<int>(outcome.hits.size()));
  for (SearchHit& hit : outcome.hits) FillHit(std::move(hit), *result.add_hits());
  result.set_short_reason(ShortReasonToProto(outcome.short_reason));
  result.set_rows_searched(outcome.rows_searched);
  result.set_exact(outcome.exact);
  result.set_width(outcome.width);
  result.set_recall(outcome.recall);
}

}  // namespace vectable

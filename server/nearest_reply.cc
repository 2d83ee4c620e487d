#include "server/nearest_reply.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "common/status_util.h"
#include "server/enums.h"
#include "server/messages.h"
#include "server/search_messages.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

// The least that a hit takes in a reply: tag and length, a score, a word of one byte.
constexpr size_t kLeastHitBytes = 2 + 9 + 3;
// Answers of this many replies may be in memory at once.
constexpr size_t kRepliesAtOnce = 2;

// Collects results as long as they fit.
class NearestReply {
 public:
  NearestReply(const v1::NearestRequest& request, const Limits& limits,
               v1::NearestResponse& response)
      : request_(request), max_bytes_(limits.max_reply_bytes), response_(response) {}

  // Adds the results of the next queries; false when they don't fit.
  bool Add(SearchOutcome outcome) {
    SetMethod(outcome);
    for (QueryOutcome& query : outcome.queries) {
      v1::QueryResult* result = response_.add_results();
      FillQueryResult(request_.queries(response_.results_size() - 1), std::move(query), *result);
      bytes_ += BytesInReply(*result);
      if (bytes_ > max_bytes_) return false;
    }
    return true;
  }

  // What to ask less of, after Add returned false.
  absl::Status TooLarge(const std::string& table) const {
    std::string text = absl::StrCat("table ", Quoted(table), ": the reply would be over ",
                                    WithThousands(max_bytes_), " bytes: ");
    const auto queries_that_fit = static_cast<uint64_t>(response_.results_size() - 1);
    if (queries_that_fit > 0) {
      absl::StrAppend(&text, "of the ", WithThousands(request_.queries_size()),
                      " queries the first ", WithThousands(queries_that_fit), " fit");
    } else {
      absl::StrAppend(&text, "of one query's hits the first ", WithThousands(HitsThatFit()),
                      " fit");
    }
    if (request_.include_vectors()) absl::StrAppend(&text, "; without vectors more would");
    return absl::ResourceExhaustedError(text);
  }

 private:
  void SetMethod(const SearchOutcome& outcome) {
    const bool first = response_.results_size() == 0;
    if (first || !outcome.exact) {
      response_.set_method(outcome.exact ? v1::SEARCH_METHOD_EXACT : v1::SEARCH_METHOD_GRAPH);
    }
    response_.set_device(outcome.device);
    response_.set_sequence(first ? outcome.sequence
                                 : std::min<uint64_t>(response_.sequence(), outcome.sequence));
  }

  uint64_t HitsThatFit() const {
    size_t bytes = 0;
    uint64_t count = 0;
    for (const v1::Hit& hit : response_.results(0).hits()) {
      bytes += BytesInReply(hit);
      if (bytes > max_bytes_) break;
      ++count;
    }
    return count;
  }

  const v1::NearestRequest& request_;
  const size_t max_bytes_;
  v1::NearestResponse& response_;
  size_t bytes_ = 0;
};

}  // namespace

NearestPlan PlanNearest(const v1::NearestRequest& request, uint64_t rows, uint32_t dimensions,
                        const Limits& limits) {
  const auto queries = static_cast<size_t>(request.queries_size());
  NearestPlan plan{.k = request.k(), .queries_at_once = std::max<size_t>(queries, 1)};
  if (queries > limits.max_queries || request.k() > limits.max_k) return plan;

  const size_t hit_bytes =
      kLeastHitBytes + (request.include_vectors() ? sizeof(float) * dimensions : 0);
  plan.k = static_cast<uint32_t>(
      std::min<uint64_t>(request.k(), limits.max_reply_bytes / hit_bytes + 1));
  uint64_t hits = std::min<uint64_t>(plan.k, rows);
  if (request.first_n() != 0) hits = std::min<uint64_t>(hits, request.first_n());
  const uint64_t bytes_per_query = std::max<uint64_t>(hits * hit_bytes, 1);
  const uint64_t fits = kRepliesAtOnce * limits.max_reply_bytes / bytes_per_query;
  plan.queries_at_once = std::clamp<uint64_t>(fits, 1, plan.queries_at_once);
  return plan;
}

absl::Status AnswerNearest(const Table& table, const v1::NearestRequest& request,
                           const CallState& call, const Limits& limits,
                           v1::NearestResponse& response) {
  const TableDescription description = table.Describe();
  const NearestPlan plan =
      PlanNearest(request, description.rows, description.spec.dimensions, limits);
  SearchOptions options = SearchOptionsFromProto(request, call);
  options.k = plan.k;

  std::vector<QueryTarget> targets;
  targets.reserve(request.queries_size());
  for (const v1::Query& query : request.queries()) targets.push_back(TargetFromProto(query));

  std::span<const QueryTarget> left = targets;
  NearestReply reply(request, limits, response);
  do {
    const auto part = left.first(std::min(plan.queries_at_once, left.size()));
    VT_ASSIGN_OR_RETURN(SearchOutcome outcome, table.Nearest(part, options));
    if (!reply.Add(std::move(outcome))) return reply.TooLarge(description.spec.name);
    left = left.subspan(part.size());
  } while (!left.empty());
  response.set_precision(PrecisionToProto(description.spec.precision));
  return absl::OkStatus();
}

void SetEngineMicros(std::chrono::steady_clock::time_point begin, v1::NearestResponse& response) {
  const auto passed = std::chrono::steady_clock::now() - begin;
  response.set_engine_micros(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(passed).count()));
}

}  // namespace vectable

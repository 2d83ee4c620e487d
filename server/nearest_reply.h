#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "common/limits.h"
#include "engine/table.h"
#include "server/call_state.h"
#include "vectable/v1/search.pb.h"

namespace vectable {

// How a Nearest request is put to the table so that no more is held in memory than some replies.
struct NearestPlan {
  uint32_t k = 0;  // hits that a query may bring: as asked, or what is too much for a reply
  size_t queries_at_once = 0;  // at least 1
};

// The plan for a table of `rows` rows. Numbers that the table refuses are kept, and go to it whole.
NearestPlan PlanNearest(const v1::NearestRequest& request, uint64_t rows, uint32_t dimensions,
                        const Limits& limits);

// Answers `request` from `table` into `response`, all queries on one snapshot if their answers fit
// a reply. RESOURCE_EXHAUSTED, naming the number of queries or hits that fit, when the reply would
// be over max_reply_bytes; the table's errors.
absl::Status AnswerNearest(const Table& table, const v1::NearestRequest& request,
                           const CallState& call, const Limits& limits,
                           v1::NearestResponse& response);

// Notes the time since `begin` as the engine's.
void SetEngineMicros(std::chrono::steady_clock::time_point begin, v1::NearestResponse& response);

}  // namespace vectable

#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "engine/types.h"
#include "server/call_state.h"
#include "vectable/v1/search.pb.h"

namespace vectable {

// What the query asks for, pointing into it. A query without a target gives an empty vector, which
// no table accepts.
QueryTarget TargetFromProto(const v1::Query& query);

// One side of a comparison, pointing into it. INVALID_ARGUMENT, naming `side`, when it has no
// target.
absl::StatusOr<QueryTarget> TargetFromProto(const v1::Term& term, const std::string& side);

// The options of a request, pointing into it and to `call`. The engine checks them.
SearchOptions SearchOptionsFromProto(const v1::NearestRequest& request, const CallState& call);

// Fills the result of `query` from its outcome.
void FillQueryResult(const v1::Query& query, QueryOutcome outcome, v1::QueryResult& result);

}  // namespace vectable

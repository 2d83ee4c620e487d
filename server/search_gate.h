#pragma once

#include "absl/status/status.h"
#include "engine/database.h"
#include "vectable/v1/search.pb.h"

namespace vectable {

// Whether a search can be answered now: its table is loaded, can't be loaded, or isn't there.
bool IsSearchable(const Database& database, const v1::NearestRequest& request);

// Whether the request, whose table can answer, is one short search: see Table::IsShortSearch.
bool IsShortSearch(const Database& database, const v1::NearestRequest& request);

// UNAVAILABLE with how far the table's loading is, for a search that waited in vain; the table's
// error where there is none any more.
absl::Status StillLoadingError(const Database& database, const v1::NearestRequest& request);

}  // namespace vectable

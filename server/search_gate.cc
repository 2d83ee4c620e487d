#include "server/search_gate.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/names.h"
#include "server/call_state.h"
#include "server/search_messages.h"
#include "sizing/footprint.h"

namespace vectable {

bool IsSearchable(const Database& database, const v1::NearestRequest& request) {
  const auto table = database.FindTable(request.table());
  return !table.ok() || (*table)->searchable() || (*table)->failed();
}

bool IsShortSearch(const Database& database, const v1::NearestRequest& request) {
  if (request.queries_size() != 1) return false;
  const auto table = database.FindTable(request.table());
  const CallState no_deadline(absl::InfiniteFuture(), nullptr);
  return table.ok() && (*table)->IsShortSearch(TargetFromProto(request.queries(0)),
                                               SearchOptionsFromProto(request, no_deadline));
}

absl::Status StillLoadingError(const Database& database, const v1::NearestRequest& request) {
  const auto found = database.FindTable(request.table());
  if (!found.ok()) return found.status();
  const TableDescription table = (*found)->Describe();
  return absl::UnavailableError(absl::StrCat(
      "table ", Quoted(table.spec.name), " is still loading: ", WithThousands(table.indexed_rows),
      " of ", WithThousands(table.rows), " rows are searchable"));
}

}  // namespace vectable

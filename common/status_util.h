#pragma once

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// The same status with `context` before its message ("context: message"); OK stays OK. Keeps the
// code and the payloads.
absl::Status Annotate(const absl::Status& status, std::string_view context);

// Drops a status on purpose; `why` is for the reader and for grep.
inline void IgnoreStatus(const absl::Status& status, std::string_view why) {
  (void)status;
  (void)why;
}

}  // namespace vectable

#define VT_CONCAT_INNER(a, b) a##b
#define VT_CONCAT(a, b) VT_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expr`, an absl::Status, is not OK.
#define VT_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (absl::Status vt_status = (expr); !vt_status.ok()) return vt_status; \
  } while (false)

// Assigns the value of `expr`, an absl::StatusOr, to `lhs`, or returns its status.
#define VT_ASSIGN_OR_RETURN(lhs, expr) \
  VT_ASSIGN_OR_RETURN_IMPL(VT_CONCAT(vt_statusor_, __LINE__), lhs, expr)
#define VT_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)

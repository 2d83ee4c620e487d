#pragma once

#include "absl/status/status.h"
#include "common/limits.h"
#include "engine/table.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// Reads the rows of `keys` into `response`. Reads no more at once than a reply holds, so a request
// whose rows could fill several replies sees them from several moments. RESOURCE_EXHAUSTED, naming
// the number of keys that fit, when the reply would be over max_reply_bytes; the table's errors.
absl::Status ReadRows(const Table& table, const RowKeys& keys, bool omit_vectors,
                      const Limits& limits, v1::GetResponse& response);

}  // namespace vectable

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/table_record.h"

namespace vectable {

// What a snapshot of a data directory holds.
struct SnapshotRecord {
  int64_t created_unix_micros = 0;
  std::vector<TableRecord> tables;  // as they were, counters included
};

// The bytes of the file that describes a snapshot, with a checksum, and back. DATA_LOSS for bytes
// that aren't such a record, FAILED_PRECONDITION for one of a newer format.
std::string EncodeSnapshot(const SnapshotRecord& record);
absl::StatusOr<SnapshotRecord> DecodeSnapshot(std::string_view bytes);

}  // namespace vectable

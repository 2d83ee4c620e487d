#pragma once

#include <string>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace vectable {

// RocksDB's status as ours, with `what` (what was tried) before its text: damage is DATA_LOSS, a
// full disk RESOURCE_EXHAUSTED, a missing key NOT_FOUND, an unsupported thing UNIMPLEMENTED, a
// passing obstacle UNAVAILABLE, all other trouble INTERNAL. rocksdb::Status leaves storage/ only
// this way.
absl::Status FromRocks(const rocksdb::Status& status, const std::string& what);

}  // namespace vectable

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/events.h"
#include "storage/store.h"

namespace rocksdb {
class Env;
}

namespace vectable {

// How a store keeps its files.
struct RocksStoreOptions {
  std::string directory;  // made when absent
  bool sync = true;       // sync the write-ahead log before a write returns
  size_t block_cache_bytes = size_t{256} << 20;
  // Of all families together; on a small disk less, a 32nd of it.
  size_t memtable_bytes = size_t{32} << 20;
  size_t max_wal_bytes = size_t{256} << 20;  // replayed at most after a crash
  // Kept back on the disk for deletes and drops when it is full; an eighth of it at most. Enough
  // for that if it is more than the memtables have.
  uint64_t reserve_bytes = 0;
  EventSink* events = nullptr;  // must outlive the store; may be null
  rocksdb::Env* env = nullptr;  // for tests that inject faults; null: the real one
};

// The version of the on-disk format that this code writes and the newest it reads.
inline constexpr uint32_t kStorageFormatVersion = 1;

// Opens or makes the store of a data directory. Errors name the directory: FAILED_PRECONDITION when
// another process has it open or its format is newer; PERMISSION_DENIED when it can't be made or
// written; DATA_LOSS when a file in it is damaged.
absl::StatusOr<std::unique_ptr<Store>> OpenRocksStore(const RocksStoreOptions& options);

// As "7.8.3".
std::string RocksDbVersion();

}  // namespace vectable

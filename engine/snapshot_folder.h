#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage/snapshot_record.h"

namespace vectable {

// A snapshot: all tables as they were at one moment.
struct SnapshotDescription {
  std::string name;
  SnapshotRecord record;
  uint64_t bytes = 0;      // of its files
  uint64_t own_bytes = 0;  // of those that nothing else has: what deleting it gives back
};

// The folder of a data directory's snapshots, each in a folder of its name: `store` and `index` as
// in the data directory, and the file SNAPSHOT that describes it. One that is being made or deleted
// has a name with a dot before it, and is removed by the next open. Thread-safe.
class SnapshotFolder {
 public:
  explicit SnapshotFolder(std::string path) : path_(std::move(path)) {}

  // Removes what a crash left of snapshots that were being made or deleted.
  void RemoveLeftovers();

  // Makes a snapshot: `fill` puts the files into a folder and returns the tables in them. Whole and
  // durable on return, or not there. INVALID_ARGUMENT (name), ALREADY_EXISTS, or the error of
  // `fill` or the disk. An empty name stands for the time.
  absl::StatusOr<SnapshotDescription> Create(
      std::string name,
      const std::function<absl::StatusOr<std::vector<TableRecord>>(const std::string& folder)>&
          fill) ABSL_LOCKS_EXCLUDED(mu_);

  // All snapshots, oldest first. DATA_LOSS for one whose description is damaged.
  absl::StatusOr<std::vector<SnapshotDescription>> List() const ABSL_LOCKS_EXCLUDED(mu_);

  // Deletes one; the bytes that this gave back. NOT_FOUND.
  absl::StatusOr<uint64_t> Delete(std::string_view name) ABSL_LOCKS_EXCLUDED(mu_);

  // The names of those that hold this table.
  std::vector<std::string> Holding(const TableRecord& table) const ABSL_LOCKS_EXCLUDED(mu_);

  // Whether `name` may be a snapshot's. INVALID_ARGUMENT.
  static absl::Status CheckName(std::string_view name);
  // Reads the description in the folder of a snapshot. NOT_FOUND when it has none.
  static absl::StatusOr<SnapshotRecord> ReadRecord(const std::string& folder);

 private:
  absl::StatusOr<std::vector<SnapshotDescription>> ListLocked() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::string> Names() const;
  std::string PathOf(std::string_view name) const;

  const std::string path_;
  mutable absl::Mutex mu_;  // one is made, deleted or listed at a time
};

}  // namespace vectable

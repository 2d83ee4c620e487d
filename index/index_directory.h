#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace vectable {

// Which segment files make up a table's index, and up to which mutation they do.
struct IndexManifest {
  struct Segment {
    uint64_t file = 0;           // its number
    std::vector<uint32_t> dead;  // slots, ascending
  };

  int64_t table_created = 0;  // of the table, microseconds: tells it from another with its id
  uint64_t covered = 0;       // every row as of this sequence number is in a segment
  uint64_t written = 0;       // the last sequence number that any mark of a dead row comes from
  std::vector<Segment> segments;
};

// Where the index of a table lies in the folder of all indexes.
std::string IndexFolderOf(const std::string& folder, uint32_t table_id);

// Removes the folders of all tables but these. Best effort: an error leaves some behind.
void RemoveOtherIndexes(const std::string& folder, const std::vector<uint32_t>& table_ids);

// The folder of one table's index: numbered segment files and the manifest that names those in use.
// A cache: all of it can be made again. Thread-safe.
class IndexDirectory {
 public:
  explicit IndexDirectory(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // The manifest, or nothing where there is none. DATA_LOSS for a damaged one, FAILED_PRECONDITION
  // for one of a newer format.
  absl::StatusOr<std::optional<IndexManifest>> ReadManifest() const ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the manifest the one in use, whole and synced or not at all; then removes the segment
  // files that it doesn't name. The folder is made if need be.
  absl::Status WriteManifest(const IndexManifest& manifest) ABSL_LOCKS_EXCLUDED(mu_);

  // The number of a new segment file.
  absl::StatusOr<uint64_t> NewFile() ABSL_LOCKS_EXCLUDED(mu_);
  std::string PathOf(uint64_t file) const;

  // Makes a copy of the folder, the manifest and the segment files that it names, at `path`, which
  // is new and on the same disk, by hard links. Nothing where there is no manifest.
  absl::Status LinkInto(const std::string& path) const ABSL_LOCKS_EXCLUDED(mu_);

  // Removes the folder with all that is in it.
  absl::Status Remove() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::StatusOr<std::optional<IndexManifest>> ReadManifestLocked() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RemoveUnnamed(const IndexManifest& manifest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string path_;
  mutable absl::Mutex mu_;
  uint64_t next_file_ ABSL_GUARDED_BY(mu_) = 0;  // 0: the folder wasn't looked at yet
};

}  // namespace vectable

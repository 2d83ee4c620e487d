#pragma once

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace vectable {

// The size of the disk that a directory is on; all there can be where that can't be found out.
uint64_t DiskBytes(const std::string& directory);

// Watches how much is free on the disk of a data directory, and holds some of it back in a file, so
// that when the disk is full what makes room, deletes and drops, can still be written. Thread-safe.
class DiskRoom {
 public:
  // Holds back `reserve_bytes`, though at most an eighth of the disk, where they are free; the
  // directory is there. 0: nothing.
  DiskRoom(std::string directory, uint64_t reserve_bytes);
  DiskRoom(const DiskRoom&) = delete;
  DiskRoom& operator=(const DiskRoom&) = delete;

  // Whether the data may grow by `bytes`, with the reserve whole. RESOURCE_EXHAUSTED names what is
  // free and what it takes.
  absl::Status CheckGrowth(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  // Whether `bytes` are free, the reserve aside.
  bool Has(uint64_t bytes) const { return FreeBytes() >= bytes; }

  // Gives the reserve up if fewer than `bytes` are free. RESOURCE_EXHAUSTED when that isn't enough
  // either; whoever makes room may try all the same.
  absl::Status MakeRoom(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What is free; all there can be where that can't be found out.
  uint64_t FreeBytes() const;
  absl::Status TooFew(uint64_t free, uint64_t bytes) const;
  bool TakeReserve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string directory_;
  const std::string path_;  // of the reserve
  uint64_t reserve_bytes_;
  absl::Mutex mu_;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace vectable

#pragma once

#include <atomic>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/listener.h"

namespace vectable {

// Notes what goes wrong in an open database and in the threads that RocksDB runs. Thread-safe.
class RocksWatch final : public rocksdb::EventListener {
 public:
  // Whether something failed after which nothing must be written until the database is opened
  // again: a record of the write-ahead log may be torn, and what follows it would be lost with it.
  bool failed() const { return failed_; }
  // The first such failure; OK while there is none.
  absl::Status failure() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetFailed(const absl::Status& failure) ABSL_LOCKS_EXCLUDED(mu_);

  // Families of which some file is damaged, also of those dropped since, which a compaction may
  // still find damaged; compactions must leave them alone, for one that fails ends all writing.
  std::set<std::string> damaged() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetDamaged(const std::string& family) ABSL_LOCKS_EXCLUDED(mu_);

  // A new open begins; what is damaged stays so.
  void Reset() ABSL_LOCKS_EXCLUDED(mu_);

  // Keeps RocksDB from taking writes again by itself, but after a compaction that found no room:
  // it may go on with the write-ahead log whose last record failed, and the distribution's build,
  // which has its assertions, then ends the process.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                            bool* auto_recovery) override;
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& job) override;

 private:
  std::atomic<bool> failed_{false};
  mutable absl::Mutex mu_;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  std::set<std::string> damaged_ ABSL_GUARDED_BY(mu_);
};

}  // namespace vectable

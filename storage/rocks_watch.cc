#include "storage/rocks_watch.h"

#include "storage/rocks_status.h"

namespace vectable {

absl::Status RocksWatch::failure() const {
  absl::MutexLock lock(&mu_);
  return failure_;
}

void RocksWatch::SetFailed(const absl::Status& failure) {
  absl::MutexLock lock(&mu_);
  failure_.Update(failure);
  failed_ = true;
}

void RocksWatch::Reset() {
  absl::MutexLock lock(&mu_);
  failure_ = absl::OkStatus();
  failed_ = false;
}

std::set<std::string> RocksWatch::damaged() const {
  absl::MutexLock lock(&mu_);
  return damaged_;
}

void RocksWatch::SetDamaged(const std::string& family) {
  absl::MutexLock lock(&mu_);
  damaged_.insert(family);
}

void RocksWatch::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error,
                                      bool* auto_recovery) {
  error.PermitUncheckedError();
  *auto_recovery = reason == rocksdb::BackgroundErrorReason::kCompaction;
}

void RocksWatch::OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) {
  const bool by_itself =
      reason == rocksdb::BackgroundErrorReason::kCompaction && error->IsNoSpace();
  if (!by_itself) SetFailed(FromRocks(*error, "writing out what is in memory"));
}

void RocksWatch::OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& job) {
  if (job.status.IsCorruption()) SetDamaged(job.cf_name);
}

}  // namespace vectable

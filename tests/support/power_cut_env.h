#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/env.h"

namespace vectable {

// The real file system, of which a copy can be taken as a power cut would leave it: of each file
// only what was synced. Renames and removals count as durable at once. Thread-safe.
class PowerCutEnv final : public rocksdb::EnvWrapper {
 public:
  PowerCutEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  const char* Name() const override { return "PowerCutEnv"; }

  // Copies the folder between two calls of whoever writes there; the bytes that are lost.
  uint64_t CopyAsCut(const std::string& from, const std::string& to) ABSL_LOCKS_EXCLUDED(calls_) {
    namespace fs = std::filesystem;
    const absl::MutexLock stop(&calls_);
    uint64_t lost = 0;
    for (const auto& entry : fs::recursive_directory_iterator(from)) {
      const fs::path copy = to / fs::relative(entry.path(), from);
      if (entry.is_directory()) {
        fs::create_directories(copy);
        continue;
      }
      fs::create_directories(copy.parent_path());
      fs::copy_file(entry.path(), copy);
      const absl::MutexLock lock(&mu_);
      const auto known = synced_.find(Key(entry.path()));
      const uint64_t size = fs::file_size(copy);
      if (known == synced_.end() || known->second >= size) continue;
      lost += size - known->second;
      fs::resize_file(copy, known->second);
    }
    return lost;
  }

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override
      ABSL_LOCKS_EXCLUDED(calls_) {
    const absl::ReaderMutexLock call(&calls_);
    rocksdb::Status status = EnvWrapper::NewWritableFile(name, file, options);
    if (status.ok()) {
      SetSynced(name, 0);
      *file = std::make_unique<CutWritable>(std::move(*file), *this, name);
    }
    return status;
  }

  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override
      ABSL_LOCKS_EXCLUDED(calls_) {
    const absl::ReaderMutexLock call(&calls_);
    rocksdb::Status status = EnvWrapper::RenameFile(from, to);
    const absl::MutexLock lock(&mu_);
    if (const auto known = synced_.find(Key(from)); status.ok() && known != synced_.end()) {
      synced_[Key(to)] = known->second;
      synced_.erase(Key(from));
    }
    return status;
  }

  rocksdb::Status DeleteFile(const std::string& name) override ABSL_LOCKS_EXCLUDED(calls_) {
    const absl::ReaderMutexLock call(&calls_);
    rocksdb::Status status = EnvWrapper::DeleteFile(name);
    const absl::MutexLock lock(&mu_);
    if (status.ok()) synced_.erase(Key(name));
    return status;
  }

 private:
  static std::string Key(const std::filesystem::path& path) {
    return path.lexically_normal().string();
  }

  void SetSynced(const std::string& name, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_) {
    const absl::MutexLock lock(&mu_);
    synced_[Key(name)] = bytes;
  }

  class CutWritable final : public rocksdb::WritableFileWrapper {
   public:
    CutWritable(std::unique_ptr<rocksdb::WritableFile> file, PowerCutEnv& env, std::string name)
        : WritableFileWrapper(file.get()),
          file_(std::move(file)),
          env_(env),
          name_(std::move(name)) {}

    rocksdb::Status Append(const rocksdb::Slice& data) override {
      const absl::ReaderMutexLock call(&env_.calls_);
      rocksdb::Status status = WritableFileWrapper::Append(data);
      if (status.ok()) written_ += data.size();
      return status;
    }
    rocksdb::Status Append(const rocksdb::Slice& data,
                           const rocksdb::DataVerificationInfo& /*verification_info*/) override {
      return Append(data);
    }
    rocksdb::Status Sync() override {
      const absl::ReaderMutexLock call(&env_.calls_);
      // The disk isn't waited for: the copy is what counts.
      env_.SetSynced(name_, written_);
      return rocksdb::Status::OK();
    }
    rocksdb::Status Fsync() override { return Sync(); }

   private:
    const std::unique_ptr<rocksdb::WritableFile> file_;
    PowerCutEnv& env_;
    const std::string name_;
    std::atomic<uint64_t> written_{0};
  };

  absl::Mutex calls_;  // shared by calls that change files; alone by a copy
  absl::Mutex mu_;
  std::map<std::string, uint64_t> synced_ ABSL_GUARDED_BY(mu_);  // bytes, by path
};

}  // namespace vectable

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "rocksdb/env.h"

namespace vectable {

// What goes wrong with the write-ahead log.
enum class Fault { kNone, kAppend, kTornAppend, kSync, kDiskFull };

// The real file system, whose write-ahead logs fail while a fault is set. Thread-safe.
class FaultEnv final : public rocksdb::EnvWrapper {
 public:
  FaultEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  const char* Name() const override { return "FaultEnv"; }
  void set_fault(Fault fault) { fault_ = fault; }
  int failures() const { return failures_; }

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    rocksdb::Status status = EnvWrapper::NewWritableFile(name, file, options);
    if (status.ok() && name.ends_with(".log")) {
      *file = std::make_unique<FaultFile>(std::move(*file), *this);
    }
    return status;
  }

 private:
  class FaultFile final : public rocksdb::WritableFileWrapper {
   public:
    FaultFile(std::unique_ptr<rocksdb::WritableFile> file, FaultEnv& env)
        : WritableFileWrapper(file.get()), file_(std::move(file)), env_(env) {}

    rocksdb::Status Append(const rocksdb::Slice& data) override {
      switch (env_.fault_) {
        case Fault::kAppend:
          return env_.Fail(rocksdb::Status::IOError("injected"));
        case Fault::kDiskFull:
          return env_.Fail(rocksdb::Status::NoSpace("injected"));
        case Fault::kTornAppend: {
          const rocksdb::Status status =
              WritableFileWrapper::Append(rocksdb::Slice(data.data(), data.size() / 2));
          return status.ok() ? env_.Fail(rocksdb::Status::IOError("injected")) : status;
        }
        default:
          return WritableFileWrapper::Append(data);
      }
    }
    rocksdb::Status Append(const rocksdb::Slice& data,
                           const rocksdb::DataVerificationInfo& /*verification_info*/) override {
      return Append(data);
    }
    rocksdb::Status Sync() override {
      if (env_.fault_ == Fault::kSync) return env_.Fail(rocksdb::Status::IOError("injected"));
      return WritableFileWrapper::Sync();
    }

   private:
    const std::unique_ptr<rocksdb::WritableFile> file_;
    FaultEnv& env_;
  };

  rocksdb::Status Fail(rocksdb::Status status) {
    ++failures_;
    return status;
  }

  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<int> failures_{0};
};

}  // namespace vectable

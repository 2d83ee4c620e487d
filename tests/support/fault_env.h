#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "rocksdb/env.h"

namespace vectable {

// What goes wrong with the files that a fault is set for.
enum class Fault { kNone, kAppend, kTornAppend, kSync, kDiskFull, kRead };

// Which files a fault is for.
enum class FaultyFiles { kLogs, kTables, kAll };

// The real file system, some of whose files fail while a fault is set. Thread-safe.
class FaultEnv final : public rocksdb::EnvWrapper {
 public:
  FaultEnv() : EnvWrapper(rocksdb::Env::Default()) {}

  const char* Name() const override { return "FaultEnv"; }
  void set_fault(Fault fault, FaultyFiles files = FaultyFiles::kLogs) {
    files_ = files;
    fault_ = fault;
  }
  int failures() const { return failures_; }

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    rocksdb::Status status = EnvWrapper::NewWritableFile(name, file, options);
    if (status.ok() && !IsNote(name)) {
      *file = std::make_unique<FaultWritable>(std::move(*file), *this, KindOf(name));
    }
    return status;
  }

  rocksdb::Status NewRandomAccessFile(const std::string& name,
                                      std::unique_ptr<rocksdb::RandomAccessFile>* file,
                                      const rocksdb::EnvOptions& options) override {
    rocksdb::Status status = EnvWrapper::NewRandomAccessFile(name, file, options);
    if (status.ok()) {
      *file = std::make_unique<FaultReadable>(std::move(*file), *this, KindOf(name));
    }
    return status;
  }

 private:
  // RocksDB's own log for people.
  static bool IsNote(const std::string& name) {
    return name.ends_with("/LOG") || name.find("/LOG.old") != std::string::npos;
  }
  static FaultyFiles KindOf(const std::string& name) {
    if (name.ends_with(".log")) return FaultyFiles::kLogs;
    const bool table = name.ends_with(".sst") || name.ends_with(".blob");
    return table ? FaultyFiles::kTables : FaultyFiles::kAll;
  }
  // The fault that a file of this kind has now.
  Fault FaultOf(FaultyFiles kind) const {
    const FaultyFiles files = files_;
    return files == FaultyFiles::kAll || files == kind ? fault_.load() : Fault::kNone;
  }

  class FaultWritable final : public rocksdb::WritableFileWrapper {
   public:
    FaultWritable(std::unique_ptr<rocksdb::WritableFile> file, FaultEnv& env, FaultyFiles kind)
        : WritableFileWrapper(file.get()), file_(std::move(file)), env_(env), kind_(kind) {}

    rocksdb::Status Append(const rocksdb::Slice& data) override {
      switch (env_.FaultOf(kind_)) {
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
      if (env_.FaultOf(kind_) == Fault::kSync) {
        return env_.Fail(rocksdb::Status::IOError("injected"));
      }
      return WritableFileWrapper::Sync();
    }

   private:
    const std::unique_ptr<rocksdb::WritableFile> file_;
    FaultEnv& env_;
    const FaultyFiles kind_;
  };

  class FaultReadable final : public rocksdb::RandomAccessFile {
   public:
    FaultReadable(std::unique_ptr<rocksdb::RandomAccessFile> file, FaultEnv& env, FaultyFiles kind)
        : file_(std::move(file)), env_(env), kind_(kind) {}

    rocksdb::Status Read(uint64_t offset, size_t bytes, rocksdb::Slice* result,
                         char* scratch) const override {
      if (env_.FaultOf(kind_) == Fault::kRead) {
        *result = rocksdb::Slice();
        return env_.Fail(rocksdb::Status::IOError("injected"));
      }
      return file_->Read(offset, bytes, result, scratch);
    }

   private:
    const std::unique_ptr<rocksdb::RandomAccessFile> file_;
    FaultEnv& env_;
    const FaultyFiles kind_;
  };

  rocksdb::Status Fail(rocksdb::Status status) {
    ++failures_;
    return status;
  }

  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<FaultyFiles> files_{FaultyFiles::kLogs};
  std::atomic<int> failures_{0};
};

}  // namespace vectable

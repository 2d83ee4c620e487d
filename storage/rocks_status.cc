#include "storage/rocks_status.h"

#include "absl/strings/str_cat.h"

namespace vectable {
namespace {

absl::StatusCode CodeOf(const rocksdb::Status& status) {
  if (status.IsNoSpace()) return absl::StatusCode::kResourceExhausted;
  // Of a file that another file of the store names.
  if (status.IsPathNotFound()) return absl::StatusCode::kDataLoss;
  switch (status.code()) {
    case rocksdb::Status::kOk:
      return absl::StatusCode::kOk;
    case rocksdb::Status::kNotFound:
      return absl::StatusCode::kNotFound;
    case rocksdb::Status::kCorruption:
      return absl::StatusCode::kDataLoss;
    case rocksdb::Status::kNotSupported:
      return absl::StatusCode::kUnimplemented;
    case rocksdb::Status::kBusy:
    case rocksdb::Status::kTimedOut:
    case rocksdb::Status::kTryAgain:
    case rocksdb::Status::kShutdownInProgress:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status FromRocks(const rocksdb::Status& status, const std::string& what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(CodeOf(status), absl::StrCat(what, ": ", status.ToString()));
}

}  // namespace vectable

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

// How rows are uploaded.
struct UploadOptions {
  std::string table = {};
  v1::UpsertMode mode = v1::UPSERT_MODE_UPSERT;
  v1::OnBad on_bad = v1::ON_BAD_ERROR;
  size_t max_batch_rows = 4'000;
  size_t max_batch_bytes = 2'000'000;  // a row larger than this travels alone
  size_t max_in_flight = 8;            // batches sent and not yet acknowledged
  // The upload is given up when the server acknowledges nothing for so long.
  absl::Duration stall_timeout = absl::Seconds(30);
  size_t max_rejections_kept = 20;
  std::string position_name = "line";  // what the marks of rows are, for messages
};

// A row that the server left out.
struct Rejection {
  uint64_t position = 0;  // as given to Add
  std::string word;
  std::string reason;
};

// What the server has acknowledged: durable, and seen by the next search.
struct UploadCounts {
  uint64_t inserted = 0;
  uint64_t replaced = 0;  // the word was there before, or came twice in this upload
  uint64_t rejected = 0;
  std::vector<Rejection> rejections;  // the first of them, at most max_rejections_kept
  // The mark of the last row of the last batch: all rows added up to it are acknowledged.
  uint64_t through = 0;
};

// Streams rows into a table in batches, several of them in flight, in bounded memory. Each batch is
// one atomic mutation. Made by Client::Upload, which must outlive it. One thread adds; counts() may
// be called from any.
class RowUploader {
 public:
  // Cancels what isn't finished; batches already acknowledged stay.
  ~RowUploader();
  RowUploader(const RowUploader&) = delete;
  RowUploader& operator=(const RowUploader&) = delete;

  // Queues a row, sending the batch when it is full and waiting while too many are in flight.
  // `position` is the caller's own mark for the row (a line number), given back in errors and
  // rejections. A word that is in the pending batch already replaces its vector there. An error is
  // that of an earlier batch or INVALID_ARGUMENT for a word that isn't valid UTF-8; after the
  // former nothing more is sent.
  absl::Status Add(std::string_view word, std::span<const float> vector, uint64_t position = 0);

  // Sends what is queued, waits for every acknowledgement and ends the stream. The error of the
  // first batch that failed: its message names the positions of that batch's rows. Call once, last.
  absl::Status Finish();

  // Leaves out what is queued and not sent, waits for the batches in flight and ends the stream.
  absl::Status Abandon();

  // What is acknowledged by now. After Finish, Abandon or an error nothing more is added.
  UploadCounts counts() const;

 private:
  friend class Client;
  class Stream;

  RowUploader(UploadOptions options, std::unique_ptr<Stream> stream);

  absl::Status SendPending();
  bool ReplacePending(int row_index, std::span<const float> vector);

  struct Pending;
  const UploadOptions options_;
  const std::unique_ptr<Stream> stream_;
  std::unique_ptr<Pending> pending_;
};

}  // namespace vectable

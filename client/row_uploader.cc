#include "client/row_uploader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/upload_stream.h"
#include "common/names.h"
#include "common/status_util.h"
#include "google/protobuf/arena.h"

namespace vectable {
namespace {

// Memory that is used again for every batch: a batch in memory is less than twice as large as it is
// counted, unless its rows are short. What it needs besides is given back each time.
constexpr size_t kMostKept = size_t{8} << 20;

size_t KeptBytes(const UploadOptions& options) {
  return std::min(options.max_batch_bytes, kMostKept / 2) * 2;
}

}  // namespace

// The batch being filled, in memory that is used again for the next one.
struct RowUploader::Pending {
  explicit Pending(size_t memory_bytes)
      : memory(new char[memory_bytes]), arena(memory.get(), memory_bytes) {
    Clear();
  }

  void Clear() {
    row_of_word.clear();
    arena.Reset();
    request = google::protobuf::Arena::CreateMessage<v1::UpsertStreamRequest>(&arena);
    batch = UploadedBatch();
    bytes = 0;
  }

  const std::unique_ptr<char[]> memory;
  google::protobuf::Arena arena;
  v1::UpsertStreamRequest* request = nullptr;  // in the arena
  UploadedBatch batch;
  size_t bytes = 0;
  absl::flat_hash_map<std::string_view, int> row_of_word;  // the words are the request's
};

RowUploader::RowUploader(UploadOptions options, std::unique_ptr<Stream> stream)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      pending_(std::make_unique<Pending>(KeptBytes(options_))) {}

RowUploader::~RowUploader() = default;

absl::Status RowUploader::Add(std::string_view word, std::span<const float> vector,
                              uint64_t position) {
  if (!IsValidUtf8(word)) {
    return absl::InvalidArgumentError(fmt::format("word {} is not valid UTF-8", Quoted(word)));
  }
  if (const auto found = pending_->row_of_word.find(word); found != pending_->row_of_word.end()) {
    if (ReplacePending(found->second, vector)) return absl::OkStatus();
    VT_RETURN_IF_ERROR(SendPending());
  }
  const size_t bytes = word.size() + vector.size() * sizeof(float) + 16;
  const int rows = pending_->request->rows_size();
  if (rows > 0 && (static_cast<size_t>(rows) >= options_.max_batch_rows ||
                   pending_->bytes + bytes > options_.max_batch_bytes)) {
    VT_RETURN_IF_ERROR(SendPending());
  }
  v1::UpsertRow& row = *pending_->request->add_rows();
  row.set_word(word.data(), word.size());
  pending_->row_of_word.emplace(row.word(), pending_->request->rows_size() - 1);
  row.mutable_vector()->mutable_values()->Add(vector.begin(), vector.end());
  pending_->batch.positions.push_back(position);
  pending_->bytes += bytes;
  return absl::OkStatus();
}

// Where bad rows are left out, either of the two may be one of them, so that only the server can
// say which stays.
bool RowUploader::ReplacePending(int row_index, std::span<const float> vector) {
  if (options_.on_bad == v1::ON_BAD_SKIP || options_.mode == v1::UPSERT_MODE_INSERT_ONLY)
    return false;
  v1::UpsertRow& row = *pending_->request->mutable_rows(row_index);
  row.mutable_vector()->mutable_values()->Assign(vector.begin(), vector.end());
  ++pending_->batch.replaced_before_sending;
  return true;
}

absl::Status RowUploader::SendPending() {
  if (pending_->request->rows_size() == 0) return absl::OkStatus();
  pending_->request->set_table(options_.table);
  pending_->request->set_mode(options_.mode);
  pending_->request->set_on_bad(options_.on_bad);
  absl::Status sent = stream_->Send(*pending_->request, std::move(pending_->batch));
  pending_->Clear();
  return sent;
}

absl::Status RowUploader::Finish() {
  IgnoreStatus(SendPending(), "Close gives the error of the stream");
  return stream_->Close();
}

absl::Status RowUploader::Abandon() { return stream_->Close(); }

UploadCounts RowUploader::counts() const { return stream_->counts(); }

}  // namespace vectable

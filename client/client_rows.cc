#include <algorithm>
#include <utility>

#include "client/client.h"
#include "client/client_impl.h"
#include "client/request_parts.h"
#include "client/stall_guard.h"
#include "client/upload_stream.h"
#include "common/limits.h"
#include "common/names.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

// So many rows stay under the reply limit at any width and word.
constexpr size_t kAlwaysFits = 15;

absl::Status CheckUpsert(const v1::UpsertRequest& request) {
  VT_RETURN_IF_ERROR(CheckText("table name", request.table()));
  for (const v1::UpsertRow& row : request.rows()) {
    VT_RETURN_IF_ERROR(CheckText("word", row.word()));
  }
  const size_t bytes = request.ByteSizeLong();
  const size_t limit = Limits().max_message_bytes;
  if (bytes <= limit) return absl::OkStatus();
  const size_t rows = static_cast<size_t>(request.rows_size());
  const size_t fitting = std::min<size_t>(
      rows - 1, static_cast<size_t>(static_cast<double>(limit) / static_cast<double>(bytes) *
                                    static_cast<double>(rows)));
  return absl::ResourceExhaustedError(fmt::format(
      "table {}: the request has {} bytes; the limit is {}: of its {} rows about {} fit",
      Quoted(request.table()), WithThousands(bytes), WithThousands(limit), WithThousands(rows),
      WithThousands(fitting)));
}

// How many rows a Get asks for at once.
absl::StatusOr<size_t> RowsPerGet(Client& client, const std::string& table, size_t keys,
                                  bool with_vectors) {
  const size_t most = Limits().max_keys;
  if (keys <= kAlwaysFits) return kAlwaysFits;
  if (!with_vectors) return RowsPerReply(kUsualRowBytes, most);
  VT_ASSIGN_OR_RETURN(const v1::Table found, client.GetTable(table));
  return RowsPerReply(kUsualRowBytes + size_t{found.dimensions()} * sizeof(float), most);
}

}  // namespace

absl::StatusOr<v1::UpsertResponse> Client::Upsert(const v1::UpsertRequest& request) {
  VT_RETURN_IF_ERROR(CheckUpsert(request));
  return impl_->Call(impl_->rows, &v1::RowService::Stub::Upsert, request);
}

absl::StatusOr<std::unique_ptr<RowUploader>> Client::Upload(const UploadOptions& options) {
  VT_RETURN_IF_ERROR(CheckText("table name", options.table));
  auto stream = std::make_unique<RowUploader::Stream>(impl_->rows, impl_->options, options);
  return std::unique_ptr<RowUploader>(new RowUploader(options, std::move(stream)));
}

template <typename Key>
absl::StatusOr<v1::GetResponse> Client::Impl::Get(Client& client, const std::string& table,
                                                  std::span<const Key> keys, bool with_vectors) {
  VT_ASSIGN_OR_RETURN(const size_t part, RowsPerGet(client, table, keys.size(), with_vectors));
  v1::GetRequest base;
  base.set_table(table);
  base.set_omit_vectors(!with_vectors);
  return CollectInParts<v1::GetResponse>(
      keys, part, base,
      [this](const v1::GetRequest& request) {
        return Call(rows, &v1::RowService::Stub::Get, request);
      },
      [](const v1::GetResponse&, v1::GetResponse&) {});
}

template <typename Key>
absl::StatusOr<v1::DeleteResponse> Client::Impl::Delete(const std::string& table,
                                                        std::span<const Key> keys) {
  v1::DeleteRequest base;
  base.set_table(table);
  return CollectInParts<v1::DeleteResponse>(
      keys, Limits().max_keys, base,
      [this](const v1::DeleteRequest& request) {
        return Call(rows, &v1::RowService::Stub::Delete, request);
      },
      [](const v1::DeleteResponse& before, v1::DeleteResponse& part) {
        part.set_deleted(before.deleted() + part.deleted());
      });
}

absl::StatusOr<v1::GetResponse> Client::Get(const std::string& table,
                                            std::span<const std::string> words, bool with_vectors) {
  VT_RETURN_IF_ERROR(CheckTexts(table, words));
  return impl_->Get(*this, table, words, with_vectors);
}

absl::StatusOr<v1::GetResponse> Client::GetByRowId(const std::string& table,
                                                   std::span<const uint64_t> row_ids,
                                                   bool with_vectors) {
  VT_RETURN_IF_ERROR(CheckText("table name", table));
  return impl_->Get(*this, table, row_ids, with_vectors);
}

absl::StatusOr<v1::DeleteResponse> Client::Delete(const std::string& table,
                                                  std::span<const std::string> words) {
  VT_RETURN_IF_ERROR(CheckTexts(table, words));
  return impl_->Delete(table, words);
}

absl::StatusOr<v1::DeleteResponse> Client::DeleteByRowId(const std::string& table,
                                                         std::span<const uint64_t> row_ids) {
  VT_RETURN_IF_ERROR(CheckText("table name", table));
  return impl_->Delete(table, row_ids);
}

absl::Status Client::Scan(const v1::ScanRequest& request,
                          const std::function<absl::Status(const v1::Row&)>& on_row) {
  VT_RETURN_IF_ERROR(CheckText("table name", request.table()));
  VT_RETURN_IF_ERROR(CheckText("prefix", request.word_prefix()));
  grpc::ClientContext context;
  ShowToken(impl_->options, context);
  StallGuard guard(impl_->options.timeout, [&context] { context.TryCancel(); });
  guard.Arm();
  const auto call = impl_->rows.Scan(&context, request);
  v1::ScanResponse reply;
  absl::Status stopped;
  while (stopped.ok() && call->Read(&reply)) {
    guard.Disarm();
    for (int i = 0; i < reply.rows_size() && stopped.ok(); ++i) stopped = on_row(reply.rows(i));
    guard.Arm();
  }
  if (!stopped.ok()) context.TryCancel();
  const grpc::Status status = call->Finish();
  guard.Disarm();
  if (!stopped.ok()) return stopped;
  if (guard.fired()) return impl_->Explain(absl::DeadlineExceededError("the listing stands still"));
  return impl_->Explain(FromGrpcStatus(status));
}

}  // namespace vectable

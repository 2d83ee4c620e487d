#include "server/messages.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/names.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

using google::protobuf::Message;

// A field's tag (field numbers up to 15), and the longest length prefix of what a reply may hold.
constexpr size_t kTagAndLengthBytes = 1 + 4;

template <class Request>
Batch KeyBatch(const Request& request) {
  if (request.has_words()) return {static_cast<size_t>(request.words().words_size()), "words"};
  return {static_cast<size_t>(request.row_ids().row_ids_size()), "row ids"};
}

// "table 'glove', 100 rows"
template <class Request>
std::string BatchSubject(const Request& request) {
  const Batch batch = BatchOf(request);
  return absl::StrCat("table ", Quoted(request.table()), ", ", batch.count, " ", batch.noun);
}

}  // namespace

absl::Status ParseMessage(const grpc::ByteBuffer& bytes, Message& message) {
  grpc::ByteBuffer consumed(bytes);
  if (grpc::SerializationTraits<Message>::Deserialize(&consumed, &message).ok()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the request is not a valid ", message.GetTypeName(),
                   ": it is malformed, or one of its strings is not UTF-8"));
}

absl::Status SerializeMessage(const Message& message, grpc::ByteBuffer& bytes) {
  bytes.Clear();  // gRPC aborts where a buffer still holds something
  bool own_buffer = false;
  if (grpc::SerializationTraits<Message>::Serialize(message, &bytes, &own_buffer).ok()) {
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat("a reply of ", WithThousands(message.ByteSizeLong()), " bytes can't be sent"));
}

Batch BatchOf(const v1::UpsertRequest& request) {
  return {static_cast<size_t>(request.rows_size()), "rows"};
}
Batch BatchOf(const v1::UpsertStreamRequest& request) {
  return {static_cast<size_t>(request.rows_size()), "rows"};
}
Batch BatchOf(const v1::GetRequest& request) { return KeyBatch(request); }
Batch BatchOf(const v1::DeleteRequest& request) { return KeyBatch(request); }
Batch BatchOf(const v1::NearestRequest& request) {
  return {static_cast<size_t>(request.queries_size()), "queries"};
}

std::string SubjectOf(const v1::CreateTableRequest& request) {
  return absl::StrCat("table ", Quoted(request.name()), " of ", request.dimensions(),
                      " dimensions");
}

std::string SubjectOf(const v1::RenameTableRequest& request) {
  return absl::StrCat("table ", Quoted(request.name()), " to ", Quoted(request.new_name()),
                      request.replace() ? ", replacing" : "");
}

std::string SubjectOf(const v1::DropTableRequest& request) {
  return absl::StrCat("table ", Quoted(request.name()));
}

std::string SubjectOf(const v1::CreateSnapshotRequest& request) {
  return absl::StrCat("snapshot ", Quoted(request.name()));
}

std::string SubjectOf(const v1::DeleteSnapshotRequest& request) {
  return absl::StrCat("snapshot ", Quoted(request.name()));
}

std::string SubjectOf(const v1::OptimizeTableRequest& request) {
  return absl::StrCat("table ", Quoted(request.name()));
}

std::string SubjectOf(const v1::UpsertRequest& request) { return BatchSubject(request); }
std::string SubjectOf(const v1::GetRequest& request) { return BatchSubject(request); }
std::string SubjectOf(const v1::DeleteRequest& request) { return BatchSubject(request); }

std::string SubjectOf(const v1::NearestRequest& request) {
  std::string subject = absl::StrCat(BatchSubject(request), ", k ", request.k());
  if (request.exact()) absl::StrAppend(&subject, ", exact");
  if (request.recall() > 0) absl::StrAppend(&subject, ", recall ", request.recall());
  if (request.has_min_score()) absl::StrAppend(&subject, ", min_score");
  if (request.exclude_words_size() > 0) absl::StrAppend(&subject, ", excluded words");
  if (request.first_n() > 0) absl::StrAppend(&subject, ", first_n ", request.first_n());
  return subject;
}

absl::Status CheckRequestBytes(size_t bytes, size_t limit, Batch batch) {
  if (bytes <= limit) return absl::OkStatus();
  std::string text = absl::StrCat("the request has ", WithThousands(bytes), " bytes; the limit is ",
                                  WithThousands(limit));
  if (batch.count > 0) {
    const auto fits = static_cast<uint64_t>(
        static_cast<double>(batch.count) * static_cast<double>(limit) / static_cast<double>(bytes));
    absl::StrAppend(&text, ": of its ", WithThousands(batch.count), " ", batch.noun, " about ",
                    WithThousands(fits), " fit");
  }
  return absl::ResourceExhaustedError(text);
}

absl::Status CheckReplyBytes(size_t bytes, size_t limit) {
  if (bytes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("the reply would have ", WithThousands(bytes),
                                                   " bytes; the limit is ", WithThousands(limit)));
}

size_t BytesInReply(const Message& message) { return StringBytesInReply(message.ByteSizeLong()); }

size_t StringBytesInReply(size_t bytes) { return bytes + kTagAndLengthBytes; }

}  // namespace vectable

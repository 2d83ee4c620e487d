#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"
#include "vectable/v1/admin.pb.h"
#include "vectable/v1/row.pb.h"
#include "vectable/v1/search.pb.h"
#include "vectable/v1/table.pb.h"

namespace vectable {

// Requests and replies meet gRPC as bytes, and are parsed and written here: gRPC's own parsing
// answers a malformed request with an empty UNIMPLEMENTED, takes one inside a stream for the
// stream's end, and works on the thread that reads the network.

// Fills `message`. INVALID_ARGUMENT for bytes that aren't such a message, as with a string that
// isn't UTF-8.
absl::Status ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);

// The bytes of `message`. INTERNAL when it is over 2 GiB.
absl::Status SerializeMessage(const google::protobuf::Message& message, grpc::ByteBuffer& bytes);

// The repeated part of a request: what its sender can put less of into one request.
struct Batch {
  size_t count = 0;
  const char* noun = "";  // plural; empty when the request has no such part
};
inline Batch BatchOf(const google::protobuf::Message&) { return {}; }
Batch BatchOf(const v1::UpsertRequest& request);
Batch BatchOf(const v1::UpsertStreamRequest& request);
Batch BatchOf(const v1::GetRequest& request);
Batch BatchOf(const v1::DeleteRequest& request);
Batch BatchOf(const v1::NearestRequest& request);

// What a request is about, as in "table 'glove'", for logs: no words and no vectors. Empty for
// those that neither change tables nor can take long.
inline std::string SubjectOf(const google::protobuf::Message&) { return {}; }
std::string SubjectOf(const v1::CreateTableRequest& request);
std::string SubjectOf(const v1::RenameTableRequest& request);
std::string SubjectOf(const v1::DropTableRequest& request);
std::string SubjectOf(const v1::OptimizeTableRequest& request);
std::string SubjectOf(const v1::CreateSnapshotRequest& request);
std::string SubjectOf(const v1::DeleteSnapshotRequest& request);
std::string SubjectOf(const v1::UpsertRequest& request);
std::string SubjectOf(const v1::GetRequest& request);
std::string SubjectOf(const v1::DeleteRequest& request);
std::string SubjectOf(const v1::NearestRequest& request);

// RESOURCE_EXHAUSTED when a request of `bytes` bytes is over `limit`; names how much of `batch`
// fits.
absl::Status CheckRequestBytes(size_t bytes, size_t limit, Batch batch);

// RESOURCE_EXHAUSTED when a reply of `bytes` bytes is over `limit`.
absl::Status CheckReplyBytes(size_t bytes, size_t limit);

// What `message` adds to a reply that holds it in a repeated field.
size_t BytesInReply(const google::protobuf::Message& message);
// The same for a string of `bytes` bytes.
size_t StringBytesInReply(size_t bytes);

}  // namespace vectable

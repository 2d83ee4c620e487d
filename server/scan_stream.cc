#include "server/scan_stream.h"

#include <utility>

#include "common/status_util.h"
#include "google/protobuf/arena.h"
#include "server/grpc_status.h"
#include "server/messages.h"
#include "server/row_messages.h"
#include "vectable/v1/row.pb.h"

namespace vectable {

ScanStream::ScanStream(Database& database, const CallEnvironment& calls,
                       grpc::CallbackServerContext& context, const grpc::ByteBuffer& request)
    : database_(database),
      calls_(calls),
      ticket_(calls, rpcs::kScan, context),
      request_(request),
      state_(context),
      watched_(calls.stuck_streams, context) {}

void ScanStream::Start() {
  if (!ticket_.admission().ok()) return End(ticket_.admission());
  if (absl::Status status = calls_.pool.Submit([this] { Step(); }); !status.ok()) End(status);
}

void ScanStream::OnWriteDone(bool ok) {
  watched_.EndWrite();
  if (ok) {
    Start();
  } else {
    End(absl::CancelledError("the client went away"));
  }
}

void ScanStream::Step() {
  const absl::Status status = Guarded([this] { return MakeReply(); });
  if (!status.ok()) return End(status);
  if (reply_.Length() == 0) return End(absl::OkStatus());
  if (lister_->done()) {
    lister_.reset();
    ticket_.End(absl::OkStatus());
    watched_.BeginWrite();
    StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
  } else {
    watched_.BeginWrite();
    StartWrite(&reply_);
  }
}

absl::Status ScanStream::MakeReply() {
  VT_RETURN_IF_ERROR(state_.CheckWanted());
  if (!lister_.has_value()) VT_RETURN_IF_ERROR(Open());
  google::protobuf::Arena arena;
  auto* response = google::protobuf::Arena::CreateMessage<v1::ScanResponse>(&arena);
  VT_RETURN_IF_ERROR(lister_->Next(*response));
  return SerializeMessage(*response, reply_);
}

absl::Status ScanStream::Open() {
  v1::ScanRequest request;
  VT_RETURN_IF_ERROR(ParseMessage(request_, request));
  VT_ASSIGN_OR_RETURN(table_, database_.FindTable(request.table()));
  ScanRange range = ScanRangeFromProto(request);
  ScanTokens tokens(table_->Describe().created_unix_micros, range);
  if (!request.resume_token().empty()) {
    VT_ASSIGN_OR_RETURN(range, tokens.Rest(request.resume_token()));
  }
  VT_ASSIGN_OR_RETURN(std::unique_ptr<RowScan> scan,
                      table_->Scan(range, request.include_vectors()));
  lister_.emplace(std::move(scan), std::move(tokens), request.limit());
  return absl::OkStatus();
}

void ScanStream::End(const absl::Status& status) {
  lister_.reset();
  ticket_.End(status);
  Finish(ToGrpcStatus(status));
}

}  // namespace vectable

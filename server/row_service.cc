#include "server/row_service.h"

#include <memory>

#include "common/status_util.h"
#include "server/enums.h"
#include "server/get_reply.h"
#include "server/row_messages.h"
#include "server/scan_stream.h"
#include "server/upsert_stream.h"

namespace vectable {

grpc::ServerUnaryReactor* RowServiceImpl::Upsert(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartUnary<v1::UpsertRequest, v1::UpsertResponse>(
      calls_, rpcs::kUpsert, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_RETURN_IF_ERROR(calls_.memory.Check());
        VT_RETURN_IF_ERROR(CheckIdsFitReply(asked.rows_size(), calls_.limits.max_reply_bytes));
        VT_ASSIGN_OR_RETURN(const UpsertMode mode, UpsertModeFromProto(asked.mode()));
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        VT_ASSIGN_OR_RETURN(const UpsertOutcome outcome,
                            table->Upsert(RowInputsFromProto(asked.rows()), mode));
        FillUpsertResponse(outcome, answer);
        return absl::OkStatus();
      });
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* RowServiceImpl::UpsertStream(
    grpc::CallbackServerContext* context) {
  auto* stream = new vectable::UpsertStream(database_, calls_, *context);
  stream->Start();
  return stream;
}

grpc::ServerUnaryReactor* RowServiceImpl::Get(grpc::CallbackServerContext* context,
                                              const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* reply) {
  return StartUnary<v1::GetRequest, v1::GetResponse>(
      calls_, rpcs::kGet, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const RowKeys keys, KeysFromProto(asked));
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        return ReadRows(*table, keys, asked.omit_vectors(), calls_.limits, answer);
      });
}

grpc::ServerUnaryReactor* RowServiceImpl::Delete(grpc::CallbackServerContext* context,
                                                 const grpc::ByteBuffer* request,
                                                 grpc::ByteBuffer* reply) {
  return StartUnary<v1::DeleteRequest, v1::DeleteResponse>(
      calls_, rpcs::kDelete, {context, request, reply},
      [this](const CallState&, const auto& asked, auto& answer) -> absl::Status {
        VT_ASSIGN_OR_RETURN(const RowKeys keys, KeysFromProto(asked));
        VT_RETURN_IF_ERROR(CheckKeysFitReply(keys, calls_.limits.max_reply_bytes));
        VT_ASSIGN_OR_RETURN(const std::shared_ptr<Table> table, database_.FindTable(asked.table()));
        VT_ASSIGN_OR_RETURN(const DeleteOutcome outcome, table->Delete(keys));
        FillDeleteResponse(outcome, keys, answer);
        return absl::OkStatus();
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* RowServiceImpl::Scan(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  auto* stream = new ScanStream(database_, calls_, *context, *request);
  stream->Start();
  return stream;
}

}  // namespace vectable

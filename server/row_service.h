#pragma once

#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/unary_call.h"
#include "vectable/v1/row.grpc.pb.h"

namespace vectable {

// The generated base with every rpc as bytes; see messages.h.
using RowServiceBase =
    v1::RowService::WithRawCallbackMethod_Upsert<v1::RowService::WithRawCallbackMethod_UpsertStream<
        v1::RowService::WithRawCallbackMethod_Get<v1::RowService::WithRawCallbackMethod_Delete<
            v1::RowService::WithRawCallbackMethod_Scan<v1::RowService::Service>>>>>;

// Rows, as row.proto describes them. Thread-safe; database and environment outlive it.
class RowServiceImpl final : public RowServiceBase {
 public:
  RowServiceImpl(Database& database, const CallEnvironment& calls)
      : database_(database), calls_(calls) {}

  grpc::ServerUnaryReactor* Upsert(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* UpsertStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Delete(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Scan(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request) override;

 private:
  Database& database_;
  const CallEnvironment& calls_;
};

}  // namespace vectable

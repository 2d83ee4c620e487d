#pragma once

#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/unary_call.h"
#include "vectable/v1/table.grpc.pb.h"

namespace vectable {

// The generated base with every rpc as bytes; see messages.h.
using TableServiceBase = v1::TableService::WithRawCallbackMethod_CreateTable<
    v1::TableService::WithRawCallbackMethod_GetTable<
        v1::TableService::WithRawCallbackMethod_ListTables<
            v1::TableService::WithRawCallbackMethod_RenameTable<
                v1::TableService::WithRawCallbackMethod_DropTable<
                    v1::TableService::WithRawCallbackMethod_OptimizeTable<
                        v1::TableService::Service>>>>>>;

// The catalogue, as table.proto describes it. Thread-safe; database and environment outlive it.
class TableServiceImpl final : public TableServiceBase {
 public:
  TableServiceImpl(Database& database, const CallEnvironment& calls)
      : database_(database), calls_(calls) {}

  grpc::ServerUnaryReactor* CreateTable(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* GetTable(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListTables(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RenameTable(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* DropTable(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* OptimizeTable(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;

 private:
  Database& database_;
  const CallEnvironment& calls_;
};

}  // namespace vectable

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/unary_call.h"
#include "vectable/v1/admin.grpc.pb.h"

namespace vectable {

// What the server tells about itself and can't find out from its database.
struct ServerIdentity {
  std::string version;
  bool sync = true;                // an acknowledged write is on disk
  uint32_t storage_format = 0;     // version of the on-disk format
  std::string kernel_target = {};  // the instructions that scores are computed with
  // Name and version of those that the server itself doesn't see.
  std::vector<std::pair<std::string, std::string>> libraries = {};
};

// Administration, as admin.proto describes it. Thread-safe; database and environment outlive it.
class AdminServiceImpl final : public v1::AdminService::WithRawCallbackMethod_GetServerInfo<
                                   v1::AdminService::WithRawCallbackMethod_CreateSnapshot<
                                       v1::AdminService::WithRawCallbackMethod_ListSnapshots<
                                           v1::AdminService::WithRawCallbackMethod_DeleteSnapshot<
                                               v1::AdminService::Service>>>> {
 public:
  // The server's uptime counts from here.
  AdminServiceImpl(Database& database, const CallEnvironment& calls, ServerIdentity identity);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;

  grpc::ServerUnaryReactor* CreateSnapshot(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListSnapshots(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* DeleteSnapshot(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;

 private:
  void Describe(v1::GetServerInfoResponse& info) const;

  Database& database_;
  const CallEnvironment& calls_;
  const ServerIdentity identity_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace vectable

#pragma once

#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/unary_call.h"
#include "vectable/v1/sizing.grpc.pb.h"

namespace vectable {

// The generated base with every rpc as bytes; see messages.h.
using SizingServiceBase = v1::SizingService::WithRawCallbackMethod_ReportTable<
    v1::SizingService::WithRawCallbackMethod_MeasurePrecisions<
        v1::SizingService::WithRawCallbackMethod_EstimateModel<v1::SizingService::Service>>>;

// Sizes, as sizing.proto describes them. Thread-safe; database and environment outlive it.
class SizingServiceImpl final : public SizingServiceBase {
 public:
  SizingServiceImpl(Database& database, const CallEnvironment& calls)
      : database_(database), calls_(calls) {}

  grpc::ServerUnaryReactor* ReportTable(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* MeasurePrecisions(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* EstimateModel(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;

 private:
  Database& database_;
  const CallEnvironment& calls_;
};

}  // namespace vectable

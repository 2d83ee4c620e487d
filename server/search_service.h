#pragma once

#include "engine/database.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/unary_call.h"
#include "vectable/v1/search.grpc.pb.h"

namespace vectable {

// The generated base with every rpc as bytes; see messages.h.
using SearchServiceBase = v1::SearchService::WithRawCallbackMethod_Nearest<
    v1::SearchService::WithRawCallbackMethod_NearestStream<
        v1::SearchService::WithRawCallbackMethod_Similarity<v1::SearchService::Service>>>;

// Search, as search.proto describes it. Thread-safe; database and environment outlive it.
class SearchServiceImpl final : public SearchServiceBase {
 public:
  SearchServiceImpl(Database& database, const CallEnvironment& calls)
      : database_(database), calls_(calls) {}

  grpc::ServerUnaryReactor* Nearest(grpc::CallbackServerContext* context,
                                    const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* NearestStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Similarity(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;

 private:
  // Open while the table can answer, or isn't there.
  Gate<v1::NearestRequest> SearchableGate() const;

  Database& database_;
  const CallEnvironment& calls_;
};

}  // namespace vectable

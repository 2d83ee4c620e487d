#pragma once

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"

namespace vectable {

// Calls any rpc, streams too, with one empty message and reads replies to the end; `authorization`
// goes into its header unless it is empty. Gives the call's status.
inline grpc::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel,
                            const std::string& method, const std::string& authorization) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
  if (!authorization.empty()) context.AddMetadata("authorization", authorization);
  grpc::CompletionQueue queue;
  const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call =
      stub.PrepareCall(&context, method, &queue);
  const auto await = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  if (await()) {
    const grpc::Slice empty("");
    call->WriteLast(grpc::ByteBuffer(&empty, 1), grpc::WriteOptions(), nullptr);
    await();
    grpc::ByteBuffer reply;
    do {
      call->Read(&reply, nullptr);
    } while (await());
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  await();
  return status;
}

}  // namespace vectable

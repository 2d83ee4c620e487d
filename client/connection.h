#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"

namespace vectable {

// A channel as the options have it, connected or on its way. INVALID_ARGUMENT for an address that
// isn't HOST:PORT, TLS files that can't be used, or a token that would be sent in plain text beyond
// this machine.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ClientOptions& options);

// Adds the options' token, if any, to a call.
void ShowToken(const ClientOptions& options, grpc::ClientContext& context);

}  // namespace vectable

#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"

namespace vectable {

// How connections are made safe: files in PEM form. All empty: not at all.
struct TransportSecurity {
  std::string certificate;  // the server's, followed by those between it and a root
  std::string key;          // the certificate's
  std::string client_ca;    // if given, clients must show a certificate that one of these signed

  bool enabled() const { return !certificate.empty(); }
};

// What a gRPC server takes connections with: TLS 1.2 or newer, or plain text. The files are read
// again every few minutes, so that certificates can be renewed while the server runs.
// INVALID_ARGUMENT, NOT_FOUND or PERMISSION_DENIED name the file that can't be used, and why.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(
    const TransportSecurity& security);

}  // namespace vectable

#include "client/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/file_or_pipe.h"
#include "common/limits.h"
#include "common/loopback.h"
#include "common/names.h"
#include "common/status_util.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

namespace vectable {
namespace {

constexpr size_t kMostPemBytes = size_t{4} << 20;

// The host of HOST:PORT, without brackets; empty for a socket of this machine ("unix:PATH").
absl::StatusOr<std::string> HostOf(const std::string& server) {
  if (server.starts_with("unix:")) return std::string();
  const size_t colon = server.rfind(':');
  unsigned port = 0;
  if (colon != std::string::npos && colon > 0) {
    const char* end = server.data() + server.size();
    const auto [stop, error] = std::from_chars(server.data() + colon + 1, end, port);
    if (error == std::errc() && stop == end && port >= 1 && port <= 65535) {
      std::string host = server.substr(0, colon);
      if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
      return host;
    }
  }
  return absl::InvalidArgumentError(
      fmt::format("bad server address {} (expected HOST:PORT)", Quoted(server)));
}

absl::Status ReadPem(const char* what, const std::string& path, std::string& pem) {
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> text = ReadFileOrPipe(path, kMostPemBytes);
  if (text.ok() && text->find("-----BEGIN ") == std::string::npos) {
    text = absl::InvalidArgumentError("isn't in PEM form");
  }
  if (!text.ok()) return Annotate(text.status(), fmt::format("{} {}", what, Quoted(path)));
  pem = *std::move(text);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(const ClientTls& tls) {
  if (!tls.enabled) return grpc::InsecureChannelCredentials();
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return absl::InvalidArgumentError("a TLS certificate and its key must be given together");
  }
  grpc::SslCredentialsOptions files;
  VT_RETURN_IF_ERROR(ReadPem("TLS CA file", tls.ca_file, files.pem_root_certs));
  VT_RETURN_IF_ERROR(ReadPem("TLS certificate", tls.certificate_file, files.pem_cert_chain));
  VT_RETURN_IF_ERROR(ReadPem("TLS key", tls.key_file, files.pem_private_key));
  return grpc::SslCredentials(files);
}

// The token isn't in the error.
absl::Status CheckToken(const ClientOptions& options, const std::string& host) {
  if (options.token.empty()) return absl::OkStatus();
  if (!std::all_of(options.token.begin(), options.token.end(),
                   [](unsigned char c) { return absl::ascii_isgraph(c); })) {
    return absl::InvalidArgumentError("the token has characters that aren't visible ASCII");
  }
  if (options.tls.enabled || options.insecure || host.empty() || IsLoopbackHost(host)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      fmt::format("without TLS the token could be read on the way to {}", options.server));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ClientOptions& options) {
  VT_ASSIGN_OR_RETURN(const std::string host, HostOf(options.server));
  VT_RETURN_IF_ERROR(CheckToken(options, host));
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                      MakeCredentials(options.tls));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kTransportMessageBytes));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // no back-off left by an earlier try
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  if (options.tls.enabled && !options.tls.server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls.server_name);
  }
  return grpc::CreateCustomChannel(options.server, credentials, arguments);
}

void ShowToken(const ClientOptions& options, grpc::ClientContext& context) {
  if (!options.token.empty()) context.AddMetadata("authorization", "Bearer " + options.token);
}

}  // namespace vectable

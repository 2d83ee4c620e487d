#include "client/client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "client/client_impl.h"
#include "client/connection.h"
#include "client/request_parts.h"
#include "common/names.h"

namespace vectable {
namespace {

// Why a channel doesn't connect, in gRPC's words.
absl::Status WhyNot(const std::shared_ptr<grpc::Channel>& channel, const ClientOptions& options) {
  v1::AdminService::Stub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + options.connect_timeout));
  v1::GetServerInfoResponse reply;
  return FromGrpcStatus(stub.GetServerInfo(&context, v1::GetServerInfoRequest(), &reply));
}

absl::Status CannotConnect(const ClientOptions& options, const absl::Status& why) {
  // A server that speaks the other way leaves just this in gRPC's words.
  const bool reached = !absl::StrContains(why.message(), "refused") &&
                       !absl::StrContains(why.message(), "resolution");
  if (reached && options.tls.enabled) {
    return absl::UnavailableError(
        fmt::format("no TLS connection to {}: does the server use TLS, with a certificate for this "
                    "name that --tls-ca signed, and does it ask for one of the client (--tls-cert, "
                    "with its own --tls-key)? gRPC says: {}",
                    options.server, std::string(why.message())));
  }
  return absl::UnavailableError(
      fmt::format("no server answers at {} (is vectable-server running? --server or "
                  "VECTABLE_SERVER names another address){}",
                  options.server, reached ? "; does it use TLS (--tls, --tls-ca)?" : ""));
}

// Whether the server answered: one that refuses, or can't be found, is tried again until
// `connect_timeout`; one that has accepted but is busy is waited for up to `timeout`.
bool WaitForServer(grpc::Channel& channel, const ClientOptions& options) {
  const absl::Time start = absl::Now();
  const absl::Time refused_until = start + options.connect_timeout;
  const absl::Time slow_until = std::max(refused_until, start + options.timeout);
  grpc_connectivity_state state = channel.GetState(true);
  while (state != GRPC_CHANNEL_READY) {
    const absl::Time until = state == GRPC_CHANNEL_TRANSIENT_FAILURE ? refused_until : slow_until;
    if (!channel.WaitForStateChange(state, absl::ToChronoTime(until))) return false;
    state = channel.GetState(true);
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE && absl::Now() >= refused_until) return false;
  }
  return true;
}

}  // namespace

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

const ClientOptions& Client::options() const { return impl_->options; }

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  VT_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::Channel> channel, MakeChannel(options));
  if (!WaitForServer(*channel, options)) {
    const absl::Status why = WhyNot(channel, options);
    if (absl::IsUnavailable(why) || absl::IsDeadlineExceeded(why)) {
      return CannotConnect(options, why);
    }
  }
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(options, channel)));
}

absl::StatusOr<v1::Table> Client::CreateTable(const v1::CreateTableRequest& request) {
  VT_RETURN_IF_ERROR(CheckText("table name", request.name()));
  for (const std::string& name : request.dimension_names()) {
    VT_RETURN_IF_ERROR(CheckText("dimension name", name));
  }
  VT_ASSIGN_OR_RETURN(v1::CreateTableResponse reply,
                      impl_->Call(impl_->tables, &v1::TableService::Stub::CreateTable, request));
  return std::move(*reply.mutable_table());
}

absl::StatusOr<v1::Table> Client::GetTable(const std::string& name) {
  VT_RETURN_IF_ERROR(CheckText("table name", name));
  v1::GetTableRequest request;
  request.set_name(name);
  VT_ASSIGN_OR_RETURN(v1::GetTableResponse reply,
                      impl_->Call(impl_->tables, &v1::TableService::Stub::GetTable, request));
  return std::move(*reply.mutable_table());
}

absl::StatusOr<std::vector<v1::Table>> Client::ListTables() {
  VT_ASSIGN_OR_RETURN(
      v1::ListTablesResponse reply,
      impl_->Call(impl_->tables, &v1::TableService::Stub::ListTables, v1::ListTablesRequest()));
  return std::vector<v1::Table>(std::make_move_iterator(reply.mutable_tables()->begin()),
                                std::make_move_iterator(reply.mutable_tables()->end()));
}

absl::StatusOr<v1::RenameTableResponse> Client::RenameTable(const std::string& name,
                                                            const std::string& new_name,
                                                            bool replace) {
  VT_RETURN_IF_ERROR(CheckText("table name", name));
  VT_RETURN_IF_ERROR(CheckText("table name", new_name));
  v1::RenameTableRequest request;
  request.set_name(name);
  request.set_new_name(new_name);
  request.set_replace(replace);
  return impl_->Call(impl_->tables, &v1::TableService::Stub::RenameTable, request);
}

absl::StatusOr<v1::Table> Client::OptimizeTable(const std::string& name) {
  VT_RETURN_IF_ERROR(CheckText("table name", name));
  v1::OptimizeTableRequest request;
  request.set_name(name);
  VT_ASSIGN_OR_RETURN(v1::OptimizeTableResponse reply,
                      impl_->Call(impl_->tables, &v1::TableService::Stub::OptimizeTable, request));
  return std::move(*reply.mutable_table());
}

absl::StatusOr<v1::DropTableResponse> Client::DropTable(const std::string& name) {
  VT_RETURN_IF_ERROR(CheckText("table name", name));
  v1::DropTableRequest request;
  request.set_name(name);
  return impl_->Call(impl_->tables, &v1::TableService::Stub::DropTable, request);
}

absl::StatusOr<v1::Snapshot> Client::CreateSnapshot(const std::string& name) {
  VT_RETURN_IF_ERROR(CheckText("snapshot name", name));
  v1::CreateSnapshotRequest request;
  request.set_name(name);
  VT_ASSIGN_OR_RETURN(v1::CreateSnapshotResponse reply,
                      impl_->Call(impl_->admin, &v1::AdminService::Stub::CreateSnapshot, request));
  return std::move(*reply.mutable_snapshot());
}

absl::StatusOr<std::vector<v1::Snapshot>> Client::ListSnapshots() {
  VT_ASSIGN_OR_RETURN(v1::ListSnapshotsResponse reply,
                      impl_->Call(impl_->admin, &v1::AdminService::Stub::ListSnapshots,
                                  v1::ListSnapshotsRequest()));
  return std::vector<v1::Snapshot>(std::make_move_iterator(reply.mutable_snapshots()->begin()),
                                   std::make_move_iterator(reply.mutable_snapshots()->end()));
}

absl::StatusOr<uint64_t> Client::DeleteSnapshot(const std::string& name) {
  VT_RETURN_IF_ERROR(CheckText("snapshot name", name));
  v1::DeleteSnapshotRequest request;
  request.set_name(name);
  VT_ASSIGN_OR_RETURN(const v1::DeleteSnapshotResponse reply,
                      impl_->Call(impl_->admin, &v1::AdminService::Stub::DeleteSnapshot, request));
  return reply.freed_bytes();
}

absl::StatusOr<v1::GetServerInfoResponse> Client::GetServerInfo() {
  return impl_->Call(impl_->admin, &v1::AdminService::Stub::GetServerInfo,
                     v1::GetServerInfoRequest());
}

}  // namespace vectable

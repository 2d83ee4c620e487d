#include "server/rpc_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/limits.h"
#include "common/status_util.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace vectable {
namespace {

// A client that is gone without a word is noticed after the sum of these.
constexpr int kKeepaliveTimeMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// A client's own pings are fine from this interval on.
constexpr int kLeastClientPingMs = 10'000;

constexpr absl::Duration kDrainPoll = absl::Milliseconds(5);
// What answers that were given to gRPC get to leave.
constexpr absl::Duration kSendTime = absl::Milliseconds(200);

// What gRPC takes in: some more than our own limit, which names what fits.
int TransportBytes(const Limits& limits) {
  return static_cast<int>(std::max(kTransportMessageBytes, limits.max_message_bytes / 4 * 5));
}

void SetChannelArguments(const Limits& limits, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(TransportBytes(limits));
  builder.SetMaxSendMessageSize(-1);
  // Without this, two servers share a port silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastClientPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

// Only reflection is served by gRPC's own threads.
void LimitSyncThreads(grpc::ServerBuilder& builder) {
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(Database& database,
                                                            const RpcServerOptions& options) {
  std::unique_ptr<RpcServer> server(new RpcServer(database, options));
  VT_RETURN_IF_ERROR(server->Listen(options));
  server->SayServing();
  return server;
}

RpcServer::RpcServer(Database& database, const RpcServerOptions& options)
    : pool_(options.workers),
      parked_(options.max_parked),
      memory_(database.limits().max_memory_bytes),
      stuck_streams_(options.stuck_client),
      calls_{pool_,
             parked_,
             under_way_,
             database.limits(),
             options.access != nullptr ? *options.access : open_to_all_,
             options.reporter != nullptr ? *options.reporter : unheard_,
             memory_,
             stuck_streams_},
      tables_(database, calls_),
      rows_(database, calls_),
      search_(database, calls_),
      sizing_(database, calls_),
      admin_(database, calls_, options.identity),
      table_health_(options.table_health),
      address_(options.listen) {}

RpcServer::~RpcServer() { Shutdown(absl::ZeroDuration()); }

absl::Status RpcServer::Listen(const RpcServerOptions& options) {
  std::shared_ptr<grpc::ServerCredentials> credentials = options.credentials;
  if (credentials == nullptr) credentials = grpc::InsecureServerCredentials();
  if (address_.port != 0) VT_RETURN_IF_ERROR(CheckCanListen(address_));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetChannelArguments(calls_.limits, builder);
  LimitSyncThreads(builder);
  builder.SetResourceQuota(grpc::ResourceQuota("connections").Resize(options.transport_bytes));
  int port = 0;
  builder.AddListeningPort(ToString(address_), credentials, &port);
  builder.RegisterService(&tables_);
  builder.RegisterService(&rows_);
  builder.RegisterService(&search_);
  builder.RegisterService(&sizing_);
  builder.RegisterService(&admin_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port <= 0) {
    VT_RETURN_IF_ERROR(CheckCanListen(address_));
    return absl::UnavailableError(absl::StrCat("cannot listen on ", ToString(address_)));
  }
  address_.port = port;
  return absl::OkStatus();
}

void RpcServer::SayServing() {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus(true);
  for (const char* service :
       {v1::TableService::service_full_name(), v1::RowService::service_full_name(),
        v1::SearchService::service_full_name(), v1::SizingService::service_full_name(),
        v1::AdminService::service_full_name()}) {
    health->SetServingStatus(service, true);
  }
  if (table_health_ != nullptr) table_health_->Attach(health);
}

ServerLoad RpcServer::load() const { return {under_way_.count(), pool_.load(), parked_.count()}; }

std::shared_ptr<grpc::Channel> RpcServer::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

void RpcServer::Shutdown(absl::Duration drain) {
  if (server_ != nullptr) {
    if (table_health_ != nullptr) table_health_->Detach();
    server_->GetHealthCheckService()->Shutdown();
  }
  parked_.Stop();
  // gRPC's own drain waits for idle connections too, as long as their clients like.
  const absl::Time end = absl::Now() + drain;
  while (under_way_.count() > 0 && absl::Now() < end) absl::SleepFor(kDrainPoll);
  if (server_ != nullptr) {
    server_->Shutdown(std::chrono::system_clock::now() + absl::ToChronoMilliseconds(kSendTime));
  }
  pool_.Shutdown();
}

}  // namespace vectable

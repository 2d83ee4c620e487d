#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/database.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "server/access_tokens.h"
#include "server/admin_service.h"
#include "server/call_reporter.h"
#include "server/listen_address.h"
#include "server/parked_calls.h"
#include "server/row_service.h"
#include "server/search_service.h"
#include "server/sizing_service.h"
#include "server/table_health.h"
#include "server/table_service.h"
#include "server/unary_call.h"
#include "server/worker_pool.h"

namespace vectable {

struct RpcServerOptions {
  ListenAddress listen{.host = "127.0.0.1", .port = 0};
  WorkerPool::Options workers;
  size_t max_parked = 1'024;  // searches that wait for tables that load
  ServerIdentity identity;
  TableHealth* table_health = nullptr;  // outlives the server; may be null
  // What connections are taken with, as MakeServerCredentials makes it; null: plain text.
  std::shared_ptr<grpc::ServerCredentials> credentials = {};
  // Whose calls are answered; outlives the server. Null: everybody's.
  const AccessTokens* access = nullptr;
  // Who is told of calls; outlives the server. Null: nobody.
  CallReporter* reporter = nullptr;
  // How long a stream's client may leave an answer untaken before the stream is cancelled.
  absl::Duration stuck_client = absl::Minutes(5);
  // What connections may hold of messages that are on their way.
  size_t transport_bytes = size_t{1} << 30;
};

// What a server has to do at a moment.
struct ServerLoad {
  int calls_under_way = 0;   // streams too
  WorkerPool::Load waiting;  // for a worker
  size_t parked = 0;         // searches that wait for tables that load
};

// The services over a database, on a port. Rpcs are accepted from Start until Shutdown.
// Thread-safe.
class RpcServer {
 public:
  // `database` outlives the server. INVALID_ARGUMENT or UNAVAILABLE when it can't listen there, as
  // with a port in use.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(Database& database,
                                                          const RpcServerOptions& options);

  // As Shutdown with no time to drain.
  ~RpcServer();

  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  // Where it listens, with the real port.
  const ListenAddress& address() const { return address_; }
  int port() const { return address_.port; }

  ServerLoad load() const;

  // A channel to this server that uses no network; must be gone before the server is.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Says NOT_SERVING, lets the calls under way finish for `drain`, then takes no more and cancels
  // what is left; returns when all are done. Idle connections don't hold it up. Searches that wait
  // for a table get UNAVAILABLE at once.
  void Shutdown(absl::Duration drain);

 private:
  RpcServer(Database& database, const RpcServerOptions& options);

  absl::Status Listen(const RpcServerOptions& options);
  void SayServing();

  WorkerPool pool_;
  ParkedCalls parked_;
  CallsUnderWay under_way_;
  const AccessTokens open_to_all_;
  CallReporter unheard_;
  const MemoryBudget memory_;
  StuckStreams stuck_streams_;
  const CallEnvironment calls_;
  TableServiceImpl tables_;
  RowServiceImpl rows_;
  SearchServiceImpl search_;
  SizingServiceImpl sizing_;
  AdminServiceImpl admin_;
  TableHealth* const table_health_;
  ListenAddress address_;
  std::unique_ptr<grpc::Server> server_;  // last: gRPC doesn't own the services
};

}  // namespace vectable

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/database.h"
#include "index/faiss_backend.h"
#include "server/log_event_sink.h"
#include "server/logging.h"
#include "server/rpc_server.h"
#include "server/server_options.h"
#include "server/stop_signal.h"
#include "server/table_health.h"
#include "server/version.h"
#include "sizing/footprint.h"
#include "spdlog/logger.h"
#include "storage/rocks_store.h"

namespace vectable {
namespace {

// Of the ten seconds that a stop may take; the rest is for writing out what is in memory.
constexpr absl::Duration kDrainTime = absl::Seconds(8);

size_t MiB(uint64_t count) { return static_cast<size_t>(count << 20); }

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const ServerOptions& options, EventSink& events) {
  return OpenRocksStore({.directory = options.data,
                         .sync = options.sync,
                         .block_cache_bytes = MiB(options.block_cache_mb),
                         .memtable_bytes = MiB(options.memtable_mb),
                         .max_wal_bytes = MiB(options.max_wal_mb),
                         .events = &events});
}

absl::StatusOr<std::unique_ptr<Database>> OpenDatabase(std::unique_ptr<Store> store,
                                                       EventSink& events,
                                                       const BatchBackend& backend,
                                                       const ServerOptions& options,
                                                       TableHealth& health) {
  DatabaseParts parts;
  parts.store = std::move(store);
  parts.limits = options.limits;
  parts.events = &events;
  parts.backend = &backend;
  parts.index.build_threads = options.build_threads;
  parts.index.directory = options.data + "/index";
  parts.on_searchable = [&health](const std::string& table, bool searchable) {
    health.Set(table, searchable);
  };
  return Database::Create(std::move(parts));
}

RpcServerOptions MakeRpcOptions(const ServerOptions& options, TableHealth& health) {
  return {.listen = options.listen,
          .workers = {.threads = options.threads,
                      .max_waiting = options.queue,
                      .max_waiting_bytes = MiB(options.queue_mb)},
          .max_parked = options.queue,
          .identity = {.version = Version(),
                       .sync = options.sync,
                       .storage_format = kStorageFormatVersion},
          .table_health = &health};
}

void LogTables(const Database& database, TableHealth& health, spdlog::logger& log) {
  const std::vector<TableDescription> tables = database.ListTables();
  log.info("{} table{}", tables.size(), tables.size() == 1 ? "" : "s");
  for (const TableDescription& table : tables) {
    log.info("table '{}': {} rows x {} dimensions{}", table.spec.name, WithThousands(table.rows),
             table.spec.dimensions, table.searchable ? "" : ", loading");
    health.SetLoading(table.spec.name);
  }
}

void WarnOfOpenAddress(const ListenAddress& address, spdlog::logger& log) {
  if (IsLoopback(address)) return;
  log.warn(
      "{} may be reached from other machines, and there is no access control: who reaches it "
      "can read and change everything",
      ToString(address));
}

// The one line on stdout.
void PrintAddress(const ListenAddress& address) {
  std::printf("listening on %s\n", ToString(address).c_str());
  std::fflush(stdout);
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "vectable-server: %s\n", std::string(status.message()).c_str());
  return EXIT_FAILURE;
}

int Serve(const ServerOptions& options) {
  StopSignal stop;
  const std::shared_ptr<spdlog::logger> log = MakeStderrLogger(options.log_level);
  LogLibrariesTo(log);
  LogEventSink events(*log);
  log->info("vectable-server {}, data in {}, sync {}", Version(), options.data,
            options.sync ? "on" : "off");

  absl::StatusOr<std::unique_ptr<Store>> store = OpenStore(options, events);
  if (!store.ok()) return Fail(store.status());
  const std::unique_ptr<BatchBackend> backend = MakeFaissBackend();
  TableHealth health;
  absl::StatusOr<std::unique_ptr<Database>> database =
      OpenDatabase(*std::move(store), events, *backend, options, health);
  if (!database.ok()) return Fail(database.status());
  LogTables(**database, health, *log);

  absl::StatusOr<std::unique_ptr<RpcServer>> server =
      RpcServer::Start(**database, MakeRpcOptions(options, health));
  if (!server.ok()) return Fail(server.status());
  WarnOfOpenAddress((*server)->address(), *log);
  log->info("listening on {}", ToString((*server)->address()));
  PrintAddress((*server)->address());

  const char* signal = stop.Wait();
  log->info("{}: shutting down", signal);
  (*server)->Shutdown(kDrainTime);
  server->reset();
  log->info("all calls are done; writing out what is in memory");
  database->reset();
  log->info("stopped");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  const auto parsed = vectable::ParseServerOptions(argc, argv);
  if (const auto* status = std::get_if<vectable::ExitStatus>(&parsed)) return *status;
  return vectable::Serve(std::get<vectable::ServerOptions>(parsed));
}

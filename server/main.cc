#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/status_util.h"
#include "engine/database.h"
#include "engine/restore.h"
#include "index/faiss_backend.h"
#include "index/kernels/code_dots.h"
#include "server/access_tokens.h"
#include "server/call_reporter.h"
#include "server/log_event_sink.h"
#include "server/logging.h"
#include "server/metrics_server.h"
#include "server/process_signals.h"
#include "server/rpc_server.h"
#include "server/server_options.h"
#include "server/service_manager.h"
#include "server/state_metrics.h"
#include "server/table_health.h"
#include "server/transport_security.h"
#include "server/version.h"
#include "sizing/footprint.h"
#include "spdlog/logger.h"
#include "storage/data_directory.h"
#include "storage/rocks_store.h"

namespace vectable {
namespace {

// Of the ten seconds that a stop may take; the rest is for writing out what is in memory.
constexpr absl::Duration kDrainTime = absl::Seconds(8);

size_t MiB(uint64_t count) { return static_cast<size_t>(count << 20); }

absl::StatusOr<std::unique_ptr<Store>> OpenStore(const ServerOptions& options, EventSink& events) {
  VT_RETURN_IF_ERROR(FinishRestore(options.data, events));
  if (!options.restore.empty()) {
    VT_RETURN_IF_ERROR(RestoreSnapshot(
        options.data, options.restore,
        [&](const std::string& directory) { return OpenRocksStore({.directory = directory}); },
        events));
  }
  return OpenRocksStore({.directory = options.data,
                         .sync = options.sync,
                         .block_cache_bytes = MiB(options.block_cache_mb),
                         .memtable_bytes = MiB(options.memtable_mb),
                         .max_wal_bytes = MiB(options.max_wal_mb),
                         .reserve_bytes = MiB(options.reserve_mb),
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
  parts.index.directory = absl::StrCat(options.data, "/", kIndexFolder);
  parts.snapshots = absl::StrCat(options.data, "/", kSnapshotFolder);
  parts.on_searchable = [&health](const std::string& table, bool searchable) {
    health.Set(table, searchable);
  };
  return Database::Create(std::move(parts));
}

absl::StatusOr<LineSink> MakeAuditSink(const std::string& path,
                                       const std::shared_ptr<spdlog::logger>& log) {
  if (path.empty()) return [log](const std::string& line) { log->info("audit: {}", line); };
  absl::StatusOr<std::shared_ptr<spdlog::logger>> file = MakeFileLogger(path);
  if (!file.ok()) return Annotate(file.status(), "audit log");
  return [file = *std::move(file)](const std::string& line) { file->info("{}", line); };
}

CallReporter::Options MakeReporterOptions(const ServerOptions& options, LineSink audit,
                                          const std::shared_ptr<spdlog::logger>& log) {
  return {.audit = std::move(audit),
          .failed = [log](const std::string& line) { log->error("{}", line); },
          .slow = [log](const std::string& line) { log->warn("slow: {}", line); },
          .slow_after = options.slow_ms == 0 ? absl::InfiniteDuration()
                                             : absl::Milliseconds(options.slow_ms)};
}

RpcServerOptions MakeRpcOptions(const ServerOptions& options, TableHealth& health,
                                std::shared_ptr<grpc::ServerCredentials> credentials,
                                const AccessTokens& access, CallReporter& reporter) {
  return {.listen = options.listen,
          .workers = {.threads = options.threads,
                      .max_waiting = options.queue,
                      .max_waiting_bytes = MiB(options.queue_mb)},
          .max_parked = options.queue,
          .identity = {.version = Version(),
                       .sync = options.sync,
                       .storage_format = kStorageFormatVersion,
                       .kernel_target = KernelTarget(),
                       .libraries = {{"RocksDB", RocksDbVersion()}, {"FAISS", FaissVersion()}}},
          .table_health = &health,
          .credentials = std::move(credentials),
          .access = &access,
          .reporter = &reporter,
          .stuck_client = absl::Seconds(options.stuck_client_s),
          .transport_bytes = MiB(options.transport_mb)};
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

// Says what the operator may not have meant.
void WarnOfAccess(const ServerOptions& options, const ListenAddress& address, spdlog::logger& log) {
  if (IsLoopback(address)) return;
  if (!options.security.enabled()) {
    log.warn("{} can be reached from other machines, and all that is sent can be read on the way",
             ToString(address));
  }
  if (options.tokens.empty() && options.security.client_ca.empty()) {
    log.warn(
        "{} can be reached from other machines, and whoever reaches it can read and change "
        "everything: there are no --tokens",
        ToString(address));
  }
}

absl::Status LoadTokens(const ServerOptions& options, AccessTokens& access, spdlog::logger& log) {
  if (options.tokens.empty()) return absl::OkStatus();
  VT_RETURN_IF_ERROR(access.Load(options.tokens));
  log.info("{} access tokens", access.size());
  struct stat facts {};
  if (stat(options.tokens.c_str(), &facts) == 0 && (facts.st_mode & 0077) != 0) {
    log.warn("the token file {} can be read by others: chmod 600", options.tokens);
  }
  return absl::OkStatus();
}

void ReloadTokens(const ServerOptions& options, AccessTokens& access, spdlog::logger& log) {
  if (const absl::Status status = LoadTokens(options, access, log); !status.ok()) {
    log.error("SIGHUP: the tokens stay as they were: {}", std::string(status.message()));
  }
}

// Null where nobody asked for metrics.
absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetrics(const ServerOptions& options,
                                                            const Database& database,
                                                            const RpcServer& server,
                                                            const CallReporter& reporter,
                                                            spdlog::logger& log) {
  if (!options.metrics_listen) return nullptr;
  auto state = std::make_shared<StateMetrics>(
      database, [&server] { return server.load(); }, Version());
  VT_ASSIGN_OR_RETURN(std::unique_ptr<MetricsServer> metrics,
                      MetricsServer::Start(*options.metrics_listen,
                                           {reporter.metrics().registry(), std::move(state)}));
  log.info("metrics at http://{}/metrics", ToString(metrics->address()));
  return metrics;
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

// Each connection takes a file: as many as the system lets the process have.
void RaiseFileLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int Serve(const ServerOptions& options) {
  ProcessSignals signals;
  RaiseFileLimit();
  const std::shared_ptr<spdlog::logger> log = MakeStderrLogger(options.log_level);
  LogLibrariesTo(log);
  LogEventSink events(*log);
  log->info("vectable-server {}, data in {}, sync {}", Version(), options.data,
            options.sync ? "on" : "off");

  const auto credentials = MakeServerCredentials(options.security);
  if (!credentials.ok()) return Fail(credentials.status());
  AccessTokens access;
  if (const absl::Status status = LoadTokens(options, access, *log); !status.ok()) {
    return Fail(status);
  }
  absl::StatusOr<LineSink> audit = MakeAuditSink(options.audit_log, log);
  if (!audit.ok()) return Fail(audit.status());
  CallReporter reporter(MakeReporterOptions(options, *std::move(audit), log));

  absl::StatusOr<std::unique_ptr<Store>> store = OpenStore(options, events);
  if (!store.ok()) return Fail(store.status());
  const std::unique_ptr<BatchBackend> backend = MakeFaissBackend();
  TableHealth health;
  absl::StatusOr<std::unique_ptr<Database>> database =
      OpenDatabase(*std::move(store), events, *backend, options, health);
  if (!database.ok()) return Fail(database.status());
  LogTables(**database, health, *log);

  absl::StatusOr<std::unique_ptr<RpcServer>> server =
      RpcServer::Start(**database, MakeRpcOptions(options, health, *credentials, access, reporter));
  if (!server.ok()) return Fail(server.status());
  WarnOfAccess(options, (*server)->address(), *log);
  absl::StatusOr<std::unique_ptr<MetricsServer>> metrics =
      StartMetrics(options, **database, **server, reporter, *log);
  if (!metrics.ok()) return Fail(Annotate(metrics.status(), "metrics"));
  log->info("listening on {}", ToString((*server)->address()));
  PrintAddress((*server)->address());
  TellReady();

  const char* signal = signals.WaitForStop([&] { ReloadTokens(options, access, *log); });
  log->info("{}: shutting down", signal);
  TellStopping();
  (*server)->Shutdown(kDrainTime);
  metrics->reset();
  server->reset();
  log->info("all calls are done; writing out what is in memory");
  database->reset();
  log->info("stopped");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace vectable

int main(int argc, char** argv) {
  umask(umask(0) | 0077);  // what is written is nobody else's to read
  const auto parsed = vectable::ParseServerOptions(argc, argv);
  if (const auto* status = std::get_if<vectable::ExitStatus>(&parsed)) return *status;
  return vectable::Serve(std::get<vectable::ServerOptions>(parsed));
}

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "common/limits.h"
#include "server/listen_address.h"
#include "server/transport_security.h"
#include "spdlog/common.h"

namespace vectable {

// How the program was asked to run.
struct ServerOptions {
  std::string data;     // the data directory
  std::string restore;  // a snapshot to begin with; empty: none
  ListenAddress listen{.host = "127.0.0.1", .port = 50'051};
  bool sync = true;
  size_t threads = 0;        // at least 1 after parsing
  size_t build_threads = 0;  // as threads
  size_t queue = 1'024;
  uint64_t queue_mb = 1'024;  // MiB, as all "mb" here
  uint64_t transport_mb = 1'024;
  uint64_t stuck_client_s = 300;  // seconds
  uint64_t block_cache_mb = 256;
  uint64_t memtable_mb = 32;
  uint64_t max_wal_mb = 256;
  uint64_t reserve_mb = 48;
  Limits limits;
  TransportSecurity security;
  std::string tokens;     // a file for AccessTokens; empty: no token is asked for
  std::string audit_log;  // a file; empty: the log
  std::optional<ListenAddress> metrics_listen;  // nothing: metrics aren't served
  uint64_t slow_ms = 1'000;                     // 0: no call is called slow
  bool insecure = false;                        // may listen beyond this machine in plain text
  spdlog::level::level_enum log_level = spdlog::level::info;
};

// The exit status when there is nothing to run: after --help, --version and --print-config, or
// wrong usage (2).
using ExitStatus = int;

// Reads the command line, then for what it leaves open the environment (VECTABLE_SERVER_*), then
// the file of --config. What help, version or --print-config ask for is printed to stdout, an error
// to stderr.
std::variant<ServerOptions, ExitStatus> ParseServerOptions(int argc, const char* const* argv);

}  // namespace vectable

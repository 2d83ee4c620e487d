#include "server/server_options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/ascii.h"
#include "server/config_file.h"
#include "server/version.h"

namespace vectable {
namespace {

constexpr int kWrongUsage = 2;
constexpr uint64_t kMaxMb = uint64_t{1} << 24;     // 16 TiB
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // of a message: gRPC counts in int
constexpr uint64_t kMaxThreads = 1'024;
constexpr uint64_t kMaxQueue = 1'000'000;
constexpr uint64_t kMaxTableBytes = (uint64_t{1} << 63) - 1;
constexpr uint64_t kMaxCount = 1'000'000'000;

constexpr char kDescription[] =
    "Vectable: a vector database server. Keeps tables of words and vectors in a directory, and "
    "answers\n"
    "nearest-neighbour searches over gRPC. Prints one line, \"listening on HOST:PORT\", to stdout "
    "once it\n"
    "accepts calls; logs go to stderr. SIGTERM and SIGINT stop it after the calls under way, at\n"
    "most 10 s later; a second signal stops it at once. SIGHUP reads the file of tokens again.\n"
    "Each option can also be set by the environment (VECTABLE_SERVER_MAX_K for --max-k) and by "
    "the\n"
    "file of --config: the command line counts before the environment, that before the file.";

// An upload keeps two of them, which wait for the disk now and then: one more than there are cores.
size_t DefaultThreads() { return std::max(2U, std::thread::hardware_concurrency()) + 1; }
size_t BuildThreads() { return std::max(1U, std::thread::hardware_concurrency()); }

// A whole number between the bounds, both included.
template <class Number>
CLI::Option* AddNumber(CLI::App& app, const std::string& flag, Number& value, uint64_t least,
                       uint64_t most, const std::string& text) {
  return app.add_option(flag, value, text)
      ->capture_default_str()
      ->check(CLI::Range(static_cast<Number>(least), static_cast<Number>(most)))
      ->type_name("N");
}

void AddStorageFlags(CLI::App& app, ServerOptions& options) {
  app.add_option("--data", options.data, "Directory of the data; made when absent; required")
      ->type_name("DIR");
  app.add_option(
         "--restore", options.restore,
         "Begin with this snapshot: one of DIR by its name, or any by the path of its\n"
         "folder, with a '/'. It is read whole and checked first; what DIR held is moved to\n"
         "DIR/replaced-TIME. Only for the command line, so that no restart does it again")
      ->check([](const std::string& name) {
        return name.empty() ? std::string("names no snapshot") : std::string();
      })
      ->type_name("SNAPSHOT")
      ->configurable(false);
  app.add_option(
         "--sync", options.sync,
         "Sync every write to disk before it is acknowledged; false is faster, and may lose\n"
         "the last writes when the machine fails")
      ->default_str("true")
      ->type_name("BOOL");
  AddNumber(app, "--block-cache-mb", options.block_cache_mb, 1, kMaxMb,
            "Cache for stored rows, in MiB");
  AddNumber(app, "--memtable-mb", options.memtable_mb, 1, kMaxMb,
            "Rows held in memory before they go to table files, in MiB");
  AddNumber(app, "--max-wal-mb", options.max_wal_mb, 1, kMaxMb,
            "Write-ahead log that a restart may have to replay, in MiB");
  AddNumber(
      app, "--reserve-mb", options.reserve_mb, 0, kMaxMb,
      "Kept back on the disk, so that deletes and drops can be written when it is full, in MiB;\n"
      "an eighth of the disk at most");
}

void AddServingFlags(CLI::App& app, ServerOptions& options, std::string& listen) {
  app.add_option("--listen", listen, "Address to listen on; port 0 picks a free one")
      ->capture_default_str()
      ->check([&options](const std::string& text) {
        const auto address = ParseListenAddress(text);
        if (!address.ok()) return std::string(address.status().message());
        options.listen = *address;
        return std::string();
      })
      ->type_name("HOST:PORT");
  AddNumber(app, "--threads", options.threads, 1, kMaxThreads, "Threads that work on calls");
  AddNumber(app, "--build-threads", options.build_threads, 1, kMaxThreads,
            "Threads that build a graph, at low priority; searches come first");
  AddNumber(app, "--queue", options.queue, 1, kMaxQueue,
            "Calls that may wait for a thread, and searches that may wait for a table that loads;\n"
            "further ones are refused");
  AddNumber(app, "--queue-mb", options.queue_mb, 1, kMaxMb,
            "Size of the requests that may wait for a thread, in MiB");
  AddNumber(app, "--transport-mb", options.transport_mb, 100, kMaxMb,
            "What connections may hold of messages on their way, all together, in MiB");
  AddNumber(app, "--stuck-client-s", options.stuck_client_s, 1, kMaxCount,
            "Seconds that a stream's client may leave an answer untaken before it is cancelled");
}

void AddLimitFlags(CLI::App& app, Limits& limits) {
  AddNumber(app, "--max-k", limits.max_k, 1, kMaxCount, "Hits per query");
  AddNumber(app, "--max-queries", limits.max_queries, 1, kMaxCount, "Queries in a request");
  AddNumber(app, "--max-measure-queries", limits.max_measure_queries, 1, kMaxCount,
            "Rows that a measurement of precisions uses as queries");
  AddNumber(app, "--max-keys", limits.max_keys, 1, kMaxCount,
            "Words or row ids in a request to read or delete");
  AddNumber(app, "--max-message-bytes", limits.max_message_bytes, 1'024, kMaxBytes,
            "Size of a request");
  AddNumber(app, "--max-reply-bytes", limits.max_reply_bytes, 1'024, kMaxBytes,
            "Size of a reply; clients that aren't ours accept 4 MiB");
  AddNumber(app, "--max-tables", limits.max_tables, 1, kMaxCount, "Tables; creating many is slow");
  AddNumber(app, "--max-word-bytes", limits.max_word_bytes, 1, 65'536, "Size of a word");
  AddNumber(app, "--max-rows", limits.max_rows, 1, std::numeric_limits<uint32_t>::max(),
            "Rows in a table");
  AddNumber(app, "--max-table-bytes", limits.max_table_bytes, 1, kMaxTableBytes,
            "Vectors of a table as they are stored: rows times bytes of a row");
  AddNumber(app, "--max-dimensions", limits.max_dimensions, 1, kMaxDimensions,
            "Components of a vector");
  AddNumber(app, "--max-streams", limits.max_streams, 1, kMaxCount,
            "Streamed calls under way: uploads, scans, streams of searches, measurements");
  AddNumber(
      app, "--max-memory-bytes", limits.max_memory_bytes, 0, kMaxTableBytes,
      "Memory of the process, mapped files aside, above which no rows are taken; 0: no limit");
  for (const char* flag :
       {"--max-k", "--max-queries", "--max-measure-queries", "--max-keys", "--max-message-bytes",
        "--max-reply-bytes", "--max-tables", "--max-word-bytes", "--max-rows", "--max-table-bytes",
        "--max-dimensions", "--max-streams", "--max-memory-bytes"}) {
    app.get_option(flag)->group("Limits");
  }
}

void AddAccessFlags(CLI::App& app, ServerOptions& options) {
  CLI::Option* certificate =
      app.add_option("--tls-cert", options.security.certificate,
                     "Certificate (PEM, with those between it and a root): connections are\n"
                     "encrypted; read again every few minutes")
          ->type_name("FILE");
  CLI::Option* key =
      app.add_option("--tls-key", options.security.key, "The certificate's key (PEM)")
          ->type_name("FILE")
          ->needs(certificate);
  certificate->needs(key);
  app.add_option("--tls-client-ca", options.security.client_ca,
                 "Certificates (PEM): only clients with a certificate signed by one of these\n"
                 "may connect")
      ->type_name("FILE")
      ->needs(certificate);
  app.add_option("--tokens", options.tokens,
                 "File of access tokens, lines \"NAME read-only|read-write|admin TOKEN\"; read\n"
                 "again on SIGHUP. Without it everybody who can connect may do everything")
      ->type_name("FILE");
  app.add_option("--audit-log", options.audit_log,
                 "File to append a line to for each change of a table, tried or done; the log if\n"
                 "not given")
      ->type_name("FILE");
  app.add_flag("--insecure", options.insecure,
               "Listen beyond this machine without TLS: everything, tokens too, can be read on\n"
               "the way");
  for (const char* flag :
       {"--tls-cert", "--tls-key", "--tls-client-ca", "--tokens", "--audit-log", "--insecure"}) {
    app.get_option(flag)->group("Access");
  }
}

// An option whose text must be an address to listen on, or empty for none; `take` gets it.
CLI::Option* AddAddress(CLI::App& app, const std::string& flag, const std::string& text,
                        std::function<void(const ListenAddress&)> take) {
  return app
      .add_option_function<std::string>(
          flag, [](const std::string&) {}, text)
      ->run_callback_for_default()
      ->check([take = std::move(take)](const std::string& given) {
        if (given.empty()) return std::string();
        const auto address = ParseListenAddress(given);
        if (!address.ok()) return std::string(address.status().message());
        take(*address);
        return std::string();
      })
      ->type_name("HOST:PORT");
}

void AddWatchingFlags(CLI::App& app, ServerOptions& options) {
  AddAddress(app, "--metrics-listen",
             "Address to serve metrics on to Prometheus, over HTTP at /metrics; not served if not\n"
             "given",
             [&options](const ListenAddress& address) { options.metrics_listen = address; });
  AddNumber(app, "--slow-ms", options.slow_ms, 0, kMaxCount,
            "Log calls that take so many milliseconds or more; 0: none");
  for (const char* flag : {"--metrics-listen", "--slow-ms"}) {
    app.get_option(flag)->group("Watching");
  }
}

// Empty, or why the server mustn't listen as told.
std::string CheckExposure(const ServerOptions& options) {
  if (options.insecure) return "";
  if (!IsLoopback(options.listen) && !options.security.enabled()) {
    return "--listen " + ToString(options.listen) +
           " can be reached from other machines, and without --tls-cert and --tls-key all that is "
           "sent can be read and changed on the way; --insecure allows it";
  }
  if (options.metrics_listen && !IsLoopback(*options.metrics_listen)) {
    return "--metrics-listen " + ToString(*options.metrics_listen) +
           " can be reached from other machines, and whoever reaches it reads the tables' names "
           "and sizes; --insecure allows it";
  }
  return "";
}

// Empty, or what is wrong with the name.
std::string ParseLogLevel(const std::string& name, spdlog::level::level_enum& level) {
  static constexpr std::pair<const char*, spdlog::level::level_enum> kLevels[] = {
      {"trace", spdlog::level::trace}, {"debug", spdlog::level::debug},
      {"info", spdlog::level::info},   {"warn", spdlog::level::warn},
      {"error", spdlog::level::err},   {"off", spdlog::level::off}};
  for (const auto& [known, value] : kLevels) {
    if (name != known) continue;
    level = value;
    return "";
  }
  return "'" + name + "' is none of trace, debug, info, warn, error and off";
}

void AddGeneralFlags(CLI::App& app, ServerOptions& options, std::string& log_level,
                     bool& print_config) {
  app.add_option("--log-level", log_level, "How much to log")
      ->capture_default_str()
      ->check(
          [&options](const std::string& name) { return ParseLogLevel(name, options.log_level); })
      ->type_name("trace|debug|info|warn|error|off");
  app.set_config("--config", "",
                 "File with options, one \"name = value\" a line, names without dashes")
      ->type_name("FILE");
  app.add_flag("--print-config", print_config,
               "Print the options as they are now, as such a file has them, and exit")
      ->configurable(false);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_version_flag("--version", std::string("vectable-server ") + Version());
}

// "VECTABLE_SERVER_MAX_K" for "--max-k".
std::string EnvironmentName(const std::string& option) {
  std::string name = "VECTABLE_SERVER_";
  for (const char c : option) name += c == '-' ? '_' : absl::ascii_toupper(c);
  return name;
}

// What the environment sets, as arguments; the variables' names go to `names`.
std::vector<std::string> FromEnvironment(const CLI::App& app, std::vector<std::string>& names) {
  std::vector<std::string> arguments;
  for (const CLI::Option* option : app.get_options()) {
    const std::string& name = option->get_single_name();
    if (!option->get_configurable() && name != "config") continue;
    const std::string variable = EnvironmentName(name);
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    arguments.push_back("--" + name + "=" + value);
    names.push_back(variable);
  }
  return arguments;
}

int ReportUsage(const CLI::App& app, const CLI::ParseError& error,
                const std::vector<std::string>& variables) {
  if (app.exit(error) == 0) return 0;
  for (const std::string& name : variables) {
    std::fprintf(stderr, "The environment sets %s.\n", name.c_str());
  }
  return kWrongUsage;
}

}  // namespace

std::variant<ServerOptions, ExitStatus> ParseServerOptions(int argc, const char* const* argv) {
  ServerOptions options;
  options.threads = DefaultThreads();
  options.build_threads = BuildThreads();
  std::string listen = ToString(options.listen);
  std::string log_level = "info";
  bool print_config = false;
  CLI::App app(kDescription, "vectable-server");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddStorageFlags(app, options);
  AddServingFlags(app, options, listen);
  AddAccessFlags(app, options);
  AddWatchingFlags(app, options);
  AddLimitFlags(app, options.limits);
  AddGeneralFlags(app, options, log_level, print_config);
  app.config_formatter(std::make_shared<ConfigFile>(app));
  std::vector<std::string> variables;
  // The last of several counts, and a file only where there is none.
  std::vector<std::string> arguments = FromEnvironment(app, variables);
  arguments.insert(arguments.end(), argv + std::min(argc, 1), argv + argc);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
    if (print_config) {
      std::printf("%s",
                  app.config_to_str(/*default_also=*/true, /*write_description=*/true).c_str());
      return 0;
    }
    if (options.data.empty()) throw CLI::RequiredError("--data");
    if (const std::string why = CheckExposure(options); !why.empty()) {
      throw CLI::ValidationError(why);
    }
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error, variables);
  }
  return options;
}

}  // namespace vectable

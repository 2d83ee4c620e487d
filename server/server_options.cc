#include "server/server_options.h"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "server/version.h"

namespace vectable {
namespace {

constexpr int kWrongUsage = 2;
constexpr uint64_t kMaxMb = uint64_t{1} << 24;     // 16 TiB
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // of a message: gRPC counts in int
constexpr uint64_t kMaxThreads = 1'024;
constexpr uint64_t kMaxQueue = 1'000'000;
constexpr uint64_t kMaxCount = 1'000'000'000;

constexpr char kDescription[] =
    "Vectable: a vector database server. Keeps tables of words and vectors in a directory, and "
    "answers\n"
    "nearest-neighbour searches over gRPC. Prints one line, \"listening on HOST:PORT\", to stdout "
    "once it\n"
    "accepts calls; logs go to stderr. SIGTERM and SIGINT stop it after the calls under way, at\n"
    "most 10 s later; a second signal stops it at once.";

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
  app.add_option("--data", options.data, "Directory of the data; made when absent")
      ->required()
      ->type_name("DIR");
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
  AddNumber(app, "--max-dimensions", limits.max_dimensions, 1, kMaxDimensions,
            "Components of a vector");
  for (const char* flag : {"--max-k", "--max-queries", "--max-measure-queries", "--max-keys",
                           "--max-message-bytes", "--max-reply-bytes", "--max-tables",
                           "--max-word-bytes", "--max-rows", "--max-dimensions"}) {
    app.get_option(flag)->group("Limits");
  }
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

void AddGeneralFlags(CLI::App& app, ServerOptions& options, std::string& log_level) {
  app.add_option("--log-level", log_level, "How much to log")
      ->capture_default_str()
      ->check(
          [&options](const std::string& name) { return ParseLogLevel(name, options.log_level); })
      ->type_name("trace|debug|info|warn|error|off");
  app.set_config(
         "--config", "",
         "File with options, one \"name = value\" a line, names without dashes; the command\n"
         "line goes first")
      ->type_name("FILE");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_version_flag("--version", std::string("vectable-server ") + Version());
}

}  // namespace

std::variant<ServerOptions, ExitStatus> ParseServerOptions(int argc, const char* const* argv) {
  ServerOptions options;
  options.threads = DefaultThreads();
  options.build_threads = BuildThreads();
  std::string listen = ToString(options.listen);
  CLI::App app(kDescription, "vectable-server");
  AddStorageFlags(app, options);
  AddServingFlags(app, options, listen);
  AddLimitFlags(app, options.limits);
  std::string log_level = "info";
  AddGeneralFlags(app, options, log_level);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  return options;
}

}  // namespace vectable

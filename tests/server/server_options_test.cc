#include "server/server_options.h"

#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "server/limit_names.h"
#include "tests/support/temp_dir.h"

namespace vectable {
namespace {

std::variant<ServerOptions, ExitStatus> Parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"vectable-server"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return ParseServerOptions(static_cast<int>(argv.size()), argv.data());
}

ServerOptions MustParse(const std::vector<std::string>& arguments) {
  const auto parsed = Parse(arguments);
  const auto* options = std::get_if<ServerOptions>(&parsed);
  EXPECT_NE(options, nullptr);
  return options != nullptr ? *options : ServerOptions();
}

int ExitOf(const std::vector<std::string>& arguments) {
  const auto parsed = Parse(arguments);
  const auto* status = std::get_if<ExitStatus>(&parsed);
  return status != nullptr ? *status : -1;
}

TEST(ServerOptions, Defaults) {
  const ServerOptions options = MustParse({"--data", "dir"});
  EXPECT_EQ(options.data, "dir");
  EXPECT_EQ(ToString(options.listen), "127.0.0.1:50051");
  EXPECT_TRUE(options.sync);
  EXPECT_GE(options.threads, 2U);
  EXPECT_EQ(options.queue, 1'024U);
  EXPECT_EQ(options.limits.max_k, 10'000U);
  EXPECT_EQ(options.limits.max_message_bytes, size_t{64} << 20);
  EXPECT_EQ(options.log_level, spdlog::level::info);
}

TEST(ServerOptions, EveryFlag) {
  const ServerOptions options =
      MustParse({"--data=d", "--listen", "[::1]:7", "--sync=false", "--threads", "3", "--queue",
                 "4", "--queue-mb", "5", "--block-cache-mb", "6", "--memtable-mb", "7",
                 "--max-wal-mb", "8", "--log-level", "debug"});
  EXPECT_EQ(options.listen.host, "::1");
  EXPECT_EQ(options.listen.port, 7);
  EXPECT_FALSE(options.sync);
  EXPECT_EQ(options.threads, 3U);
  EXPECT_EQ(options.queue, 4U);
  EXPECT_EQ(options.queue_mb, 5U);
  EXPECT_EQ(options.block_cache_mb, 6U);
  EXPECT_EQ(options.memtable_mb, 7U);
  EXPECT_EQ(options.max_wal_mb, 8U);
  EXPECT_EQ(options.log_level, spdlog::level::debug);
}

// Each limit has a flag of its name.
TEST(ServerOptions, EveryLimitIsAFlag) {
  const std::vector<NamedLimit> defaults = NamedLimits(Limits());
  for (size_t i = 0; i < defaults.size(); ++i) {
    std::string flag = "--" + defaults[i].name;
    for (char& c : flag) c = c == '_' ? '-' : c;
    const ServerOptions options = MustParse({"--data", "d", flag, "2000"});
    EXPECT_EQ(NamedLimits(options.limits)[i].value, 2'000U) << flag;
  }
}

TEST(ServerOptions, WrongUsageIs2) {
  const std::vector<std::string> wrong[] = {
      {},
      {"--data"},
      {"--data", "d", "--nope"},
      {"--data", "d", "stray"},
      {"--data", "d", "--listen", "nonsense"},
      {"--data", "d", "--listen", "host:99999"},
      {"--data", "d", "--sync", "maybe"},
      {"--data", "d", "--threads", "0"},
      {"--data", "d", "--max-k", "0"},
      {"--data", "d", "--max-k", "-1"},
      {"--data", "d", "--max-dimensions", "65537"},
      {"--data", "d", "--log-level", "loud"},
      {"--data", "d", "--config", "/nonexistent.ini"},
  };
  for (const auto& arguments : wrong) EXPECT_EQ(ExitOf(arguments), 2) << arguments.size();
}

TEST(ServerOptions, HelpAndVersionAre0) {
  EXPECT_EQ(ExitOf({"--help"}), 0);
  EXPECT_EQ(ExitOf({"--version"}), 0);
}

TEST(ServerOptions, ConfigFile) {
  const TempDir dir;
  const std::string path = dir.path() + "/server.ini";
  std::ofstream(path) << "# comment\ndata = \"from file\"\nlisten = \"127.0.0.1:9\"\nsync = false\n"
                         "max-k = 77\nqueue = 5\n";
  const ServerOptions options = MustParse({"--config", path, "--queue", "6"});
  EXPECT_EQ(options.data, "from file");
  EXPECT_EQ(options.listen.port, 9);
  EXPECT_FALSE(options.sync);
  EXPECT_EQ(options.limits.max_k, 77U);
  EXPECT_EQ(options.queue, 6U);

  std::ofstream(path) << "data = \"d\"\nmax_kk = 3\n";
  EXPECT_EQ(ExitOf({"--config", path}), 2);
}

}  // namespace
}  // namespace vectable

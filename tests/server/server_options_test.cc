#include "server/server_options.h"

#include <cstdlib>
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

  for (const char* line :
       {"max_kk = 3", "max-k", "max-k =", "= 3", "[section]", "max-k = 1 2", "max-k = [1,2]",
        "queue = 4\nqueue = 5", "data = my data", "tokens = \"a", "tokens = \"a\"b", "tokens = a#b",
        "tokens = \"a\"b\"", "--queue = 3", "tokens = \""}) {
    std::ofstream(path) << "# options\n" << line << "\n";
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(ExitOf({"--data", "d", "--config", path}), 2) << line;
    EXPECT_NE(::testing::internal::GetCapturedStderr().find("config file, line "),
              std::string::npos)
        << line;
  }
  std::ofstream(path) << "data = 'a \"#b\"'\r\n  tokens = \"it's\"  \nmetrics-listen = \"\"\n";
  const ServerOptions quoted = MustParse({"--config", path});
  EXPECT_EQ(quoted.data, "a \"#b\"");
  EXPECT_EQ(quoted.tokens, "it's");
  EXPECT_FALSE(quoted.metrics_listen.has_value());
}

// Sets a variable of the environment for a while.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

TEST(ServerOptions, TheCommandLineGoesBeforeTheEnvironmentAndThatBeforeTheFile) {
  const TempDir dir;
  const std::string path = dir.path() + "/server.conf";
  std::ofstream(path) << "data = \"from file\"\nmax-k = 1\nqueue = 1\nmax-keys = 1\n"
                         "insecure = false\nlog-level = \"debug\"\n";
  const Variable config("VECTABLE_SERVER_CONFIG", path);
  const Variable max_k("VECTABLE_SERVER_MAX_K", "2");
  const Variable queue("VECTABLE_SERVER_QUEUE", "2");
  const Variable insecure("VECTABLE_SERVER_INSECURE", "true");
  const Variable listen("VECTABLE_SERVER_LISTEN", "0.0.0.0:3");
  const Variable unknown("VECTABLE_SERVER_SERVICE_HOST", "10.0.0.1");
  const Variable empty("VECTABLE_SERVER_TOKENS", "");
  const ServerOptions options = MustParse({"--queue", "3"});
  EXPECT_EQ(options.data, "from file");
  EXPECT_EQ(options.limits.max_keys, 1U);
  EXPECT_EQ(options.limits.max_k, 2U);
  EXPECT_EQ(options.queue, 3U);
  EXPECT_EQ(options.tokens, "");
  EXPECT_TRUE(options.insecure);
  EXPECT_EQ(options.listen.port, 3);
  EXPECT_EQ(options.log_level, spdlog::level::debug);
}

TEST(ServerOptions, AnErrorNamesTheVariables) {
  const Variable queue("VECTABLE_SERVER_QUEUE", "none");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ExitOf({"--data", "d"}), 2);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("--queue"), std::string::npos) << text;
  EXPECT_NE(text.find("VECTABLE_SERVER_QUEUE"), std::string::npos) << text;
}

TEST(ServerOptions, WhatIsPrintedIsReadAgain) {
  const TempDir dir;
  const std::string path = dir.path() + "/server.conf";
  const std::vector<std::string> given = {
      "--data",           dir.path() + "/a folder; with #odd = name",
      "--listen",         "[::1]:7",
      "--sync",           "false",
      "--max-k",          "5",
      "--tokens",         "some/file",
      "--metrics-listen", "127.0.0.1:8",
      "--log-level",      "warn"};
  std::vector<std::string> print = given;
  print.push_back("--print-config");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(ExitOf(print), 0);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("max-queries=1000"), std::string::npos) << text;
  std::ofstream(path) << text;
  const ServerOptions options = MustParse({"--config", path});
  EXPECT_EQ(options.data, given[1]);
  EXPECT_EQ(ToString(options.listen), "[::1]:7");
  EXPECT_FALSE(options.sync);
  EXPECT_EQ(options.limits.max_k, 5U);
  EXPECT_EQ(options.limits.max_queries, Limits().max_queries);
  EXPECT_EQ(options.tokens, "some/file");
  ASSERT_TRUE(options.metrics_listen.has_value());
  EXPECT_EQ(options.metrics_listen->port, 8);
  EXPECT_EQ(options.log_level, spdlog::level::warn);
  EXPECT_FALSE(options.insecure);
}

}  // namespace
}  // namespace vectable

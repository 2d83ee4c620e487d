// Real programs with TLS, certificates of clients, tokens and their revocation.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/e2e/server_process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_certificates.h"

namespace vectable {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReader = "reader-secret-0001";
constexpr const char* kAdmin = "admin-secret-00002";

class AccessProgramsTest : public ::testing::Test {
 protected:
  AccessProgramsTest() {
    ca_.Sign("server");
    ca_.Sign("client");
    WriteTokens(absl::StrCat("reader read-only ", kReader, "\nboss admin ", kAdmin, "\n"));
    Write("reader.token", absl::StrCat(kReader, "\n"));
    Write("boss.token", kAdmin);
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  void WriteTokens(const std::string& text) const { Write("tokens", text); }
  std::string Read(const std::string& path) const {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  void StartServer(const std::vector<std::string>& options,
                   const std::string& listen = "127.0.0.1:0") {
    std::vector<std::string> arguments = {ProgramPath("vectable-server"), "--data", Path("data"),
                                          "--listen", listen};
    arguments.insert(arguments.end(), options.begin(), options.end());
    server_ = Process::Start(arguments);
    const std::optional<std::string> line = server_->FirstLine();
    ASSERT_TRUE(line && line->starts_with("listening on ")) << server_->err();
    port_ = line->substr(line->rfind(':') + 1);
  }
  std::vector<std::string> TlsOptions() const {
    return {"--tls-cert", ca_.certificate("server"), "--tls-key", ca_.key("server")};
  }
  Outcome Run(const std::vector<std::string>& arguments,
              const std::string& host = "127.0.0.1") const {
    return RunClient(absl::StrCat(host, ":", port_), arguments);
  }
  // Exits with an error that says so.
  void ExpectError(const std::vector<std::string>& arguments, const std::string& text) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(text));
    EXPECT_EQ(outcome.out, "");
  }
  void StopServer() {
    server_->Signal(SIGTERM);
    EXPECT_EQ(server_->Wait(), 0) << server_->err();
  }

  TempDir folder_;
  TestCertificates ca_{folder_.path()};
  std::unique_ptr<Process> server_;
  std::string port_;
};

TEST_F(AccessProgramsTest, TokensAreAskedForAndRevokedBySighup) {
  StartServer({"--tokens", Path("tokens"), "--audit-log", Path("audit")});
  ExpectError({"table", "list"}, "wants a token");
  const std::vector<std::string> kBoss = {"--token-file", Path("boss.token")};
  const std::vector<std::string> kReaders = {"--token-file", Path("reader.token")};
  const auto with = [](std::vector<std::string> options, const std::vector<std::string>& command) {
    options.insert(options.end(), command.begin(), command.end());
    return options;
  };
  EXPECT_EQ(Run(with(kBoss, {"table", "create", "toy", "--dim", "2"})).code, 0);
  EXPECT_EQ(Run(with(kBoss, {"put", "toy", "cat", "0", "1"})).code, 0);
  EXPECT_EQ(Run(with(kBoss, {"put", "toy", "cow", "1", "1"})).code, 0);
  EXPECT_EQ(Run(with(kReaders, {"get", "toy", "cat"})).code, 0);
  EXPECT_EQ(Run(with(kReaders, {"nearest", "toy", "--vector", "0,1"})).code, 0);
  EXPECT_EQ(Run(with(kReaders, {"words", "toy"})).code, 0);
  EXPECT_EQ(Run(with(kReaders, {"size", "toy", "--measure"})).code, 0);
  ExpectError(with(kReaders, {"put", "toy", "dog", "0", "1"}),
              "RowService/Upsert needs a token that is read-write");
  ExpectError(with(kReaders, {"table", "drop", "toy"}),
              "TableService/DropTable needs a token that is admin");
  Write("glove.txt", "dog 0 1\n");
  ExpectError(with(kReaders, {"import", Path("glove.txt"), "--table", "toy"}),
              "needs a token that is read-write");
  EXPECT_EQ(Run(with(kBoss, {"import", Path("glove.txt"), "--table", "toy"})).code, 0);

  // A file that can't be read leaves the tokens as they were; a good one replaces them.
  WriteTokens("nonsense\n");
  server_->Signal(SIGHUP);
  while (server_->err().find("SIGHUP") == std::string::npos) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_THAT(server_->err(), HasSubstr("the tokens stay as they were"));
  EXPECT_EQ(Run(with(kReaders, {"get", "toy", "cat"})).code, 0);
  WriteTokens(absl::StrCat("boss admin ", kAdmin, "\n"));
  server_->Signal(SIGHUP);
  while (server_->err().find("1 access token") == std::string::npos)
    absl::SleepFor(absl::Milliseconds(10));
  ExpectError(with(kReaders, {"get", "toy", "cat"}), "doesn't know the token");
  EXPECT_EQ(Run(with(kBoss, {"table", "drop", "toy"})).code, 0);
  StopServer();

  const std::string audit = Read(Path("audit"));
  EXPECT_THAT(audit,
              HasSubstr("CreateTable table 'toy' of 2 dimensions by boss from ipv4:127.0.0.1:"));
  EXPECT_THAT(audit, HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(audit, HasSubstr("DropTable table 'toy' by boss"));
  for (const std::string& text : {audit, server_->err()}) {
    EXPECT_THAT(text, Not(HasSubstr(kReader)));
    EXPECT_THAT(text, Not(HasSubstr(kAdmin)));
  }
}

TEST_F(AccessProgramsTest, TlsIsSpokenOrNothing) {
  StartServer(TlsOptions());
  const std::string ca = ca_.certificate("ca");
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const Outcome outcome = Run({"--tls-ca", ca, "table", "list"}, host);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  ExpectError({"table", "list"}, "does it use TLS");
  ExpectError({"--tls", "table", "list"},
              "no TLS connection to 127.0.0.1:");  // not signed by whom this machine trusts
  const TestCertificates stranger(folder_.path(), "stranger");
  ExpectError({"--tls-ca", stranger.certificate("stranger"), "table", "list"},
              "no TLS connection to 127.0.0.1:");
  ExpectError({"--tls-ca", ca, "--tls-server-name", "other.example", "table", "list"},
              "no TLS connection to 127.0.0.1:");
  ExpectError({"--tls-ca", Path("absent"), "table", "list"}, "absent");
  ExpectError({"--tls-ca", Path("boss.token"), "table", "list"}, "isn't in PEM form");
  StopServer();
}

TEST_F(AccessProgramsTest, ACertificateOfTheClientMayBeAskedFor) {
  std::vector<std::string> options = TlsOptions();
  options.insert(options.end(), {"--tls-client-ca", ca_.certificate("ca")});
  StartServer(options);
  const std::string ca = ca_.certificate("ca");
  const std::vector<std::string> kShown = {
      "--tls-ca",        ca,      "--tls-cert", ca_.certificate("client"), "--tls-key",
      ca_.key("client"), "table", "list"};
  EXPECT_EQ(Run(kShown).code, 0) << Run(kShown).err;
  ExpectError({"--tls-ca", ca, "table", "list"}, "no TLS connection to 127.0.0.1:");
  TestCertificates stranger(folder_.path(), "stranger");
  stranger.Sign("spy");
  ExpectError({"--tls-ca", ca, "--tls-cert", stranger.certificate("spy"), "--tls-key",
               stranger.key("spy"), "table", "list"},
              "no TLS connection to 127.0.0.1:");
  ExpectError({"--tls-ca", ca, "--tls-cert", ca_.certificate("client"), "table", "list"},
              "must be given together");
  StopServer();
}

TEST_F(AccessProgramsTest, BeyondThisMachineTlsIsAMust) {
  const auto refused = [this](const std::vector<std::string>& options, int code,
                              const std::string& text) {
    std::vector<std::string> arguments = {ProgramPath("vectable-server"), "--data", Path("data")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const std::unique_ptr<Process> process = Process::Start(arguments);
    EXPECT_EQ(process->Wait(), code);
    EXPECT_THAT(process->err(), HasSubstr(text));
    EXPECT_EQ(process->out(), "");
  };
  refused({"--listen", "0.0.0.0:0"}, 2, "--insecure allows it");
  refused({"--listen", "[::]:0", "--tokens", Path("tokens")}, 2, "--insecure allows it");
  refused({"--tls-cert", ca_.certificate("server")}, 2, "--tls-key");
  refused({"--tls-client-ca", ca_.certificate("ca")}, 2, "--tls-cert");
  refused({"--tokens", Path("absent")}, 1, "absent");
  refused({"--listen", "127.0.0.1:0", "--tls-cert", ca_.certificate("server"), "--tls-key",
           ca_.key("client")},
          1, "doesn't belong to the certificate");
  refused({"--audit-log", Path("tokens/audit")}, 1, "audit log");
  EXPECT_FALSE(std::filesystem::exists(Path("data"))) << "made before the options were checked";

  StartServer({"--insecure"}, "0.0.0.0:0");
  EXPECT_THAT(server_->err(), HasSubstr("can be read on the way"));
  EXPECT_THAT(server_->err(), HasSubstr("there are no --tokens"));
  StopServer();
  std::vector<std::string> options = TlsOptions();
  options.insert(options.end(), {"--tokens", Path("tokens")});
  StartServer(options, "0.0.0.0:0");
  EXPECT_THAT(server_->err(), Not(HasSubstr("can be reached")));
  StopServer();
}

TEST_F(AccessProgramsTest, MetricsStayOnThisMachine) {
  const std::unique_ptr<Process> process = Process::Start(
      {ProgramPath("vectable-server"), "--data", Path("data"), "--metrics-listen", "0.0.0.0:0"});
  EXPECT_EQ(process->Wait(), 2);
  EXPECT_THAT(process->err(), HasSubstr("reads the tables' names"));
}

TEST_F(AccessProgramsTest, ATokenIsNotSentInPlainTextToAnotherMachine) {
  const Outcome outcome =
      RunClient("vectable.invalid:1", {"--token-file", Path("boss.token"), "table", "list"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("could be read on the way to vectable.invalid:1"));
  EXPECT_THAT(RunClient("vectable.invalid:1",
                        {"--insecure", "--token-file", Path("boss.token"), "table", "list"})
                  .err,
              HasSubstr("no server answers"));
  EXPECT_THAT(
      RunClient("127.0.0.1.example:1", {"--token-file", Path("boss.token"), "table", "list"}).err,
      HasSubstr("could be read on the way"));
  Write("empty.token", " \n");
  EXPECT_THAT(RunClient("127.0.0.1:1", {"--token-file", Path("empty.token"), "table", "list"}).err,
              HasSubstr("is empty"));
}

}  // namespace
}  // namespace vectable

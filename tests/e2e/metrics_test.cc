// The real server, asked over HTTP as Prometheus asks.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "tests/e2e/server_process.h"

namespace vectable {
namespace {

using ::testing::HasSubstr;

// The answer to GET `path` of a port of the loopback address; empty when there is none.
std::string HttpGet(uint16_t port, const std::string& path) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where = {};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  const std::string request =
      absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  if (::connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof(where)) == 0 &&
      ::write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
    char part[4096];
    for (ssize_t got = ::read(fd, part, sizeof(part)); got > 0;
         got = ::read(fd, part, sizeof(part))) {
      answer.append(part, static_cast<size_t>(got));
    }
  }
  ::close(fd);
  return answer;
}

// The port that the server says it serves metrics on.
uint16_t MetricsPort(const std::string& log) {
  const std::string begin = "metrics at http://127.0.0.1:";
  const size_t place = log.find(begin);
  EXPECT_NE(place, std::string::npos) << log;
  return place == std::string::npos
             ? uint16_t{0}
             : static_cast<uint16_t>(std::stoi(log.substr(place + begin.size())));
}

TEST(MetricsProgramTest, PrometheusGetsFigures) {
  ServerProcess server({"--metrics-listen", "127.0.0.1:0", "--slow-ms", "0"});
  server.RunJson({"table", "create", "toy", "--dim", "2"});
  server.RunJson({"put", "toy", "cat", "0", "1"});
  const uint16_t port = MetricsPort(server.process().err());
  const std::string answer = HttpGet(port, "/metrics");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_THAT(answer, HasSubstr("vectable_table_rows{table=\"toy\"} 1"));
  EXPECT_THAT(answer,
              HasSubstr("vectable_requests_total{code=\"OK\",rpc=\"RowService/Upsert\"} 1"));
  EXPECT_THAT(HttpGet(port, "/other"), HasSubstr("HTTP/1.1 404"));
  // A second server can't have the port.
  const TempDir other;
  const std::unique_ptr<Process> second =
      Process::Start({ProgramPath("vectable-server"), "--data", other.path() + "/data", "--listen",
                      "127.0.0.1:0", "--metrics-listen", absl::StrCat("127.0.0.1:", port)});
  EXPECT_EQ(second->Wait(), 1);
  EXPECT_THAT(second->err(), HasSubstr(absl::StrCat("metrics: cannot listen on 127.0.0.1:", port)));
  EXPECT_EQ(second->out(), "");
  server.Stop();
}

// Whose allocator has no such figure.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kAddressSanitizer = false;
#endif

TEST(MetricsProgramTest, TheHeapIsMeasured) {
  ServerProcess server;
  server.RunJson({"table", "create", "toy", "--dim", "2"});
  const auto memory = server.RunJson({"size", "toy"})["measured"]["database"]["memory"];
  const uint64_t kept = memory["allocator_free_estimate"];
  if (!kAddressSanitizer) {
    EXPECT_GT(kept, 0U);
  }
  EXPECT_LT(kept, uint64_t{1} << 30);
}

}  // namespace
}  // namespace vectable

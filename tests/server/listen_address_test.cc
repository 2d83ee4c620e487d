#include "server/listen_address.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace vectable {
namespace {

TEST(ListenAddress, ParsesAndPrints) {
  const struct {
    const char* text;
    const char* host;
    int port;
  } cases[] = {{"127.0.0.1:50051", "127.0.0.1", 50'051},
               {"localhost:0", "localhost", 0},
               {"[::1]:65535", "::1", 65'535}};
  for (const auto& c : cases) {
    const auto address = ParseListenAddress(c.text);
    ASSERT_THAT(address, IsOk());
    EXPECT_EQ(address->host, c.host);
    EXPECT_EQ(address->port, c.port);
    EXPECT_EQ(ToString(*address), c.text);
  }
}

TEST(ListenAddress, RefusesOthers) {
  for (const char* text :
       {"", "host", ":1", "[]:1", "::1:5", "host:", "host:x", "host:-1", "host:65536"}) {
    EXPECT_THAT(ParseListenAddress(text), StatusIs(absl::StatusCode::kInvalidArgument, "address"))
        << text;
  }
}

TEST(ListenAddress, Loopback) {
  for (const char* text : {"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(IsLoopback(*ParseListenAddress(text))) << text;
  }
  for (const char* text :
       {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example:1", "127.0.0.1.example:1"}) {
    EXPECT_FALSE(IsLoopback(*ParseListenAddress(text))) << text;
  }
}

TEST(ListenAddress, PortInUseIsSaid) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(where);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&where), size), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size), 0);
  const ListenAddress address{.host = "127.0.0.1", .port = ntohs(where.sin_port)};
  EXPECT_THAT(CheckCanListen(address),
              StatusIs(absl::StatusCode::kUnavailable,
                       "cannot listen on " + ToString(address) + ": address already in use"));
  ::close(fd);
  EXPECT_THAT(CheckCanListen(address), IsOk());
}

TEST(ListenAddress, UnknownHostIsSaid) {
  EXPECT_THAT(CheckCanListen({.host = "no.such.host.invalid", .port = 1}),
              StatusIs(absl::StatusCode::kUnavailable, "cannot listen on no.such.host.invalid:1"));
}

}  // namespace
}  // namespace vectable

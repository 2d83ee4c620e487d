// A stop waits for calls, not for connections that are merely open.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "tests/server/rpc_fixture.h"

namespace vectable {
namespace {

class ShutdownTest : public RpcFixture {};

TEST_F(ShutdownTest, IdleConnectionsDontHoldItUp) {
  Start();
  const int idle = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server().port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(idle, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  // Were the connection waited for, this would outlast the test's time limit.
  server().Shutdown(absl::Hours(1));
  close(idle);
}

}  // namespace
}  // namespace vectable

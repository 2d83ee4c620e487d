#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vectable {

// Where a server listens.
struct ListenAddress {
  std::string host;  // a name or a numeric address, without brackets
  int port = 0;      // 0: any free one
};

// From "HOST:PORT" or "[IPV6]:PORT". INVALID_ARGUMENT says what is wrong.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// The form that ParseListenAddress takes.
std::string ToString(const ListenAddress& address);

// Whether only this machine can reach the address: a loopback address, or "localhost".
bool IsLoopback(const ListenAddress& address);

// Whether a server could listen there now; takes the port for a moment to find out. UNAVAILABLE
// "cannot listen on HOST:PORT: why".
absl::Status CheckCanListen(const ListenAddress& address);

}  // namespace vectable

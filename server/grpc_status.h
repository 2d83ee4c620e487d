#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace vectable {

// The longest message that a reply's trailers are sure to carry: gRPC allows 8 KiB of them by
// default and writes a byte outside ASCII as three.
inline constexpr size_t kMaxStatusMessageBytes = 2'000;

// The status for the wire: the same code, and the message, made valid UTF-8 and cut to
// kMaxStatusMessageBytes. A code that gRPC doesn't know becomes UNKNOWN.
grpc::Status ToGrpcStatus(const absl::Status& status);

// For a status inside a reply: its number in google.rpc.Code, where 0 is success, and its message,
// made valid UTF-8.
int ToRpcCode(const absl::Status& status);
std::string ToErrorText(const absl::Status& status);

}  // namespace vectable

#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace vectable {

// The same code and message; the two code tables are equal by number.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace vectable

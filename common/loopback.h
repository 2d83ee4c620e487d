#pragma once

#include <string>

namespace vectable {

// Whether a host (without brackets) names this machine alone: "localhost", 127.0.0.0/8 (RFC 1122)
// or ::1 (RFC 4291). Other names aren't looked up.
bool IsLoopbackHost(const std::string& host);

}  // namespace vectable

#pragma once

namespace vectable {

// The version of this build, as "0.1.0".
const char* Version();

}  // namespace vectable

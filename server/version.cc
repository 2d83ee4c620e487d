#include "server/version.h"

namespace vectable {

const char* Version() { return VECTABLE_VERSION; }

}  // namespace vectable

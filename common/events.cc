#include "common/events.h"

namespace vectable {

void NullEventSink::Report(Level /*level*/, std::string_view /*text*/) {}

}  // namespace vectable

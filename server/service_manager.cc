#include "server/service_manager.h"

#include <systemd/sd-daemon.h>

namespace vectable {

void TellReady() { sd_notify(0, "READY=1"); }

void TellStopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace vectable

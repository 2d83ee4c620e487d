#pragma once

namespace vectable {

// Tells systemd, if it runs this process as a service of type notify, that the server accepts calls
// or stops. Does nothing elsewhere.
void TellReady();
void TellStopping();

}  // namespace vectable

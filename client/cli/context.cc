#include "client/cli/context.h"

#include "absl/time/time.h"
#include "client/cli/display.h"
#include "common/status_util.h"

namespace vectable {

absl::StatusOr<Client*> CliContext::Connect() {
  if (client_ == nullptr) {
    ClientOptions options;
    options.server = server;
    options.timeout = absl::Seconds(timeout_seconds);
    VT_ASSIGN_OR_RETURN(client_, Client::Connect(options));
  }
  return client_.get();
}

void CliContext::PrintError(const std::string& message) {
  const char* label = err_color() ? "\x1b[31merror:\x1b[0m " : "error: ";
  err() << "vectable: " << label << Printable(message) << "\n" << std::flush;
}

void CliContext::PrintWarning(const std::string& message) {
  err() << "vectable: " << Printable(message) << "\n" << std::flush;
}

}  // namespace vectable

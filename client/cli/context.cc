#include "client/cli/context.h"

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "client/cli/display.h"
#include "common/file_or_pipe.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

constexpr size_t kMostTokenFileBytes = 4'096;

// The token of a file, or of the environment; empty where there is neither. A command line would
// show it to everybody on the machine.
absl::StatusOr<std::string> FindToken(const std::string& file) {
  if (file.empty()) {
    const char* const value = std::getenv("VECTABLE_TOKEN");
    return std::string(value == nullptr ? "" : value);
  }
  absl::StatusOr<std::string> text = ReadFileOrPipe(file, kMostTokenFileBytes);
  if (text.ok()) absl::StripAsciiWhitespace(&*text);
  if (text.ok() && text->empty()) text = absl::InvalidArgumentError("is empty");
  if (!text.ok()) return Annotate(text.status(), "token file " + Quoted(file));
  return text;
}

}  // namespace

absl::StatusOr<Client*> CliContext::Connect() {
  if (client_ == nullptr) {
    ClientOptions options;
    options.server = server;
    options.timeout = absl::Seconds(timeout_seconds);
    options.tls = tls;
    options.insecure = insecure;
    VT_ASSIGN_OR_RETURN(options.token, FindToken(token_file));
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

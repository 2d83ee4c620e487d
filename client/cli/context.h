#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "client/client.h"

namespace vectable {

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

// Where a program writes.
struct Terminal {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool no_color = false;  // NO_COLOR is set
};

// What the commands share: the global options, the way out, the connection, and the command chosen.
// Not thread-safe.
class CliContext {
 public:
  // `terminal` must outlive the context.
  explicit CliContext(Terminal& terminal) : terminal_(terminal) {}

  // The connection, made at the first call; owned by the context.
  absl::StatusOr<Client*> Connect();

  std::ostream& out() { return terminal_.out; }
  std::ostream& err() { return terminal_.err; }
  bool err_is_terminal() const { return terminal_.err_is_terminal; }
  // Whether colour may be used on stdout, on stderr.
  bool out_color() const { return terminal_.out_is_terminal && !terminal_.no_color; }
  bool err_color() const { return terminal_.err_is_terminal && !terminal_.no_color; }

  // "vectable: error: MESSAGE" on stderr, control characters escaped.
  void PrintError(const std::string& message);
  void PrintWarning(const std::string& message);

  // Set by the parse. The command gives an exit code, or the error that ends it.
  std::string server;
  double timeout_seconds = 30;
  bool json = false;
  ClientTls tls;
  std::string token_file;  // empty: the token is in the environment, if there is one
  bool insecure = false;
  std::function<absl::StatusOr<int>()> command;

 private:
  Terminal& terminal_;
  std::unique_ptr<Client> client_;
};

}  // namespace vectable

#include "client/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "common/names.h"

namespace vectable {
namespace {

constexpr const char* kExamples = R"(Examples:
  vectable import glove.6B.100d.txt --table glove
  vectable nearest glove cat dog -k 5
  vectable table create toy --dim 2 --dim-names Object,Animal
  vectable put toy cat Object=0 Animal=1
  vectable size toy
  vectable bench glove --recall 0.9,0.99
  vectable model --preset llama3-8b --context 8192

Values may be any number (-.5, 1e-3). After -- nothing is an option, so that a word
may begin with '-'. Exit codes: 0; 1 error; 2 wrong usage.)";

void AddGlobalOptions(CLI::App& app, CliContext& context, std::optional<double>& timeout) {
  app.fallthrough();
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("vectable ") + VECTABLE_VERSION);
  context.server = ClientOptions().server;
  AddText(app, "--server", context.server,
          "HOST:PORT of the server; " + context.server + " if not given")
      ->envname("VECTABLE_SERVER");
  app.add_flag("--json", context.json, "Print one JSON document, or one per row of a listing");
  AddNumber(app, "--timeout", timeout, "Seconds to wait for an answer; 30 if not given");
}

void AddAccessOptions(CLI::App& app, CliContext& context) {
  app.add_flag("--tls", context.tls.enabled,
               "Encrypt the connection; the server's certificate must be signed by one that\n"
               "this machine trusts")
      ->envname("VECTABLE_TLS");
  AddText(app, "--tls-ca", context.tls.ca_file,
          "FILE of certificates (PEM) to trust in place of the machine's; means --tls")
      ->envname("VECTABLE_TLS_CA");
  AddText(app, "--tls-server-name", context.tls.server_name,
          "NAME that the server's certificate is for, where it isn't the address's")
      ->envname("VECTABLE_TLS_SERVER_NAME");
  AddText(app, "--tls-cert", context.tls.certificate_file,
          "FILE of a certificate (PEM) to show to a server that asks for one; means --tls")
      ->envname("VECTABLE_TLS_CERT");
  AddText(app, "--tls-key", context.tls.key_file, "FILE of that certificate's key (PEM)")
      ->envname("VECTABLE_TLS_KEY");
  AddText(app, "--token-file", context.token_file,
          "FILE that holds a token to show to the server; or set VECTABLE_TOKEN")
      ->envname("VECTABLE_TOKEN_FILE");
  app.add_flag("--insecure", context.insecure, "Send a token without TLS, even to another machine");
  for (const char* name : {"--tls", "--tls-ca", "--tls-server-name", "--tls-cert", "--tls-key",
                           "--token-file", "--insecure"}) {
    app.get_option(name)->group("Access");
  }
}

// The command that the arguments chose, as deep as they went.
const CLI::App& ChosenCommand(const CLI::App& app, std::string& name) {
  const CLI::App* at = &app;
  name = app.get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return *at;
}

// CLI11's text, with our marks taken out.
std::string UsageMessage(const CLI::App& chosen, const CLI::Error& error) {
  const std::vector<std::string> left = chosen.remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !left.empty() &&
      chosen.get_require_subcommand_min() > 0) {
    return fmt::format("unknown command {}", Quoted(Unprotect(left.front())));
  }
  std::string message = error.what();
  std::erase(message, '\x01');
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr &&
      message.find(" -") != std::string::npos) {
    message += " (put -- before a word that begins with '-')";
  }
  return message;
}

int ReportUsage(const CLI::App& app, const CLI::Error& error, CliContext& context) {
  std::string name;
  const CLI::App& chosen = ChosenCommand(app, name);
  context.PrintError(UsageMessage(chosen, error));
  context.err() << "Run '" << name << " --help' for how to use it.\n";
  return kExitUsage;
}

int RunCommand(CliContext& context) {
  const absl::StatusOr<int> result = context.command();
  context.out() << std::flush;
  if (!result.ok()) {
    context.PrintError(std::string(result.status().message()));
    return kExitError;
  }
  if (!context.out()) {
    context.PrintError("cannot write to the standard output");
    return kExitError;
  }
  return *result;
}

int ParseAndRun(std::span<const std::string> arguments, Terminal& terminal, CliContext& context) {
  CLI::App app("Stores word vectors on a Vectable server and finds the nearest ones", "vectable");
  std::optional<double> timeout;
  AddGlobalOptions(app, context, timeout);
  AddAccessOptions(app, context);
  AddTableCommands(app, context);
  AddImportCommand(app, context);
  AddExportCommand(app, context);
  AddPutCommand(app, context);
  AddRowCommands(app, context);
  AddSearchCommands(app, context);
  AddSizeCommand(app, context);
  AddBenchCommand(app, context);
  AddModelCommand(app, context);
  AddSnapshotCommands(app, context);
  AddInfoCommand(app, context);
  app.footer(kExamples);  // of the program's own help alone
  try {
    std::vector<std::string> reversed = ProtectArguments(arguments);
    std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants them
    app.parse(std::move(reversed));
    if (timeout && !(*timeout > 0)) throw CLI::ValidationError("--timeout", "must be above 0");
  } catch (const CLI::Success& request) {  // help or version
    return app.exit(request, terminal.out, terminal.err);
  } catch (const CLI::Error& error) {
    return ReportUsage(app, error, context);
  }
  context.tls.enabled =
      context.tls.enabled || !context.tls.ca_file.empty() || !context.tls.certificate_file.empty();
  context.timeout_seconds = timeout.value_or(context.timeout_seconds);
  return RunCommand(context);
}

}  // namespace

int RunCli(std::span<const std::string> arguments, Terminal& terminal) {
  CliContext context(terminal);
  try {
    return ParseAndRun(arguments, terminal, context);
  } catch (const std::exception& error) {
    context.PrintError(fmt::format("unexpected: {}", error.what()));
    return kExitError;
  }
}

}  // namespace vectable

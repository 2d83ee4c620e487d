#include <fmt/format.h>

#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/text_table.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

absl::StatusOr<int> Info(CliContext& context) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, client->GetServerInfo());
  if (context.json) {
    WriteJson(context.out(), ServerInfoJson(info, context.server));
    return kExitOk;
  }
  TextTable table;
  table.AddColumn("Server");
  table.AddColumn(context.server);
  table.AddRow({"Version", info.version()});
  table.AddRow({"Up for", fmt::format("{:.0f} s", info.uptime_seconds())});
  table.AddRow({"Tables", WithThousands(info.tables())});
  table.AddRow({"Writes synced", info.sync() ? "yes" : "no"});
  table.AddRow({"Storage format", fmt::format("{}", info.storage_format())});
  table.AddRow({"Device", info.device()});
  table.AddRow({"Kernels run on", info.kernel_target()});
  for (const v1::LibraryVersion& library : info.libraries()) {
    table.AddRow({library.name(), library.version()});
  }
  for (const v1::LimitInfo& limit : info.limits()) {
    table.AddRow({"Limit: " + limit.name(), WithThousands(limit.value())});
  }
  context.out() << table.Render(context.out_color());
  return kExitOk;
}

}  // namespace

void AddInfoCommand(CLI::App& app, CliContext& context) {
  CLI::App* info = app.add_subcommand("info", "Describe the server: versions, device, limits");
  info->callback([&context] { context.command = [&context] { return Info(context); }; });
}

}  // namespace vectable

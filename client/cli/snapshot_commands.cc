#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/text_table.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

std::string TimeText(const v1::Snapshot& snapshot) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                          absl::FromUnixMicros(snapshot.created_unix_micros()),
                          absl::UTCTimeZone());
}

uint64_t RowsOf(const v1::Snapshot& snapshot) {
  uint64_t rows = 0;
  for (const v1::SnapshotTable& table : snapshot.tables()) rows += table.rows();
  return rows;
}

absl::StatusOr<int> Create(CliContext& context, const std::string& name) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::Snapshot snapshot, client->CreateSnapshot(name));
  if (context.json) {
    WriteJson(context.out(), SnapshotJson(snapshot));
  } else {
    context.out() << fmt::format(
        "created snapshot {}: tables {}, rows {}, {} bytes, {} of its own\n",
        Quoted(snapshot.name()), snapshot.tables_size(), WithThousands(RowsOf(snapshot)),
        WithThousands(snapshot.bytes()), WithThousands(snapshot.own_bytes()));
  }
  return kExitOk;
}

absl::StatusOr<int> List(CliContext& context) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const std::vector<v1::Snapshot> snapshots, client->ListSnapshots());
  if (context.json) {
    Json list = Json::array();
    for (const v1::Snapshot& snapshot : snapshots) list.push_back(SnapshotJson(snapshot));
    WriteJson(context.out(), {{"snapshots", std::move(list)}});
    return kExitOk;
  }
  TextTable out;
  out.AddColumn("Snapshot");
  out.AddColumn("Created");
  for (const char* title : {"Tables", "Rows", "Bytes", "Of its own"}) {
    out.AddColumn(title, TextTable::Align::kRight);
  }
  for (const v1::Snapshot& snapshot : snapshots) {
    out.AddRow({snapshot.name(), TimeText(snapshot),
                WithThousands(static_cast<uint64_t>(snapshot.tables_size())),
                WithThousands(RowsOf(snapshot)), WithThousands(snapshot.bytes()),
                WithThousands(snapshot.own_bytes())});
  }
  context.out() << out.Render(context.out_color());
  return kExitOk;
}

absl::StatusOr<int> Delete(CliContext& context, const std::string& name) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const uint64_t freed, client->DeleteSnapshot(name));
  if (context.json) {
    WriteJson(context.out(), {{"deleted", name}, {"freed_bytes", freed}});
  } else {
    context.out() << fmt::format("deleted snapshot {}, which gave back {} bytes\n", Quoted(name),
                                 WithThousands(freed));
  }
  return kExitOk;
}

}  // namespace

void AddSnapshotCommands(CLI::App& app, CliContext& context) {
  CLI::App* snapshot = app.add_subcommand(
      "snapshot",
      "Create, list and delete snapshots of all tables; vectable-server --restore NAME "
      "brings one back");
  snapshot->require_subcommand(1);

  auto name = std::make_shared<std::string>();
  CLI::App* create = snapshot->add_subcommand(
      "create", "Keep all tables as they are now; takes next to no disk until they change");
  AddText(*create, "name", *name, "The snapshot's name; the time if not given");
  create->callback(
      [&context, name] { context.command = [&context, name] { return Create(context, *name); }; });

  CLI::App* list = snapshot->add_subcommand("list", "List all snapshots, oldest first");
  list->callback([&context] { context.command = [&context] { return List(context); }; });

  CLI::App* remove = snapshot->add_subcommand("delete", "Delete a snapshot");
  AddText(*remove, "name", *name, "The snapshot's name")->required();
  remove->callback(
      [&context, name] { context.command = [&context, name] { return Delete(context, *name); }; });
}

}  // namespace vectable

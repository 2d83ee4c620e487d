#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/size_text.h"
#include "common/status_util.h"

namespace vectable {
namespace {

absl::StatusOr<int> Size(CliContext& context, const std::string& table) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::ReportTableResponse report, client->ReportTable(table));
  if (context.json) {
    WriteJson(context.out(), ReportJson(report));
    return kExitOk;
  }
  v1::ScanRequest request;
  request.set_table(table);
  request.set_include_vectors(true);
  request.set_limit(RowsShown(report));
  std::vector<v1::Row> rows;
  VT_RETURN_IF_ERROR(client->Scan(request, [&rows](const v1::Row& row) {
    rows.push_back(row);
    return absl::OkStatus();
  }));
  context.out() << SizeTable(report, rows).Render(context.out_color()) << "\n"
                << BytesTable(report).Render(context.out_color());
  return kExitOk;
}

}  // namespace

void AddSizeCommand(CLI::App& app, CliContext& context) {
  CLI::App* size = app.add_subcommand(
      "size", "Show what a table weighs: rows x dimensions = parameters, bytes per precision");
  auto table = std::make_shared<std::string>();
  AddText(*size, "table", *table, "The table's name")->required();
  size->callback(
      [&context, table] { context.command = [&context, table] { return Size(context, *table); }; });
}

}  // namespace vectable

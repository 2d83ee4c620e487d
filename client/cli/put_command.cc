#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/json_output.h"
#include "client/cli/named_values.h"
#include "common/names.h"
#include "common/status_util.h"

namespace vectable {
namespace {

struct PutArguments {
  std::string table;
  std::string word;
  std::vector<std::string> texts;
  std::optional<uint64_t> row_id;
  std::string mode = "upsert";
  // Made of the texts: plain values, or values by the name of their dimension.
  std::vector<float> values;
  std::vector<NamedValue> named;
};

v1::UpsertMode ModeOf(const std::string& name) {
  if (name == "insert") return v1::UPSERT_MODE_INSERT_ONLY;
  if (name == "update") return v1::UPSERT_MODE_UPDATE_ONLY;
  return v1::UPSERT_MODE_UPSERT;
}

absl::StatusOr<int> Put(CliContext& context, const PutArguments& arguments) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  v1::UpsertRequest request;
  request.set_table(arguments.table);
  request.set_mode(ModeOf(arguments.mode));
  v1::UpsertRow& row = *request.add_rows();
  row.set_word(arguments.word);
  if (arguments.row_id) row.set_row_id(*arguments.row_id);
  std::vector<float> values = arguments.values;
  if (!arguments.named.empty()) {
    VT_ASSIGN_OR_RETURN(const v1::Table table, client->GetTable(arguments.table));
    const std::vector<std::string> names(table.dimension_names().begin(),
                                         table.dimension_names().end());
    VT_ASSIGN_OR_RETURN(values, OrderByName(arguments.table, names, arguments.named));
  }
  row.mutable_vector()->mutable_values()->Add(values.begin(), values.end());
  VT_ASSIGN_OR_RETURN(const v1::UpsertResponse reply, client->Upsert(request));
  if (context.json) {
    Json ids = Json::array();
    for (const uint64_t id : reply.row_ids()) ids.push_back(id);
    WriteJson(context.out(), {{"inserted", reply.inserted()},
                              {"replaced", reply.replaced()},
                              {"row_ids", std::move(ids)}});
  } else {
    const uint64_t id = reply.row_ids_size() > 0 ? reply.row_ids(0) : 0;
    context.out() << fmt::format("{} {} as row {} of table {}\n",
                                 reply.inserted() > 0 ? "inserted" : "replaced",
                                 Quoted(arguments.word), id, Quoted(arguments.table));
  }
  return kExitOk;
}

void ReadValues(PutArguments& arguments) {
  const auto named =
      std::count_if(arguments.texts.begin(), arguments.texts.end(),
                    [](const std::string& text) { return text.find('=') != text.npos; });
  if (named == 0) {
    arguments.values = ParseValues("values", arguments.texts);
  } else if (static_cast<size_t>(named) == arguments.texts.size()) {
    for (const std::string& text : arguments.texts) {
      const size_t equals = text.rfind('=');
      const std::string value = text.substr(equals + 1);
      const std::string name = text.substr(0, equals);
      arguments.named.push_back({name, ParseValues(name, std::span(&value, 1)).front()});
    }
  } else {
    throw CLI::ValidationError(
        "values", "give either plain values or NAME=VALUE for every dimension, not both");
  }
}

}  // namespace

void AddPutCommand(CLI::App& app, CliContext& context) {
  CLI::App* put = app.add_subcommand("put", "Write one row: a word and its vector");
  auto arguments = std::make_shared<PutArguments>();
  AddText(*put, "table", arguments->table, "The table's name")->required();
  AddText(*put, "word", arguments->word, "The row's word")->required();
  AddTexts(*put, "values", arguments->texts,
           "The vector: 0.5 -.25 1e-3, or by dimension name: Object=0 Animal=1")
      ->required();
  AddNumber(*put, "--row-id", arguments->row_id,
            "The row id that the word shall get; the next free one if not given");
  AddChoice(*put, "--mode", arguments->mode, {"upsert", "insert", "update"},
            "Whether the word may or must be new");
  put->callback([&context, arguments] {
    ReadValues(*arguments);
    context.command = [&context, arguments] { return Put(context, *arguments); };
  });
}

}  // namespace vectable

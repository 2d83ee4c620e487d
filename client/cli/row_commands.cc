#include <fmt/format.h>

#include <memory>
#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/display.h"
#include "client/cli/json_output.h"
#include "client/cli/text_table.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

struct KeyArguments {
  std::string table;
  std::vector<std::string> words;
  std::vector<uint64_t> row_ids;
};

struct WordsArguments {
  std::string table;
  std::optional<std::string> prefix;
  std::string prefix_text;
  std::optional<uint64_t> limit;
  bool vectors = false;
};

// What was asked for and isn't there, as scripts and as people read it.
template <typename Reply>
Json MissingJson(const Reply& reply) {
  Json missing = Json::array();
  for (const std::string& word : reply.missing_words()) missing.push_back(word);
  for (const uint64_t id : reply.missing_row_ids()) missing.push_back(id);
  return missing;
}

template <typename Reply>
std::vector<std::string> MissingText(const Reply& reply) {
  std::vector<std::string> missing;
  for (const std::string& word : reply.missing_words()) missing.push_back(Quoted(word));
  for (const uint64_t id : reply.missing_row_ids()) missing.push_back(fmt::format("row {}", id));
  return missing;
}

absl::StatusOr<int> Get(CliContext& context, const KeyArguments& arguments) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  v1::GetResponse found;
  if (!arguments.words.empty()) {
    VT_ASSIGN_OR_RETURN(found, client->Get(arguments.table, arguments.words));
  }
  if (!arguments.row_ids.empty()) {
    VT_ASSIGN_OR_RETURN(const v1::GetResponse by_id,
                        client->GetByRowId(arguments.table, arguments.row_ids));
    found.MergeFrom(by_id);
  }
  const std::vector<std::string> missing = MissingText(found);
  if (context.json) {
    Json rows = Json::array();
    for (const v1::Row& row : found.rows()) rows.push_back(RowJson(row, true));
    WriteJson(context.out(), {{"rows", std::move(rows)}, {"missing", MissingJson(found)}});
  } else if (found.rows_size() > 0) {
    TextTable table;
    table.AddColumn("Word");
    table.AddColumn("Row id", TextTable::Align::kRight);
    table.AddColumn("Vector");
    for (const v1::Row& row : found.rows()) {
      table.AddRow({row.word(), fmt::format("{}", row.row_id()), VectorText(row.vector())});
    }
    context.out() << table.Render(context.out_color());
  }
  if (missing.empty()) return kExitOk;
  context.PrintError(
      fmt::format("table {} has no {}", Quoted(arguments.table), fmt::join(missing, ", ")));
  return kExitError;
}

absl::StatusOr<int> Delete(CliContext& context, const KeyArguments& arguments) {
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  v1::DeleteResponse reply;
  if (!arguments.words.empty()) {
    VT_ASSIGN_OR_RETURN(reply, client->Delete(arguments.table, arguments.words));
  }
  if (!arguments.row_ids.empty()) {
    VT_ASSIGN_OR_RETURN(v1::DeleteResponse by_id,
                        client->DeleteByRowId(arguments.table, arguments.row_ids));
    by_id.set_deleted(by_id.deleted() + reply.deleted());
    reply.MergeFrom(by_id);
  }
  if (context.json) {
    WriteJson(context.out(), {{"deleted", reply.deleted()}, {"missing", MissingJson(reply)}});
    return kExitOk;
  }
  context.out() << fmt::format("deleted {} {} of table {}\n", WithThousands(reply.deleted()),
                               reply.deleted() == 1 ? "row" : "rows", Quoted(arguments.table));
  const std::vector<std::string> missing = MissingText(reply);
  if (!missing.empty()) {
    context.PrintWarning(fmt::format("not there: {}", fmt::join(missing, ", ")));
  }
  return kExitOk;
}

// One row per line, as they come, so that any number can be listed.
absl::StatusOr<int> Words(CliContext& context, const WordsArguments& arguments) {
  v1::ScanRequest request;
  request.set_table(arguments.table);
  request.set_include_vectors(arguments.vectors);
  if (arguments.prefix) request.set_word_prefix(*arguments.prefix);
  if (arguments.limit == 0u) return kExitOk;
  request.set_limit(arguments.limit.value_or(0));
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_RETURN_IF_ERROR(client->Scan(request, [&](const v1::Row& row) -> absl::Status {
    if (context.json) {
      WriteJson(context.out(), RowJson(row, arguments.vectors));
    } else {
      context.out() << fmt::format("{:>10}  {}{}{}\n", row.row_id(), Printable(row.word()),
                                   arguments.vectors ? "  " : "", VectorText(row.vector()));
    }
    return context.out() ? absl::OkStatus() : absl::UnknownError("cannot write to the output");
  }));
  return kExitOk;
}

std::shared_ptr<KeyArguments> AddKeys(CLI::App& app) {
  auto arguments = std::make_shared<KeyArguments>();
  AddText(app, "table", arguments->table, "The table's name")->required();
  AddTexts(app, "word", arguments->words, "Words; put -- before one that begins with '-'");
  AddNumbers(app, "--id", arguments->row_ids, "Row ids, beside or instead of words");
  return arguments;
}

void RequireKeys(const KeyArguments& arguments) {
  if (arguments.words.empty() && arguments.row_ids.empty()) {
    throw CLI::ValidationError("word", "give at least one word or --id");
  }
}

}  // namespace

void AddRowCommands(CLI::App& app, CliContext& context) {
  CLI::App* get = app.add_subcommand("get", "Show rows by word or row id");
  const auto get_keys = AddKeys(*get);
  get->callback([&context, get_keys] {
    RequireKeys(*get_keys);
    context.command = [&context, get_keys] { return Get(context, *get_keys); };
  });

  CLI::App* remove = app.add_subcommand(
      "delete", "Delete rows by word or row id; one that isn't there is a warning");
  const auto delete_keys = AddKeys(*remove);
  remove->callback([&context, delete_keys] {
    RequireKeys(*delete_keys);
    context.command = [&context, delete_keys] { return Delete(context, *delete_keys); };
  });

  CLI::App* words =
      app.add_subcommand("words", "List words and row ids, by row id or, with --prefix, by word");
  auto arguments = std::make_shared<WordsArguments>();
  AddText(*words, "table", arguments->table, "The table's name")->required();
  CLI::Option* prefix = AddText(*words, "--prefix", arguments->prefix_text,
                                "Only words that begin with this, in the order of their bytes");
  AddNumber(*words, "--limit", arguments->limit, "At most this many rows");
  words->add_flag("--vectors", arguments->vectors, "List the vectors, too");
  words->callback([&context, arguments, prefix] {
    if (prefix->count() > 0) arguments->prefix = arguments->prefix_text;
    context.command = [&context, arguments] { return Words(context, *arguments); };
  });
}

}  // namespace vectable

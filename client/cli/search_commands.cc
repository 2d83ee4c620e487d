#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "client/cli/arguments.h"
#include "client/cli/commands.h"
#include "client/cli/display.h"
#include "client/cli/json_output.h"
#include "client/cli/text_table.h"
#include "client/proto_names.h"
#include "common/names.h"
#include "common/status_util.h"
#include "sizing/footprint.h"

namespace vectable {
namespace {

struct NearestArguments {
  std::string table;
  std::vector<std::string> words;
  std::vector<uint64_t> row_ids;
  std::string vector_text;
  std::vector<float> vector;
  std::optional<uint64_t> k;
  bool exact = false;
  std::optional<double> recall;
  std::optional<double> min_score;
  std::optional<uint64_t> first_n;
  std::vector<std::string> exclude;
  bool vectors = false;
};

constexpr uint64_t kDefaultK = 10;

// A word may hold commas itself, so the whole text is left out, too; unknown words do no harm.
void Exclude(const std::string& text, v1::NearestRequest& request) {
  request.add_exclude_words(text);
  const std::vector<std::string> parts = SplitAtCommas(text);
  if (parts.size() < 2) return;
  for (const std::string& part : parts) {
    if (!part.empty()) request.add_exclude_words(part);
  }
}

v1::NearestRequest MakeRequest(const NearestArguments& arguments, std::vector<QueryLabel>& labels) {
  v1::NearestRequest request;
  request.set_table(arguments.table);
  request.set_k(static_cast<uint32_t>(arguments.k.value_or(kDefaultK)));
  request.set_exact(arguments.exact);
  if (arguments.recall) request.set_recall(*arguments.recall);
  if (arguments.min_score) request.set_min_score(*arguments.min_score);
  request.set_first_n(arguments.first_n.value_or(0));
  request.set_include_vectors(arguments.vectors);
  for (const std::string& text : arguments.exclude) Exclude(text, request);
  for (const std::string& word : arguments.words) {
    request.add_queries()->set_word(word);
    labels.push_back({word, std::nullopt});
  }
  for (const uint64_t id : arguments.row_ids) {
    request.add_queries()->set_row_id(id);
    labels.push_back({std::nullopt, id});
  }
  if (!arguments.vector_text.empty()) {
    request.add_queries()->mutable_vector()->mutable_values()->Add(arguments.vector.begin(),
                                                                   arguments.vector.end());
    labels.emplace_back();
  }
  return request;
}

std::string LabelText(const QueryLabel& label) {
  if (label.word) return Quoted(*label.word);
  if (label.row_id) return fmt::format("row {}", *label.row_id);
  return "the vector";
}

std::string ShortText(v1::ShortReason reason, uint64_t k) {
  switch (reason) {
    case v1::SHORT_REASON_TABLE_SMALLER:
      return fmt::format("fewer than {}: the table has no more rows that can be hits\n", k);
    case v1::SHORT_REASON_FILTERED:
      return fmt::format(
          "fewer than {}: the other rows can't be hits (the query's own word, --exclude, "
          "--first-n)\n",
          k);
    case v1::SHORT_REASON_MIN_SCORE:
      return fmt::format("fewer than {}: the other rows score less than --min-score\n", k);
    default:
      return "";
  }
}

std::string ResultText(const v1::QueryResult& result, const QueryLabel& label, uint64_t k,
                       bool vectors, bool bold) {
  const bool distance = result.hits_size() > 0 && result.hits(0).has_distance();
  TextTable table;
  table.AddColumn("Rank", TextTable::Align::kRight);
  table.AddColumn("Word");
  table.AddColumn("Score", TextTable::Align::kRight);
  if (distance) table.AddColumn("Distance", TextTable::Align::kRight);
  table.AddColumn("Row id", TextTable::Align::kRight);
  if (vectors) table.AddColumn("Vector");
  for (int i = 0; i < result.hits_size(); ++i) {
    const v1::Hit& hit = result.hits(i);
    std::vector<std::string> cells = {fmt::format("{}", i + 1), hit.word(),
                                      fmt::format("{:.6f}", hit.score())};
    if (distance) cells.push_back(fmt::format("{:.6f}", hit.distance()));
    cells.push_back(fmt::format("{}", hit.row_id()));
    if (vectors) cells.push_back(VectorText(hit.vector()));
    table.AddRow(cells);
  }
  return fmt::format("Nearest to {}\n{}{}", LabelText(label), table.Render(bold),
                     ShortText(result.short_reason(), k));
}

// How the graph was walked, over all queries; empty where none was.
std::string WalkText(const v1::NearestResponse& response) {
  uint32_t width = 0;
  double recall = 1;
  for (const v1::QueryResult& result : response.results()) {
    if (result.code() != 0 || result.exact()) continue;
    width = std::max(width, result.width());
    recall = std::min(recall, result.recall());
  }
  return width == 0 ? "" : fmt::format(", beam width {} (recall {:.3f} measured)", width, recall);
}

void PrintForPeople(CliContext& context, const NearestArguments& arguments,
                    const v1::NearestResponse& response, const std::vector<QueryLabel>& labels) {
  bool answered = false;
  for (int i = 0; i < response.results_size(); ++i) {
    if (response.results(i).code() != 0) continue;
    answered = true;
    context.out() << ResultText(response.results(i), labels[static_cast<size_t>(i)],
                                arguments.k.value_or(kDefaultK), arguments.vectors,
                                context.out_color())
                  << "\n";
  }
  if (!answered) return;
  context.out() << fmt::format("{} search on {} at {}{}, {:.3f} ms in the engine\n",
                               NameOf(response.method()), response.device(),
                               NameOf(response.precision()), WalkText(response),
                               static_cast<double>(response.engine_micros()) / 1000);
}

absl::StatusOr<int> Nearest(CliContext& context, const NearestArguments& arguments) {
  std::vector<QueryLabel> labels;
  const v1::NearestRequest request = MakeRequest(arguments, labels);
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::NearestResponse response, client->Nearest(request));
  if (static_cast<size_t>(response.results_size()) != labels.size()) {
    return absl::InternalError(fmt::format("the server answered {} of {} queries",
                                           response.results_size(), labels.size()));
  }
  if (context.json) {
    WriteJson(context.out(), NearestJson(response, labels, arguments.vectors));
  } else {
    PrintForPeople(context, arguments, response, labels);
  }
  int exit_code = kExitOk;
  for (const v1::QueryResult& result : response.results()) {
    if (result.code() == 0) continue;
    context.PrintError(result.error());
    exit_code = kExitError;
  }
  return exit_code;
}

void CheckArguments(NearestArguments& arguments, bool vector_given) {
  if (arguments.recall && !(*arguments.recall > 0 && *arguments.recall <= 1)) {
    throw CLI::ValidationError("--recall",
                               fmt::format("{} isn't over 0 and up to 1", *arguments.recall));
  }
  if (arguments.min_score && !std::isfinite(*arguments.min_score)) {
    throw CLI::ValidationError("--min-score",
                               fmt::format("{} isn't a finite number", *arguments.min_score));
  }
  const bool keys = !arguments.words.empty() || !arguments.row_ids.empty();
  if (keys && vector_given) {
    throw CLI::ValidationError("nearest", "give either words (or --id) or --vector, not both");
  }
  if (!keys && !vector_given) {
    throw CLI::ValidationError("nearest", "give a word, --id or --vector to look near");
  }
  if (arguments.k && (*arguments.k == 0 || *arguments.k > UINT32_MAX)) {
    throw CLI::ValidationError("-k", fmt::format("{} is not 1 to {}", *arguments.k, UINT32_MAX));
  }
  if (vector_given) {
    const std::vector<std::string> texts = SplitAtCommas(arguments.vector_text);
    arguments.vector = ParseValues("--vector", texts);
  }
}

absl::StatusOr<int> Similarity(CliContext& context, const std::string& table,
                               const std::vector<std::string>& words) {
  v1::SimilarityRequest request;
  request.set_table(table);
  request.mutable_a()->set_word(words[0]);
  request.mutable_b()->set_word(words[1]);
  VT_ASSIGN_OR_RETURN(Client* const client, context.Connect());
  VT_ASSIGN_OR_RETURN(const v1::SimilarityResponse reply, client->Similarity(request));
  if (context.json) {
    Json json = {{"score", reply.score()}};
    if (reply.has_distance()) json["distance"] = reply.distance();
    WriteJson(context.out(), json);
  } else {
    context.out() << fmt::format("{:.6f}", reply.score());
    if (reply.has_distance()) context.out() << fmt::format(" (distance {:.6f})", reply.distance());
    context.out() << "\n";
  }
  return kExitOk;
}

void AddNearest(CLI::App& app, CliContext& context) {
  CLI::App* nearest = app.add_subcommand(
      "nearest",
      "Find the rows nearest to words, row ids or a vector; several are several queries");
  auto arguments = std::make_shared<NearestArguments>();
  AddText(*nearest, "table", arguments->table, "The table's name")->required();
  AddTexts(*nearest, "word", arguments->words,
           "Words to look near; a word isn't its own hit. Put -- before one that begins with '-'");
  AddNumbers(*nearest, "--id", arguments->row_ids, "Row ids to look near");
  CLI::Option* vector = AddText(*nearest, "--vector", arguments->vector_text,
                                "A vector to look near: values separated by commas");
  AddNumber(*nearest, "-k", arguments->k, "Hits per query, 1 to 10,000; 10 if not given");
  nearest->add_flag("--exact", arguments->exact,
                    "Ask for the exact answer, whatever graphs there are");
  AddNumber(*nearest, "--recall", arguments->recall,
            "Share of the true nearest rows that an answer shall hold on average, over 0 up to 1;\n"
            "0.98 if not given");
  AddNumber(*nearest, "--min-score", arguments->min_score, "Leave out hits that score less");
  AddNumber(*nearest, "--first-n", arguments->first_n,
            "Only rows with an id below this, the most frequent words of a usual file; 0 for all");
  AddTexts(*nearest, "--exclude", arguments->exclude,
           "Words that shall not be hits, separated by blanks or commas");
  nearest->add_flag("--vectors", arguments->vectors, "Show each hit's vector");
  nearest->callback([&context, arguments, vector] {
    CheckArguments(*arguments, vector->count() > 0);
    context.command = [&context, arguments] { return Nearest(context, *arguments); };
  });
}

}  // namespace

void AddSearchCommands(CLI::App& app, CliContext& context) {
  AddNearest(app, context);
  CLI::App* similarity =
      app.add_subcommand("similarity", "The score of two words under the table's metric");
  auto table = std::make_shared<std::string>();
  auto words = std::make_shared<std::vector<std::string>>(2);
  AddText(*similarity, "table", *table, "The table's name")->required();
  AddText(*similarity, "a", (*words)[0], "One word")->required();
  AddText(*similarity, "b", (*words)[1], "The other word")->required();
  similarity->callback([&context, table, words] {
    context.command = [&context, table, words] { return Similarity(context, *table, *words); };
  });
}

}  // namespace vectable
